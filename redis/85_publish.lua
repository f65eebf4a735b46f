-- Pub/Sub: publish.  A message is the text of a JSON object,
--
--     {"data":"BASE64","attributes":{"k":"v"},"orderingKey":"k"}
--
-- each member of which may be absent.  Its id in all subscriptions, and in the
-- topic's log, is the same: "ms-n", by the topic's clock that never goes back.

do
    local LAST = 999999             -- n of an id
    local FANS = 20000              -- lines of fans that are remembered
    local MOST = 20000              -- messages times subscriptions of a call,
    local BYTES = 1073741824        -- and bytes of their bodies times these

    -- fan → its lines as tables, by root; and how many they are together
    local fans, nfans = {}, 0


    -- What a fan says: for each line letter, id, the key of its hot hash or stream,
    -- and whether it has a filter.
    local function fan_of(root, text)
        local known = fans[root]
        local list = known and known[text]

        if list then
            return list
        end

        list = {}

        for letter, id, mark in gmatch(text, '(%a)([^:]*):(%d*)\n') do
            list[#list + 1] = {
                letter = letter, id = id, filtered = mark ~= '',
                key = letter == 'n' and L.snap_stream(root, id)
                      or L.hot(root, id)
            }
        end

        if nfans + #list > FANS then
            fans, nfans, known = {}, 0, nil
        end

        if not known then
            known = {}
            fans[root] = known
        end

        known[text], nfans = list, nfans + #list + 1

        return list
    end


    -- A filter's program (src/base/ngx_queues_base_filter.h) as a list of
    -- operations.
    function L.program(text)
        local list, at = {}, 1

        local function operand()
            local length, from = match(text, '^ (%d+):()', at)
            at = from + length
            return sub(text, from, at - 1)
        end

        while at <= #text do
            local op = { op = sub(text, at, at) }

            at = at + 1

            if find(op.op, '[henp]') then
                op.key = operand()
                op.value = op.op ~= 'h' and operand() or nil
            elseif op.op ~= '!' then
                op.n, at = match(text, '^ (%d+)()', at)
                op.n = tonumber(op.n)
            end

            list[#list + 1], at = op, at + 1
        end

        return list
    end


    -- Whether attributes pass a test of a filter.
    local function passes(op, attributes)
        local kind, value = op.op, attributes[op.key]

        if kind == 'h' then
            return value ~= nil
        elseif kind == 'e' then
            return value == op.value
        elseif kind == 'n' then
            return value ~= op.value
        end

        return value ~= nil and sub(value, 1, #op.value) == op.value
    end


    -- Whether attributes match a filter.
    function L.matches(program, attributes)
        if not program[2] then
            return not program[1] or passes(program[1], attributes)
        end

        local stack, n = {}, 0

        for i = 1, #program do
            local op = program[i]
            local kind = op.op

            if op.key then
                n, stack[n + 1] = n + 1, passes(op, attributes)
            elseif kind == '!' then
                stack[n] = not stack[n]
            else
                local want, is = kind == '|', kind == '&'

                for k = n - op.n + 1, n do
                    if stack[k] == want then
                        is = want
                    end
                end

                n = n - op.n + 1
                stack[n] = is
            end
        end

        return stack[1]
    end


    -- The end of a JSON string the content of which begins at from: where its
    -- quote is.
    local function string_end(text, from)
        while true do
            local at = find(text, '["\\]', from)

            if not at or byte(text, at) == 34 then
                return at
            end

            from = at + 2
        end
    end


    -- Finds what a message has, where it has it: at and len of its attributes'
    -- object, each of which each() is told, if it is there: its key, and its value
    -- with quotes; and the ordering key.  0 and nothing for what there is not.
    function L.parts_of(body, each)
        local at, n, from = 2, 0, 0
        local _, z = find(body, '^{"data":"[^"]*",?')

        at = z and z + 1 or at
        _, z = find(body, '^"attributes":{', at)

        if z then
            from, at = z, z + 1

            while byte(body, at) == 34 do
                local k = string_end(body, at + 1)
                local v = string_end(body, k + 3)

                if each then
                    each(sub(body, at + 1, k - 1), sub(body, k + 2, v))
                end

                at = byte(body, v + 1) == 44 and v + 2 or v + 1
            end

            n = at - from + 1
            at = byte(body, at + 1) == 44 and at + 2 or at + 1
        end

        _, z = find(body, '^"orderingKey":"', at)

        return from, n, z and sub(body, z + 1, string_end(body, z + 1) - 1) or ''
    end


    local NONE = {}


    -- What a publish says of a message.  Few subscriptions ask.
    local function read_meta(m)
        if m.meta then
            local at, len, key = match(m.meta, '^(%d+):(%d+):(.*)$')

            m.at, m.len, m.key = tonumber(at) or 0, tonumber(len), key or ''
            m.meta = nil
        end
    end


    -- The attributes of a message, which is decoded once.
    function L.attributes(m)
        read_meta(m)

        if not m.attributes then
            m.attributes = m.at > 0
                and cjson.decode(sub(m.body, m.at, m.at + m.len - 1)) or NONE
        end

        return m.attributes
    end


    -- The group of a message of a FIFO queue: that of its ordering key, or its own.
    function L.group_of(m)
        read_meta(m)

        return m.key ~= '' and 'k' .. m.key or 'm' .. m.id
    end


    -- The program of a line's filter.
    local function filter_of(root, line)
        if not line.program then
            line.program = L.program(call('HGET', line.letter == 'n'
                                          and L.snap(root, line.id)
                                          or L.sub(root, line.id),
                                          'filter') or '')
        end

        return line.program
    end


    -- Which messages of a list are for a line that has a filter, list itself where
    -- all are.
    local function chosen(root, line, list)
        local program, some = filter_of(root, line), nil

        for i = 1, #list do
            local m = list[i]
            local is = L.matches(program, m.attributes or L.attributes(m))

            if is and some then
                some[#some + 1] = m
            elseif not is and not some then
                some = { unpack(list, 1, i - 1) }
            end
        end

        return some or list
    end


    -- Gives the messages of a list their ids, which follow those of last; returns
    -- the first of these, the last one, and its moment.
    local function number(list, last, now)
        local ms, n = L.parts(last)

        if now > ms then
            ms, n = now, 0
        else
            n = n + 1
        end

        if n + #list - 1 > LAST then
            ms, n = ms + 1, 0
        end

        local head = L.text(ms) .. '-'

        for i = 1, #list do
            list[i].id, list[i].ms = head .. (n + i - 1), ms
        end

        return list[1].id, list[#list].id, ms
    end


    local function longest(list)
        local most = 0

        for i = 1, #list do
            most = max(most, #list[i].body)
        end

        return most
    end


    -- The streams that a publish appends to, what goes there, and the plans of
    -- those that are subscriptions; kept from call to call, as hset is.
    local to = { keys = {}, lists = {}, plans = {} }


    -- Where a list goes: how many streams, and FIFO queues.  Keys of a wrong type
    -- that cannot be undone fail here.
    local function targets(root, fan, list, ms, size)
        local n, queues, keys, lists, plans = 0, {}, to.keys, to.lists, to.plans

        for i = 1, #fan do
            local line = fan[i]
            local s = line.letter ~= 'n' and call('HGET', line.key, 's')
            local p = s and L.plan(root, s)

            if p or line.letter == 'n' then
                local some = line.filtered and chosen(root, line, list) or list

                if some[1] then
                    if p and size > p.limit then
                        p = L.grow(p, size)
                    end

                    if line.letter == 'f' then
                        L.can_append_late(p, ms)
                        queues[#queues + 1] = { p, some }

                    else
                        n = n + 1
                        lists[n], plans[n] = some, p or false
                        -- S: comes back behind what a seek brings
                        keys[n] = line.letter == 's' and p.m
                                  or line.letter == 'n' and line.key
                                  or L.pending(p)
                    end
                end
            end
        end

        return n, queues
    end


    -- Appends to the first n streams.  Returns nothing, or an error that has
    -- changed nothing but for the last id of streams.
    local function append(n)
        local keys, lists = to.keys, to.lists

        for i = 1, n do
            local key, list = keys[i], lists[i]

            for k = 1, #list do
                local m = list[k]
                local done = try('XADD', key, m.id, 'b', m.body)

                if type(done) == 'table' then
                    for u = 1, i do
                        local ids = {}

                        for j = 1, u < i and #lists[u] or k - 1 do
                            ids[j] = lists[u][j].id
                        end

                        if ids[1] then
                            call('XDEL', keys[u], unpack(ids))
                        end
                    end

                    return done
                end
            end
        end
    end


    -- What publishes need of a topic: fan, last, log.
    function L.read_topic(root, t)
        local h = call('HMGET', L.topic(root, t), 'fan', 'last', 'log')

        if h[1] then
            return { t = t, fan = fan_of(root, h[1]), last = h[2],
                     log = h[3] ~= '0' }
        end
    end


    -- Publishes a list of messages, each with body, at, len, key, to a topic as
    -- L.read_topic() has it.  Returns the id of the first one; or an error.
    function L.publish(root, topic, list)
        local now = L.now()
        local first, last, ms = number(list, topic.last, now)
        local n, queues = targets(root, topic.fan, list, ms, longest(list))

        if topic.log then
            n = n + 1
            to.keys[n], to.lists[n] = L.topic_log(root, topic.t), list
            to.plans[n] = false
        end

        call('HSET', L.topic(root, topic.t), 'last', last)
        topic.last = last

        local failed = append(n)

        if failed then
            return failed
        end

        for i = 1, #queues do
            local p, some = queues[i][1], { checked = true }

            for k, m in ipairs(queues[i][2]) do
                some[k] = { group = L.group_of(m), body = m.body, attributes = '',
                            id = m.id, ms = m.ms }
            end

            L.append(p, some)
        end

        for i = 1, n do
            local p = to.plans[i]

            to.lists[i] = false             -- bodies are not kept

            if p and not p.due then
                L.stocked(p, now)
            end

            if p and p.waits then
                L.wake(p)
            end
        end

        return first
    end


    -- topic_publish: appends messages to all subscriptions of a topic whose filters
    -- they pass, all or none.
    -- Keys: root.  Arguments: name, then per message its body and meta: empty, or
    -- AT:LEN:KEY: where the text of its attributes' object begins in the body, from
    -- 1 (0: it has none), the bytes of it, and the ordering key.  Reply: the id of
    -- the first one, ms-n; those of the others follow by n.  Errors: NOTOPIC,
    -- TOOMANY (messages times subscriptions are more than 20,000, or bytes times
    -- subscriptions more than 1 GiB).
    -- Cost: O(messages * subscriptions).
    L.register('topic_publish', {}, function(root, args)
        local t = args[1] and call('HGET', L.topics(root), args[1])
        local topic = t and L.read_topic(root, t)
        local n, list, bytes = #args, {}, 0

        if not topic then
            return L.notopic()
        end

        if n < 3 or n % 2 == 0 or n > 2 * L.BATCH + 1 then
            return L.wrong('topic_publish')
        end

        if #topic.fan * (n - 1) / 2 > MOST then
            return L.err('TOOMANY', 'the topic has too many subscriptions')
        end

        for i = 2, n, 2 do
            local body, meta = args[i], args[i + 1]

            if meta ~= '' and not find(meta, '^%d+:%d+:') then
                return L.wrong('topic_publish')
            end

            list[i / 2] = { body = body, meta = meta }
            bytes = bytes + #body
        end

        if #topic.fan * bytes > BYTES then
            return L.err('TOOMANY', 'the topic has too many subscriptions')
        end

        return L.publish(root, topic, list)
    end)
end
