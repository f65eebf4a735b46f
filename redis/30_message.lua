-- Messages of standard queues: send, and the removal of those that outlived
-- their retention.


-- Removes messages with all that points to them.  ids are message ids, raw
-- the same as ids of the stream's entries: they differ for delayed ones.
function L.drop(root, q, gen, stream, ids, raw)
    call('XDEL', stream, unpack(raw))
    call('ZREM', L.flight(root, q, gen), unpack(ids))
    call('HDEL', L.state(root, q, gen), unpack(ids))

    if ids[1] ~= raw[1] then
        call('ZREM', L.due(root, q, gen), unpack(ids))
    end
end


-- Removes up to left messages from the front of a stream that were sent at
-- the moment cutoff or before.  Returns how many may still be removed, and
-- when the first message that stays was sent, if it came so far.
function L.sweep_stream(root, q, gen, stream, prefix, cutoff, left)
    local bytes = 0

    -- in tens and up to 4 MiB, since bodies are read with the ids
    while left > 0 and bytes < 4194304 do
        local count = min(left, 10)
        local entries = call('XRANGE', stream, '-', '+', 'COUNT', count)
        local ids, raw, stays = {}, {}, nil

        for i = 1, #entries do
            local id = entries[i][1]

            stays = L.sent(id)
            if stays <= cutoff then
                raw[i], ids[i], stays = id, prefix .. id, nil
                bytes = bytes + #entries[i][2][2]
            else
                break
            end
        end

        if ids[1] then
            L.drop(root, q, gen, stream, ids, raw)
            left = left - #ids
        end

        if stays or #entries < count then
            return left, stays
        end
    end

    return 0
end


-- Removes up to limit messages that outlived their retention, and up to 1,000
-- at once where whole nodes of the stream go.  Returns true and sets hx when
-- no such message is left; else hx stays, so that the next call goes on.
function L.sweep(root, q, gen, now, ret, limit)
    local stored, later = L.stored(root, q, gen), L.later(root, q, gen)
    local cutoff = now - ret * 1000
    local left, a, b = limit, nil, nil

    if call('ZCARD', L.flight(root, q, gen)) == 0 then
        left = left - call('XTRIM', stored, 'MINID', '~', L.text(cutoff + 1),
                           'LIMIT', '1000')
    end

    left, a = L.sweep_stream(root, q, gen, stored, '', cutoff, left)
    left, b = L.sweep_stream(root, q, gen, later, 'z', cutoff, left)

    if left <= 0 then
        return false
    end

    call('HSET', L.queue(root, q), 'hx',
         L.text(min(a or now, b or now) + ret * 1000))

    return true
end


-- send: stores messages, all or none.
-- Keys: root.  Arguments: ref n, then for each message: delay in seconds
-- (empty: the queue's), decoded length of the body, body, attributes (empty:
-- none).  Reply: Q, G, then n message ids.  Errors: NOQUEUE; TOOBIG index
-- limit.
-- Cost: O(n), and O(log delayed) for each delayed one.
local function read_send(key)
    return call('HMGET', key, 'gen', 'id', 'w', 'max', 'delay', 'floor')
end


-- How to let Redis choose ids above the floor of a purge even where the
-- clock went back.
local function send_id(stream, low, now)
    local least = max(low + 1, now)

    if call('EXISTS', stream) == 1 and L.parts(L.last(stream, '0-0')) > least
    then
        return '*'
    end

    return L.text(least) .. '-*'
end


L.register('send', {}, function(root, args)
    local q, s = L.find(root, args[1] or '', read_send)

    if not q then
        return L.noqueue()
    end

    local n, limit = #args, tonumber(s[4])

    if n < 6 or n ~= 2 + 4 * (tonumber(args[2]) or 0) then
        return L.wrong('send')
    end

    local delayed = false

    for i = 3, n, 4 do
        if tonumber(args[i + 1]) > limit then
            return L.err('TOOBIG', format('%d %d', (i - 3) / 4, limit))
        end

        if args[i] == '' then
            args[i] = s[5]
        end

        if args[i] ~= '0' then
            delayed = true

            if not tonumber(args[i]) then
                return L.wrong('send')
            end
        end
    end

    local gen = s[1]
    local stored, later = L.stored(root, q, gen), nil
    local now, stored_id, later_id, due = nil, '*', '*', nil

    if delayed then
        now = L.now()
        later, due = L.later(root, q, gen), { L.due(root, q, gen) }
        call('XLEN', stored)                -- keys of a wrong type fail here
        call('XLEN', later)
        call('ZCARD', due[1])
    end

    if s[6] ~= '0-0' then
        local low = L.parts(s[6])

        -- a second more, since XADD may use a clock frozen a little earlier
        now = now or L.now()
        if now <= low + 1000 then
            stored_id = send_id(stored, low, now)
            later_id = delayed and send_id(later, low, now)
        end
    end

    local out = { q, tonumber(gen), nil }

    for i = 3, n, 4 do
        local delay, key, id = args[i], stored, stored_id
        local body, attributes = args[i + 2], args[i + 3]

        if delay ~= '0' then
            key, id = later, later_id
        end

        if attributes == '' then
            id = call('XADD', key, id, 'b', body)
        else
            id = call('XADD', key, id, 'b', body, 'a', attributes)
        end

        if delay ~= '0' then
            id = 'z' .. id
            due[#due + 1] = L.text(now + delay * 1000)
            due[#due + 1] = id
        end

        out[2 + (i + 1) / 4] = id
    end

    if delayed then
        call('ZADD', unpack(due))
    end

    if s[3] == '1' then
        L.wake(root, q)
    end

    return out
end)
