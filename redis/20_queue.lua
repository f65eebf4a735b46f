-- Queues: create, get, list, update, purge, delete.

function L.read_settings(key)
    return call('HMGET', key, 'v', 'id', 'name', 'kind', 'vt', 'wait', 'ret',
                'delay', 'max', 'cbd', 'dlq', 'mrc', 'ct', 'ut')
end


-- The plan and the settings of a queue, or nothing.
function L.find_settings(root, ref)
    local p = L.find(root, ref or '', L.read_plan)
    local s = p and L.read_settings(L.queue(root, p.q))

    if s and s[1] then
        return p, s
    end
end


-- Appends the 14 elements of a settings reply.  The dead-letter queue is told
-- by its UUID.
function L.settings(out, root, q, s)
    local n = #out

    out[n + 1], out[n + 2], out[n + 3], out[n + 4] = q, s[2], s[3], s[4]

    for i = 5, 14 do
        out[n + i] = tonumber(s[i]) or 0
    end

    out[n + 11] = s[11] ~= '' and call('HGET', L.queue(root, s[11]), 'id')
                  or ''

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
    call('UNLINK', unpack(p.keys))
end


-- What a hot hash has for a generation without messages.
function L.reset(p_hot, s)
    call('HSET', p_hot, 's', s, 'cur', '0-0', 't', '0', 'nb', '0', 'nf', '0',
         'hx', '0', 'n', '0')
    call('HDEL', p_hot, 'ex', 'dl', 'dropped', 'rd', 'in')
end


-- The dead-letter queue that a reference means, for a queue of this id and
-- kind: its id, '' for none; or nothing and an error.
local function dead_letters(root, ref, q, kind)
    if ref == '' then
        return ''
    end

    local p = L.find(root, ref, L.read_plan)

    if not p then
        return nil, L.err('NODLQ', 'no such dead-letter queue')
    end

    if p.q == q then
        return nil, L.err('DLQSELF', 'a queue cannot be its own')
    end

    if p.fifo ~= (kind == 'fifo') then
        return nil, L.err('DLQKIND', 'the dead-letter queue is of another kind')
    end

    return p.q
end


