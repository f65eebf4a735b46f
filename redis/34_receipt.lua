-- What ends a delivery or moves its end: ack, visibility, undo.

-- Groups the arguments of ack and visibility, width for each message, by
-- queue and generation.
local function group(args, width)
    local list, known, g = {}, nil, nil

    for i = 1, #args, width do
        local q, gen = args[i], args[i + 1]

        if not g or g.q ~= q or g.gen ~= gen then
            local name = q .. ':' .. gen

            known = known or {}
            g = known[name]

            if not g then
                g = { q = q, gen = gen, n = 0, at = {},
                      ids = { nil, nil, nil, nil, nil,
                              nil, nil, nil, nil, nil } }
                known[name] = g
                list[#list + 1] = g
            end
        end

        local n = g.n + 1
        g.n, g.ids[n], g.at[n] = n, args[i + 2], i
    end

    return list
end


-- Reads a group's queue and deliveries.  Returns the delivery states (false
-- where the delivery is over), or nothing where the generation is gone; and
-- sets g.flight, g.state, g.wait and g.full.
local function held(root, g, args, now)
    local s = call('HMGET', L.queue(root, g.q), 'gen', 'hx', 'w', 'ret')

    if s[1] ~= g.gen then
        return
    end

    g.flight = L.flight(root, g.q, g.gen)
    g.state = L.state(root, g.q, g.gen)
    g.wait = s[3] == '1'
    g.full = call('ZCARD', g.flight) >= L.CAP

    local at, states = g.at, call('HMGET', g.state, unpack(g.ids, 1, g.n))
    local cutoff = now >= tonumber(s[2]) and now - s[4] * 1000
    local token, prefix, length

    for i = 1, g.n do
        local state = states[i]

        if state then
            local given = args[at[i] + 3]

            if token ~= given then
                token, prefix = given, given .. ':'
                length = #prefix
            end

            if sub(state, 1, length) ~= prefix
                or (cutoff and L.sent(g.ids[i]) <= cutoff)
            then
                states[i] = false
            end
        end
    end

    return states
end


-- Takes the second mention of a message back.
local function forget_twice(g, states, out)
    local seen = {}

    for i = 1, g.n do
        local id = g.ids[i]

        if states[i] then
            if seen[id] then
                out[(g.at[i] + 3) / 4] = 0
            end

            seen[id] = true
        end
    end
end


local function ack_group(root, g, args, now, out)
    local states = held(root, g, args, now)

    if not states then
        return
    end

    local ids, at, n, stored, later = g.ids, g.at, 0, 0, 0
    local live, raw, delayed = hset, zadd, nil     -- the tables are free here

    for i = 1, g.n do
        if states[i] then
            local id = ids[i]

            n = n + 1
            live[n] = id
            out[(at[i] + 3) / 4] = 1

            if byte(id) == 122 then
                delayed = delayed or {}
                later = later + 1
                delayed[later] = sub(id, 2)
            else
                stored = stored + 1
                raw[stored] = id
            end
        end
    end

    if n == 0 then
        return
    end

    if delayed then
        call('XLEN', L.stored(root, g.q, g.gen))    -- a key of a wrong type
        call('XDEL', L.later(root, g.q, g.gen), unpack(delayed))    -- fails
    end

    if stored > 0 then
        call('XDEL', L.stored(root, g.q, g.gen), unpack(raw, 1, stored))
    end

    if call('ZREM', g.flight, unpack(live, 1, n)) ~= n then
        forget_twice(g, states, out)
    end

    call('HDEL', g.state, unpack(live, 1, n))

    if g.full and g.wait then
        L.wake(root, g.q)
    end
end


-- ack: removes messages that were handled.
-- Keys: root.  Arguments: for each message Q G id token.  Reply: for each 1,
-- or 0 where the delivery is over (also for its second mention).
-- Cost: O(n * log in flight), with one read of each queue named.
L.register('ack', { 'allow-oom' }, function(root, args)
    if #args % 4 ~= 0 then
        return L.wrong('ack')
    end

    local now = L.now()
    local out = { nil, nil, nil, nil, nil, nil, nil, nil, nil, nil }

    for i = 1, #args / 4 do
        out[i] = 0
    end

    local list = group(args, 4)

    for i = 1, #list do
        ack_group(root, list[i], args, now, out)
    end

    return out
end)


local function move_group(root, g, args, now, out)
    local states = held(root, g, args, now)

    if not states then
        return
    end

    local moves, k = { g.flight, 'XX' }, 2
    local old = g.wait and call('ZMSCORE', g.flight, unpack(g.ids, 1, g.n))
    local earlier = false

    for i = 1, g.n do
        if states[i] then
            local last = match(states[i], ':(%d+)$')
            local moment = min(now + args[g.at[i] + 4] * 1000, last + L.HOLD)

            moves[k + 1], moves[k + 2] = L.text(moment), g.ids[i]
            k = k + 2
            out[(g.at[i] + 4) / 5] = 1

            if old and moment < (tonumber(old[i]) or 0) then
                earlier = true
            end
        end
    end

    if k > 2 then
        call('ZADD', unpack(moves))
    end

    if earlier then
        L.wake(root, g.q)
    end
end


-- visibility: moves the end of deliveries to vt seconds from now, but at most
-- 12 hours from the receive; 0 makes a message visible at once.
-- Keys: root.  Arguments: for each message Q G id token vt.  Reply: for each
-- 1, or 0 where the delivery is over.
-- Cost: O(n * log in flight), with one read of each queue named.
L.register('visibility', { 'allow-oom' }, function(root, args)
    if #args % 5 ~= 0 then
        return L.wrong('visibility')
    end

    local out, now = {}, L.now()

    for i = 1, #args / 5 do
        if not tonumber(args[i * 5]) then
            return L.wrong('visibility')
        end

        out[i] = 0
    end

    for _, g in ipairs(group(args, 5)) do
        move_group(root, g, args, now, out)
    end

    return out
end)


-- undo: gives back what a receive took and nobody got: visible at once, and
-- as if it had not been received.
-- Keys: root.  Arguments: Q G token, then ids.  Reply: how many were given
-- back: those still held with this token.
-- Cost: O(n * log in flight).
L.register('undo', { 'allow-oom' }, function(root, args)
    local q, gen, token = args[1], args[2], args[3]

    if not token then
        return L.wrong('undo')
    end

    local s = call('HMGET', L.queue(root, q), 'gen', 'w')

    if s[1] ~= gen or #args == 3 then
        return 0
    end

    local flight, key = L.flight(root, q, gen), L.state(root, q, gen)
    local states = call('HMGET', key, unpack(args, 4))
    local now = L.text(L.now())
    local hset, zadd, seen, n = { key }, { flight }, {}, 0

    for i = 1, #states do
        local id = args[i + 3]
        local by, count, first, last = match(states[i] or '',
                                             '^(%d+):(%d+):(%d+):(%d+)$')

        if by == token and not seen[id] then
            count = count - 1
            n, seen[id] = n + 1, true
            hset[n * 2] = id
            hset[n * 2 + 1] = '-:' .. count .. ':' .. (count > 0 and first or 0)
                              .. ':' .. last
            zadd[n * 2], zadd[n * 2 + 1] = now, id
        end
    end

    if n > 0 then
        call('ZCARD', flight)               -- a key of a wrong type fails here
        call('HSET', unpack(hset))
        call('ZADD', unpack(zadd))

        if s[2] == '1' then
            L.wake(root, q)
        end
    end

    return n
end)
