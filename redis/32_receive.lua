-- Receiving of messages.

function L.read_receive(key)
    local h = call('HMGET', key, 's', 'cur', 't', 'nb', 'nf')
    return h[1], h
end


-- For how many ms more than a visibility timeout a message is hidden that was
-- received count times: the backoff of a subscription of Pub/Sub.
function L.backoff(p, count)
    return p.low_backoff and min(p.low_backoff * 2 ^ min(count - 1, 30),
                                 p.high_backoff) or 0
end


-- Appends what an entry has to a reply's bodies.  Returns the letters that the
-- word of the message ends with.
function L.tell(out, fields)
    local n, letters = #out, ''

    out[n + 1] = fields[2]

    for i = 3, #fields, 2 do
        n = n + 1
        out[n + 1] = fields[i + 1]
        letters = letters .. fields[i]
    end

    return letters
end


-- Takes messages from f or y (index) whose moment came.  taken of need are
-- there, k is how many arguments hset and zadd have; returns both anew.
-- Appends to the words of the reply and to its bodies.
local function claim_due(p, c, words, out, index, need, taken, k)
    local ids = call('ZRANGEBYSCORE', index, '-inf', c.text, 'LIMIT', '0',
                     need - taken + ((c.cutoff or p.mrc > 0) and 50 or 0))
    local states = index == p.f and ids[1]
                   and call('HMGET', p.d, unpack(ids))

    for i = 1, #ids do
        local id = ids[i]
        local delayed = byte(id) == 122
        local raw = delayed and sub(id, 2) or id
        local stream = delayed and p.z or p.m
        local live = not (c.cutoff and L.sent(id) <= c.cutoff)
        local count, first = 0, nil

        if states and states[i] then
            count, first = match(states[i], '^[^:]*:(%d+):(%d+):')
        end

        -- a dead letter is not read here: moving it does that
        local dead = live and c.dlq and tonumber(count) >= p.mrc
        local entry = live and not dead and call('XRANGE', stream, raw, raw)[1]

        if dead then
            c.buried[#c.buried + 1] = id

        elseif entry then
            local fields = entry[2]

            count = count + 1
            first = count > 1 and first or c.text

            words[#words + 1] = (count > 1 and id .. ':' .. count .. ':'
                                               .. first or id)
                                .. L.tell(out, fields)

            hset[k + 1] = id
            hset[k + 2] = c.token .. ':' .. count .. ':' .. first .. ':'
                          .. c.text
            zadd[k + 1], zadd[k + 2] = c.deadline, id

            if p.low_backoff then
                zadd[k + 1] = L.text(c.over + L.backoff(p, count))
            end

            k = k + 2
            c.bytes = c.bytes + #fields[2]

            if not states then
                c.undelay[#c.undelay + 1] = id
            end

            taken = taken + 1
            if taken == need or (p.sub and c.bytes >= L.PULL) then
                break
            end

        else
            c.dead[#c.dead + 1] = { stream, id, raw }
        end
    end

    return taken, k
end


-- Up to count entries of m from an id on, of a subscription of Pub/Sub no more
-- than have 8 MiB, left of which may be read, and one.
function L.entries(p, from, count, left)
    if not p.sub or p.limit * count <= left then
        return call('XRANGE', p.m, from, '+', 'COUNT', count)
    end

    local list, step = {}, max(1, floor(left / p.limit))

    while #list < count and left > 0 do
        local some = call('XRANGE', p.m, from, '+', 'COUNT',
                          min(step, count - #list))

        for i = 1, #some do
            if left > 0 then
                list[#list + 1] = some[i]
                left = left - #some[i][2][2]
            end
        end

        if #some < step then
            break
        end

        from = '(' .. some[#some][1]
    end

    return list
end


-- Reads what was never received, past what outlived its retention.
local function unread(p, cur, c, count)
    local from = '(' .. cur

    if c.cutoff and L.sent(cur) <= c.cutoff then
        from = L.text(c.cutoff + 1)
    end

    return L.entries(p, from, count, L.PULL - c.bytes)
end


-- Appends messages that were never received.  words are their ids in the
-- record of a batch, k the first one: where one has attributes its word is
-- another in the reply.  Returns whether there is one.
local function tell_new(words, k, out, entries)
    local n, more = #out, false

    for i = 1, #entries do
        local fields = entries[i][2]

        n = n + 1
        out[n] = fields[2]

        if fields[4] then
            words[k + i - 1] = entries[i][1] .. (fields[5] and 'ao'
                                                 or fields[3])
            n = n + 1
            out[n] = fields[4]
            more = true

            if fields[5] then
                n = n + 1
                out[n] = fields[6]
            end
        end
    end

    return more
end

L.tell_new = tell_new


-- The earlier of two moments, the second one being that of a key's head, or
-- nothing.
local function sooner(moment, head)
    local score = tonumber(head[2])
    return score and (not moment or score < moment) and score or moment
end


local function head_of(key)
    return call('ZRANGE', key, '0', '0', 'WITHSCORES')
end


-- The first moment of a key that is later than now.
local function head_after(key, text)
    return call('ZRANGEBYSCORE', key, '(' .. text, '+inf', 'WITHSCORES',
                'LIMIT', '0', '1')
end


-- A reply with no message in it, with space for ten.
local function new_reply(p, wait, text)
    return {
        p.q, p.number, wait, -1, text,
        nil, nil, nil, nil, nil, nil, nil, nil, nil, nil
    }
end


-- Words of the reply, to begin with: the moment.
local function new_words(text)
    return { text, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil }
end


-- What the hot hash says once messages that were never received are taken, up
-- to last: field counts those in flight, the first of which are visible again
-- at deadline.
function L.took(p, h, last, field, count, deadline)
    if deadline < tonumber(h[3]) then
        call('HSET', p.hot, 'cur', last, field, count, 't', L.text(deadline))

        if p.mrc > 0 then
            L.due(p, deadline)
        end
    else
        call('HSET', p.hot, 'cur', last, field, count)
    end
end


-- Whether nothing became visible by itself, nothing outlived its retention, and
-- the cap is far away: the usual case.
function L.usual(h, need, now)
    return now < tonumber(h[3]) and h[4] + h[5] + need <= L.CAP
end


-- A receive in the usual case.  Takes entries of m that follow cur.
local function receive_new(p, h, entries, out, token, vt, now, text)
    local n, words = #entries, new_words(text)

    for i = 1, n do
        words[i + 1] = entries[i][1]
    end

    local record = concat(words, ' ')
    local deadline = now + vt * 1000 + L.backoff(p, 1)
    local moment = L.text(deadline)
    local batch, failed = L.fly_new(p, entries, n, record, token, text, moment)

    if failed then
        return failed
    end

    local last = entries[n][1]
    local field, count = 'nf', h[5] + n

    if batch > 0 then
        field, count = 'nb', h[4] + n
    end

    L.took(p, h, last, field, count, deadline)

    out[5] = tell_new(words, 2, out, entries) and concat(words, ' ') or record

    return out
end


-- Brings the queue up to this moment: removes what outlived its retention, and
-- takes batches apart that ended.  Returns the hot hash anew, and the cutoff
-- while messages are left that outlived retention.
local function catch_up(p, need, now, text)
    local cutoff
    local h = call('HMGET', p.hot, 'hx', 'nb')

    if now >= tonumber(h[1]) and not L.sweep(p, now, 50) then
        cutoff = now - p.ret
    end

    if h[2] ~= '0' then
        L.explode_ended(p, text, need)
    end

    h = call('HMGET', p.hot, 's', 'cur', 't', 'nb', 'nf', 'hx')

    return h, cutoff
end


-- A receive in all other cases, and where there is nothing new.
local function receive_due(p, h, out, need, token, vt, wait, now, text)
    local over, words = now + vt * 1000, new_words(text)
    local deadline = L.text(over + L.backoff(p, 1))
    local t, low, cutoff = tonumber(h[3]), tonumber(h[3]), nil

    -- before t no moment comes and nothing outlives its retention
    if now >= t then
        h, cutoff = catch_up(p, need, now, text)
        low = tonumber(h[6])
    end

    local head, soon, ends = head_of(p.f), head_of(p.y), head_of(p.b)
    local nb, nf = tonumber(h[4]), tonumber(h[5])
    local full = nb + nf + need > L.CAP

    if full then
        local free = L.CAP - nb - call('ZCOUNT', p.f, '(' .. text, '+inf')

        nf = call('ZCARD', p.f)
        full, need = free < need, min(need, free)
    end

    local taken, k, batch, entries = 0, 1, 0, nil
    local c = { text = text, deadline = deadline, cutoff = cutoff, bytes = 0,
                over = over,
                token = token, undelay = { p.y }, dead = {}, buried = {},
                dlq = p.mrc > 0 and L.dead_letter_queue(p) }

    if head[1] and tonumber(head[2]) <= now and need > 0 then
        taken, k = claim_due(p, c, words, out, p.f, need, 0, k)
    end

    if soon[1] and tonumber(soon[2]) <= now and taken < need then
        taken, k = claim_due(p, c, words, out, p.y, need, taken, k)
    end

    if taken < need then
        entries = unread(p, h[2], c, need - taken)
    end

    local new = entries and #entries or 0

    if c.buried[1] then
        L.can_move(p, c.dlq)
    end

    if taken > 0 then
        call('HLEN', p.e)                   -- a key of a wrong type fails here
        hset[1], zadd[1] = p.d, p.f
        call('HSET', unpack(hset, 1, k))
        call('ZADD', unpack(zadd, 1, k))
    end

    if new > 0 then
        local failed
        local ids = new_words(text)

        for i = 1, new do
            ids[i + 1] = entries[i][1]
            words[taken + i + 1] = entries[i][1]
        end

        batch, failed = L.fly_new(p, entries, new, concat(ids, ' '), token,
                                  text, deadline)
        if failed then
            return failed
        end

        tell_new(words, taken + 2, out, entries)
        taken = taken + new
    end

    if c.undelay[2] then
        call('ZREM', unpack(c.undelay))
    end

    local gone = 0

    for i = 1, #c.dead do
        local dead = c.dead[i]
        gone = gone + L.drop(p, dead[1], { dead[2] }, { dead[3] })
    end

    L.lose(p, 'ex', gone)

    if c.buried[1] then
        L.bury(p, c.dlq, c.buried, now)
    end

    if taken > 0 or c.dead[1] or c.buried[1] then
        head, soon, ends = head_of(p.f), head_of(p.y), head_of(p.b)
    end

    local first = sooner(sooner(sooner(nil, head), soon), ends)

    low = min(low, first or low)

    if p.mrc > 0 and taken > 0 then
        L.due(p, now + vt * 1000)
    end

    if taken > 0 then
        call('HSET', p.hot, 't', L.text(low), 'nb', nb + batch,
             'nf', nf + new - batch + #c.undelay - 1,
             'cur', new > 0 and entries[new][1] or h[2])
        out[5] = concat(words, ' ')
        return out
    end

    if low ~= t then
        call('HSET', p.hot, 't', L.text(low))
    end

    if wait > 0 then
        L.wait(p)
    end

    if full then
        first = sooner(sooner(nil, head_after(p.f, text)),
                       head_after(p.b, text))
    end

    -- dead letters of Pub/Sub may have been published to this subscription itself
    if c.buried[1] and p.sub then
        first = now
    end

    if first then
        out[4] = max(1, first - now)
    end

    return out
end


-- Takes messages of a queue, for receive, whose reply it is.  h is what
-- L.read_receive() read.
function L.receive(p, h, need, token, vt, wait, now)
    local text = L.text(now)
    local out = new_reply(p, wait, text)

    need = max(1, min(need, L.BATCH))

    if p.fifo then
        return L.receive_fifo(p, h, out, need, token, vt, wait, now, text)
    end

    if L.usual(h, need, now) then
        local entries = L.entries(p, '(' .. h[2], need, L.PULL)

        if entries[1] then
            return receive_new(p, h, entries, out, token, vt, now, text)
        end
    end

    return receive_due(p, h, out, need, token, vt, wait, now, text)
end


-- receive: takes messages that are visible: first those whose visibility
-- ended, then delayed ones, then new ones, each in order.
-- Keys: root.  Arguments: ref max vt wait token (vt and wait in seconds,
-- empty: the queue's).  Reply: Q, G, wait (in force), next, a string that says
-- what the messages are, then the body of each.  The string is now (ms), and
-- for each message, after a blank, "id" where this is its first receive; else
-- "id:count:first" (ms); then "a" where its attributes follow its body, and
-- "o" where its origin follows.  next is -1 where there are messages;
-- else in how many ms, at least 1, one becomes visible by itself, -1: none
-- will; where the cap on messages in flight stood in the way, when there will
-- be room.  Where nothing is found and wait > 0 the next change publishes a
-- hint.  Errors: NOQUEUE.
-- Cost: O(max * log in flight), whatever the backlog.
-- On a FIFO queue the string is another one: 43_fifo_receive.lua.
L.register('receive', { 'allow-oom' }, function(root, args)
    local p, h = L.find(root, args[1] or '', L.read_receive)

    if not p then
        return L.noqueue()
    end

    local need, token = tonumber(args[2]), args[5]
    local vt = args[3] == '' and p.vt or tonumber(args[3])
    local wait = args[4] == '' and p.wait or tonumber(args[4])

    if not (need and vt and wait and token) then
        return L.wrong('receive')
    end

    return L.receive(p, h, need, token, vt, wait, L.now())
end)
