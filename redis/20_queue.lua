-- Queues: create, get, count, list, update, purge, delete.

-- The fields that an update may change.
L.SETTINGS = { vt = true, wait = true, ret = true, delay = true, max = true,
               cbd = true, dlq = true, mrc = true }


function L.read_settings(key)
    return call('HMGET', key, 'gen', 'id', 'name', 'kind', 'vt', 'wait', 'ret',
                'delay', 'max', 'cbd', 'dlq', 'mrc', 'ct', 'ut', 'hx', 'w',
                'floor')
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


function L.unlink(root, q, gen)
    call('UNLINK', L.stored(root, q, gen), L.later(root, q, gen),
         L.due(root, q, gen), L.flight(root, q, gen), L.state(root, q, gen))
end


-- queue_create: makes a queue.
-- Keys: root.  Arguments: Q id name kind vt wait ret delay max cbd dlq mrc.
-- Reply: settings.  Errors: EXISTS (the name), IDTAKEN (Q is in use).
-- Cost: O(log queues).
L.register('queue_create', {}, function(root, args)
    local q, name = args[1], args[3]

    if #args ~= 12 then
        return L.wrong('queue_create')
    end

    if call('HEXISTS', L.names(root), name) == 1 then
        return L.err('EXISTS', 'a queue of this name exists')
    end

    if call('EXISTS', L.queue(root, q)) == 1 then
        return L.err('IDTAKEN', 'a queue with this id exists')
    end

    call('ZCARD', L.listing(root))          -- a key of a wrong type fails here
    call('HLEN', L.sources(root))

    local now = L.text(floor(L.now() / 1000))

    -- what is read most stands first: a small hash is searched in order
    call('HSET', L.queue(root, q), 'gen', '1', 'id', args[2], 'cur', '0-0',
         'hx', '0', 'w', '0', 'max', args[9], 'delay', args[8],
         'floor', '0-0', 'vt', args[5], 'wait', args[6], 'ret', args[7],
         'name', name, 'kind', args[4], 'cbd', args[10], 'dlq', args[11],
         'mrc', args[12], 'ct', now, 'ut', now, 'v', L.SCHEMA)
    call('HSET', L.names(root), name, q)
    call('ZADD', L.listing(root), '0', name)
    L.refer(root, q, args[11], 1)

    return L.settings({}, q, L.read_settings(L.queue(root, q)))
end)


-- queue_get: the settings of a queue.
-- Keys: root.  Arguments: ref.  Reply: settings.  Errors: NOQUEUE.
-- Cost: O(1).
L.register('queue_get', { 'no-writes' }, function(root, args)
    local q, s = L.find(root, args[1] or '', L.read_settings)

    if not q then
        return L.noqueue()
    end

    return L.settings({}, q, s)
end)


-- queue_count: the settings of a queue and how many messages it has.
-- Keys: root.  Arguments: ref.  Reply: settings, more, visible, inFlight,
-- delayed, oldestAgeSeconds (-1: no message).  At most 1,000 messages that
-- outlived their retention are removed first; more is 1 where some may be
-- left.  Errors: NOQUEUE.
-- Cost: O(log in flight + log delayed), and O(log) for each removed message.
L.register('queue_count', { 'allow-oom' }, function(root, args)
    local q, s = L.find(root, args[1] or '', L.read_settings)

    if not q then
        return L.noqueue()
    end

    local now, gen = L.now(), s[1]
    local more = 0

    if now >= tonumber(s[15])
        and not L.sweep(root, q, gen, now, tonumber(s[7]), 1000)
    then
        more = 1
    end

    local stored, later = L.stored(root, q, gen), L.later(root, q, gen)
    local after = '(' .. L.text(now)
    local flying = call('ZCOUNT', L.flight(root, q, gen), after, '+inf')
    local delayed = call('ZCOUNT', L.due(root, q, gen), after, '+inf')
    local total = call('XLEN', stored) + call('XLEN', later)

    local oldest
    for _, key in ipairs({ stored, later }) do
        local head = call('XRANGE', key, '-', '+', 'COUNT', '1')[1]
        if head then
            local sent = L.sent(head[1])
            oldest = min(oldest or sent, sent)
        end
    end

    local out = L.settings({}, q, s)

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
    local q, s = L.find(root, args[1] or '', L.read_settings)

    if not q then
        return L.noqueue()
    end

    if #args % 2 == 0 then
        return L.wrong('queue_update')
    end

    local write, ret, dlq = { L.queue(root, q) }, nil, nil

    for i = 2, #args, 2 do
        local field, value = args[i], args[i + 1]

        if not L.SETTINGS[field] then
            return L.wrong('queue_update')
        end

        if field == 'ret' then
            ret = value
        elseif field == 'dlq' then
            dlq = value
        end

        write[i], write[i + 1] = field, value
    end

    write[#write + 1] = 'ut'
    write[#write + 1] = L.text(floor(L.now() / 1000))

    if ret and ret ~= s[7] then
        write[#write + 1] = 'hx'
        write[#write + 1] = '0'
    end

    call('HLEN', L.sources(root))           -- a key of a wrong type fails here
    call('HSET', unpack(write))

    if dlq and dlq ~= s[11] then
        L.refer(root, q, s[11], -1)
        L.refer(root, q, dlq, 1)
    end

    -- a longer retention may make receivable what was given up before
    if ret and ret ~= s[7] and s[16] == '1' then
        L.wake(root, q)
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
            local ams, aseq = L.parts(info[i + 1])
            local bms, bseq = L.parts(id)

            if ams > bms or (ams == bms and aseq > bseq) then
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
    local q, s = L.find(root, args[1] or '', L.read_settings)

    if not q then
        return L.noqueue()
    end

    local gen = s[1]
    local low = L.last(L.stored(root, q, gen), s[17])

    low = L.last(L.later(root, q, gen), low)

    call('HSET', L.queue(root, q), 'gen', L.text(gen + 1), 'cur', '0-0',
         'hx', '0', 'floor', low)
    L.unlink(root, q, gen)

    return 1
end)


-- queue_delete: removes a queue with all it has, and tells its waiters.
-- Keys: root.  Arguments: ref.  Reply: 1.  Errors: NOQUEUE; INUSE (it is
-- another one's dead-letter queue).
-- Cost: O(log queues); the memory is freed in the background.
L.register('queue_delete', { 'allow-oom' }, function(root, args)
    local q, s = L.find(root, args[1] or '', L.read_settings)

    if not q then
        return L.noqueue()
    end

    if call('HEXISTS', L.sources(root), q) == 1 then
        return L.err('INUSE', 'another queue has it as dead-letter queue')
    end

    call('ZREM', L.listing(root), s[3])
    call('HDEL', L.names(root), s[3])
    L.refer(root, q, s[11], -1)
    L.unlink(root, q, s[1])
    call('UNLINK', L.queue(root, q))
    L.hint(root, q)

    return 1
end)
