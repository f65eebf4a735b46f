-- What ends a delivery on a FIFO queue or moves its end.  Receipts have the
-- fields of u as ids.

-- Removes messages that outlived their retention.  Returns nothing where none
-- is left; else whether one of these fields is such a message.
local function expiry(c)
    local p = c.p

    if c.now < c.t or c.now < tonumber(call('HGET', p.hot, 'hx')) then
        return
    end

    L.check_fifo(p)

    if L.sweep_fifo(c, 50) then
        return
    end

    return function(field)
        local value = call('HGET', p.u, field)
        return not value or L.head(value) <= c.now - p.ret
    end
end


-- Removes a batch with its messages, of which ids are the fields.  A group whose
-- record in g is what the batch has of it had no other message.
local function ack_batch(c, token, record, ids)
    local p, names, words = c.p, {}, {}
    local gone, left, turns, k, n = { p.g }, nil, nil, 1, 0

    for word, name in gmatch(record, '(%d+:%d+:%d+) ([^\n]*)\n') do
        n = n + 1
        words[n], names[n] = word, name
    end

    local records = call('HMGET', p.g, unpack(names))

    call('ZCARD', p.o)                      -- keys of a wrong type fail here
    call('ZCARD', p.x)
    call('HLEN', p.u)
    call('ZREM', p.b, token)
    call('HDEL', p.u, unpack(ids))
    call('HDEL', p.e, token)

    for i = 1, n do
        if records[i] == words[i] then
            k = k + 1
            gone[k] = names[i]

        else
            local g = L.group(names[i], records[i])

            g.h = match(words[i], '%d+$') + 1
            left, turns = left or { p.g }, turns or { p.o }
            left[#left + 1] = g.name
            left[#left + 1] = L.record_of(g)

            if c.now < c.dl then
                L.stand(c, g, c.now)
            else
                turns[#turns + 1] = L.text(c.now)
                turns[#turns + 1] = g.name
            end
        end
    end

    if k > 1 then
        call('HDEL', unpack(gone))
        gone[1] = p.x
        call('ZREM', unpack(gone))
    end

    if left then
        call('HSET', unpack(left))
    end

    if turns and turns[2] then
        call('ZADD', unpack(turns))
        c.ready = true
    end

    c.n, c.nb = c.n - #ids, c.nb - #ids
end


-- Calls change(entry) for single messages, each with the id, token and place in
-- the reply, that are held by their token: what it returns is whether the
-- message stays.  Marks them in out.  turn: of groups that become ready.
local function change_singles(c, singles, out, turn, change)
    local p, groups, order = c.p, {}, {}

    if singles[1] then                      -- a key of a wrong type fails here
        call('ZCARD', p.f)
    end

    for i = 1, #singles do
        local gid, seq = match(singles[i].id, '^(%d+):(%d+)$')

        if gid then
            if not groups[gid] then
                groups[gid] = {}
                order[#order + 1] = gid
            end

            singles[i].seq = tonumber(seq)
            table_insert(groups[gid], singles[i])
        end
    end

    for _, gid in ipairs(order) do
        local list, name = L.received(p, gid)
        local record = name and call('HGET', p.g, name)

        if record then
            local by, gone, stay, changed = {}, { p.u }, {}, false

            for _, single in ipairs(groups[gid]) do
                by[single.seq] = by[single.seq] or {}
                table_insert(by[single.seq], single)
            end

            for _, e in ipairs(list) do
                local held

                for _, single in ipairs(by[e.seq] or {}) do
                    if single.token == e.token then
                        held = held or single
                    end
                end

                if held then
                    local before = e.moment > 0 and 1 or 0

                    out[held.place], changed = '1', true

                    if change(e, held) then
                        c.nf = c.nf + (e.moment > 0 and 1 or 0) - before
                        stay[#stay + 1] = e
                    else
                        c.nf = c.nf - before
                        gone[#gone + 1] = gid .. ':' .. L.text(e.seq)
                    end
                else
                    stay[#stay + 1] = e
                end
            end

            if gone[2] then
                call('HDEL', unpack(gone))
                c.n = c.n - #gone + 1
            end

            if changed then
                L.settle(c, L.group(name, record), stay, turn or c.now)
            end
        end
    end
end


local function check(p, run)
    if run[2] then                          -- keys of a wrong type fail here
        call('ZCARD', p.f)
        call('HLEN', p.d)
    end

    call('ZCARD', p.o)
    call('ZCARD', p.x)
    call('ZCARD', p.k)
    call('HLEN', p.u)
    call('HLEN', p.g)
end


-- Goes through the groups of a run (34_receipt.lua).  together(g, record) acts on
-- a whole batch and returns true; where it does not, and where a group is a part
-- of a batch, or of none, they are taken as singles.  Returns these.
local function singles_of(c, run, expired, together)
    local p, singles = c.p, {}

    for i = 1, #run do
        local g = run[i]
        local record = call('HGET', p.e, g.token)
        local ids = record and match(record, '^[^\n]*\n([^\n]*)\n')

        if not (record and not expired and ids == g.text
                and together(g, record))
        then
            if record then
                L.explode_fifo(c, g.token, record)
            end

            for k = 1, g.n do
                if not (expired and expired(g.ids[k])) then
                    singles[#singles + 1] = { id = g.ids[k], token = g.token,
                                              group = g, place = g.at + k }
                end
            end
        end
    end

    return singles
end


local function mark(g, out)
    for k = g.at + 1, g.at + g.n do
        out[k] = '1'
    end

    return true
end


-- ack of a whole batch and nothing else; nothing where it is not that.
function L.ack_fifo_one(p, h, token, text, now)
    local c, record = L.open_fifo(p, now, h), call('HGET', p.e, token)

    if not record or c.now >= c.t then
        return
    end

    local first = find(record, '\n', 1, true)

    if sub(record, first + 1, first + #text + 1) ~= text .. '\n' then
        return
    end

    local ids, n = L.ids_of(text)

    ack_batch(c, token, record, ids)
    L.close_fifo(c)

    return rep('1', n)
end


-- ack of a run of groups.
function L.ack_fifo(p, h, run, now, out)
    local c = L.open_fifo(p, now, h)

    check(p, run)

    local singles = singles_of(c, run, expiry(c), function(g, record)
        ack_batch(c, g.token, record, g.ids)
        return mark(g, out)
    end)

    if singles[1] then
        change_singles(c, singles, out, nil, function() return false end)
    end

    L.close_fifo(c)
end


-- visibility of a run of groups.
function L.move_fifo(p, h, run, now, out)
    local c = L.open_fifo(p, now, h)
    local seen = {}                         -- a second mention is over

    check(p, run)

    local singles = singles_of(c, run, expiry(c), function(g, record)
        if g.ms == 0 or seen[g.ids[1]] then
            return false
        end

        local _, _, received = L.groups_of(record)
        local moment = min(now + L.delay_of(p, g, 1), received + L.HOLD)

        -- those who wait know of the later end
        if moment < tonumber(call('ZSCORE', p.b, g.token) or 0) then
            c.ready = true
        end

        call('ZADD', p.b, 'XX', L.text(moment), g.token)
        c.soon = min(c.soon or moment, moment)

        for k = 1, g.n do
            seen[g.ids[k]] = true
        end

        return mark(g, out)
    end)

    for i = #singles, 1, -1 do
        if seen[singles[i].id] then
            table_remove(singles, i)
        end
    end

    change_singles(c, singles, out, nil, function(e, single)
        local moment = min(now + L.delay_of(p, single.group, e.count),
                           e.last + L.HOLD)

        c.ready = c.ready or moment < e.moment
        e.moment = moment

        return true
    end)

    L.close_fifo(c)

    if c.soon and c.soon <= now then
        L.catch_up_fifo(p, now, 50)
    end
end


-- undo on a FIFO queue.  Returns how many messages were given back.
function L.undo_fifo(p, h, token, ids, now)
    local c = L.open_fifo(p, now, h)
    local out, n = {}, 0
    local run = { { token = token, ids = ids, n = #ids, at = 0,
                    text = concat(ids, ' ') } }

    check(p, run)

    local singles = singles_of(c, run, nil, function(g, record)
        local list, count = L.groups_of(record)

        call('ZREM', p.b, token)
        call('HDEL', p.e, token)

        for i = 1, #list do
            call('ZADD', p.o, '0', list[i].name)
        end

        c.nb, c.ready = c.nb - count, true

        return mark(g, out)
    end)

    change_singles(c, singles, out, 0, function(e)
        e.count, e.token, e.moment = e.count - 1, '-', 0
        e.first = e.count > 0 and e.first or '0'

        return true
    end)

    L.close_fifo(c)

    for i = 1, #ids do
        n = n + (out[i] and 1 or 0)
    end

    return n
end
