-- Peek: messages as they are, without receiving them.

-- What is shown so far; limit messages, 4 MiB, or 1,000 that a FIFO queue looked
-- at are enough.
local function view(limit)
    return { words = {}, out = {}, left = limit, bytes = 0, seen = 0 }
end


local function enough(v)
    return v.left <= 0 or v.bytes > L.BYTES or v.seen >= L.BATCH
end


-- Shows a message unless it outlived its retention; entry, where it is read.
local function show(v, p, id, count, first, cutoff, entry)
    local delayed = byte(id) == 122
    local raw = delayed and sub(id, 2) or id

    if L.sent(id) > cutoff then
        entry = entry or call('XRANGE', delayed and p.z or p.m, raw, raw)[1]
    else
        entry = nil
    end

    if entry then
        v.words[#v.words + 1] = id .. ':' .. count .. ':' .. first
                                .. L.tell(v.out, entry[2])
        v.left, v.bytes = v.left - 1, v.bytes + #entry[2][2]
    end
end


local function show_singles(v, p, from, to, cutoff)
    local ids = call('ZRANGEBYSCORE', p.f, from, to, 'LIMIT', '0', v.left)
    local states = ids[1] and call('HMGET', p.d, unpack(ids))

    for i = 1, #ids do
        local count, first = match(states[i] or '', '^[^:]*:(%d+):(%d+):')

        if enough(v) then
            return
        end

        show(v, p, ids[i], count or '0', first or '0', cutoff)
    end
end


local function show_batches(v, p, from, to, cutoff)
    local tokens = call('ZRANGEBYSCORE', p.b, from, to, 'LIMIT', '0', v.left)

    for _, token in ipairs(tokens) do
        local moment, ids = match(call('HGET', p.e, token) or '0 ',
                                  '^(%d+) (.*)$')

        for id in gmatch(ids, '[^ ]+') do
            if enough(v) then
                return
            end

            show(v, p, id, '1', moment, cutoff)
        end
    end
end


local function show_delayed(v, p, from, to, cutoff)
    for _, id in ipairs(call('ZRANGEBYSCORE', p.y, from, to, 'LIMIT', '0',
                             v.left))
    do
        if enough(v) then
            return
        end

        show(v, p, id, '0', '0', cutoff)
    end
end


local function show_new(v, p, cutoff)
    local from = call('HGET', p.hot, 'cur')

    if L.sent(from) < cutoff then
        from = L.text(cutoff) .. '-18446744073709551615'
    end

    while not enough(v) do
        local count = min(v.left, L.few(p))
        local entries = call('XRANGE', p.m, '(' .. from, '+', 'COUNT', count)

        for _, entry in ipairs(entries) do
            if enough(v) then
                return
            end

            from = entry[1]
            show(v, p, from, '0', '0', cutoff, entry)
        end

        if #entries < count then
            return
        end
    end
end


local function peek_standard(v, p, state, now)
    local text, cutoff = L.text(now), now - p.ret
    local after = '(' .. text

    if state == 'd' then
        show_delayed(v, p, after, '+inf', cutoff)

    elseif state == 'f' then
        show_singles(v, p, after, '+inf', cutoff)
        show_batches(v, p, after, '+inf', cutoff)

    else
        show_singles(v, p, '-inf', text, cutoff)
        show_batches(v, p, '-inf', text, cutoff)
        show_delayed(v, p, '-inf', text, cutoff)
        show_new(v, p, cutoff)
    end
end


-- Whether a message of a group outlived its retention, and its value.
local function look(v, p, gid, seq, now)
    local value = call('HGET', p.u, gid .. ':' .. L.text(seq))

    v.seen, v.bytes = v.seen + 1, v.bytes + (value and #value or 0)

    return not value or L.head(value) <= now - p.ret, value
end


-- Shows a message of a group unless it outlived its retention or, where rest
-- is set, is delayed.  Returns whether it is that.
local function show_fifo(v, p, name, gid, seq, count, first, now, rest)
    local old, value = look(v, p, gid, seq, now)
    local _, _, due = L.head(value or '0-0::0::')
    local delayed = due and due > now

    if not old and not (rest and delayed) then
        v.words[#v.words + 1] = concat({ gid, L.text(seq), L.text(seq), count,
                                         first }, ':')
        v.out[#v.out + 1], v.out[#v.out + 2] = name, value
        v.left = v.left - 1
    end

    return delayed
end


-- The first message of a group from the seq on that did not outlive its
-- retention.  Those that did are the first ones.
local function young(v, p, g, seq, now)
    local a, z = seq, g.t

    if look(v, p, g.gid, a, now) then
        if look(v, p, g.gid, z, now) then
            return z + 1
        end

        while z - a > 1 do
            local middle = floor((a + z) / 2)

            if look(v, p, g.gid, middle, now) then
                a = middle
            else
                z = middle
            end
        end

        return z
    end

    return a
end


-- Messages from the seq on that nobody has received, as far as they are visible.
local function show_rest(v, p, g, seq, now)
    local since = tonumber(call('ZSCORE', p.x, g.name) or 0)

    if since <= now - p.ret and seq <= g.t and not enough(v) then
        seq = young(v, p, g, seq, now)
    end

    while seq <= g.t and not enough(v) do
        if show_fifo(v, p, g.name, g.gid, seq, '0', '0', now, true) then
            return
        end

        seq = seq + 1
    end
end


-- Messages of a group that is not in a batch: those in flight, or the others.
local function show_group(v, p, name, flying, now)
    local record = call('HGET', p.g, name)
    local g = record and L.group(name, record)

    for _, e in ipairs(g and L.received(p, g.gid) or {}) do
        if enough(v) then
            return
        end

        if (e.moment > now) == flying then
            show_fifo(v, p, name, g.gid, e.seq, e.count, e.first, now)
        end
    end

    if g and not flying then
        show_rest(v, p, g, g.h, now)
    end
end


-- Messages of the batches: those in flight, or the others of their groups.
local function show_batched(v, p, flying, now)
    local tokens = call('ZRANGE', p.b, '0', L.text(v.left - 1), 'WITHSCORES')

    for i = 1, #tokens, 2 do
        local record = call('HGET', p.e, tokens[i])
        local list, _, moment = L.groups_of(record or '0 0\n\n')
        local ended = tonumber(tokens[i + 1]) <= now

        for _, batch in ipairs(list) do
            for seq = batch.a, batch.z do
                if flying ~= ended and not enough(v) then
                    show_fifo(v, p, batch.name, batch.gid, seq, '1',
                              L.text(moment), now)
                end
            end

            if not flying and not enough(v) then
                local g = L.group(batch.name, call('HGET', p.g, batch.name))
                show_rest(v, p, g, batch.z + 1, now)
            end
        end
    end
end


local function peek_fifo(v, p, state, now)
    local places = { p.f }

    if state == 'd' then
        local list = call('ZRANGEBYSCORE', p.y, '(' .. L.text(now), '+inf',
                          'LIMIT', '0', v.left)

        for _, member in ipairs(list) do
            local gid, seq, name = match(member, '^(%d+):(%d+):(.*)$')

            if enough(v) then
                return
            end

            show_fifo(v, p, name, gid, tonumber(seq), '0', '0', now)
        end

        return
    end

    if state == 'v' then
        places = { p.o, p.k, p.f }
    end

    for _, key in ipairs(places) do
        if not enough(v) then
            for _, name in ipairs(call('ZRANGE', key, '0', L.text(v.left - 1))) do
                if enough(v) then
                    break
                end

                show_group(v, p, name, state == 'f', now)
            end
        end
    end

    if not enough(v) then
        show_batched(v, p, state == 'f', now)
    end
end


-- peek: messages in one state, up to limit or some MiB of them.
-- Keys: root.  Arguments: ref, state (v visible, f in flight, d delayed), limit
-- (up to 100).  Reply: as of receive, with count and first in all words; 0 and 0
-- for what was never received.  Errors: NOQUEUE.
-- Cost: O(limit * log in flight).
L.register('peek', { 'no-writes' }, function(root, args)
    local p = L.find(root, args[1] or '', L.read_plan)
    local limit = tonumber(args[3])

    if not p then
        return L.noqueue()
    end

    if not limit or not find(args[2], '^[vfd]$') then
        return L.wrong('peek')
    end

    local now, v = L.now(), view(max(1, min(limit, 100)))
    local show_state = p.fifo and peek_fifo or peek_standard

    show_state(v, p, args[2], now)

    local text = (p.fifo and 'f' or '') .. L.text(now)

    return { p.q, p.number, 0, -1, concat({ text, unpack(v.words) }, ' '),
             unpack(v.out) }
end)
