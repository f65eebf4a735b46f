-- Logs: what a queue is, and its end.

function L.log_spaces(root) return root .. ':lNS' end
function L.log_tasks(root)  return root .. ':lTS' end
function L.log_groups(root) return root .. ':lGS' end

do
    local ORDER = { 'lease', 'retry', 'delay', 'window', 'ret', 'cret',
                    'maxwait', 'dlq', 'enc', 'dedup', 'minpop' }


    -- Something of a queue is due at a moment.  Where the agenda is no sorted
    -- set, what the call is about is done all the same.
    function L.log_due_at(t, moment)
        try('ZADD', L.agenda(t.p.root), 'LT', L.text(moment), 'l:' .. t.p.q)
    end


    local function forget_label(of, list, label, name)
        call('ZREM', of, name)

        if call('ZCARD', of) == 0 then
            call('ZREM', list, label)
        end
    end


    -- A group is on a queue no more.
    function L.log_leave(root, group, name)
        forget_label(L.log_of_group(root, group), L.log_groups(root), group, name)
    end


    -- A queue does not have its labels any more.
    local function unlabel(root, name, space, task)
        if space ~= '' then
            forget_label(L.log_of_space(root, space), L.log_spaces(root), space,
                         name)
        end

        if task ~= '' then
            forget_label(L.log_of_task(root, task), L.log_tasks(root), task, name)
        end
    end


    -- Keys of a wrong type fail here.
    function L.log_check_labels(root, space, task)
        call('ZCARD', L.log_of_space(root, space))
        call('ZCARD', L.log_of_task(root, task))
        call('ZCARD', L.log_spaces(root))
        call('ZCARD', L.log_tasks(root))
    end


    -- The settings that configure has, or nothing.
    local function read_settings(args)
        local s = { ns = args[4], task = args[5], opt = args[6] }

        for i = 1, #ORDER do
            s[ORDER[i]] = args[6 + i]

            if not find(args[6 + i], '^%d+$') then
                return
            end
        end

        return #args == 17 and find(s.dlq .. s.enc, '^[01][01]$') and s or nil
    end


    -- A queue gets other settings, in place of those that it has.
    local function replace(t, s)
        local p, root = t.p, t.p.root
        local key = L.log_settings(root, p.q)
        local old = call('HMGET', key, 'id', 'ns', 'task')
        local moved = old[2] ~= s.ns or old[3] ~= s.task

        L.log_check_labels(root, s.ns, s.task)
        L.log_check_labels(root, old[2] or '', old[3] or '')
        call('HSET', key, 'ns', s.ns, 'task', s.task, 'opt', s.opt)

        if moved then
            unlabel(root, p.name, old[2] or '', old[3] or '')
            L.log_label(root, p.name, s.ns, s.task)
        end

        L.log_wake(t)
        t.p = L.log_plan(root, L.log_pack(0, p.q, p.name, s))
        call('HSET', p.hot, 's', t.p.s)

        if t.p.span ~= p.span then
            L.log_keep_ids(t)
        end

        L.log_due_at(t, t.c.now)

        -- whoever waits for queues with its new labels does not know it yet
        if moved then
            L.hint(root, 'd')
        end

        return old[1]
    end


    -- log_configure: makes a queue, or replaces its settings and labels.
    -- Keys: root.  Arguments: name Q UUID (the last two for a new queue), ns
    -- task opt lease retry delay window ret cret maxwait dlq enc dedup minpop.
    -- Reply: Q and UUID that it has.  Errors: IDTAKEN.
    -- Cost: O(log queues).
    L.register('log_configure', {}, function(root, args)
        local c, s = L.log_call(root), #args == 17 and read_settings(args)

        if not s then
            return L.wrong('log_configure')
        end

        local t, failed = L.log_by_name(c, args[1])

        if t then
            return { t.p.q, replace(t, s) }
        end

        t, failed = L.log_create_queue(c, args[1], args[2], args[3], s)

        return failed or { t.p.q, args[3] }
    end)


    -- The keys that a queue has, but for those of its groups.
    local function keys_of(t)
        local p = t.p
        local list = { L.log_settings(p.root, p.q), p.hot, p.lanes, p.records,
                       p.segments, p.noted, p.times, p.oldest, p.groups, p.dead,
                       p.rows, p.row_of, p.traces, p.traced, p.former }

        for w = max(1, t.iw - 1), t.iw do
            list[#list + 1] = p.index .. ':' .. L.text(w)
            list[#list + 1] = p.runs .. ':' .. L.text(w)
        end

        return list
    end


    -- log_delete: removes a queue with all that it has.
    -- Keys: root.  Arguments: name.  Reply: 1, or 0 where there is none.
    -- Cost: O(log queues), and O(log) for each of its groups.
    L.register('log_delete', { 'allow-oom' }, function(root, args)
        local c = L.log_call(root)
        local t = #args == 1 and L.log_by_name(c, args[1])

        if #args ~= 1 then
            return L.wrong('log_delete')
        end

        if not t then
            return 0
        end

        local p, list = t.p, keys_of(t)
        local labels = call('HMGET', list[1], 'ns', 'task')
        local groups = call('HGETALL', p.groups)

        -- keys of a wrong type fail here
        call('HLEN', p.former)
        call('HLEN', L.log_names(root))
        call('ZCARD', L.log_groups(root))
        L.log_check_labels(root, labels[1] or '', labels[2] or '')
        call('ZCARD', L.log_listing(root))
        call('ZCARD', L.agenda(root))

        for i = 1, #groups, 2 do
            call('ZCARD', L.log_of_group(root, groups[i]))
        end

        L.log_wake(t)

        for i = 1, #groups, 2 do
            local g = L.log_group(p, groups[i], groups[i + 1])

            L.log_leave(root, g.name, p.name)
            list[#list + 1], list[#list + 2] = g.cursors, g.ready
            list[#list + 1] = p.rows .. ':' .. g.g
        end

        for _, g in ipairs(call('HVALS', p.former)) do
            list[#list + 1] = p.rows .. ':' .. g
        end

        call('HDEL', L.log_names(root), p.name)
        call('ZREM', L.log_listing(root), p.name)
        unlabel(root, p.name, labels[1] or '', labels[2] or '')

        for a = 1, #list, 1000 do
            call('UNLINK', unpack(list, a, min(a + 999, #list)))
        end

        call('ZREM', L.agenda(root), 'l:' .. p.q)

        return 1
    end)
end
