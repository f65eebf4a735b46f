-- Metrics: which projects there are, and what is told of one and its queues, page
-- by page.  What is due is not done here, and where it would have to be for exact
-- numbers these are near enough.

do
    local QUEUES = 50               -- of one page
    local HEADS = 10                -- groups whose age is looked up
    local PROJECTS = 100            -- of one page
    local NOTES = 200               -- projects of one call
    local EMPTY = 900000            -- ms that a project has nothing until it is
                                    -- forgotten


    -- How many of n messages are in flight that are in batches, or groups, the ends
    -- of which are in a key: all or none where all or none have ended, else a part
    -- of them by how many have.
    local function flying(key, n, after)
        n = tonumber(n)

        if n == 0 then
            return 0
        end

        local live, all = call('ZCOUNT', key, after, '+inf'), call('ZCARD', key)

        return all > 0 and floor(n * live / all + 0.5) or 0
    end


    -- When the first message of a group was sent, or nothing.
    local function sent_of(p, name)
        local record = call('HGET', p.g, name)
        local g = record and L.group(name, record)
        local d = g and g.received and call('HGET', p.d, g.gid)
        local seq = d and match(d, '\n(%d+),') or g and L.text(g.h)
        local value = seq and call('HGET', p.u, g.gid .. ':' .. seq)

        L.spend((value and #value or 0) + (d and #d or 0))

        return value and L.head(value)
    end


    -- When the oldest message of a FIFO queue was sent, or nothing.  What x says of a
    -- group may be of long ago: it is set right for some groups a call, and the
    -- oldest of these is told where none was right.
    local function oldest_fifo(p)
        local oldest

        for i = 1, HEADS do
            local name, score = unpack(call('ZRANGE', p.x, '0', '0',
                                            'WITHSCORES'))
            local sent = name and sent_of(p, name)

            if not sent or (i > 1 and L.spent()) then
                return oldest
            end

            oldest = min(oldest or sent, sent)

            if sent <= tonumber(score) then
                return oldest
            end

            call('ZADD', p.x, 'XX', L.text(sent), name)
        end

        return oldest
    end


    -- Appends the 11 elements that tell of a queue.
    local function tell(out, p, now)
        local after, n = '(' .. L.text(now), #out
        local totals, there, oldest = L.totals(p)
        local h = call('HMGET', p.hot, 'nb', 'nf')
        local in_flight = flying(p.b, h[1], after)
        local delayed = call('ZCOUNT', p.y, after, '+inf')

        if p.fifo then
            in_flight = in_flight + flying(p.f, h[2], after)
            oldest = oldest_fifo(p)
        else
            in_flight = in_flight + call('ZCOUNT', p.f, after, '+inf')
        end

        for i, value in ipairs({
            p.name, p.fifo and 'fifo' or 'standard',
            max(0, there - in_flight - delayed), in_flight, delayed,
            oldest and max(0, floor((now - oldest) / 1000)) or -1,
            unpack(totals)
        }) do
            out[n + i] = value
        end
    end


    -- Appends what there is to tell of queues by their names.  One that cannot be
    -- looked at is left out.  Returns the last name that it came to.
    local function tell_all(out, root, ids, names, now)
        local last

        for i = 1, #names do
            if L.spent() then
                return last
            end

            local done, p = pcall(function()
                local q = call('HGET', ids, names[i])
                local s = q and L.read_plan(L.hot(root, q))

                return s and L.plan(root, s)
            end)

            last = names[i]

            if done and p then
                local more = {}

                if pcall(tell, more, p, now) then
                    for k = 1, #more do
                        out[#out + 1] = more[k]
                    end
                end
            end
        end

        return last
    end


    -- metrics_queues: what became of a project's messages, and some of its queues: in
    -- the order of their names, then subscriptions of Pub/Sub.
    -- Keys: root.  Arguments: cursor (empty at first), limit (up to 50; 0: none).
    -- Reply: the next cursor (empty at the end), how many queues there are, expired,
    -- deadLettered, dropped (of the project), nothing (1: it has no queue,
    -- subscription, topic, snapshot or log), then for each queue name, kind, visible,
    -- inFlight, delayed, oldestAgeSeconds (-1: no message), sent, acknowledged,
    -- expired, deadLettered, dropped.
    -- Cost: about 10 commands, 25 us, a queue (FIFO up to 45 more while ages of its
    -- groups are set right), whatever it has; two bodies of each stream are read, so
    -- a page ends after 2 MiB.
    L.register('metrics_queues', { 'allow-oom' }, function(root, args)
        local kind, after = match(args[1] or '', '^([qs])(.*)$')
        local limit = tonumber(args[2])

        if not limit or (args[1] ~= '' and not kind) then
            return L.wrong('metrics_queues')
        end

        local subs, now = root .. ':gk', L.now()
        local lost = try('HMGET', L.losses(root), 'ex', 'dl', 'dropped')
        local all = call('ZCARD', L.listing(root)) + call('ZCARD', subs)
        local out = { '', all, 0, 0, 0, 0 }

        for i = 1, 3 do
            out[i + 2] = tonumber(lost[i] or 0)
        end

        if all == 0 and call('EXISTS', root .. ':gl', root .. ':gm',
                             root .. ':ln') == 0
        then
            out[6] = 1
        end

        limit = max(0, min(limit, QUEUES))

        for _, list in ipairs({ { 'q', L.listing(root), L.names(root) },
                                { 's', subs, L.subs_by_name(root) } })
        do
            if limit > 0 and (not kind or kind == list[1] or kind == 'q') then
                local from = kind == list[1] and '(' .. after or '-'
                local names = call('ZRANGEBYLEX', list[2], from, '+', 'LIMIT',
                                   '0', limit + 1)
                local more = table_remove(names, limit + 1)
                local last = tell_all(out, root, list[3], names, now)

                if more or last ~= names[#names] then
                    out[1] = list[1] .. (last or '')
                    break
                end

                limit = limit - #names

                if limit == 0 and list[1] == 'q' and call('EXISTS', subs) == 1 then
                    out[1] = 's'
                end
            end
        end

        return out
    end)


    -- sub_count: how many messages a subscription of Pub/Sub has.
    -- Keys: root.  Arguments: name.  Reply: visible, inFlight, delayed,
    -- oldestAgeSeconds (-1: no message), sent, acknowledged, expired, deadLettered,
    -- dropped.  Errors: NOSUB.
    -- Cost: as of a queue of metrics_queues.
    L.register('sub_count', { 'allow-oom' }, function(root, args)
        local f, p = L.find_sub(root, args[1])

        if not f then
            return L.nosub()
        end

        local out = {}

        tell(out, p, L.now())

        return { unpack(out, 3) }
    end)


    -- metrics_forget: forgets what became of a project's messages, where it has
    -- nothing.
    -- Keys: root.  Reply: 1, or 0 where it has something.
    -- Cost: O(1).
    L.register('metrics_forget', { 'allow-oom' }, function(root)
        if call('EXISTS', L.listing(root), root .. ':gk', root .. ':gl',
                root .. ':gm', root .. ':ln') > 0
        then
            return 0
        end

        call('UNLINK', L.losses(root))

        return 1
    end)


    -- Projects that had nothing when they were looked at: root → since when (ms).  In
    -- the slot of the key of those that are known.
    local function empty(key)
        return concat({ 'ngxq:{', key, '}:x' })
    end


    -- known_note: that projects are used.
    -- Keys: ngxq:known.  Arguments: roots, 200 at most.  Reply: how many were not
    -- known.
    -- Also where memory is full, as it is one entry a project.
    -- Cost: O(n log projects).
    L.register('known_note', { 'allow-oom' }, function(key, args)
        if #args == 0 or #args > NOTES then
            return L.wrong('known_note')
        end

        local add = { key }

        for i = 1, #args do
            add[2 * i], add[2 * i + 1] = '0', args[i]
        end

        call('ZCARD', key)                  -- a key of a wrong type fails here

        if call('EXISTS', empty(key)) == 1 then
            call('ZREM', empty(key), unpack(args))
        end

        return call('ZADD', unpack(add))
    end)


    -- known_list: projects, in the order of their roots.
    -- Keys: ngxq:known.  Arguments: cursor (empty at first), limit (up to 100).
    -- Reply: the next cursor (empty at the end), then roots.
    -- Cost: O(log projects + limit).
    L.register('known_list', { 'no-writes' }, function(key, args)
        local limit = tonumber(args[2])

        if not limit then
            return L.wrong('known_list')
        end

        limit = max(1, min(limit, PROJECTS))

        local roots = call('ZRANGEBYLEX', key, args[1] == '' and '-'
                           or '(' .. args[1], '+', 'LIMIT', '0', limit + 1)
        local more = table_remove(roots, limit + 1)

        return { more and roots[limit] or '', unpack(roots) }
    end)


    -- known_forget: a project had nothing when it was looked at.  It is forgotten
    -- where that was so a quarter of an hour ago too and nobody has used it since:
    -- those who use it note that anew every 5 minutes.
    -- Keys: ngxq:known.  Arguments: root.  Reply: 1 where it is forgotten, or 0.
    -- Cost: O(log projects).
    L.register('known_forget', { 'allow-oom' }, function(key, args)
        local root, now = args[1], L.now()

        if #args ~= 1 then
            return L.wrong('known_forget')
        end

        local since = call('ZSCORE', empty(key), root)

        call('ZCARD', key)                  -- a key of a wrong type fails here

        if since and tonumber(since) <= now - EMPTY then
            call('ZREM', key, root)
            call('ZREM', empty(key), root)

            return 1
        end

        call('ZADD', empty(key), 'NX', L.text(now), root)

        return 0
    end)
end
