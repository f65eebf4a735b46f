-- Groups of FIFO queues.
--
-- A message is a field of u, "gid:seq": the number of its group, and its
-- sequence number there.  Its value is
--
--     ms-n:due:length:origin:body attributes      (no blank between these two)
--
-- with when it was sent (ms), the number of the message in the queue, when its
-- delay ends (ms; empty: it has none), the bytes of the body, and where it was
-- moved from (empty: it was not).
--
-- A group that has messages is a field of g: "gid:h:t", with the first message
-- that is not in d and the last one.  It is in one of these places:
--
--     o    its next message is visible; the score is its turn (ms)
--     k    its next message is delayed; the score is when that ends (ms)
--     e    received for the first time as part of a batch, from message h on
--     f    messages of it are in flight one by one; the score is the first
--          end of their visibility (ms)
--
-- What was received and is not in a batch is in d, by gid: the name, and after
-- a line feed "seq,token,count,first,last,moment;" for each; the moment is the
-- end of the visibility, or 0 where it is over.  g says "gid:h:t:d" then.


-- A group by its record in g.
function L.group(name, record)
    local gid, h, t, mark = match(record, '^(%d+):(%d+):(%d+)(.*)$')

    return { name = name, gid = gid, h = tonumber(h), t = tonumber(t),
             received = mark == ':d' }
end


function L.record_of(g, received)
    return g.gid .. ':' .. L.text(g.h) .. ':' .. L.text(g.t)
           .. (received and ':d' or '')
end


-- When a message was sent, its number, the end of its delay, the length of its
-- body, its origin, and where the body begins in its value.
function L.head(value)
    local ms, n, due, length, origin, at =
        match(value, '^(%d+)%-(%d+):(%d*):(%d+):([^:]*):()')

    return tonumber(ms), n, tonumber(due), tonumber(length), origin, at
end


-- What was received of a group and is not in a batch; and the group's name.
function L.received(p, gid)
    local text = call('HGET', p.d, gid)
    local list = {}

    if not text then
        return list
    end

    local name, rest = match(text, '^([^\n]*)\n(.*)$')

    for seq, token, count, first, last, moment in
        gmatch(rest, '(%d+),([^,]*),(%d+),(%d+),(%d+),(%d+);')
    do
        list[#list + 1] = { seq = tonumber(seq), token = token,
                            count = tonumber(count), first = first,
                            last = tonumber(last), moment = tonumber(moment) }
    end

    return list, name
end


