-- Logs: dead letters.

-- The rows of all queues, of one group or of all: "Q:row" by when they failed.
function L.log_dead_of(root, group)
    return root .. ':lKA' .. (group ~= '' and ':' .. group or '')
end

do
    local MOST = 100000         -- rows that are listed without their queue
    local PAGE = 1000           -- rows of a call
    local FIELDS = 15           -- elements of a reply for each
    local ROW = '^(%d+):(%d+):(%d+):(%d+):(%d+):(%d+):(%d):(%d+):(%d+):(%d+)'
                .. ':(%d+):(%d+)\n()'


    -- Lists a new row with those of all queues; the oldest ones leave.
    function L.log_list_dead(t, group, number)
        local root = t.p.root

        for i = 1, group == '' and 1 or 2 do
            local key = L.log_dead_of(root, i == 1 and '' or group)

            call('ZADD', key, t.c.text, t.p.q .. ':' .. number)
            call('ZREMRANGEBYRANK', key, '0', L.text(-MOST - 1))
        end
    end


    -- A row of dead letters.
    local function read_row(number, text)
        local l, g, offset, ms, failed, retries, sealed, a, b, c, d, e, at
            = match(text, ROW)
        local row = { number = number, l = l, g = g, offset = offset, ms = ms,
                      failed = failed, retries = retries, sealed = sealed }

        for _, part in ipairs({ { 'id', a }, { 'producer', b }, { 'why', c },
                                { 'payload', d }, { 'group', e } }) do
            row[part[1]] = sub(text, at, at + part[2] - 1)
            at = at + part[2]
        end

        return row
    end


    -- Rows of a queue by their numbers, as far as they are there; they stop
    -- where a call has read enough: bytes is what it has read before.  Returns
    -- them, and the bytes.
    function L.log_dead_rows(t, numbers, bytes)
        local rows, i = {}, 1

        while numbers[i] and (bytes < L.BYTES or i == 1) do
            local last = min(#numbers, i + min(100, L.log_room(t, bytes)) - 1)
            local texts = call('HMGET', t.p.dead, unpack(numbers, i, last))

            for k = 1, last - i + 1 do
                if texts[k] then
                    rows[#rows + 1] = read_row(numbers[i + k - 1], texts[k])
                    bytes = bytes + #texts[k]
                end
            end

            i = last + 1
        end

        return rows, bytes
    end


    -- The numbers of the rows that a message has.
    function L.log_rows_of(t, l, id)
        local list = {}

        for number in gmatch(call('HGET', t.p.row_of, l .. ':' .. id) or '',
                             '%d+') do
            list[#list + 1] = number
        end

        return list
    end


    -- The name of a lane.
    function L.log_lane_name(t, l)
        if t.lane_of[l] == nil then
            local text = call('HGET', t.p.records, l)
            t.lane_of[l] = text and L.log_lane(l, text) or false
        end

        return t.lane_of[l] and t.lane_of[l].name or ''
    end


    -- Appends the 15 elements of a row to a reply.
    function L.log_tell_row(out, t, row)
        local n = #out

        for i, value in ipairs({ row.number, t.p.q, t.p.name, row.l,
                                 L.log_lane_name(t, row.l), row.group,
                                 row.offset, row.ms, row.failed, row.retries,
                                 row.sealed, row.id, row.producer, row.why,
                                 row.payload }) do
            out[n + i] = value
        end
    end


    -- Keys of a wrong type fail here.
    local function check(p, rows)
        call('HLEN', p.dead)
        call('HLEN', p.row_of)
        call('HLEN', p.former)
        call('ZCARD', p.rows)
        call('ZCARD', L.log_dead_of(p.root, ''))

        for i = 1, #rows do
            call('ZCARD', p.rows .. ':' .. rows[i].g)
            call('ZCARD', L.log_dead_of(p.root, rows[i].group))
        end
    end


    -- Removes rows.
    function L.log_drop_rows(t, rows)
        local p = t.p

        check(p, rows)

        for i = 1, #rows do
            local row = rows[i]
            local number, left = row.number, {}
            local own, field = p.rows .. ':' .. row.g, row.l .. ':' .. row.id

            for _, other in ipairs(L.log_rows_of(t, row.l, row.id)) do
                left[#left + 1] = other ~= number and other or nil
            end

            if left[1] then
                call('HSET', p.row_of, field, concat(left, ' '))
            else
                call('HDEL', p.row_of, field)
            end

            call('HDEL', p.dead, number)
            call('ZREM', p.rows, number)
            call('ZREM', own, number)

            if call('ZCARD', own) == 0 then
                call('HDEL', p.former, row.group)
            end

            for _, group in ipairs({ '', row.group }) do
                call('ZREM', L.log_dead_of(p.root, group), p.q .. ':' .. number)
            end
        end
    end


    -- The set of the rows of a queue, of one group or of all; or nothing.
    local function set_of(t, group)
        if group == '' then
            return t.p.rows
        end

        local g = L.log_group_named(t, group)
        local number = g and g.g or call('HGET', t.p.former, group)

        return number and t.p.rows .. ':' .. number or nil
    end


    local function newest(key, offset, limit)
        return call('ZRANGE', key, L.text(offset), L.text(offset + limit - 1),
                    'REV')
    end


    -- Appends some rows of all queues to a reply.  Those of queues that are no
    -- more are dropped: returns how many, and the bytes.
    local function tell_some(c, out, key, offset, limit, bytes)
        local gone = {}

        for _, member in ipairs(newest(key, offset, limit)) do
            local q, number = match(member, '^(.*):(%d+)$')
            local t, rows = L.log_by_id(c, q), {}

            if bytes >= L.BYTES then
                break
            end

            if t then
                rows, bytes = L.log_dead_rows(t, { number }, bytes)
            end

            if rows[1] then
                L.log_tell_row(out, t, rows[1])
            else
                gone[#gone + 1] = member
            end
        end

        L.log_many('ZREM', key, gone, #gone)

        return #gone, bytes
    end


    local function tell_all(c, group, offset, limit)
        local key = L.log_dead_of(c.root, group)
        local out, bytes, gone = { 0 }, 0, 0

        for i = 1, 10 do
            local n = (#out - 1) / FIELDS

            gone, bytes = tell_some(c, out, key, offset + n, limit - n, bytes)

            if gone == 0 or bytes >= L.BYTES or #out > limit * FIELDS then
                break
            end
        end

        out[1] = call('ZCARD', key)

        return out
    end


    local function tell_queue(t, group, offset, limit)
        local key = set_of(t, group)
        local out = { key and call('ZCARD', key) or 0 }
        local rows = key and L.log_dead_rows(t, newest(key, offset, limit), 0)
                     or {}

        for i = 1, #rows do
            L.log_tell_row(out, t, rows[i])
        end

        return out
    end


    -- log_dead: dead letters, the newest first.
    -- Keys: root.  Arguments: name (empty: of all queues, 100,000 at most),
    -- group (empty: of all), offset, limit (to 1,000).
    -- Reply: how many there are; then for each row: number Q queue l lane group
    -- offset ms failed retries sealed id producer error payload, fewer rows than
    -- asked for where they have some 4 MiB.
    -- Cost: O(limit + log rows).
    L.register('log_dead', { 'allow-oom' }, function(root, args)
        local c, offset, limit = L.log_call(root), tonumber(args[3]),
                                 tonumber(args[4])

        if #args ~= 4 or not (offset and limit) or offset < 0 or limit < 1 then
            return L.wrong('log_dead')
        end

        limit = min(limit, PAGE)

        if args[1] == '' then
            return tell_all(c, args[2], offset, limit)
        end

        local t = L.log_by_name(c, args[1])

        return t and tell_queue(t, args[2], offset, limit) or { 0 }
    end)


    -- All rows of a queue.
    local function purge(t)
        local p, list = t.p, { t.p.dead, t.p.rows, t.p.row_of, t.p.former }
        local groups = call('HVALS', p.groups)
        local n = call('ZCARD', p.rows)

        for i = 1, #groups do
            list[#list + 1] = p.rows .. ':' .. match(groups[i], '^%d+')
        end

        for _, g in ipairs(call('HVALS', p.former)) do
            list[#list + 1] = p.rows .. ':' .. g
        end

        for a = 1, #list, 1000 do
            call('UNLINK', unpack(list, a, min(a + 999, #list)))
        end

        return n
    end


    -- log_purge_dead: removes the dead letters of a queue.
    -- Keys: root.  Arguments: name, group (empty: of all).  Reply: how many were
    -- removed; 1 where there are more of the group: 1,000 of them are in a call.
    -- Cost: O(1), or O(rows * log).
    L.register('log_purge_dead', { 'allow-oom' }, function(root, args)
        local t = #args == 2 and L.log_by_name(L.log_call(root), args[1])

        if #args ~= 2 then
            return L.wrong('log_purge_dead')
        end

        if t and args[2] == '' then
            return { purge(t), 0 }
        end

        local key = t and set_of(t, args[2])

        if not key then
            return { 0, 0 }
        end

        local rows = L.log_dead_rows(t, newest(key, 0, PAGE), 0)

        L.log_drop_rows(t, rows)

        return { #rows, call('EXISTS', key) }
    end)


    -- log_delete_dead: removes the dead letters of a message.
    -- Keys: root.  Arguments: Q l id.  Reply: how many.
    -- Cost: O(rows * log).
    L.register('log_delete_dead', { 'allow-oom' }, function(root, args)
        local t = #args == 3 and L.log_by_id(L.log_call(root), args[1])

        if #args ~= 3 then
            return L.wrong('log_delete_dead')
        end

        local numbers = t and L.log_rows_of(t, args[2], args[3]) or {}
        local rows = L.log_dead_rows(t, { unpack(numbers, 1, PAGE) }, 0)

        L.log_drop_rows(t, rows)

        return #rows
    end)


    -- What pushes a dead letter anew: arguments as of log_push.
    local function push_again(c, t, row, id)
        local lane = L.log_lane_name(t, row.l)

        c.as_it_was = true

        local words, failed = L.log_plan_push(c, {
            '1', t.p.name, '', '', '1',
            '1', lane, '1', row.sealed,
            L.log_hash(lane, id),
            L.log_segment(c.text, 1, row.sealed, row.producer, id, '',
                          L.text(#row.payload), ''),
            row.payload }, 1)

        if words then
            L.log_write_push(c)
        end

        return words and words[1], failed
    end


    -- log_retry_dead: pushes the newest dead letter of a message anew, to the end
    -- of its lane, and removes it.
    -- Keys: root.  Arguments: Q l id, and another id.  Reply: Q l ms offset; of
    -- what was pushed before with that other id where it was.  Errors:
    -- NOMESSAGE.
    -- Cost: O(log).
    L.register('log_retry_dead', {}, function(root, args)
        local c = L.log_call(root)
        local t = #args == 4 and L.log_by_id(c, args[1])

        if #args ~= 4 then
            return L.wrong('log_retry_dead')
        end

        local numbers = t and L.log_rows_of(t, args[2], args[3]) or {}
        local row = numbers[1] and L.log_dead_rows(t, { numbers[#numbers] }, 0)[1]

        if not row then
            return L.err('NOMESSAGE', 'no such dead letter')
        end

        check(t.p, { row })

        local word, failed = push_again(c, t, row, args[4])

        if not word then
            return failed
        end

        L.log_drop_rows(t, { row })

        local q, l, ms, offset = match(word, '^(.-):(.-):(%d+):(%d+)')
        local before, at = match(word, ' 0:(%d+):(%d+)$')

        return { q, l, tonumber(at or ms), tonumber(before or offset) }
    end)
end
