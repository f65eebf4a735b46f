-- Pub/Sub: snapshots.  One has what its subscription had not acknowledged when it
-- was made: a copy of its stream, in gx:N, or of the messages and groups of a FIFO
-- queue, in u, g, d and x of N:0.  What is published later comes to gx:N as well.

do
    function L.snaps_by_name(root) return root .. ':gn' end

    local function listing(root)   return root .. ':gm' end

    local LIFE = 604800000          -- ms that a snapshot lives, less the age of the
    local LEAST = 3600000           -- first message in it; and no less than that
    local MOST = 1000               -- snapshots of a topic
    local SIZE, SIZE_FIFO = 1000000, 100000     -- messages that are copied,
    local BYTES = 268435456                     -- and of their stream or hash
    local STEPS = 20                -- of a seek, which has to be through
    local FIELDS = { 'name', 't', 'expire', 'cfg', 'ver', 'kind' }


    function L.nosnap()
        return L.err('NOSNAP', 'no such snapshot')
    end


    local function read(root, n)
        local h, values = {}, call('HMGET', L.snap(root, n), unpack(FIELDS))

        for i, field in ipairs(FIELDS) do
            h[field] = values[i]
        end

        return h.name and h or nil
    end


    -- The id and the record of a snapshot, or nothing.
    function L.find_snap(root, name)
        local n = name and call('HGET', L.snaps_by_name(root), name)
        local h = n and read(root, n)

        if h then
            return n, h
        end
    end


    -- Appends the six elements that tell of a snapshot.
    local function tell(out, root, n, h)
        local topic = call('HGET', L.topic(root, h.t), 'name') or ''

        for _, value in ipairs({ n, tonumber(h.ver), h.name, topic,
                                 tonumber(h.expire), h.cfg })
        do
            out[#out + 1] = value
        end

        return out
    end


    local function keys_of(root, n)
        local keys = { L.snap_stream(root, n) }

        for letter in gmatch('ugdx', '.') do
            keys[#keys + 1] = concat({ root, letter, n, '0' }, ':')
        end

        return keys
    end


    -- When the first message of a subscription was sent that is not acknowledged, or
    -- nothing.
    local function oldest_of(p, now)
        local sent

        if p.fifo then
            sent = call('ZRANGE', p.x, '0', '0', 'WITHSCORES')[2]
        else
            local head = call('XRANGE', p.m, '-', '+', 'COUNT', '1')[1]
            sent = head and L.sent(head[1])
        end

        return sent and max(tonumber(sent), now - p.ret)
    end


    -- Whether copying the messages of a subscription would keep Redis busy for long.
    -- The bytes are an estimate by some samples.
    local function too_big(p)
        local n = tonumber(p.fifo and call('HGET', p.hot, 'n')
                           or call('XLEN', p.m))

        return n > (p.fifo and SIZE_FIFO or SIZE)
               or n > 0 and call('MEMORY', 'USAGE', p.fifo and p.u or p.m) > BYTES
    end


    -- Keys of a wrong type fail here.
    local function check(root, t)
        call('HLEN', L.snaps_by_name(root))
        call('ZCARD', listing(root))
        call('ZCARD', L.agenda(root))
        call('ZCARD', L.topic_snaps(root, t))
        call('HLEN', L.topic(root, t))
        call('HLEN', L.uses(root))
    end


    local function copy(root, n, p)
        if not p.fifo then
            call('COPY', p.m, L.snap_stream(root, n))
            return
        end

        for letter in gmatch('ugdx', '.') do
            call('COPY', p[letter], concat({ root, letter, n, '0' }, ':'))
        end
    end


    -- snap_create: keeps what a subscription has not acknowledged.
    -- Keys: root.  Arguments: N name sub cfg.  Reply: SNAP: N ver name topic expire
    -- (ms) cfg.  Errors: EXISTS, IDTAKEN, NOSUB, DETACHED, TOOOLD (it would live
    -- for less than an hour), TOOBIG (more than a million messages, of an ordered
    -- subscription 100,000, or than 256 MiB), SEEKING (a seek is not through, but
    -- further than before: try again), TOOMANY (the topic has 1,000).
    -- Cost: O(messages), some 0.3 s a million.
    L.register('snap_create', {}, function(root, args)
        local n, name, cfg = args[1], args[2], args[4]

        if #args ~= 4 or not L.is_id(n) then
            return L.wrong('snap_create')
        end

        if call('HEXISTS', L.snaps_by_name(root), name) == 1 then
            return L.err('EXISTS', 'a snapshot of this name exists')
        end

        if call('EXISTS', L.snap(root, n), unpack(keys_of(root, n))) > 0 then
            return L.err('IDTAKEN', 'a snapshot with this id exists')
        end

        local f, p = L.find_sub(root, args[3])

        if not f then
            return L.nosub()
        end

        if f.det == '1' then
            return L.err('DETACHED', 'the subscription is detached')
        end

        check(root, f.t)

        if call('ZCARD', L.topic_snaps(root, f.t)) >= MOST then
            return L.err('TOOMANY', 'the topic has 1,000 snapshots')
        end

        local now, steps = L.now(), 0

        while p.is_y and steps < STEPS do
            local done, plan = pcall(L.bring_back, p, now)

            p, steps, L.work = done and plan or p, steps + 1, 0
        end

        if p.is_y then
            return L.err('SEEKING', 'a seek of the subscription is not through')
        end

        if too_big(p) then
            return L.err('TOOBIG', 'the subscription has too many messages')
        end

        if p.fifo then                      -- keys of a wrong type fail here
            L.check_fifo(p)
        end

        local oldest = oldest_of(p, now)
        local life = LIFE - (oldest and max(0, now - oldest) or 0)

        if life < LEAST then
            return L.err('TOOOLD', 'the first message is too old')
        end

        local expire = L.text(now + life)

        copy(root, n, p)
        call('HSET', L.snap(root, n), 'v', L.SCHEMA, 'name', name, 't', f.t,
             'filter', f.filter, 'cfg', cfg, 'expire', expire, 'ver', '1', 'kind',
             p.fifo and 'f' or 's')
        call('HSET', L.snaps_by_name(root), name, n)
        call('ZADD', listing(root), '0', name)
        call('ZADD', L.agenda(root), expire, 'n:' .. n)

        if call('EXISTS', L.topic(root, f.t)) == 1 then
            L.fan_add(root, f.t, 'n', n, f.filter)
            call('ZADD', L.topic_snaps(root, f.t), '0', name)
        end

        return tell({}, root, n, read(root, n))
    end)


    -- snap_get: a snapshot.
    -- Keys: root.  Arguments: name.  Reply: SNAP.  Errors: NOSNAP.
    -- Cost: O(1).
    L.register('snap_get', { 'no-writes' }, function(root, args)
        local n, h = L.find_snap(root, args[1])

        return n and tell({}, root, n, h) or L.nosnap()
    end)


    -- snap_list: snapshots in the order of their names.
    -- Keys: root.  Arguments: after limit.  Reply: more, then SNAP for each.
    -- Cost: O(log snapshots + limit).
    L.register('snap_list', { 'no-writes' }, function(root, args)
        local limit = tonumber(args[2])

        if not limit then
            return L.wrong('snap_list')
        end

        local names, more = L.page(listing(root), args[1], limit)
        local out = { more }

        for _, name in ipairs(names) do
            local n, h = L.find_snap(root, name)
            if n then
                tell(out, root, n, h)
            end
        end

        return out
    end)


    -- snap_update: replaces what is told of a snapshot, where it is still of that
    -- version.
    -- Keys: root.  Arguments: name ver cfg.  Reply: SNAP.  Errors: NOSNAP, CHANGED.
    -- Cost: O(1).
    L.register('snap_update', {}, function(root, args)
        local n, h = L.find_snap(root, args[1])

        if not n then
            return L.nosnap()
        end

        if #args ~= 3 then
            return L.wrong('snap_update')
        end

        if h.ver ~= args[2] then
            return L.err('CHANGED', 'the snapshot is of another version')
        end

        call('HLEN', L.topic(root, h.t))    -- a key of a wrong type fails here
        call('HSET', L.snap(root, n), 'cfg', args[3], 'ver', L.text(h.ver + 1))

        return tell({}, root, n, read(root, n))
    end)


    local function remove(root, n, h)
        check(root, h.t)
        call('HDEL', L.snaps_by_name(root), h.name)
        call('ZREM', listing(root), h.name)
        call('ZREM', L.agenda(root), 'n:' .. n)
        call('ZREM', L.topic_snaps(root, h.t), h.name)
        call('UNLINK', L.snap(root, n))
        L.fan_set(root, h.t, n)
        L.drop_source(root, 'gx:' .. n)
    end


    -- snap_delete: removes a snapshot.  What a seek brings back of it comes back all
    -- the same.
    -- Keys: root.  Arguments: name.  Reply: 1.  Errors: NOSNAP.
    -- Cost: O(log snapshots); memory is freed in the background.
    L.register('snap_delete', { 'allow-oom' }, function(root, args)
        local n, h = L.find_snap(root, args[1])

        if not n then
            return L.nosnap()
        end

        remove(root, n, h)

        return 1
    end)


    -- Removes a snapshot whose time is over.  Returns when to look again, or nothing.
    function L.expire_snap(root, n, now)
        local h = read(root, n)

        if h and tonumber(h.expire) > now then
            return tonumber(h.expire)
        end

        if h then
            remove(root, n, h)
        end
    end
end
