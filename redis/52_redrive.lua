-- Redrive: dead letters go back to where they came from, or to another queue.

-- What has no queue to go back to stays, and is not looked at again unless a
-- destination is named: rc in the hot hash is the last such message of m, and
-- those of f, and groups that begin with one, have a score before all others.
local STAYS = 2 * L.AGAIN
local OTHERS = '(' .. -L.AGAIN


-- Finds the queue that a message goes to, by its origin.
local function destinations(p, dest)
    local known = {}

    return function(origin)
        if dest then
            return dest
        end

        local q = origin and match(origin, '^[^,]*,[^,]*,[^,]*,([^,]*)')

        if q and known[q] == nil then
            local s = L.read_plan(L.hot(p.root, q))
            local to = s and L.plan(p.root, s)

            known[q] = to and to.fifo == p.fifo and to.q ~= p.q and to or false
        end

        return q and known[q] or nil
    end
end


-- Whether a call has done or seen enough: limit messages moved, 1,000 looked at,
-- or 2 MiB of them.
local function spent(v)
    return v.moved >= v.limit or v.seen >= L.BATCH or v.bytes >= L.WORK
           or L.spent()
end


local function nothing()
    return ''
end


-- A message of a standard queue as it is needed here, by its id and entry.
local function look(v, id, entry)
    local m = { id = id }

    v.seen = v.seen + 1

    for i = 1, entry and #entry[2] or 0, 2 do
        local field, value = entry[2][i], entry[2][i + 1]

        if field == 'o' then
            m.origin = value
        elseif field == 'b' then
            m.size = #value
        end
    end

    return m
end


