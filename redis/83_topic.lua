-- Pub/Sub: topics.
--
-- A topic keeps no messages by itself: a publish appends them to each of its
-- subscriptions, which are queues (84_sub.lua), in one call.  T is a topic's id,
-- like Q, N a snapshot's.

do
    function L.topics(root)        return root .. ':gt' end
    function L.topic(root, t)      return root .. ':gt:' .. t end
    function L.topic_subs(root, t) return root .. ':gz:' .. t end
    function L.topic_snaps(root, t) return root .. ':gw:' .. t end
    function L.topic_log(root, t)  return root .. ':gg:' .. t end

    local function listing(root)   return root .. ':gl' end


    L.ID = '^[^:%s]+$'              -- T, Q, N, K: and 12 characters


    function L.is_id(text)
        return text and #text == 12 and match(text, L.ID)
    end


    -- Seconds, as an argument has them: nothing and less than none are 0.
    function L.seconds(text)
        return text == '' and 0 or text and match(text, '^%-?%d+$')
               and max(0, tonumber(text)) or nil
    end


    function L.notopic()
        return L.err('NOTOPIC', 'no such topic')
    end


    -- The id of a topic, and of its record name, cfg, ret, ver; or nothing.
    local function find_topic(root, name)
        local t = name and call('HGET', L.topics(root), name)
        local h = t and call('HMGET', L.topic(root, t), 'name', 'cfg', 'ret',
                             'ver')

        if h and h[1] then
            return t, h
        end
    end

    L.find_topic = find_topic


    -- Appends the four elements that tell of a topic.
    local function tell(out, t, h)
        local n = #out

        out[n + 1], out[n + 2] = t, tonumber(h[4])
        out[n + 3], out[n + 4] = h[1], h[2]

        return out
    end


    -- Keys of a wrong type that L.relog() or L.repack() would read fail here.
    function L.can_relog(root, t)
        call('ZCARD', L.agenda(root))
        call('HLEN', L.uses(root))
        call('HLEN', L.subscriptions(root))

        for _, q in ipairs(L.fan_queues(root, t)) do
            call('HLEN', L.sub(root, q))
            call('HLEN', L.hot(root, q))
        end
    end


    -- How long a topic keeps what was published: as long as itself or one of its
    -- subscriptions wants that.  Begins a log of it, or ends it.
    function L.relog(root, t)
        local key = L.topic(root, t)
        local h = call('HMGET', key, 'name', 'ret', 'log', 'last')

        if not h[1] then
            return
        end

        local keep, now = tonumber(h[2]), L.now()

        for _, q in ipairs(L.fan_queues(root, t)) do
            local f = call('HMGET', L.sub(root, q), 'flags', 'ret')

            if f[1] and find(f[1], 'r', 1, true) then
                keep = max(keep, tonumber(f[2]))
            end
        end

        keep = keep * 1000

        if keep > 0 and h[3] == '0' then
            -- after all that was published before: what follows in the same ms
            -- gets the next one
            local ms = L.parts(h[4])
            local last = ms < now and h[4] or L.text(ms) .. '-999999'

            call('HSET', key, 'log', L.text(keep), 'since',
                 L.text(max(now, ms + 1)), 'last', last)
        elseif L.text(keep) ~= h[3] then
            call('HSET', key, 'log', L.text(keep))
        end

        if keep > 0 then
            try('ZADD', L.agenda(root), 'LT', L.text(now + keep), 'g:' .. t)
        elseif h[3] ~= '0' then
            try('ZREM', L.agenda(root), 'g:' .. t)
            L.drop_source(root, 'gg:' .. t)
        end
    end


    -- topic_create: makes a topic.
    -- Keys: root.  Arguments: T name cfg ret (seconds, empty: none).  Reply:
    -- TOPIC: T ver name cfg.  Errors: EXISTS (the name), IDTAKEN (T is in use).
    -- Cost: O(log topics).
    L.register('topic_create', {}, function(root, args)
        local t, name, ret = args[1], args[2], L.seconds(args[4])

        if #args ~= 4 or not L.is_id(t) or not ret then
            return L.wrong('topic_create')
        end

        if call('HEXISTS', L.topics(root), name) == 1 then
            return L.err('EXISTS', 'a topic of this name exists')
        end

        if call('EXISTS', L.topic(root, t), L.topic_subs(root, t),
                L.topic_snaps(root, t), L.topic_log(root, t)) > 0
        then
            return L.err('IDTAKEN', 'a topic with this id exists')
        end

        call('ZCARD', listing(root))        -- keys of a wrong type fail here
        L.can_relog(root, t)
        call('HSET', L.topic(root, t), 'v', L.SCHEMA, 'name', name, 'cfg',
             args[3], 'ret', L.text(ret), 'last', '0-0', 'fan', '', 'ver', '1',
             'ct', L.text(L.now()), 'log', '0', 'fn', '0')
        call('HSET', L.topics(root), name, t)
        call('ZADD', listing(root), '0', name)
        L.relog(root, t)

        return { t, 1, name, args[3] }
    end)


    -- topic_get: a topic.
    -- Keys: root.  Arguments: name.  Reply: TOPIC.  Errors: NOTOPIC.
    -- Cost: O(1).
    L.register('topic_get', { 'no-writes' }, function(root, args)
        local t, h = find_topic(root, args[1])

        return t and tell({}, t, h) or L.notopic()
    end)


    -- A topic keeps messages for another time: so do its subscriptions, if their own is
    -- not longer.
    local function keep_anew(root, queues)
        local now = L.now()

        for _, q in ipairs(queues) do
            local p = L.repack(root, q)

            if p then
                call('HSET', p.hot, 't', '0', 'hx', '0')
                L.due(p, now)
            end
        end
    end


    -- topic_update: replaces what a topic has, where it is still of that version.
    -- Keys: root.  Arguments: name ver cfg ret.  Reply: TOPIC.  Errors: NOTOPIC,
    -- CHANGED.
    -- Cost: O(1), and O(subscriptions) where it keeps messages longer or shorter.
    L.register('topic_update', {}, function(root, args)
        local t, h = find_topic(root, args[1])
        local ret = L.seconds(args[4])

        if not t then
            return L.notopic()
        end

        if #args ~= 4 or not ret then
            return L.wrong('topic_update')
        end

        if h[4] ~= args[2] then
            return L.err('CHANGED', 'the topic is of another version')
        end

        local queues = L.text(ret) ~= h[3] and L.fan_queues(root, t) or {}

        L.can_relog(root, t)
        h[2], h[4] = args[3], L.text(h[4] + 1)
        call('HSET', L.topic(root, t), 'cfg', h[2], 'ret', L.text(ret), 'ver',
             h[4])

        keep_anew(root, queues)

        if queues[1] or L.text(ret) ~= h[3] then
            L.relog(root, t)
        end

        return tell({}, t, h)
    end)


    -- topic_delete: removes a topic.  Its subscriptions keep what they have.
    -- Keys: root.  Arguments: name.  Reply: 1.  Errors: NOTOPIC.
    -- Cost: O(log topics + subscriptions of it); memory is freed in the background.
    L.register('topic_delete', { 'allow-oom' }, function(root, args)
        local t, h = find_topic(root, args[1])

        if not t then
            return L.notopic()
        end

        local queues = h[3] ~= '0' and L.fan_queues(root, t) or {}

        L.can_relog(root, t)                -- keys of a wrong type fail here
        call('ZREM', listing(root), args[1])
        call('HDEL', L.topics(root), args[1])
        call('UNLINK', L.topic(root, t), L.topic_subs(root, t),
             L.topic_snaps(root, t))
        call('ZREM', L.agenda(root), 'g:' .. t)
        L.drop_source(root, 'gg:' .. t)
        keep_anew(root, queues)

        return 1
    end)


    -- Up to limit names of a sorted set that follow after, and whether there are
    -- more of them.
    function L.page(key, after, limit)
        limit = max(1, min(limit, L.BATCH))

        local names = call('ZRANGEBYLEX', key, after == '' and '-'
                           or '(' .. after, '+', 'LIMIT', '0', limit + 1)
        local more = #names > limit and 1 or 0

        names[limit + 1] = nil

        return names, more
    end


    -- topic_list: topics in the order of their names.
    -- Keys: root.  Arguments: after limit; after is a name, or empty.  Reply: more
    -- (1: there are further ones), then TOPIC for each.
    -- Cost: O(log topics + limit).
    L.register('topic_list', { 'no-writes' }, function(root, args)
        local limit = tonumber(args[2])

        if not limit then
            return L.wrong('topic_list')
        end

        local names, more = L.page(listing(root), args[1], limit)
        local out = { more }

        for _, name in ipairs(names) do
            local t, h = find_topic(root, name)
            if t then
                tell(out, t, h)
            end
        end

        return out
    end)


    local function names_of(function_name, key_of)
        L.register(function_name, { 'no-writes' }, function(root, args)
            local t, limit = find_topic(root, args[1]), tonumber(args[3])

            if not t then
                return L.notopic()
            end

            if not limit then
                return L.wrong(function_name)
            end

            local names, more = L.page(key_of(root, t), args[2], limit)

            return { more, unpack(names) }
        end)
    end


    -- topic_subs, topic_snaps: names of a topic's subscriptions that are not
    -- detached, and of its snapshots, in their order.
    -- Keys: root.  Arguments: name after limit.  Reply: more, then names.  Errors:
    -- NOTOPIC.
    -- Cost: O(log + limit).
    names_of('topic_subs', L.topic_subs)
    names_of('topic_snaps', L.topic_snaps)
end
