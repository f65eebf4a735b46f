-- Logs: messages that are looked at.

do
    local PAGE = 1000           -- messages that are read in a call
    local LANES = 100           -- lanes
    local QUEUES = 50           -- queues
    local GROUPS = 100          -- groups that are told
    local MARKS = 100           -- blocks of a lane


    -- A message of a segment that begins at an offset.
    local function one_of(text, at, offset)
        local one = L.log_cut(text, offset - at + 1, offset - at + 1)
        local ms, _, sealed, a, b, x, d, from = L.log_head(one)

        return { offset = L.text(offset), ms = ms, sealed = sealed,
                 producer = sub(one, from, from + a - 1),
                 id = sub(one, from + a, from + a + b - 1),
                 trace = sub(one, from + a + b, from + a + b + x - 1),
                 payload = sub(one, from + a + b + x + d) }
    end


    -- Some groups of a queue, and how many there are.
    local function some_groups(t)
        local all, list = call('HGETALL', t.p.groups), {}

        for i = 1, min(#all, GROUPS * 2), 2 do
            list[#list + 1] = L.log_group(t.p, all[i], all[i + 1])
        end

        return list, #all / 2
    end


    -- Where a message is that is known by its id: offset and ms, or nothing.
    local function find_id(t, lane, id)
        local found = L.log_look_up(t, lane, { id })

        if found.offsets then
            return found.offsets[1], found.moments[1]
        end
    end


    -- The message of a lane at an offset, or nothing.
    local function read_one(t, lane, offset, ms)
        if offset < lane.head or offset >= lane.next then
            return
        end

        local at, text = L.log_seek(t, lane,
                                    L.log_landmark(t.p, lane, ms, offset), offset)

        return at and one_of(text, at, offset)
    end


    -- A message by its id, or nothing.
    function L.log_message_of(t, l, id)
        local text = call('HGET', t.p.records, l)
        local lane = text and L.log_lane(l, text)
        local offset, ms

        if lane then
            offset, ms = find_id(t, lane, id)
        end

        return offset and read_one(t, lane, offset, ms)
    end


    local function append(out, list)
        local n = #out

        for i = 1, #list do
            out[n + i] = list[i]
        end
    end


    -- What the groups of a queue have of a message of a lane: name, committed,
    -- live lease or nothing, its end, moment of the last commit.
    local function tell_groups(out, t, l, m)
        local groups = some_groups(t)

        out[#out + 1] = #groups

        for i = 1, #groups do
            local g = groups[i]
            local text = call('HGET', g.cursors, l)
            local cur = text and L.log_cursor(text)
            local live = cur and cur.expiry > t.c.now

            -- what is before the beginning of a group counts as passed
            append(out, { g.name,
                          cur and L.text(cur.committed)
                          or (g.mode == 't' and tonumber(m.ms) < g.from
                              and m.offset or ''),
                          live and cur.lease or '',
                          live and L.text(cur.expiry) or '',
                          cur and L.text(cur.consumed) or '' })
        end
    end


    -- log_message: a message by its id, as far as it is known: while its window
    -- of ids is there, or it has dead letters.
    -- Keys: root.  Arguments: Q l id.
    -- Reply: stored (0: only a dead letter is left) offset ms producer sealed
    -- payload id trace queue lane ns task s; how many dead letters (100 at most),
    -- and each as of log_dead, the oldest first; how many groups (100 at most),
    -- and of each name committed (empty: no cursor) lease expiry (empty: none)
    -- consumed.  Errors: NOMESSAGE.
    -- Cost: O(log lanes + groups).
    L.register('log_message', { 'no-writes' }, function(root, args)
        local t = #args == 3 and L.log_by_id(L.log_call(root), args[1])

        if #args ~= 3 then
            return L.wrong('log_message')
        end

        local l, id = args[2], args[3]
        local text = t and call('HGET', t.p.records, l)

        if not text then
            return L.err('NOMESSAGE', 'no such message')
        end

        local numbers = L.log_rows_of(t, l, id)
        local rows = L.log_dead_rows(t, { unpack(numbers, 1, GROUPS) }, 0)
        local lane = L.log_lane(l, text)
        local offset, ms = find_id(t, lane, id)
        local last = rows[#rows]

        if not offset and last then
            offset, ms = tonumber(last.offset), tonumber(last.ms)
        end

        local m = offset and read_one(t, lane, offset, ms)
        local stored = m and 1 or 0

        m = m or last
        if not m then
            return L.err('NOMESSAGE', 'no such message')
        end

        local labels = call('HMGET', L.log_settings(root, t.p.q), 'ns', 'task')
        local out = { stored, m.offset, m.ms, m.producer, m.sealed, m.payload,
                      m.id, m.trace or '', t.p.name, lane.name, labels[1] or '',
                      labels[2] or '', t.p.s, #rows }

        for i = 1, #rows do
            L.log_tell_row(out, t, rows[i])
        end

        tell_groups(out, t, l, m)

        return out
    end)


    -- The segments of a lane from one offset to before another, where they begin.
    local function read_block(b, t, lane, at, stop)
        local n, found, list = 1, {}, {}

        while at < stop do
            if not found[at] then
                found = {}
                L.log_read_ahead(t.p, lane, at, n, stop - at,
                                 L.log_room(t, b.bytes), found)
            end

            local text = found[at]
            local ms, count = L.log_head(text or '')

            if not ms then
                break
            end

            n = tonumber(count)
            b.bytes = b.bytes + #text
            list[#list + 1] = { at = at, text = text, n = n,
                                ms = tonumber(ms) }
            at = at + n
        end

        return list
    end


    -- Adds messages of a segment to b.list, the last one first.
    local function add(b, t, lane, s, want)
        for offset = s.at + s.n - 1, s.at, -1 do
            if want == 0 or b.left == 0 then
                return 0
            end

            local m = one_of(s.text, s.at, offset)

            m.t, m.lane = t, lane
            b.list[#b.list + 1] = m
            want, b.left = want - 1, b.left - 1
        end

        return want
    end


    -- The last messages of a lane that are of moments from … to, want at most,
    -- are added to b.list: block by block, as the index by time has them.
    local function read_last(b, t, lane, from, to, want)
        local stop = to < lane.last and L.log_since(t.p, lane, to + 1)
                     or lane.next
        local low = L.log_landmark(t.p, lane, from)
        local prefix = format('[%012.0f:', lane.l)
        local marks = call('ZREVRANGEBYLEX', t.p.times, prefix .. '~', prefix,
                           'LIMIT', '0', L.text(MARKS))

        for i = 1, #marks + 1 do
            local start = max(low, marks[i] and tonumber(sub(marks[i], -12))
                                   or #marks < MARKS and low or stop)
            local list = start < stop and read_block(b, t, lane, start, stop)
                         or {}

            for k = #list, 1, -1 do
                want = list[k].ms >= from and add(b, t, lane, list[k], want)
                       or want
            end

            stop = min(stop, start)

            if want == 0 or b.left == 0 or b.bytes >= L.BYTES or stop <= low then
                return
            end
        end
    end


    -- The lanes of queues to look at: one by its name, or those that were noted
    -- last, the one with the newest messages first.
    local function lanes_of(queues, name, from)
        local list = {}

        for _, t in ipairs(queues) do
            local ls

            if name ~= '' then
                ls = { call('HGET', t.p.lanes, name) or nil }
            else
                ls = call('ZRANGE', t.p.noted, '0', L.text(LANES - 1), 'REV')
            end

            for i, text in ipairs(L.log_many('HMGET', t.p.records, ls, #ls)) do
                local lane = text and L.log_lane(ls[i], text)

                if lane and lane.head < lane.next and lane.last >= from then
                    lane.t = t
                    list[#list + 1] = lane
                end
            end
        end

        table.sort(list, function(a, b)
            return a.last > b.last
        end)

        return list
    end


    -- The queues that are meant: one by its name, or the first ones that have
    -- the labels.
    local function queues_of(c, name, space, task)
        local names = { name }

        if name == '' then
            local key = space ~= '' and L.log_of_space(c.root, space)
                        or task ~= '' and L.log_of_task(c.root, task)
                        or L.log_listing(c.root)

            names = call('ZRANGE', key, '0', L.text(QUEUES - 1))

            if space ~= '' and task ~= '' and names[1] then
                local both = call('ZMSCORE', L.log_of_task(c.root, task),
                                  unpack(names))

                for i = #names, 1, -1 do
                    if not both[i] then
                        table_remove(names, i)
                    end
                end
            end
        end

        local list = {}

        for i = 1, #names do
            list[#list + 1] = L.log_by_name(c, names[i])
        end

        return list
    end


    -- What groups have of a lane's messages: the cursor of the queue mode, if
    -- any; what each of some others has committed; and how many groups there are.
    local function consumption(t, lane)
        local groups, total = some_groups(t)
        local queue, others = nil, {}

        for i = 1, #groups do
            local g = groups[i]
            local text = call('HGET', g.cursors, lane.l)
            local cur = text and L.log_cursor(text)

            if g.name == '__QUEUE_MODE__' then
                queue, lane.mode = cur or nil, true
            else
                others[#others + 1] = cur and cur.committed or 0
            end
        end

        lane.queue, lane.others = queue, others
        lane.groups = total - (lane.mode and 1 or 0)
    end


    -- Appends the 19 elements of a message to a reply.
    local function tell(c, out, m)
        local t, lane, passed = m.t, m.lane, 0

        if not lane.others then
            consumption(t, lane)
        end

        if not t.labels then
            t.labels = call('HMGET', L.log_settings(c.root, t.p.q), 'ns', 'task')
        end

        local queue, offset = lane.queue, tonumber(m.offset)

        for i = 1, #lane.others do
            passed = passed + (lane.others[i] >= offset and 1 or 0)
        end

        local live = queue and queue.expiry > c.now
                     and offset > queue.committed and offset <= queue.last

        append(out, {
            t.p.q, t.p.name, lane.l, lane.name, m.offset, m.ms, m.producer,
            m.sealed, m.id, m.trace, m.payload, t.labels[1] or '',
            t.labels[2] or '',
            call('HEXISTS', t.p.row_of, lane.l .. ':' .. m.id),
            lane.mode and 1 or 0, queue and L.text(queue.committed) or '',
            live and L.text(queue.expiry) or '', L.text(lane.groups),
            L.text(passed)
        })
    end


    -- log_messages: messages, the newest first.  What is looked at is limited:
    -- the first 50 queues with the labels, of each the 100 lanes that were noted
    -- last, of these the ones with the newest messages, 1,000 messages or 4 MiB
    -- in all.
    -- Keys: root.  Arguments: name lane ns task (empty: any), from to (ms, both
    -- included), offset, limit (to 200).
    -- Reply: for each message Q queue l lane offset ms producer sealed id trace
    -- payload ns task dead (1: it has dead letters) mode (1: the queue mode is
    -- registered) committed (its cursor's; empty: none) expiry (of its lease on
    -- the message; empty: none) groups (others that are registered) passed (how
    -- many of these have consumed it).
    -- Cost: O(1000).
    L.register('log_messages', { 'no-writes' }, function(root, args)
        local c, n = L.log_call(root), {}

        for i = 5, 8 do
            n[i] = tonumber(args[i])
        end

        if #args ~= 8 or not (n[5] and n[6] and n[7] and n[8]) then
            return L.wrong('log_messages')
        end

        local from, to, offset, limit = max(0, n[5]), n[6], max(0, n[7]),
                                        max(1, min(200, n[8]))
        local b, out = { left = PAGE, bytes = 0, list = {} }, {}
        local queues = queues_of(c, args[1], args[3], args[4])

        for _, lane in ipairs(lanes_of(queues, args[2], from)) do
            if b.left <= 0 or b.bytes >= L.BYTES then
                break
            end

            L.log_numbers(lane.t)
            read_last(b, lane.t, lane, from, to, offset + limit)
        end

        local list = b.list

        table.sort(list, function(x, y)
            if x.ms ~= y.ms then
                return tonumber(x.ms) > tonumber(y.ms)
            elseif x.lane ~= y.lane then
                return x.lane.t.p.name .. x.lane.name < y.lane.t.p.name
                                                        .. y.lane.name
            end

            return tonumber(x.offset) > tonumber(y.offset)
        end)

        for i = offset + 1, min(#list, offset + limit) do
            tell(c, out, list[i])
        end

        return out
    end)
end