local function text_of(name, list)
    local out = { name, '\n' }

    for i = 1, #list do
        local e = list[i]

        out[#out + 1] = concat({ L.text(e.seq), e.token, e.count, e.first,
                                 L.text(e.last), L.text(e.moment) }, ',')
        out[#out + 1] = ';'
    end

    return concat(out)
end


-- What one call changes at a FIFO queue, to be written at its end: how many
-- messages it has (n), are in batches (nb), and in flight one by one (nf); the
-- first moment that came to be (soon); whether a group became ready; which ways
-- messages went (lost).  h is what the hot hash has: s, cur, t, nb, nf.
function L.open_fifo(p, now, h)
    h = h or call('HMGET', p.hot, 's', 'cur', 't', 'nb', 'nf')

    return { p = p, now = now, dl = tonumber(h[2]) or 0, t = tonumber(h[3]),
             had_nb = h[4], had_nf = h[5], n = 0, nb = 0, nf = 0,
             ready = false }
end


function L.close_fifo(c)
    local p, nb, nf = c.p, c.had_nb + c.nb, c.had_nf + c.nf

    -- what is due at t, or later, is on the agenda already
    if c.soon and c.soon < c.t then
        call('HSET', p.hot, 'nb', nb, 'nf', nf, 't', L.text(c.soon))

        if p.mrc > 0 then
            L.due(p, c.soon)
        end
    else
        call('HSET', p.hot, 'nb', nb, 'nf', nf)
    end

    if c.n ~= 0 then
        call('HINCRBY', p.hot, 'n', c.n)
    end

    if c.lost then
        for _, way in ipairs({ 'ex', 'dl', 'dropped', 'rd' }) do
            L.lose(p, way, c.lost[way] or 0)
        end
    end

    if c.ready or (p.waits and c.had_nb + c.had_nf >= L.CAP_FIFO
                   and c.nb + c.nf < 0)
    then
        L.wake(p)
    end
end


-- Messages went another way than by an ack: 24_totals.lua.
function L.lose_fifo(c, way, n)
    c.lost = c.lost or {}
    c.lost[way] = (c.lost[way] or 0) + n
end


local function sooner(c, moment)
    c.soon = c.soon and min(c.soon, moment) or moment
end


-- Puts a group with no message received or in flight where its next message
-- is visible or delayed.  turn is its score among those that are ready.
function L.stand(c, g, turn)
    local p = c.p

    if c.now < c.dl then
        local value = call('HGET', p.u, g.gid .. ':' .. L.text(g.h))
        local _, _, due = L.head(value or '0-0::0::')

        if due and due > c.now then
            call('ZADD', p.k, L.text(due), g.name)
            call('ZREM', p.o, g.name)
            sooner(c, due)

            if p.mrc > 0 then
                L.due(p, due)
            end

            return
        end
    end

    call('ZADD', p.o, L.text(turn), g.name)
    call('ZREM', p.k, g.name)
    c.ready = true
end


-- Writes a group with what was received of it (list), and puts it where it
-- belongs: nowhere where nothing is left of it.
function L.settle(c, g, list, turn)
    local p, first = c.p, nil

    if not list[1] then
        if g.received then
            call('HDEL', p.d, g.gid)
            call('ZREM', p.f, g.name)
        end

        if g.h <= g.t then
            call('HSET', p.g, g.name, L.record_of(g))
            L.stand(c, g, turn)
            return
        end

        call('HDEL', p.g, g.name)
        call('ZREM', p.x, g.name)
        call('ZREM', p.o, g.name)
        call('ZREM', p.k, g.name)
        return
    end

    for i = 1, #list do
        local moment = list[i].moment

        if moment > 0 then
            first = first and min(first, moment) or moment
        end
    end

    call('HSET', p.d, g.gid, text_of(g.name, list))
    call('HSET', p.g, g.name, L.record_of(g, true))

    if first then
        call('ZREM', p.o, g.name)
        call('ZREM', p.k, g.name)
        call('ZADD', p.f, L.text(first), g.name)
        sooner(c, first)
    else
        call('ZREM', p.f, g.name)
        call('ZADD', p.o, L.text(turn), g.name)
        c.ready = true
    end
end


-- A batch in e is some lines: when it was received (ms) and how many messages it
-- has; the fields of u; then for each group "gid:a:z", with its first and its last
-- message, and after a blank its name.  Returns a list of groups with name, gid,
-- a, z; how many messages there are; and when they were received.
function L.groups_of(record)
    local moment, n, rest = match(record, '^(%d+) (%d+)\n[^\n]*\n(.*)$')
    local list = {}

    for gid, a, z, name in gmatch(rest, '(%d+):(%d+):(%d+) ([^\n]*)\n') do
        list[#list + 1] = { gid = gid, a = tonumber(a), z = tonumber(z),
                            name = name }
    end

    return list, tonumber(n), tonumber(moment)
end


-- Takes a batch apart: its messages are in flight one by one, until the same
-- moment.
function L.explode_fifo(c, token, record)
    local p = c.p
    local moment = tonumber(call('ZSCORE', p.b, token)) or c.now
    local list, n, last = L.groups_of(record)

    call('ZCARD', p.f)                      -- keys of a wrong type fail here
    call('HLEN', p.d)

    for i = 1, #list do
        local g, entries = L.group(list[i].name,
                                   call('HGET', p.g, list[i].name)), {}

        for seq = list[i].a, list[i].z do
            entries[#entries + 1] = { seq = seq, token = token, count = 1,
                                      first = L.text(last), last = last,
                                      moment = moment }
        end

        g.h = list[i].z + 1
        L.settle(c, g, entries)
    end

    call('HDEL', p.e, token)
    call('ZREM', p.b, token)
    c.nb, c.nf = c.nb - n, c.nf + n
end


-- Takes batches apart that end at the moment until_ (text) or before, the first
-- of them first, till they had limit messages or more.  Returns how many.
function L.explode_fifo_ended(c, until_, limit)
    local p, n = c.p, 0

    while n < limit do
        local list = call('ZRANGEBYSCORE', p.b, '-inf', until_, 'LIMIT', '0',
                          '1')
        local record = list[1] and call('HGET', p.e, list[1])

        if not list[1] then
            return n
        end

        if record then
            local before = c.nf

            L.explode_fifo(c, list[1], record)
            n = n + c.nf - before
        else
            call('ZREM', p.b, list[1])
        end
    end

    return n
end
