-- Queues: create, get, count, list, update, purge, delete.

-- The fields that an update may change.
L.SETTINGS = { vt = true, wait = true, ret = true, delay = true, max = true,
               cbd = true, dlq = true, mrc = true }


function L.read_settings(key)
    return call('HMGET', key, 'v', 'id', 'name', 'kind', 'vt', 'wait', 'ret',
                'delay', 'max', 'cbd', 'dlq', 'mrc', 'ct', 'ut')
end


-- The plan and the settings of a queue, or nothing.
local function find_settings(root, ref)
    local p = L.find(root, ref or '', L.read_plan)
    local s = p and L.read_settings(L.queue(root, p.q))

    if s and s[1] then
        return p, s
    end
end


-- Appends the 14 elements of a settings reply.
function L.settings(out, q, s)
    local n = #out

    out[n + 1], out[n + 2], out[n + 3], out[n + 4] = q, s[2], s[3], s[4]

    for i = 5, 14 do
        out[n + i] = i == 11 and s[i] or tonumber(s[i]) or 0
    end

    return out
end


-- Counts the queues that name a queue as their dead-letter queue.
function L.refer(root, q, dlq, by)
    if dlq == '' or dlq == q then
        return
    end

    if call('HINCRBY', L.sources(root), dlq, by) <= 0 then
        call('HDEL', L.sources(root), dlq)
    end
end


function L.unlink(p)
    call('UNLINK', p.m, p.z, p.y, p.f, p.d, p.b, p.e)
end


-- queue_create: makes a queue.
-- Keys: root.  Arguments: Q id name kind vt wait ret delay max cbd dlq mrc.
-- Reply: settings.  Errors: EXISTS (the name), IDTAKEN (Q is in use).
-- Cost: O(log queues).
L.register('queue_create', {}, function(root, args)
    local q, name = args[1], args[3]

    if #args ~= 12 or find(q .. args[2], ':', 1, true) then
        return L.wrong('queue_create')
    end

    if call('HEXISTS', L.names(root), name) == 1 then
        return L.err('EXISTS', 'a queue of this name exists')
    end

    if call('EXISTS', L.queue(root, q), L.hot(root, q)) > 0 then
        return L.err('IDTAKEN', 'a queue with this id exists')
    end

    for i = 5, 9 do
        if not tonumber(args[i]) then
            return L.wrong('queue_create')
        end
    end

    call('ZCARD', L.listing(root))          -- a key of a wrong type fails here
    call('HLEN', L.sources(root))

    local now = L.text(floor(L.now() / 1000))

    call('HSET', L.queue(root, q), 'v', L.SCHEMA, 'id', args[2], 'name', name,
         'kind', args[4], 'vt', args[5], 'wait', args[6], 'ret', args[7],
         'delay', args[8], 'max', args[9], 'cbd', args[10], 'dlq', args[11],
         'mrc', args[12], 'ct', now, 'ut', now)
    call('HSET', L.hot(root, q), 's',
         L.pack('0', q, '1', '0-0', args[9], args[8], args[5], args[6],
                args[7], args[2], name),
         'cur', '0-0', 't', '0', 'nb', '0', 'nf', '0', 'hx', '0')
    call('HSET', L.names(root), name, q)
    call('ZADD', L.listing(root), '0', name)
    L.refer(root, q, args[11], 1)

    return L.settings({}, q, L.read_settings(L.queue(root, q)))
end)


-- queue_get: the settings of a queue.
-- Keys: root.  Arguments: ref.  Reply: settings.  Errors: NOQUEUE.
-- Cost: O(1).
L.register('queue_get', { 'no-writes' }, function(root, args)
    local p, s = find_settings(root, args[1])

    if not p then
        return L.noqueue()
    end

    return L.settings({}, p.q, s)
end)


-- queue_count: the settings of a queue and how many messages it has.
-- Keys: root.  Arguments: ref.  Reply: settings, more, visible, inFlight,
-- delayed, oldestAgeSeconds (-1: no message).  At most 1,000 messages that
-- outlived their retention are removed first, and about 1,000 whose batch
-- ended taken out of it; more is 1 where some may be left.  Errors: NOQUEUE.
-- Cost: O(log in flight + log delayed), and O(log) for each of those messages.
L.register('queue_count', { 'allow-oom' }, function(root, args)
    local p, s = find_settings(root, args[1])

    if not p then
        return L.noqueue()
    end

    local now, more = L.now(), 0
    local h = call('HMGET', p.hot, 'hx', 'nb')

    if now >= tonumber(h[1]) and not L.sweep(p, now, 1000) then
        more = 1
    end

    if h[2] ~= '0' and L.explode_ended(p, L.text(now), 1000) >= 1000 then
        more = 1
    end

    local after = '(' .. L.text(now)
    local flying = call('HGET', p.hot, 'nb')
                   + call('ZCOUNT', p.f, after, '+inf')
    local delayed = call('ZCOUNT', p.y, after, '+inf')
    local total = call('XLEN', p.m) + call('XLEN', p.z)

    local oldest
    for _, key in ipairs({ p.m, p.z }) do
        local head = call('XRANGE', key, '-', '+', 'COUNT', '1')[1]
        if head then
            local sent = L.sent(head[1])
            oldest = min(oldest or sent, sent)
        end
    end

    local out = L.settings({}, p.q, s)

    out[15], out[16] = more, total - flying - delayed
    out[17], out[18] = flying, delayed
    out[19] = oldest and max(0, floor((now - oldest) / 1000)) or -1

    return out
end)


