-- Logs: traces, what consumers note of messages.

function L.log_trace_names(root)       return root .. ':lw' end
function L.log_traces_of(root, name)   return root .. ':lw:' .. name end
function L.log_traced_of(root, name)   return root .. ':lW:' .. name end

do
    local OF_MESSAGE = 1000     -- traces of a message
    local OF_NAME = 10000       -- of a name
    local NAMES = 10000         -- names of a project
    local OF_QUEUE = 100000     -- traces of a queue
    local MOST = 100            -- names of a trace
    local PAGE = 1000           -- rows of a call
    local TRACE = '^(%d+):(%d+):(%d+):(%d+):(%d+):(%d+):(%d+)\n()'


    -- A trace: l:ms:a:b:c:d:e, a line feed, then id (a bytes), id of the message
    -- (b), group (c), type (d), data (e), and its names in lines.
    local function read_trace(number, text)
        local l, ms, a, b, c, d, e, at = match(text, TRACE)
        local one = { number = number, l = l, ms = ms, names = {} }

        for _, part in ipairs({ { 'id', a }, { 'txn', b }, { 'group', c },
                                { 'type', d }, { 'data', e } }) do
            one[part[1]] = sub(text, at, at + part[2] - 1)
            at = at + part[2]
        end

        for name in gmatch(sub(text, at), '[^\n]+') do
            one.names[#one.names + 1] = name
        end

        return one
    end


    -- What a trace is among those of a name: "Q:number:l:id".
    local function member_of(t, one)
        return concat({ t.p.q, one.number, one.l, one.txn }, ':')
    end


    -- Takes members off a name; a name without any is forgotten.
    local function unname(root, name, members)
        local key, traced = L.log_traces_of(root, name),
                            L.log_traced_of(root, name)

        for i = 1, #members do
            if call('ZREM', key, members[i]) == 1 then
                local q, message = match(members[i], '^([^:]*:)%d+:(.*)$')

                message = q .. message

                if call('HINCRBY', traced, message, '-1') <= 0 then
                    call('HDEL', traced, message)
                end
            end
        end

        if call('ZCARD', key) == 0 then
            call('UNLINK', key, traced)
            call('ZREM', L.log_trace_names(root), name)
        end
    end


    -- The numbers of the traces of a message.
    local function numbers_of(t, l, id)
        local list = {}

        for number in gmatch(call('HGET', t.p.traced, l .. ':' .. id) or '',
                             '%d+') do
            list[#list + 1] = number
        end

        return list
    end


    local function write_numbers(t, l, id, list)
        if list[1] then
            call('HSET', t.p.traced, l .. ':' .. id, concat(list, ' '))
        else
            call('HDEL', t.p.traced, l .. ':' .. id)
        end
    end


    -- Removes a trace of a queue, if it is there.
    local function remove(t, number)
        local text = call('HGET', t.p.traces, number)

        if not text then
            return
        end

        local one, left = read_trace(number, text), {}

        for _, other in ipairs(numbers_of(t, one.l, one.txn)) do
            left[#left + 1] = other ~= number and other or nil
        end

        write_numbers(t, one.l, one.txn, left)
        call('HDEL', t.p.traces, number)

        for i = 1, #one.names do
            unname(t.p.root, one.names[i], { member_of(t, one) })
        end
    end


    -- A trace is among those of a name.
    local function add_name(t, one, name)
        local root = t.p.root
        local key, names = L.log_traces_of(root, name), L.log_trace_names(root)

        call('ZADD', key, t.c.text, member_of(t, one))
        call('HINCRBY', L.log_traced_of(root, name),
             concat({ t.p.q, one.l, one.txn }, ':'), '1')
        call('ZADD', names, t.c.text, name)

        if call('ZCARD', key) > OF_NAME then
            unname(root, name, call('ZRANGE', key, '0', '0'))
        end

        if call('ZCARD', names) > NAMES then
            local first = call('ZRANGE', names, '0', '0')[1]

            call('UNLINK', L.log_traces_of(root, first),
                 L.log_traced_of(root, first))
            call('ZREM', names, first)
        end
    end


    -- Keys of a wrong type fail here.
    local function check(t, names)
        local root = t.p.root

        call('HLEN', t.p.traces)
        call('HLEN', t.p.traced)
        call('ZCARD', L.log_trace_names(root))

        for i = 1, #names do
            call('ZCARD', L.log_traces_of(root, names[i]))
            call('HLEN', L.log_traced_of(root, names[i]))
        end
    end


    -- log_trace: notes something of a message, which need not be there.
    -- Keys: root.  Arguments: Q l id group type data, the trace's id, then names,
    -- 100 at most.  Reply: 1.  Errors: NOMESSAGE (no such queue or lane).
    -- Cost: O(names * log).
    L.register('log_trace', {}, function(root, args)
        local n = #args
        local t = n >= 7 and n <= 7 + MOST
                  and L.log_by_id(L.log_call(root), args[1])

        if n < 7 or n > 7 + MOST then
            return L.wrong('log_trace')
        end

        if not t or call('HEXISTS', t.p.records, args[2]) == 0 then
            return L.err('NOMESSAGE', 'no such partition')
        end

        local names, seen = {}, {}

        for i = 8, n do
            if args[i] ~= '' and not seen[args[i]] then
                seen[args[i]], names[#names + 1] = true, args[i]
            end
        end

        check(t, names)

        local last = tonumber(call('HGET', t.p.hot, 'tr') or 0) + 1
        local one = { number = L.text(last), l = args[2], txn = args[3] }
        local list = numbers_of(t, one.l, one.txn)

        if #list >= OF_MESSAGE then
            remove(t, table_remove(list, 1))
        end

        remove(t, L.text(last - OF_QUEUE))
        list = numbers_of(t, one.l, one.txn)
        list[#list + 1] = one.number
        call('HSET', t.p.hot, 'tr', one.number)
        write_numbers(t, one.l, one.txn, list)
        call('HSET', t.p.traces, one.number,
             concat({ concat({ one.l, t.c.text, #args[7], #one.txn, #args[4],
                               #args[5], #args[6] }, ':') .. '\n',
                      args[7], one.txn, args[4], args[5], args[6],
                      concat(names, '\n') }))

        for i = 1, #names do
            add_name(t, one, names[i])
        end

        return 1
    end)


    local function tell(out, one)
        for _, value in ipairs({ one.id, one.type, one.data, one.group, one.ms,
                                 #one.names, unpack(one.names) }) do
            out[#out + 1] = value
        end
    end


    -- log_traces: the traces of a message, the oldest first, up to 4 MiB.
    -- Keys: root.  Arguments: Q l id.  Reply: for each id type data group ms, how
    -- many names, and these.
    -- Cost: O(traces).
    L.register('log_traces', { 'no-writes' }, function(root, args)
        local t = #args == 3 and L.log_by_id(L.log_call(root), args[1])
        local out, bytes = {}, 0

        if #args ~= 3 then
            return L.wrong('log_traces')
        end

        for _, number in ipairs(t and numbers_of(t, args[2], args[3]) or {}) do
            local text = call('HGET', t.p.traces, number)

            if text and bytes < L.BYTES then
                bytes = bytes + #text
                tell(out, read_trace(number, text))
            end
        end

        return out
    end)


    -- Appends a trace with the message that it is of.
    local function tell_named(out, t, one)
        local m = L.log_message_of(t, one.l, one.txn)
        local n

        tell(out, one)
        n = #out

        for i, value in ipairs({ one.txn, t.p.q, one.l, t.p.name,
                                 L.log_lane_name(t, one.l), m and m.sealed or '0',
                                 m and m.payload or '' }) do
            out[n + i] = value
        end

        return m and #m.payload or 0
    end


    -- log_traces_named: the traces that have a name, the newest first, up to
    -- 4 MiB.  Those of queues that are no more are dropped.
    -- Keys: root.  Arguments: name, limit (to 1,000), offset.
    -- Reply: how many there are; then for each as of log_traces, and id Q l queue
    -- lane sealed payload (empty: it is not known any more) of its message.
    -- Cost: O(limit * log).
    L.register('log_traces_named', { 'allow-oom' }, function(root, args)
        local c, limit, offset = L.log_call(root), tonumber(args[2]),
                                 tonumber(args[3])
        local out, bytes, gone = { 0 }, 0, {}

        if #args ~= 3 or not (limit and offset) or limit < 1 or offset < 0 then
            return L.wrong('log_traces_named')
        end

        local key = L.log_traces_of(root, args[1])

        for _, member in ipairs(call('ZRANGE', key, L.text(offset),
                                     L.text(offset + min(limit, PAGE) - 1), 'REV'))
        do
            local q, number = match(member, '^([^:]*):(%d+):')
            local t = L.log_by_id(c, q)
            local text = t and call('HGET', t.p.traces, number)

            if bytes >= L.BYTES then
                break
            end

            if text then
                bytes = bytes + #text + tell_named(out, t,
                                                   read_trace(number, text))
            else
                gone[#gone + 1] = member
            end
        end

        if gone[1] then
            unname(root, args[1], gone)
        end

        out[1] = call('ZCARD', key)

        return out
    end)


    -- log_trace_names: the names that traces have, the one that was used last
    -- first.
    -- Keys: root.  Arguments: limit (to 1,000), offset.  Reply: how many there
    -- are; then for each name, how many traces, of how many messages, ms of the
    -- last one.
    -- Cost: O(limit + log).
    L.register('log_trace_names', { 'no-writes' }, function(root, args)
        local limit, offset = tonumber(args[1]), tonumber(args[2])

        if #args ~= 2 or not (limit and offset) or limit < 1 or offset < 0 then
            return L.wrong('log_trace_names')
        end

        local key = L.log_trace_names(root)
        local list = call('ZRANGE', key, L.text(offset),
                          L.text(offset + min(limit, PAGE) - 1), 'REV',
                          'WITHSCORES')
        local out = { call('ZCARD', key) }

        for i = 1, #list, 2 do
            local n = #out

            out[n + 1] = list[i]
            out[n + 2] = call('ZCARD', L.log_traces_of(root, list[i]))
            out[n + 3] = call('HLEN', L.log_traced_of(root, list[i]))
            out[n + 4] = list[i + 1]
        end

        return out
    end)
end
