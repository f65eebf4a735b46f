-- Logs: groups of consumers that are looked at, moved and forgotten.

do
    local PAGE = 100            -- rows of a call
    local LANES = 1000          -- lanes of a call
    local LOOK = 10             -- lanes in which the oldest message is looked for
    local QUEUES = 1000         -- queues of a call


    -- How many messages of a queue a group has not consumed.  With those of before
    -- the moment that it begins with, in lanes on which it has no cursor yet.
    function L.log_lag(t, g)
        L.log_numbers(t)

        return max(0, min(t.n, t.pushed - g.base - g.passed))
    end


    -- The moment and the offset of the first message of a lane that a group has
    -- not consumed and will get, or nothing; cur is its cursor, or nothing.
    -- b.bytes counts what is read: where it is much, the last message is told.
    local function oldest_of(t, g, lane, cur, b)
        local at, first = lane.head, lane.head

        if cur then
            at, first = max(cur.seg, lane.head), max(cur.committed + 1, lane.head)
        elseif g.mode == 't' then
            first = L.log_since(t.p, lane, g.from)
            at = first
        end

        if not first or first >= lane.next then
            return
        end

        if b.bytes >= L.BYTES then
            return lane.last, first
        end

        local _, text = L.log_seek(t, lane, at, first)

        b.bytes = b.bytes + #(text or '')

        return tonumber(L.log_head(text or '') or lane.last), first
    end


    -- Reads lanes with a group's cursors on them.
    local function read_lanes(t, g, ls)
        local records = L.log_many('HMGET', t.p.records, ls, #ls)
        local cursors = L.log_many('HMGET', g.cursors, ls, #ls)
        local list = {}

        for i = 1, #ls do
            if records[i] then
                list[#list + 1] = { lane = L.log_lane(ls[i], records[i]),
                                    cur = cursors[i] and L.log_cursor(cursors[i]) }
            end
        end

        return list
    end


    -- Lanes that may have something for a group: those that wait longest, and
    -- the first ones that it has not taken yet; count of each, at most.
    local function lanes_behind(t, g, count)
        local seen, ls = {}, {}

        for i, list in ipairs({
            call('ZRANGE', g.ready, '0', L.text(count - 1)),
            call('ZRANGEBYSCORE', t.p.noted, '(' .. L.text(g.seen), '+inf',
                 'LIMIT', '0', L.text(count)) })
        do
            for k = 1, #list do
                if not seen[list[k]] then
                    seen[list[k]], ls[#ls + 1] = true, list[k]
                end
            end
        end

        return read_lanes(t, g, ls)
    end


    -- Appends the 11 elements of a group on a queue.
    local function tell_group(out, t, g, b)
        local n, lanes, lag, oldest = #out, 0, 0, nil
        local cursors = call('HLEN', g.cursors)
        local ready = call('ZCARD', g.ready)
        local new = call('ZCOUNT', t.p.noted, '(' .. L.text(g.seen), '+inf')

        for _, one in ipairs(lanes_behind(t, g, LOOK)) do
            local ms, first = oldest_of(t, g, one.lane, one.cur, b)

            if ms then
                lanes, lag = lanes + 1, lag + one.lane.next - first
                oldest = min(ms, oldest or ms)
            end
        end

        -- a group that begins later gets nothing of what is there
        if ready > LOOK
           or (new > LOOK and not (cursors == 0 and g.from > t.c.now))
        then
            lanes = min(ready + new, call('HLEN', t.p.records))
            lag = L.log_lag(t, g)
        end

        for i, value in ipairs({ g.name, t.p.name, t.p.q, g.mode, L.text(g.from),
                                 g.ct, cursors, lanes, L.text(lag),
                                 oldest and L.text(oldest) or '',
                                 L.text(g.consumed) }) do
            out[n + i] = value
        end
    end


    -- Names of a list after one, count of them; from the start where it is empty.
    -- Some may be passed over.
    function L.log_after(key, after, count, offset)
        return call('ZRANGEBYLEX', key, after == '' and '-' or '(' .. after, '+',
                    'LIMIT', L.text(offset or 0), L.text(count))
    end


    -- Calls fn for the queue and record of each group on each queue, in order,
    -- after a group and a queue, till it returns true.
    local function each(c, after, fn)
        local group, queue = match(after, '^(.*)\n(.*)$')

        repeat
            if group then
                local names

                repeat
                    names = L.log_after(L.log_of_group(c.root, group), queue, PAGE)

                    for i = 1, #names do
                        local t = L.log_by_name(c, names[i])
                        local g = t and L.log_group_named(t, group)

                        if g and fn(t, g) then
                            return true
                        end

                        queue = names[i]
                    end
                until #names < PAGE
            end

            group = call('ZRANGEBYLEX', L.log_groups(c.root),
                         group and '(' .. group or '-', '+', 'LIMIT', '0', '1')[1]
            queue = ''
        until not group
    end


    -- Whether a name is before another one.  To compare bytes takes ten times as
    -- long as "<", which is of the locale of the server: to that, two names may be
    -- the same.
    local function before(a, b)
        if a < b or b < a then
            return a < b
        end

        return redis.sha1hex(a) < redis.sha1hex(b)
    end


    -- The first of the groups of a queue after one, count of them, in order; from
    -- the start where it is nothing.
    local function groups_after(t, after, count)
        local all, list, n, last = call('HKEYS', t.p.groups), {}, 0, nil

        for i = 1, #all do
            local name = all[i]

            if not (last and before(last, name))
               and not (after and not before(after, name))
            then
                n = n + 1
                list[n] = name

                if n == 2 * count then
                    table.sort(list, before)

                    for k = count + 1, n do
                        list[k] = nil
                    end

                    n, last = count, list[count]
                end
            end
        end

        table.sort(list, before)

        return list
    end


    -- Calls fn for a queue and the record of each of its groups, in order, after
    -- one (or nothing); count of them, at most.
    local function each_of(t, after, count, fn)
        local list = groups_after(t, after, count)

        for i = 1, min(#list, count) do
            fn(t, L.log_group_named(t, list[i]))
        end
    end


    -- log_groups: the groups of a project, on each queue, or those of one queue.
    -- Keys: root.  Arguments: after (group and queue of the last row of before,
    -- separated by a line feed; or empty), limit (to 100), and a queue, or none.
    -- Reply: more (0, 1); then for each group queue Q mode from ct cursors lanes
    -- lag oldest consumed: lanes that have something for it, lag in messages,
    -- oldest the moment of the first message that it has not consumed (empty:
    -- none), consumed that of its last commit.  20 lanes are looked at: where
    -- there are more, lanes may have something, and lag is as of log_lag().
    -- Cost: O(limit * log); of one queue O(its groups) besides.
    L.register('log_groups', { 'no-writes' }, function(root, args)
        local c, limit = L.log_call(root), tonumber(args[2])
        local out, b, n = { 0 }, { bytes = 0 }, 0

        if #args < 2 or #args > 3 or not limit or limit < 1 then
            return L.wrong('log_groups')
        end

        limit = min(limit, PAGE)

        local function tell(t, g)
            if n == limit then
                out[1] = 1
                return true
            end

            tell_group(out, t, g, b)
            n = n + 1
        end

        if not args[3] then
            each(c, args[1], tell)
            return out
        end

        local t = L.log_by_name(c, args[3])

        -- names may have line feeds themselves
        if t then
            each_of(t, args[1] ~= '' and sub(args[1], 1, -#args[3] - 2) or nil,
                    limit + 1, tell)
        end

        return out
    end)


    -- Appends the 9 elements of a lane of a group.
    local function tell_lane(out, t, g, one, b)
        local lane, cur, n = one.lane, one.cur, #out
        local live = cur.expiry > t.c.now
        local oldest = oldest_of(t, g, lane, cur, b)

        for i, value in ipairs({ lane.l, lane.name, L.text(cur.committed),
                                 L.text(lane.head), L.text(lane.next),
                                 live and cur.lease or '',
                                 live and L.text(cur.expiry) or '',
                                 L.text(cur.consumed),
                                 oldest and L.text(oldest) or '' }) do
            out[n + i] = value
        end
    end


    -- log_group: a group on its queues, the first 100 of them, with lanes that it
    -- has a cursor on, 1,000 in all.
    -- Keys: root.  Arguments: group.
    -- Reply: for each queue as of log_groups; then how many lanes, and for each l
    -- name committed head next lease expiry (empty: none) consumed oldest.
    -- Cost: O(queues + lanes).
    L.register('log_group', { 'no-writes' }, function(root, args)
        local c, out, b, left = L.log_call(root), {}, { bytes = 0 }, LANES

        if #args ~= 1 then
            return L.wrong('log_group')
        end

        for _, name in ipairs(L.log_after(L.log_of_group(root, args[1]), '',
                                          PAGE))
        do
            local t = L.log_by_name(c, name)
            local g = t and L.log_group_named(t, args[1])

            if g then
                local ls = {}
                local some = left > 0 and call('HSCAN', g.cursors, '0', 'COUNT',
                                               L.text(left))[2] or {}

                for i = 1, min(#some, left * 2), 2 do
                    ls[#ls + 1] = some[i]
                end

                table.sort(ls, function(x, y)
                    return tonumber(x) < tonumber(y)
                end)

                tell_group(out, t, g, b)

                local lanes = read_lanes(t, g, ls)

                out[#out + 1] = #lanes
                left = left - #lanes

                for i = 1, #lanes do
                    tell_lane(out, t, g, lanes[i], b)
                end
            end
        end

        return out
    end)


    -- log_lagging: lanes with a message that is older than so many seconds and not
    -- consumed by some group, the oldest one first; 1,000 lanes are looked at, 100
    -- of a group on a queue.
    -- Keys: root.  Arguments: seconds, limit (to 1,000).
    -- Reply: for each group queue Q l lane lease (empty: none) lag oldest consumed
    -- head.
    -- Cost: O(1000).
    L.register('log_lagging', { 'no-writes' }, function(root, args)
        local c, seconds, limit = L.log_call(root), tonumber(args[1]),
                                  tonumber(args[2])
        local b, left, list, out = { bytes = 0 }, LANES, {}, {}

        if #args ~= 2 or not (seconds and limit) then
            return L.wrong('log_lagging')
        end

        each(c, '', function(t, g)
            left = left - 1

            for _, one in ipairs(lanes_behind(t, g, PAGE)) do
                one.oldest, one.first = oldest_of(t, g, one.lane, one.cur, b)
                one.t, one.g, left = t, g, left - 1

                if one.oldest and one.oldest < c.now - seconds * 1000 then
                    list[#list + 1] = one
                end
            end

            return left <= 0
        end)

        table.sort(list, function(x, y)
            return x.oldest < y.oldest
        end)

        for i = 1, min(#list, limit, LANES) do
            local one, n = list[i], #out
            local lane, cur = one.lane, one.cur

            for k, value in ipairs({
                one.g.name, one.t.p.name, one.t.p.q, lane.l, lane.name,
                cur and cur.expiry > c.now and cur.lease or '',
                L.text(lane.next - one.first), L.text(one.oldest),
                L.text(cur and cur.consumed or 0), L.text(lane.head) }) do
                out[n + k] = value
            end
        end

        return out
    end)


    local function write_group(t, g)
        call('HSET', t.p.groups, g.name, L.log_group_text(g))
        g.dirty = nil
    end


    -- log_subscription: where a group begins on lanes on which it has no cursor
    -- yet, on all its queues.
    -- Keys: root.  Arguments: group, from (ms).  Reply: how many records were
    -- changed.
    -- Cost: O(queues of the group).
    L.register('log_subscription', { 'allow-oom' }, function(root, args)
        local c, from, n = L.log_call(root), tonumber(args[2]), 0

        if #args ~= 2 or not from or from < 0 then
            return L.wrong('log_subscription')
        end

        for _, name in ipairs(L.log_after(L.log_of_group(root, args[1]), '',
                                          L.LOG_GROUPS))
        do
            local t = L.log_by_name(c, name)
            local g = t and L.log_group_named(t, args[1])

            if g then
                -- what it has taken may have something for it now
                L.log_begin_at(t, g, from)
                g.seen = 0

                if call('HLEN', g.cursors) == 0 then
                    g.passed, g.base = 0, 0
                end

                write_group(t, g)
                L.log_write_numbers(t)
                L.log_wake(t)
                n = n + 1
            end
        end

        return n
    end)


    -- A group has no cursors any more.  Returns how many there were.
    local function forget_cursors(g)
        local n = call('HLEN', g.cursors)

        call('UNLINK', g.cursors, g.ready)
        g.passed, g.seen, g.consumed = 0, 0, 0

        return n
    end


    -- All lanes of a group: its record begins anew.
    local function seek_all(t, g, to)
        local p = t.p

        forget_cursors(g)
        g.base = 0

        if to then
            L.log_begin_at(t, g, to)
        else
            L.log_begin_now(t, g)
        end

        write_group(t, g)
        L.log_write_numbers(t)

        return call('HLEN', p.records)
    end


    -- One lane of a group: its cursor is set.
    local function seek_lane(t, g, l, to)
        local p = t.p
        local one = read_lanes(t, g, { l })[1]
        local lane = one.lane
        local cur = one.cur or L.log_cursor_start(t, g, lane)
                    or { committed = g.base == 0 and 0 or lane.next - 1 }
        local at = to and L.log_since(p, lane, to) or lane.next

        if one.cur and cur.lease ~= '' then
            L.log_release(t.c, cur.lease, concat({ p.q, g.g, l }, ':'))
        end

        if at - 1 ~= cur.committed then
            L.log_commit(g, cur, at - 1)
        end

        L.log_let_go(cur)
        g.passed = max(0, g.passed)
        cur.seg, cur.retries, cur.consumed = at, 0, cur.consumed or 0
        call('HSET', g.cursors, l, L.log_cursor_text(cur))
        write_group(t, g)

        if at < lane.next then
            call('ZADD', g.ready, t.c.text, l)
        else
            call('ZREM', g.ready, l)
        end

        return 1
    end


    -- log_seek: a group goes on from another place: the first message of a moment
    -- or later, or the end.  Its leases are over.
    -- Keys: root.  Arguments: group, name, lane (empty: all), to (ms, or "end").
    -- Reply: how many lanes.  Errors: NOQUEUE, NOLANE, GROUPS.
    -- Cost: O(log lanes).
    L.register('log_seek', { 'allow-oom' }, function(root, args)
        local c, to = L.log_call(root), tonumber(args[4])

        if #args ~= 4 or not (args[4] == 'end' or (to and to >= 0)) then
            return L.wrong('log_seek')
        end

        local t = L.log_by_name(c, args[2])

        if not t then
            return L.noqueue()
        end

        local l = args[3] ~= '' and call('HGET', t.p.lanes, args[3])

        if args[3] ~= '' and not l then
            return L.err('NOLANE', 'no such partition')
        end

        local g, failed = L.log_group_named(t, args[1]), nil

        if not g then
            g, failed = L.log_register(t, args[1], 'a')
            if not g then
                return failed
            end
        end

        call('ZCARD', g.ready)              -- keys of a wrong type fail here
        call('HLEN', g.cursors)

        local n = l and seek_lane(t, g, l, to) or seek_all(t, g, to)

        L.log_wake(t)

        return n
    end)


    -- A group leaves a queue.  Dead letters of it stay, and with them its number.
    local function forget_group(t, g)
        local p = t.p

        if call('EXISTS', p.rows .. ':' .. g.g) == 1 then
            call('HSET', p.former, g.name, g.g)
        end

        call('HDEL', p.groups, g.name)
        L.log_leave(p.root, g.name, p.name)
    end


    -- log_forget: removes the cursors of a group, on one queue or all.
    -- Keys: root.  Arguments: group, name, metadata (1: its records too; 0: it
    -- begins anew where it began), all (1: on all its queues, 1,000 in a call).
    -- Reply: how many cursors, how many records; 1 where there are more queues.
    -- Cost: O(queues of the group).
    L.register('log_forget', { 'allow-oom' }, function(root, args)
        local c, out, names = L.log_call(root), { 0, 0, 0 }, { args[2] }

        if #args ~= 4 or not find(args[3] .. args[4], '^[01][01]$') then
            return L.wrong('log_forget')
        end

        if args[4] == '1' then
            names = L.log_after(L.log_of_group(root, args[1]), '',
                                args[3] == '1' and QUEUES or L.LOG_GROUPS)
        end

        for i = 1, #names do
            local t = L.log_by_name(c, names[i])
            local g = t and L.log_group_named(t, args[1])

            if g then
                call('ZCARD', L.log_groups(root))
                call('HLEN', t.p.former)    -- keys of a wrong type fail here
                out[1] = out[1] + forget_cursors(g)

                if args[3] == '1' then
                    forget_group(t, g)
                    out[2] = out[2] + 1
                else
                    write_group(t, g)
                end

                L.log_wake(t)
            end
        end

        if args[4] == '1' and args[3] == '1' then
            out[3] = call('EXISTS', L.log_of_group(root, args[1]))
        end

        return out
    end)
end
