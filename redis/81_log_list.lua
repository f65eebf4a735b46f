-- Logs: what there is.

do
    local PAGE = 100            -- queues of a call
    local LANES = 1000          -- lanes of a call
    local SUM = 1000            -- queues over which a call sums
    local MODE = '__QUEUE_MODE__'


    -- How many messages the queue mode has not consumed; empty where nobody has
    -- used it.
    local function mode_lag(t)
        local g = L.log_group_named(t, MODE)

        return g and L.log_lag(t, g) or ''
    end


    -- What a queue is: UUID ns task ct n pushed lanes groups dead.
    local function tell_queue(out, t)
        local p, n = t.p, #out
        local s = call('HMGET', L.log_settings(p.root, p.q), 'id', 'ns', 'task',
                       'ct')

        L.log_numbers(t)

        for i, value in ipairs({ s[1] or '', s[2] or '', s[3] or '', s[4] or '',
                                 t.n, t.pushed, t.lanes, call('HLEN', p.groups),
                                 call('ZCARD', p.rows) }) do
            out[n + i] = value
        end
    end


    -- log_get: a queue.
    -- Keys: root.  Arguments: name.  Reply: Q UUID ns task ct opt n pushed lanes
    -- groups dead last s lag: messages n now, pushed ever; last the moment of the
    -- last push; lag of the queue mode (empty: nobody has used it).  Errors:
    -- NOQUEUE.
    -- Cost: O(1).
    L.register('log_get', { 'no-writes' }, function(root, args)
        local t = #args == 1 and L.log_by_name(L.log_call(root), args[1])

        if #args ~= 1 then
            return L.wrong('log_get')
        end

        if not t then
            return L.noqueue()
        end

        local out = { t.p.q }

        tell_queue(out, t)
        table_insert(out, 6, call('HGET', L.log_settings(root, t.p.q), 'opt')
                             or '')
        out[12], out[13], out[14] = t.last, t.p.s, mode_lag(t)

        return out
    end)


    -- What the queue mode has of lanes: list of cursors.
    local function mode_cursors(t, ls)
        local g, list = L.log_group_named(t, MODE), {}

        if g then
            for i, text in ipairs(L.log_many('HMGET', g.cursors, ls, #ls)) do
                list[i] = text and L.log_cursor(text) or nil
            end
        end

        return list
    end


    -- log_lanes: lanes of a queue, in the order in which they came.
    -- Keys: root.  Arguments: name, offset, limit (to 1,000).
    -- Reply: Q, now, how many there are; then for each l name created head next
    -- last first committed expiry: moments of the last and first message (first
    -- empty: none is there), what the queue mode has committed (empty: nothing
    -- yet) and when its lease ends (empty: none).  Errors: NOQUEUE.
    -- Cost: O(limit).
    L.register('log_lanes', { 'no-writes' }, function(root, args)
        local c, offset, limit = L.log_call(root), tonumber(args[2]),
                                 tonumber(args[3])

        if #args ~= 3 or not (offset and limit) or offset < 0 or limit < 1 then
            return L.wrong('log_lanes')
        end

        local t = L.log_by_name(c, args[1])

        if not t then
            return L.noqueue()
        end

        L.log_numbers(t)

        local out, ls = { t.p.q, c.now, t.lanes }, {}

        for l = offset + 1, min(t.lanes, offset + min(limit, LANES)) do
            ls[#ls + 1] = L.text(l)
        end

        local records = L.log_many('HMGET', t.p.records, ls, #ls)
        local firsts = ls[1] and call('ZMSCORE', t.p.oldest, unpack(ls)) or {}
        local cursors = mode_cursors(t, ls)

        for i = 1, #ls do
            local lane = records[i] and L.log_lane(ls[i], records[i])
            local cur, n = cursors[i], #out

            for k, value in ipairs(not lane and {} or {
                lane.l, lane.name, L.text(lane.created), lane.head, lane.next, lane.last,
                lane.head < lane.next and firsts[i] or '',
                cur and cur.committed or '',
                cur and cur.expiry > c.now and cur.expiry or '' })
            do
                out[n + k] = value
            end
        end

        return out
    end)


    -- log_queues: the queues of a project, in order of their names.
    -- Keys: root.  Arguments: after (a name; empty: from the start), limit (to
    -- 100), perhaps how many to pass over.  Reply: more (0, 1); then for each name
    -- Q UUID ns task ct n pushed lanes groups dead lag, as of log_get.
    -- Cost: O(offset + limit + log).
    L.register('log_queues', { 'no-writes' }, function(root, args)
        local c, limit, offset = L.log_call(root), tonumber(args[2]),
                                 tonumber(args[3] or 0)

        if #args < 2 or #args > 3 or not (limit and offset) or limit < 1
            or offset < 0
        then
            return L.wrong('log_queues')
        end

        limit = min(limit, PAGE)

        local names = L.log_after(L.log_listing(root), args[1], limit + 1, offset)
        local out = { names[limit + 1] and 1 or 0 }

        for i = 1, min(limit, #names) do
            local t = L.log_by_name(c, names[i])

            if t then
                out[#out + 1], out[#out + 2] = names[i], t.p.q
                tell_queue(out, t)
                out[#out + 1] = mode_lag(t)
            end
        end

        return out
    end)


    -- Sums over the queues of some names.
    local function sum(c, names)
        local s = { queues = 0, lanes = 0, n = 0, pushed = 0, dead = 0, lag = 0,
                    groups = 0 }

        for i = 1, #names do
            local t = L.log_by_name(c, names[i])

            if t then
                local lag = mode_lag(t)

                s.queues, s.lanes = s.queues + 1, s.lanes + t.lanes
                s.n, s.pushed = s.n + t.n, s.pushed + t.pushed
                s.dead = s.dead + call('ZCARD', t.p.rows)
                s.groups = s.groups + call('HLEN', t.p.groups)
                s.lag = s.lag + (lag == '' and t.n or lag)
            end
        end

        return s
    end


    -- log_labels: the namespaces or tasks of a project, in order.
    -- Keys: root.  Arguments: N or T, after (empty: from the start), limit (to
    -- 100).  Reply: more (0, 1); then for each label queues lanes messages
    -- pending: what the queue mode has not consumed.  The last three are of 1,000
    -- queues of the call, at most.
    -- Cost: O(limit + 1000).
    L.register('log_labels', { 'no-writes' }, function(root, args)
        local c, limit, left = L.log_call(root), tonumber(args[3]), SUM
        local of = args[1] == 'N' and L.log_of_space or L.log_of_task

        if #args ~= 3 or not find(args[1], '^[NT]$') or not limit or limit < 1
        then
            return L.wrong('log_labels')
        end

        limit = min(limit, PAGE)

        local labels = L.log_after(args[1] == 'N' and L.log_spaces(root)
                                   or L.log_tasks(root), args[2], limit + 1)
        local out = { labels[limit + 1] and 1 or 0 }

        for i = 1, min(limit, #labels) do
            local key, n = of(root, labels[i]), #out
            local names = left > 0 and L.log_after(key, '', left) or {}
            local s = sum(c, names)

            left = left - #names
            out[n + 1], out[n + 2] = labels[i], call('ZCARD', key)
            out[n + 3], out[n + 4], out[n + 5] = s.lanes, s.n, s.lag
        end

        return out
    end)


    -- log_overview: sums over the queues of a project, 1,000 in a call.
    -- Keys: root.  Arguments: after (as it was answered; empty: from the start).
    -- Reply: next (empty: that was all), queues, lanes, messages, pushed ever,
    -- dead letters, pending, registered groups; namespaces and tasks of the
    -- project.
    -- Cost: O(1000).
    L.register('log_overview', { 'no-writes' }, function(root, args)
        local c = L.log_call(root)

        if #args ~= 1 then
            return L.wrong('log_overview')
        end

        local names = L.log_after(L.log_listing(root), args[1], SUM + 1)
        local more = table_remove(names, SUM + 1)
        local s = sum(c, names)

        return { more and names[SUM] or '', s.queues, s.lanes, s.n, s.pushed,
                 s.dead, s.lag, s.groups, call('ZCARD', L.log_spaces(root)),
                 call('ZCARD', L.log_tasks(root)) }
    end)


    -- log_switch: the switches of maintenance.
    -- Keys: root.  Arguments: push, pop or nothing, and 1 or 0 or nothing.
    -- Reply: what push and pop are then.
    -- Cost: O(1).
    L.register('log_switch', { 'allow-oom' }, function(root, args)
        local key, kind, value = L.log_switches(root), args[1], args[2]

        if #args ~= 2 or not ((kind == '' and value == '')
                              or ((kind == 'push' or kind == 'pop')
                                  and find(value, '^[01]$')))
        then
            return L.wrong('log_switch')
        end

        if value == '1' then
            call('HSET', key, kind, value)
        elseif value == '0' then
            call('HDEL', key, kind)
        end

        local now = call('HMGET', key, 'push', 'pop')

        return { now[1] and 1 or 0, now[2] and 1 or 0 }
    end)


    -- log_ping: a round trip.
    -- Keys: root.  Reply: now (ms).
    L.register('log_ping', { 'no-writes' }, function()
        return L.now()
    end)
end
