-- What becomes due on FIFO queues by the passing of time: ends of visibility and
-- delay, dead letters, retention.

-- Moves messages of a group (entries of d) to the dead-letter queue: one at
-- least, and more unless the call has done enough.  Returns those that are left,
-- and when to look at them again if that is not now.
local function bury(c, to, g, entries)
    if c.p.sub then
        return L.forward_fifo(c, to, g, entries)
    end

    local p, fields, list, n = c.p, {}, {}, 0

    while n < #entries and (n == 0 or not L.spent()) do
        n = n + 1
        fields[n] = g.gid .. ':' .. L.text(entries[n].seq)

        local value = call('HGET', p.u, fields[n])

        L.spend(value and #value or 0)

        if value and L.head(value) > c.now - p.ret then
            local m = L.moved(c, g, value)

            m.origin = concat({ m.origin, p.q, entries[n].count,
                                L.text(c.now) }, ',')
            list[#list + 1] = m
        end
    end

    if list[1] then
        L.append(to, list)
    end

    call('HDEL', p.u, unpack(fields))
    c.n = c.n - n
    L.lose_fifo(c, 'dl', #list)
    L.lose_fifo(c, 'ex', n - #list)

    return { unpack(entries, n + 1) }
end


-- A message of a group as L.append() takes it, to be stored in another queue.
function L.moved(c, g, value)
    local ms, n, _, length, origin, at = L.head(value)
    local id = L.text(ms) .. '-' .. n

    return { group = g.name, body = sub(value, at, at + length - 1),
             attributes = sub(value, at + length),
             origin = L.origin(c.p, id, origin ~= '' and origin or nil) }
end


-- Ends what ended of a group that is in f.
local function end_group(c, name)
    local p, record = c.p, call('HGET', c.p.g, name)

    if not record then
        call('ZREM', p.f, name)
        return 1
    end

    local g = L.group(name, record)
    local list, dead, stay = L.received(p, g.gid), {}, {}
    local to = p.mrc > 0 and L.dead_letter_queue(p)

    for i = 1, #list do
        local e = list[i]

        if e.moment > 0 and e.moment <= c.now then
            e.moment = 0
            c.nf = c.nf - 1
        end

        if to and e.moment == 0 and e.count >= p.mrc then
            dead[#dead + 1] = e
        else
            stay[#stay + 1] = e
        end
    end

    if dead[1] then
        local left, later = bury(c, to, g, dead)

        for _, e in ipairs(left) do         -- too much for one call
            e.moment = later or c.now
            c.nf = c.nf + 1
            table_insert(stay, e)
        end

        L.sort(stay)
    end

    L.settle(c, g, stay, c.now)

    return #list
end


function L.sort(list)
    for i = 2, #list do
        local e, k = list[i], i - 1

        while k > 0 and list[k].seq > e.seq do
            list[k + 1], k = list[k], k - 1
        end

        list[k + 1] = e
    end
end


-- Ends what ended by now of batches, groups and delays: about limit messages,
-- fewer where dead letters are large, of one group at least.
function L.end_fifo(c, limit)
    local p, n, text = c.p, 0, L.text(c.now)

    L.explode_fifo_ended(c, text, limit)

    while n == 0 or (n < limit and not L.spent()) do
        local names = call('ZRANGEBYSCORE', p.f, '-inf', text, 'LIMIT', '0',
                           '10')

        for i = 1, #names do
            if n == 0 or not L.spent() then
                n = n + end_group(c, names[i])
            end
        end

        if #names < 10 then
            break
        end
    end

    local late = call('ZRANGEBYSCORE', p.k, '-inf', text, 'WITHSCORES', 'LIMIT',
                      '0', limit)

    for i = 1, #late, 2 do
        call('ZADD', p.o, late[i + 1], late[i])
        call('ZREM', p.k, late[i])
        c.ready = true
    end

    local over = call('ZRANGEBYSCORE', p.y, '-inf', text, 'LIMIT', '0', limit)

    if over[1] then
        call('ZREM', p.y, unpack(over))
    end
end


-- The number of a group's first message, which is in d, in a batch or neither.
local function first_of(p, g)
    local first = g.received and L.received(p, g.gid)[1]

    return first and first.seq or g.h
end


-- When the first message of a group was sent; nothing where it is not there.
local function age(p, g, seq)
    local value = call('HGET', p.u, g.gid .. ':' .. L.text(seq))

    L.spend(value and #value or 0)

    if value then
        local ms, _, due = L.head(value)
        return ms, due
    end
end


-- Whether a message was sent at the moment cutoff or before.
function L.outlived(p, g, seq, cutoff)
    local ms = age(p, g, seq)
    return ms and ms <= cutoff
end


-- Removes messages that were sent at the moment cutoff or before from the front
-- of a group that is in no batch, one at least.  Returns how many these were.
local function trim(c, g, cutoff, limit)
    local p, n = c.p, 0
    local gone, late = { p.u }, { p.y }
    local list = g.received and L.received(p, g.gid) or {}

    while n < limit and (n == 0 or not L.spent())
          and (list[1] or g.h <= g.t)
    do
        local seq = list[1] and list[1].seq or g.h
        local ms, due = age(p, g, seq)

        if ms and ms > cutoff then
            break
        end

        n = n + 1
        gone[#gone + 1] = g.gid .. ':' .. L.text(seq)

        if due then
            late[#late + 1] = gone[#gone] .. ':' .. g.name
        end

        if list[1] then
            c.nf = c.nf - (list[1].moment > 0 and 1 or 0)
            table_remove(list, 1)
        else
            g.h = g.h + 1
        end
    end

    if gone[2] then
        local removed = call('HDEL', unpack(gone))

        c.n = c.n - removed
        L.lose_fifo(c, 'ex', removed)
    end

    if late[2] then
        call('ZREM', unpack(late))
    end

    -- one of which the first message stays at a redrive has another one now
    local turn = tonumber(call('ZSCORE', p.o, g.name))
    L.settle(c, g, list, turn and turn >= 0 and turn or c.now)

    return n
end


-- Takes batches apart till a group is in none.  Returns how many messages they
-- had, and whether it is.
local function out_of_batches(c, g, limit)
    local p, n = c.p, 0

    if g.received or call('ZSCORE', p.o, g.name) or call('ZSCORE', p.k, g.name)
    then
        return 0, true
    end

    while n < limit do
        local some = L.explode_fifo_ended(c, '+inf', 10)
        local record = call('HGET', p.g, g.name)

        n = n + some

        if not record or some == 0 or match(record, ':d$') then
            return n, true
        end
    end

    return n, false
end


-- Removes up to limit messages that outlived their retention, fewer where they
-- are large, of one group at least.  Returns true and sets hx when no such
-- message is left.  x has for each group a moment at which, or after which, its
-- first message was sent.
function L.sweep_fifo(c, limit)
    local p, left = c.p, limit
    local cutoff = c.now - p.ret
    local last = call('HGET', p.hot, 'last')

    if last and tonumber(match(last, '^%d+')) <= cutoff then
        call('UNLINK', unpack(p.keys))
        c.n, c.nb, c.nf = -call('HGET', p.hot, 'n'), -c.had_nb, -c.had_nf
        L.lose_fifo(c, 'ex', -c.n)
    end

    while left == limit or (left > 0 and not L.spent()) do
        local name, score = unpack(call('ZRANGE', p.x, '0', '0', 'WITHSCORES'))

        if not name or tonumber(score) > cutoff then
            call('HSET', p.hot, 'hx', L.text((tonumber(score) or c.now)
                                             + p.ret))
            return true
        end

        left = left - L.look_at_age(c, name, cutoff, left)
    end

    return false
end


-- Sets right what x says of a group, and removes what outlived its retention.
-- Returns how many messages it looked at.
function L.look_at_age(c, name, cutoff, limit)
    local p, record = c.p, call('HGET', c.p.g, name)

    if not record then
        call('ZREM', p.x, name)
        return 1
    end

    local g, n = L.group(name, record), 0
    local ms = age(p, g, first_of(p, g))

    if not ms or ms <= cutoff then
        local some, out = out_of_batches(c, g, limit)

        n = some

        if out and n < limit then
            g = L.group(name, call('HGET', p.g, name))
            n = n + trim(c, g, cutoff, limit - n)
        end

        record = call('HGET', p.g, name)
        g = record and L.group(name, record)
        ms = g and age(p, g, first_of(p, g))
    end

    if ms and ms > cutoff then
        call('ZADD', p.x, 'XX', L.text(ms), name)
    end

    return n + 1
end


-- The first moment at which something ends on a FIFO queue, or nothing.
function L.next_end(p)
    local soon

    for _, key in ipairs({ p.b, p.f, p.k }) do
        local score = tonumber(call('ZRANGE', key, '0', '0', 'WITHSCORES')[2])
        soon = score and min(soon or score, score) or soon
    end

    return soon
end


-- Keys of a wrong type fail here.
function L.check_fifo(p)
    for i = 1, #p.keys do
        local key = p.keys[i]
        local hash = key == p.u or key == p.g or key == p.d or key == p.e

        call(hash and 'HLEN' or 'ZCARD', key)
    end
end


-- Brings a FIFO queue up to this moment, about limit messages of each kind.
-- Returns the moment up to which was sent what is left and outlived its
-- retention, or nothing; and the first moment at which something ends, or
-- nothing.
function L.catch_up_fifo(p, now, limit)
    local c = L.open_fifo(p, now)
    local hx, cutoff = tonumber(call('HGET', p.hot, 'hx')), nil
    local to = p.mrc > 0 and L.dead_letter_queue(p)

    L.check_fifo(p)

    if to and not p.sub then
        L.can_append_late(to, now)
    end

    if now >= hx and not L.sweep_fifo(c, limit) then
        cutoff = now - p.ret
    end

    L.end_fifo(c, limit)
    L.close_fifo(c)

    hx = tonumber(call('HGET', p.hot, 'hx'))

    local soon = L.next_end(p)

    c.t = min(soon or hx, hx)
    call('HSET', p.hot, 't', L.text(c.t))

    return cutoff, soon
end
