-- What a receive took and nobody got is given back.


-- Gives messages back, for undo, whose reply it is.
function L.undo(root, q, gen, token, ids, now)
    local p, h = L.open(root, q, gen, now)

    if not p or not ids[1] then
        return 0
    end

    if p.fifo then
        return L.undo_fifo(p, h, token, ids, now)
    end

    local record = h[4] ~= '0' and call('HGET', p.e, token)

    if record then
        L.explode(p, token, record)
    end

    local states, text = call('HMGET', p.d, unpack(ids)), L.text(now)
    local back, moments, seen, n = { p.d }, { p.f }, {}, 0

    for i = 1, #states do
        local id = ids[i]
        local by, count, first, last = match(states[i] or '',
                                             '^(%d+):(%d+):(%d+):(%d+)$')

        if by == token and not seen[id] then
            count = count - 1
            n, seen[id] = n + 1, true
            back[n * 2] = id
            back[n * 2 + 1] = '-:' .. count .. ':' .. (count > 0 and first or 0)
                              .. ':' .. last
            moments[n * 2], moments[n * 2 + 1] = text, id
        end
    end

    if n > 0 then
        call('ZCARD', p.f)                  -- a key of a wrong type fails here
        call('HSET', unpack(back))
        call('ZADD', unpack(moments))

        L.ends(p, h[3], now)
        L.wake(p)
    end

    return n
end


-- undo: gives back what a receive took and nobody got: visible at once, and
-- as if it had not been received.
-- Keys: root.  Arguments: Q G token, then ids.  Reply: how many were given
-- back: those still held with this token.
-- Cost: O(n * log in flight).
L.register('undo', { 'allow-oom' }, function(root, args)
    local token = args[3]

    if not token then
        return L.wrong('undo')
    end

    L.subs = true

    return L.undo(root, args[1], args[2], token, { unpack(args, 4) }, L.now())
end)
