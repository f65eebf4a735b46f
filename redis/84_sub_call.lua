-- Pub/Sub: subscriptions as resources: create, get, list, update, delete, detach.

do
    local function listing(root)   return root .. ':gk' end

    local MOST = 1000               -- subscriptions of a topic


    -- Settings as create and update have them from the i-th argument on: vt ret
    -- mrc dlq min max, and behind these the flags.  Or nothing.
    local function settings(args, i)
        local f = { vt = L.seconds(args[i]), ret = L.seconds(args[i + 1]),
                    mrc = L.seconds(args[i + 2]), dlq = args[i + 3],
                    min = args[i + 4], max = args[i + 5], flags = args[i + 6] }

        if f.vt and f.ret and f.mrc and match(f.min .. f.max, '^%d*$')
            and (f.min == '') == (f.max == '') and match(f.flags, '^[oer]*$')
            and not find(f.dlq, ':', 1, true)
        then
            f.vt, f.ret, f.mrc = L.text(f.vt), L.text(f.ret), L.text(f.mrc)
            return f
        end
    end


    -- Whether there is the topic for dead letters that a subscription names.
    local function no_topic_of(root, dlq)
        return dlq ~= '' and dlq ~= '-'
               and call('HEXISTS', L.topics(root), dlq) == 0
               and L.err('NODLTOPIC', 'no such dead-letter topic')
    end


    -- Makes, changes or removes the push part of a subscription.  Returns how many
    -- of the project are active, or -1 where that is as it was.
    local function set_push(root, f, k, url, x)
        local s = L.subscription_of(root, f.q)

        if url == '' or f.det == '1' then
            return s and L.unsubscribe(root, s) or -1
        end

        if s then
            if s.url ~= url or s.x ~= x or s.to ~= f.vt then
                L.change_subscription(root, s, { '', 'url', url, 'x', x, 'to',
                                                 f.vt })
            end

            return -1
        end

        local now = L.text(floor(L.now() / 1000))

        call('HSET', L.subscription(root, k), 'v', L.SCHEMA, 'id', '', 'q', f.q,
             'url', url, 'to', f.vt, 'bs', '1', 'mc', '100', 'st', 'a', 'sec',
             '', 'ct', now, 'ut', now, 'ver', '1', 'o', '', 'fn', '0', 'w', '1',
             'fl', '0', 'ls', '0', 'le', '', 'nd', '0', 'ne', '0', 'nm', '0',
             'x', x)
        call('HSET', L.subscriptions(root), f.q, k)
        call('SADD', L.active(root), k)
        call('SADD', L.free(root), k)

        return call('SCARD', L.active(root))
    end


    -- Keys of a wrong type fail here, for flags of before and of then.
    local function check(root, f, flags)
        if find(flags, 'r', 1, true) then
            L.can_relog(root, f.t)
        end

        L.check_push(root)
        L.subscription_of(root, f.q)
        call('HLEN', L.subs_by_name(root))
        call('ZCARD', listing(root))
        call('ZCARD', L.agenda(root))
        call('ZCARD', L.topic_subs(root, f.t))
        call('HLEN', L.topic(root, f.t))
        call('HLEN', L.uses(root))
    end


    -- sub_create: makes a subscription of a topic.
    -- Keys: root.  Arguments: Q name topic cfg vt ret mrc dlq min max flags filter
    -- ttl K url x: see docs/redis.md.  Reply: active (how many push subscriptions
    -- of the project are, -1: as before), then SUB: Q ver name topic cfg detached
    -- tret push.  Errors: EXISTS, IDTAKEN (Q or K is in use), NOTOPIC, NODLTOPIC,
    -- TOOMANY (the topic has 1,000).
    -- Cost: O(log subscriptions), and O(subscriptions of the topic) for what it
    -- keeps.
    L.register('sub_create', {}, function(root, args)
        local q, name, f = args[1], args[2], #args == 16 and settings(args, 5)
        local ttl, k = L.seconds(args[13]), args[14]

        if not (f and ttl and L.is_id(q) and L.is_id(k))
            or not pcall(function() L.matches(L.program(args[12]), {}) end)
        then
            return L.wrong('sub_create')
        end

        if call('HEXISTS', L.subs_by_name(root), name) == 1 then
            return L.err('EXISTS', 'a subscription of this name exists')
        end

        if call('EXISTS', L.sub(root, q), L.hot(root, q), L.queue(root, q),
                L.subscription(root, k)) > 0
        then
            return L.err('IDTAKEN', 'a subscription with this id exists')
        end

        local t = L.find_topic(root, args[3])

        if not t then
            return L.notopic()
        end

        local failed = no_topic_of(root, f.dlq)

        if failed then
            return failed
        end

        if call('ZCARD', L.topic_subs(root, t)) >= MOST then
            return L.err('TOOMANY', 'the topic has 1,000 subscriptions')
        end

        f.q, f.name, f.t, f.filter, f.det = q, name, t, args[12], '0'
        check(root, f, f.flags)

        local now = L.now()

        call('HSET', L.sub(root, q), 'v', L.SCHEMA, 'name', name, 't', t, 'cfg',
             args[4], 'vt', f.vt, 'ret', f.ret, 'mrc', f.mrc, 'dlq', f.dlq, 'min',
             f.min, 'max', f.max, 'flags', f.flags, 'filter', args[12], 'ttl',
             L.text(ttl), 'det', '0', 'ver', '1', 'ct', L.text(now), 'src', '')

        local active = set_push(root, f, k, args[15], args[16])

        L.reset(L.hot(root, q), L.packed_sub(root, f, nil, {}))
        call('HSET', L.hot(root, q), 'use', L.text(now))
        call('HSET', L.subs_by_name(root), name, q)
        call('ZADD', listing(root), '0', name)
        call('ZADD', L.topic_subs(root, t), '0', name)
        L.fan_add(root, t, find(f.flags, 'o', 1, true) and 'f' or 's', q,
                  f.filter)
        L.due_unused(root, q, ttl, now)

        if find(f.flags, 'r', 1, true) then
            L.relog(root, t)
        end

        return L.tell_sub({ active }, root, L.read_sub(root, q))
    end)


    -- sub_get: a subscription.
    -- Keys: root.  Arguments: name.  Reply: SUB.  Errors: NOSUB.
    -- Cost: O(1).
    L.register('sub_get', { 'no-writes' }, function(root, args)
        local f = L.find_sub(root, args[1])

        return f and L.tell_sub({}, root, f) or L.nosub()
    end)


    -- sub_list: subscriptions in the order of their names.
    -- Keys: root.  Arguments: after limit.  Reply: more, then SUB for each.
    -- Cost: O(log subscriptions + limit).
    L.register('sub_list', { 'no-writes' }, function(root, args)
        local limit = tonumber(args[2])

        if not limit then
            return L.wrong('sub_list')
        end

        local names, more = L.page(listing(root), args[1], limit)
        local out = { more }

        for _, name in ipairs(names) do
            local f = L.find_sub(root, name)
            if f then
                L.tell_sub(out, root, f)
            end
        end

        return out
    end)


    -- sub_update: replaces what a subscription has, where it is still of that
    -- version.
    -- Keys: root.  Arguments: name ver cfg vt ret mrc dlq min max flags ttl K url
    -- x.  Reply: as of sub_create.  Errors: NOSUB, CHANGED, NODLTOPIC, IDTAKEN (K).
    -- Cost: as of sub_create.
    L.register('sub_update', {}, function(root, args)
        local old, p = L.find_sub(root, args[1])

        if not old then
            return L.nosub()
        end

        local f, ttl = #args == 14 and settings(args, 4), L.seconds(args[11])
        local k, url = args[12], args[13]

        if not (f and ttl and L.is_id(k)) then
            return L.wrong('sub_update')
        end

        if old.ver ~= args[2] then
            return L.err('CHANGED', 'the subscription is of another version')
        end

        -- one that was deleted may stay: else nothing else could be changed
        local failed = f.dlq ~= old.dlq and no_topic_of(root, f.dlq)

        if failed then
            return failed
        end

        check(root, old, old.flags .. f.flags)

        if url ~= '' and not p.is_p and call('EXISTS', L.subscription(root, k)) == 1
        then
            return L.err('IDTAKEN', 'a subscription with this id exists')
        end

        local now = L.now()

        f.q, f.det = old.q, old.det
        f.flags = string.gsub(f.flags, 'o', '') .. (p.fifo and 'o' or '')
        call('HSET', L.sub(root, f.q), 'cfg', args[3], 'vt', f.vt, 'ret', f.ret,
             'mrc', f.mrc, 'dlq', f.dlq, 'min', f.min, 'max', f.max, 'flags',
             f.flags, 'ttl', L.text(ttl), 'ver', L.text(old.ver + 1))

        local active = set_push(root, f, k, url, args[14])
        local plan = L.repack(root, f.q)

        if active >= 0 then
            L.hint(root, f.q)               -- who pulls, pulls no more
        end

        if f.ret ~= old.ret or f.dlq ~= old.dlq or f.mrc ~= old.mrc then
            call('HSET', p.hot, 't', '0', 'hx', '0')
            L.due(plan, now)
            L.wake(plan)
        end

        call('HSET', p.hot, 'use', L.text(now))
        L.due_unused(root, f.q, f.det == '0' and ttl or 0, now)

        if find(f.flags .. old.flags, 'r', 1, true) then
            L.relog(root, old.t)
        end

        return L.tell_sub({ active }, root, L.read_sub(root, f.q))
    end)


    -- Takes a subscription from its topic, with what is to come back of it.
    local function leave(root, f)
        call('ZREM', L.agenda(root), 'x:' .. f.q)

        if call('EXISTS', L.topic(root, f.t)) == 1 then
            L.fan_set(root, f.t, f.q)
            call('ZREM', L.topic_subs(root, f.t), f.name)
        end

        L.release_lines(root, L.src_lines(f))
    end


    -- Removes a subscription.  Returns how many push subscriptions are active, or
    -- -1 where that is as it was.
    function L.remove_sub(root, f, p)
        check(root, f, f.flags)

        local active = set_push(root, f, '', '')

        leave(root, f)
        call('ZREM', L.agenda(root), f.q)
        call('HDEL', L.subs_by_name(root), f.name)
        call('ZREM', listing(root), f.name)
        L.unlink(p)

        if p.fifo then
            L.forget(p)
        end

        call('UNLINK', L.sub(root, f.q), p.hot)
        L.hint(root, f.q)

        if find(f.flags, 'r', 1, true) then
            L.relog(root, f.t)
        end

        return active
    end


    -- sub_delete: removes a subscription, and tells those who wait on it.
    -- Keys: root.  Arguments: name.  Reply: active.  Errors: NOSUB.
    -- Cost: O(log subscriptions); memory is freed in the background.
    L.register('sub_delete', { 'allow-oom' }, function(root, args)
        local f, p = L.find_sub(root, args[1])

        return f and L.remove_sub(root, f, p) or L.nosub()
    end)


    -- sub_detach: a subscription loses its messages and its topic.
    -- Keys: root.  Arguments: name.  Reply: active, SUB.  Errors: NOSUB.
    -- Cost: as of sub_delete.
    L.register('sub_detach', { 'allow-oom' }, function(root, args)
        local f, p = L.find_sub(root, args[1])

        if not f then
            return L.nosub()
        end

        check(root, f, f.flags)

        local active = set_push(root, f, '', '')

        if f.det == '0' then
            leave(root, f)
            call('HSET', L.sub(root, f.q), 'det', '1', 'src', '', 'ver',
                 L.text(f.ver + 1))
            L.renew(root, f.q, p, {})

            if find(f.flags, 'r', 1, true) then
                L.relog(root, f.t)
            end
        end

        return L.tell_sub({ active }, root, L.read_sub(root, f.q))
    end)
end