-- Moves messages, of which stay(id) is told of those that stay.  Returns whether
-- it came through all of them.
local function move_all(v, p, list, to_of, now, stay)
    local by, order = {}, {}

    for _, m in ipairs(list) do
        local to = to_of(m.origin)

        v.bytes = v.bytes + (m.size or 0)

        if not to then
            stay(m.id)

        elseif by[to] then
            by[to][#by[to] + 1] = m.id

        else
            by[to], order[#order + 1] = { m.id }, to
        end
    end

    for _, to in ipairs(order) do
        local n, moved = L.move(p, to, by[to], now, 'rd', nothing)

        v.moved = v.moved + moved

        if n < #by[to] then
            return false
        end
    end

    return true
end


-- Messages of an index, f or y, whose moment came.  Returns whether there may be
-- more.
local function redrive_due(v, p, index, from, to_of, now)
    local text, full = L.text(now), true

    local function stay(id)
        call('ZADD', p.f, 'XX', L.text(now - STAYS), id)
    end

    while full and not spent(v) do
        local count = min(v.limit - v.moved, L.few(p))
        local ids = call('ZRANGEBYSCORE', index, from, text, 'LIMIT', '0', count)
        local list = {}

        for i, id in ipairs(ids) do
            local delayed = byte(id) == 122
            local raw = delayed and sub(id, 2) or id

            list[i] = look(v, id, call('XRANGE', delayed and p.z or p.m, raw,
                                       raw)[1])
        end

        if not move_all(v, p, list, to_of, now, stay) then
            return true
        end

        full = #ids == count
    end

    return full
end


-- Messages that were never received.  Likewise.
local function redrive_new(v, p, dest, to_of, now)
    local h = call('HMGET', p.hot, 'cur', 'rc')
    local from = h[1]

    if not dest and h[2] and L.after(h[2], from) then
        from = h[2]
    end

    while not spent(v) do
        local entries = call('XRANGE', p.m, '(' .. from, '+', 'COUNT',
                             min(v.limit - v.moved, L.few(p)))
        local list, stays = {}, nil

        if not entries[1] then
            return false
        end

        for i, entry in ipairs(entries) do
            list[i], from = look(v, entry[1], entry), entry[1]
        end

        if not move_all(v, p, list, to_of, now, function(id) stays = id end) then
            return true
        end

        if stays then
            call('HSET', p.hot, 'rc', stays)
        end
    end

    return true
end


local function redrive_standard(v, p, dest, to_of, now)
    local more = L.catch_up(p, now, v.limit)
    local from = dest and '-inf' or OTHERS

    -- what is delayed never came from elsewhere
    return redrive_due(v, p, p.f, from, to_of, now)
           or (dest and redrive_due(v, p, p.y, from, to_of, now))
           or redrive_new(v, p, dest, to_of, now)
           or more
end


-- Takes messages off the front of a group, as many as go to the same queue.
-- Returns that, the messages, what is left of those in d, and HDEL's arguments.
local function take(v, c, g, to_of)
    local p, to, list, moved = c.p, nil, {}, v.moved
    local received = g.received and L.received(p, g.gid) or {}
    local gone = { p.u }

    while moved + #list < v.limit and v.bytes < L.WORK
          and (received[1] or g.h <= g.t)
    do
        local seq = received[1] and received[1].seq or g.h
        local field = g.gid .. ':' .. L.text(seq)
        local value = call('HGET', p.u, field)
        local ms, _, due, _, origin = L.head(value or '0-0::0::')
        local next_to = value and to_of(origin)

        v.bytes = v.bytes + (value and #value or 0)

        if not next_to or (to and next_to ~= to) or (due and due > c.now)
            or ms <= c.now - p.ret
        then
            break
        end

        to = next_to
        list[#list + 1] = L.moved(c, g, value)
        gone[#gone + 1] = field

        if received[1] then
            table_remove(received, 1)
        else
            g.h = g.h + 1
        end
    end

    return to, list, received, gone
end


-- Moves what it can of a group whose turn it is.  Returns whether that was
-- anything.
local function redrive_group(v, p, name, to_of, now, cutoff)
    local c = L.open_fifo(p, now)

    if cutoff then
        v.seen = v.seen + L.look_at_age(c, name, cutoff, 50)
        L.close_fifo(c)                     -- before what may fail
        c = L.open_fifo(p, now)
    end

    local record = call('HGET', p.g, name)
    local g = record and L.group(name, record)
    local to, list, left, gone

    if g then
        to, list, left, gone = take(v, c, g, to_of)
    end

    if to then
        L.append(to, list)
        call('HDEL', unpack(gone))
        c.n, v.moved = c.n - #list, v.moved + #list
        L.lose_fifo(c, 'rd', #list)
        L.settle(c, g, left, now)
    end

    L.close_fifo(c)
    v.seen = v.seen + 1 + (list and #list or 0)

    return to or not record
end


local function redrive_fifo(v, p, dest, to_of, now)
    local cutoff, soon = L.catch_up_fifo(p, now, v.limit)
    local more = cutoff or (soon and soon <= now)

    while not spent(v) do
        local name = call('ZRANGEBYSCORE', p.o, dest and '-inf' or OTHERS, '+inf',
                          'LIMIT', '0', '1')[1]

        if not name then
            return more
        end

        if not redrive_group(v, p, name, to_of, now, cutoff) then
            if dest then
                return more
            end

            call('ZADD', p.o, 'XX', L.text(now - STAYS), name)
        end
    end

    return true
end


-- redrive: moves visible messages of a dead-letter queue back to the queues that
-- they came from, where they are new, or to another queue.
-- Keys: root.  Arguments: ref, dest (a reference, or empty), limit (up to 100).
-- Reply: moved, remaining (how many visible messages the queue has), more (1:
-- call again to go on).  What came from no queue, or from one that is gone,
-- stays; on a FIFO queue with what follows it in its group.  Errors: NOQUEUE;
-- NODEST, DESTKIND (a queue of another kind), DESTSELF.
-- Cost: O(log in flight) for each of at most 1,000 messages; it stops after
-- 2 MiB.
L.register('redrive', {}, function(root, args)
    local p = L.find(root, args[1] or '', L.read_plan)
    local limit, dest = tonumber(args[3]), nil

    if not p then
        return L.noqueue()
    end

    if not limit then
        return L.wrong('redrive')
    end

    if args[2] ~= '' then
        dest = L.find(root, args[2], L.read_plan)

        if not dest then
            return L.err('NODEST', 'no such queue')
        elseif dest.fifo ~= p.fifo then
            return L.err('DESTKIND', 'the queue is of another kind')
        elseif dest.q == p.q then
            return L.err('DESTSELF', 'a queue cannot be its own')
        end
    end

    local now, to_of = L.now(), destinations(p, dest)
    local v = { limit = max(1, min(limit, 100)), moved = 0, seen = 0, bytes = 0 }
    local more = (p.fifo and redrive_fifo or redrive_standard)(v, p, dest, to_of,
                                                              now)

    return { v.moved, ((p.fifo and L.counts_fifo or L.counts)(p, now)),
             more and 1 or 0 }
end)