-- Byte order, as in a sorted set; "<" would go by the locale.
function L.before(a, b)
    for i = 1, min(#a, #b) do
        local x, y = byte(a, i), byte(b, i)
        if x ~= y then
            return x < y
        end
    end

    return #a < #b
end


-- queue_list: queues in order of their names.
-- Keys: root.  Arguments: prefix after limit; after is the last name of the
-- page before, or empty.  Reply: more (1: there are further ones), then
-- settings of each.
-- Cost: O(log queues + limit).
L.register('queue_list', { 'no-writes' }, function(root, args)
    local prefix, after, limit = args[1], args[2], tonumber(args[3])

    if not limit then
        return L.wrong('queue_list')
    end

    limit = max(1, min(limit, L.BATCH))

    local from = '[' .. prefix
    if after ~= '' and not L.before(after, prefix) then
        from = '(' .. after
    end

    local names = call('ZRANGEBYLEX', L.listing(root), from,
                       prefix == '' and '+' or '(' .. prefix .. '\255',
                       'LIMIT', 0, limit + 1)
    local out = { #names > limit and 1 or 0 }

    for i = 1, min(#names, limit) do
        local q = call('HGET', L.names(root), names[i])
        if q then
            L.settings(out, q, L.read_settings(L.queue(root, q)))
        end
    end

    return out
end)


-- queue_update: changes settings.
-- Keys: root.  Arguments: ref, then pairs of a field (vt wait ret delay max
-- cbd dlq mrc) and its value.  Reply: settings.  Errors: NOQUEUE.
-- Cost: O(fields).
L.register('queue_update', {}, function(root, args)
    local p, s = find_settings(root, args[1])

    if not p then
        return L.noqueue()
    end

    if #args % 2 == 0 then
        return L.wrong('queue_update')
    end

    local q = p.q
    local write, new, ret, dlq = { L.queue(root, q) }, {}, nil, nil

    for i = 2, #args, 2 do
        local field, value = args[i], args[i + 1]

        if not L.SETTINGS[field]
            or not (field == 'dlq' or tonumber(value))
        then
            return L.wrong('queue_update')
        end

        new[field] = value

        if field == 'ret' then
            ret = value
        elseif field == 'dlq' then
            dlq = value
        end

        write[i], write[i + 1] = field, value
    end

    write[#write + 1] = 'ut'
    write[#write + 1] = L.text(floor(L.now() / 1000))

    call('HLEN', L.sources(root))           -- a key of a wrong type fails here
    call('HSET', unpack(write))
    call('HSET', p.hot, 's',
         L.pack(sub(p.s, 1, 1), q, p.gen, p.low or '0-0', new.max or s[9],
                new.delay or s[8], new.vt or s[5], new.wait or s[6],
                ret or s[7], s[2], s[3]))

    if dlq and dlq ~= s[11] then
        L.refer(root, q, s[11], -1)
        L.refer(root, q, dlq, 1)
    end

    -- a longer retention may make receivable what was given up before
    if ret and ret ~= s[7] then
        call('HSET', p.hot, 't', '0', 'hx', '0')
        L.wake(L.plan(root, call('HGET', p.hot, 's')))
    end

    return L.settings({}, q, L.read_settings(L.queue(root, q)))
end)


-- The larger of an id and the last one that a stream gave.
function L.last(key, id)
    if call('EXISTS', key) == 0 then
        return id
    end

    local info = call('XINFO', 'STREAM', key)

    for i = 1, #info, 2 do
        if info[i] == 'last-generated-id' then
            if L.after(info[i + 1], id) then
                return info[i + 1]
            end
        end
    end

    return id
end


-- queue_purge: drops all messages, in flight ones too.
-- Keys: root.  Arguments: ref.  Reply: 1.  Errors: NOQUEUE.
-- Cost: O(1); the memory is freed in the background.
L.register('queue_purge', { 'allow-oom' }, function(root, args)
    local p, s = find_settings(root, args[1])

    if not p then
        return L.noqueue()
    end

    local low = L.last(p.z, L.last(p.m, p.low or '0-0'))

    call('HSET', p.hot, 's',
         L.pack(sub(p.s, 1, 1), p.q, L.text(p.gen + 1), low, s[9], s[8],
                s[5], s[6], s[7], s[2], s[3]),
         'cur', '0-0', 't', '0', 'nb', '0', 'nf', '0', 'hx', '0')
    L.unlink(p)

    return 1
end)


-- queue_delete: removes a queue with all it has, and tells its waiters.
-- Keys: root.  Arguments: ref.  Reply: 1.  Errors: NOQUEUE; INUSE (it is
-- another one's dead-letter queue).
-- Cost: O(log queues); the memory is freed in the background.
L.register('queue_delete', { 'allow-oom' }, function(root, args)
    local p, s = find_settings(root, args[1])

    if not p then
        return L.noqueue()
    end

    local q = p.q

    if call('HEXISTS', L.sources(root), q) == 1 then
        return L.err('INUSE', 'another queue has it as dead-letter queue')
    end

    call('HLEN', L.names(root))             -- a key of a wrong type fails here
    call('ZREM', L.listing(root), s[3])
    call('HDEL', L.names(root), s[3])
    L.refer(root, q, s[11], -1)
    L.unlink(p)
    call('UNLINK', L.queue(root, q), p.hot)
    L.hint(root, q)

    return 1
end)