-- What a call was answered that had this key, as strings; or nothing, and an
-- error where the call was another one.
function L.answered(root, key, hash)
    local text = key and call('GET', L.once(root, key))

    if not text then
        return
    end

    local out = {}

    for part in gmatch(text, '([^\n]*)\n') do
        out[#out + 1] = part
    end

    if out[1] ~= hash then
        return nil, L.err('CONFLICT', 'another call had this key')
    end

    return { unpack(out, 2) }
end


-- The reply that a queue_create had, or an error.
local function created(root, key, hash)
    local out, failed = L.answered(root, key, hash)

    for i = 5, out and #out or 0 do
        out[i] = i ~= 11 and tonumber(out[i]) or out[i]
    end

    return out or failed
end


-- queue_create: makes a queue.
-- Keys: root.  Arguments: Q id name kind vt wait ret delay max cbd dlq mrc;
-- dlq is a reference, or empty.  Two more where the call may come again: a
-- key, and the hash of what is asked for.  Reply: settings, those of the first
-- answer for 24 hours where the key and hash are the same.  Errors: EXISTS
-- (the name), IDTAKEN (Q is in use), NODLQ, DLQKIND, CONFLICT (the key is the
-- same, the hash not).
-- Cost: O(log queues).
L.register('queue_create', {}, function(root, args)
    local q, name, kind, key = args[1], args[3], args[4], args[13]

    if (#args ~= 12 and #args ~= 14) or find(q .. args[2], ':', 1, true)
        or (kind ~= 'standard' and kind ~= 'fifo')
    then
        return L.wrong('queue_create')
    end

    for i = 5, 12 do
        if i ~= 11 and not tonumber(args[i]) then
            return L.wrong('queue_create')
        end
    end

    local before = created(root, key, args[14])
    if before then
        return before
    end

    if call('HEXISTS', L.names(root), name) == 1 then
        return L.err('EXISTS', 'a queue of this name exists')
    end

    if call('EXISTS', L.queue(root, q), L.hot(root, q)) > 0 then
        return L.err('IDTAKEN', 'a queue with this id exists')
    end

    local dlq, failed = dead_letters(root, args[11], q, kind)
    if failed then
        return failed
    end

    call('ZCARD', L.listing(root))          -- keys of a wrong type fail here
    call('HLEN', L.sources(root))

    local now = L.text(floor(L.now() / 1000))
    local s = { L.SCHEMA, args[2], name, kind, args[5], args[6], args[7],
                args[8], args[9], args[10], dlq, args[12], now, now }

    call('HSET', L.queue(root, q), 'v', s[1], 'id', s[2], 'name', name,
         'kind', kind, 'vt', s[5], 'wait', s[6], 'ret', s[7], 'delay', s[8],
         'max', s[9], 'cbd', s[10], 'dlq', dlq, 'mrc', s[12], 'ct', now,
         'ut', now)
    L.reset(L.hot(root, q), L.pack('0', q, '1', '0-0', s))
    call('HSET', L.names(root), name, q)
    call('ZADD', L.listing(root), '0', name)
    L.refer(root, q, dlq, 1)

    local out = L.settings({}, root, q, s)

    if key then
        call('SET', L.once(root, key), args[14] .. '\n' .. concat(out, '\n')
             .. '\n', 'EX', '86400')
    end

    return out
end)


-- queue_get: the settings of a queue.
-- Keys: root.  Arguments: ref.  Reply: settings.  Errors: NOQUEUE.
-- Cost: O(1).
L.register('queue_get', { 'no-writes' }, function(root, args)
    local p, s = L.find_settings(root, args[1])

    if not p then
        return L.noqueue()
    end

    return L.settings({}, root, p.q, s)
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
            L.settings(out, root, q, L.read_settings(L.queue(root, q)))
        end
    end

    return out
end)


-- Where the fields of an update stand in what L.read_settings() returns.
local PLACES = { vt = 5, wait = 6, ret = 7, delay = 8, max = 9, cbd = 10,
                 dlq = 11, mrc = 12 }


-- queue_update: changes settings.
-- Keys: root.  Arguments: ref, then pairs of a field (vt wait ret delay max
-- cbd dlq mrc) and its value; that of dlq is a reference, or empty.  Reply:
-- settings.  Errors: NOQUEUE, NODLQ, DLQKIND, DLQSELF, NOTFIFO (content-based
-- deduplication is for FIFO queues).
-- Cost: O(fields).
L.register('queue_update', {}, function(root, args)
    local p, s = L.find_settings(root, args[1])

    if not p then
        return L.noqueue()
    end

    if #args % 2 == 0 then
        return L.wrong('queue_update')
    end

    local write, new = { L.queue(root, p.q) }, {}

    for i = 1, 14 do
        new[i] = s[i]
    end

    for i = 2, #args, 2 do
        local field, value, failed = args[i], args[i + 1], nil

        if not PLACES[field]
            or not (field == 'dlq' or tonumber(value))
        then
            return L.wrong('queue_update')
        end

        if field == 'dlq' then
            value, failed = dead_letters(root, value, p.q, s[4])
            if failed then
                return failed
            end
        end

        if field == 'cbd' and value == '1' and not p.fifo then
            return L.err('NOTFIFO', 'only FIFO queues deduplicate')
        end

        new[PLACES[field]] = value
        write[i], write[i + 1] = field, value
    end

    local now = L.now()

    new[14] = L.text(floor(now / 1000))
    write[#write + 1] = 'ut'
    write[#write + 1] = new[14]

    call('HLEN', L.sources(root))           -- keys of a wrong type fail here
    call('ZCARD', L.agenda(root))
    call('HSET', unpack(write))
    call('HSET', p.hot, 's', L.pack(sub(p.s, 1, 1), p.q, p.gen, p.low or '0-0',
                                    new))

    if new[11] ~= s[11] then
        L.refer(root, p.q, s[11], -1)
        L.refer(root, p.q, new[11], 1)
    end

    -- a longer retention may make receivable what was given up before; a
    -- shorter one, and fewer receives, may end what was kept
    if new[7] ~= s[7] or new[11] ~= s[11] or new[12] ~= s[12] then
        call('HSET', p.hot, 't', '0', 'hx', '0')
        L.due(p, now)
        L.wake(L.plan(root, call('HGET', p.hot, 's')))
    end

    return L.settings({}, root, p.q, new)
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
    local p, s = L.find_settings(root, args[1])

    if not p then
        return L.noqueue()
    end

    local low = p.low or '0-0'

    if not p.fifo then
        low = L.last(p.z, L.last(p.m, low))
    end

    L.reset(p.hot, L.pack(sub(p.s, 1, 1), p.q, L.text(p.gen + 1), low, s))
    L.unlink(p)

    return 1
end)


-- queue_delete: removes a queue with all it has, and tells its waiters.
-- Keys: root.  Arguments: ref.  Reply: 1; where it had a subscription, 1 and how
-- many subscriptions of the project are active now.  Errors: NOQUEUE; INUSE (it
-- is another one's dead-letter queue).
-- Cost: O(log queues); the memory is freed in the background.
L.register('queue_delete', { 'allow-oom' }, function(root, args)
    local p, s = L.find_settings(root, args[1])

    if not p then
        return L.noqueue()
    end

    local q = p.q

    if call('HEXISTS', L.sources(root), q) == 1 then
        return L.err('INUSE', 'another queue has it as dead-letter queue')
    end

    call('HLEN', L.names(root))             -- keys of a wrong type fail here
    call('ZCARD', L.agenda(root))

    local subscription = L.subscription_of(root, q)

    call('ZREM', L.listing(root), s[3])
    call('ZREM', L.agenda(root), q)
    call('HDEL', L.names(root), s[3])
    L.refer(root, q, s[11], -1)
    L.unlink(p)

    if p.fifo then
        L.forget(p)
    end

    call('UNLINK', L.queue(root, q), p.hot)
    L.hint(root, q)

    return subscription and { 1, L.unsubscribe(root, subscription) } or 1
end)
