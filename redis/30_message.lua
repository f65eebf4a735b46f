-- Messages of standard queues: send, and the removal of those that outlived
-- their retention.


-- Removes messages with all that points to them, but batches.  ids are message
-- ids, raw the same as ids of the stream's entries: they differ for delayed
-- ones.  Returns how many there were.
function L.drop(p, stream, ids, raw)
    local n = call('XDEL', stream, unpack(raw))

    call('ZREM', p.f, unpack(ids))
    call('HDEL', p.d, unpack(ids))

    if stream == p.z then
        call('ZREM', p.y, unpack(ids))
    end

    return n
end


-- Whether one of these messages of m is in a batch: received and not in d.
local function hidden(p, ids, cur)
    local states = call('HMGET', p.d, unpack(ids))

    for i = 1, #ids do
        if not states[i] and not L.after(ids[i], cur) then
            return true
        end
    end

    return false
end


-- Removes up to left messages from the front of a stream that were sent at
-- the moment cutoff or before.  Returns how many may still be removed, and
-- when the first message that stays was sent, if it came so far.  cur is set
-- where some of them may be in batches: these are taken apart until none is,
-- the earliest to end first, which counts like removals.  gone.n counts them.
local function sweep_stream(p, stream, prefix, cutoff, left, cur, gone)
    local first = true

    -- a few at once, since bodies are read with the ids
    while left > 0 and (first or not L.spent()) do
        local count = min(left, L.few(p))
        local entries = call('XRANGE', stream, '-', '+', 'COUNT', count)
        local ids, raw, stays = {}, {}, nil

        first = false

        for i = 1, #entries do
            local id = entries[i][1]

            stays = L.sent(id)
            if stays <= cutoff then
                raw[i], ids[i], stays = id, prefix .. id, nil
                L.spend(#entries[i][2][2])
            else
                break
            end
        end

        if ids[1] then
            while cur and hidden(p, ids, cur) do
                local n = L.explode_ended(p, '+inf', 10)

                left = left - n
                if left <= 0 then
                    return 0
                end

                if n == 0 then
                    cur = nil
                end
            end

            gone.n = gone.n + L.drop(p, stream, ids, raw)
            left = left - #ids
        end

        if stays or #entries < count then
            return left, stays
        end
    end

    return 0
end


-- Keys of a wrong type fail here.
function L.can_drop(p)
    call('XLEN', p.m)
    call('XLEN', p.z)
    call('HLEN', p.d)
    call('ZCARD', p.f)
    call('ZCARD', p.y)
end


-- Removes up to limit messages that outlived their retention, and up to 1,000
-- at once where whole nodes of the stream go.  Returns true and sets hx when
-- no such message is left; else hx stays, so that the next call goes on.
function L.sweep(p, now, limit)
    local cutoff = now - p.ret
    local left, gone, a, b = limit, { n = 0 }, nil, nil

    L.can_drop(p)

    local h = call('HMGET', p.hot, 'cur', 'nb')
    local batches = h[2] ~= '0'

    if not batches and call('ZCARD', p.f) == 0 then
        gone.n = call('XTRIM', p.m, 'MINID', '~', L.text(cutoff + 1), 'LIMIT',
                      '1000')
        left = left - gone.n
    end

    left, a = sweep_stream(p, p.m, '', cutoff, left, batches and h[1], gone)
    left, b = sweep_stream(p, p.z, 'z', cutoff, left, nil, gone)
    L.lose(p, 'ex', gone.n)

    -- there may be room again under the cap; w stays as whoever called us has
    -- read it
    if left < limit and p.waits then
        L.hint(p.root, p.q)
    end

    if left <= 0 then
        return false
    end

    call('HSET', p.hot, 'hx', L.text(min(a or now, b or now) + p.ret))

    return true
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


-- While the clock is not past the floor of a purge, the floor (ms).  A second
-- more, since XADD may use a clock frozen a little earlier.
local function floor_of(p, now)
    local low = L.parts(p.low)
    return now <= low + 1000 and low or nil
end


-- Stores messages: list has delay, body, attributes for each.  Returns their
-- ids, separated by blanks.
local function store(p, list)
    local now, delayed, t = L.now(), false, nil
    local m_id, z_id, due = '*', '*', nil

    for i = 1, #list, 3 do
        if list[i] ~= '0' then
            delayed = true
        end
    end

    if delayed then
        due = { p.y }
        t = call('HGET', p.hot, 't')
        call('XLEN', p.m)                   -- keys of a wrong type fail here
        call('XLEN', p.z)
        call('ZCARD', p.y)
    end

    local low = p.low and floor_of(p, now)
    if low then
        m_id = send_id(p.m, low, now)
        z_id = delayed and send_id(p.z, low, now)
    end

    local ids, first = {}, nil

    for i = 1, #list, 3 do
        local delay, body, attributes = list[i], list[i + 1], list[i + 2]
        local key, id = p.m, m_id

        if delay ~= '0' then
            key, id = p.z, z_id
        end

        if attributes == '' then
            id = call('XADD', key, id, 'b', body)
        else
            id = call('XADD', key, id, 'b', body, 'a', attributes)
        end

        if delay ~= '0' then
            local moment = now + delay * 1000

            id = 'z' .. id
            first = min(first or moment, moment)
            due[#due + 1] = L.text(moment)
            due[#due + 1] = id
        end

        ids[#ids + 1] = id
    end

    if delayed then
        call('ZADD', unpack(due))

        L.ends(p, t, first)
    end

    return concat(ids, ' ')
end


-- Adds a message that comes from another queue to the end of m.
function L.put(p, now, body, attributes, origin)
    local low = p.low and floor_of(p, now)
    local id = low and send_id(p.m, low, now) or '*'

    if attributes == '' then
        return call('XADD', p.m, id, 'b', body, 'o', origin)
    end

    return call('XADD', p.m, id, 'b', body, 'a', attributes, 'o', origin)
end


function L.too_big(p)
    return L.err('TOOBIG', format('%d', p.limit))
end


function L.is_fifo()
    return L.err('ISFIFO', 'the messages of a FIFO queue need a group')
end


-- send: stores messages, all or none, that have the delay of the queue and no
-- attributes.
-- Keys: root.  Arguments: ref, the longest decoded length of a body, then
-- bodies.  Reply: one string, "Q G id id ...".  Errors: NOQUEUE; TOOBIG limit;
-- ISFIFO.
-- Cost: O(n), and O(log delayed) for each delayed one.
local sent = {}

L.register('send', {}, function(root, args)
    local p = L.find(root, args[1] or '', L.read_plan)

    if not p then
        return L.noqueue()
    end

    if p.fifo then
        return L.is_fifo()
    end

    local n, longest = #args, tonumber(args[2])
    local ids

    if n < 3 or not longest then
        return L.wrong('send')
    end

    if longest > p.limit then
        return L.too_big(p)
    end

    if p.delay ~= '0' or (p.low and floor_of(p, L.now())) then
        local list = {}

        for i = 3, n do
            local k = #list
            list[k + 1], list[k + 2], list[k + 3] = p.delay, args[i], ''
        end

        ids = store(p, list)

    elseif n == 3 then
        ids = call('XADD', p.m, '*', 'b', args[3])

    else
        local m = p.m

        for i = 3, n do
            sent[i] = call('XADD', m, '*', 'b', args[i])
        end

        ids = concat(sent, ' ', 3, n)
    end

    if not p.due then
        L.stocked(p, L.now())
    end

    L.wake(p)

    return p.head .. ids
end)


-- send_each: the same with a delay and attributes for each.
-- Keys: root.  Arguments: ref, the longest decoded length of a body, then for
-- each message: delay in seconds (empty: the queue's), body, attributes
-- (empty: none).  Reply, errors, cost: as of send.
L.register('send_each', {}, function(root, args)
    local p = L.find(root, args[1] or '', L.read_plan)

    if not p then
        return L.noqueue()
    end

    if p.fifo then
        return L.is_fifo()
    end

    local n, longest = #args, tonumber(args[2])

    if n < 5 or (n - 2) % 3 ~= 0 or not longest then
        return L.wrong('send_each')
    end

    local list = {}

    for i = 3, n, 3 do
        local delay = args[i] == '' and p.delay or args[i]

        if not tonumber(delay) then
            return L.wrong('send_each')
        end

        list[i - 2], list[i - 1], list[i] = delay, args[i + 1], args[i + 2]
    end

    if longest > p.limit then
        return L.too_big(p)
    end

    local ids = store(p, list)

    if not p.due then
        L.stocked(p, L.now())
    end

    L.wake(p)

    return p.head .. ids
end)
