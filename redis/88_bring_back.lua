-- Pub/Sub: what a seek brings back, in steps: by pulls, claims and due work.
--
-- A seek begins a new generation of a subscription, and says in the field src of
-- its record what is to come into that, in lines of which the first one is read
-- from:
--
--     s KEY POS TO                a stream root:KEY, after the id POS, up to TO
--     g HEAD RANK SEQ FROM TO     the messages of a FIFO queue that is no more
--                                 changed, whose keys end in HEAD: groups by their
--                                 rank in x; sent at FROM (ms) or later, before TO
--
-- The last line is of the stream gp, to which what is published meanwhile is
-- appended.  When all are read to their ends, publishes go to the queue again.
--
-- A stream may be one of several that seek: the log of a topic, gg:T, a snapshot,
-- gx:N, with N:0 of a FIFO one.  In gy is how many lines read from it.

do
    local STEP = 100                -- messages of a call
    local TRIMMED = 10000           -- entries of a log that a call removes


    function L.uses(root)           return root .. ':gy' end
    function L.snap(root, n)        return root .. ':gn:' .. n end
    function L.snap_stream(root, n) return root .. ':gx:' .. n end


    local function unlink(root, letters, head)
        local keys = {}

        for letter in gmatch(letters, '.') do
            keys[#keys + 1] = concat({ root, letter, head }, ':')
        end

        call('UNLINK', unpack(keys))
    end


    local function unlink_shared(root, name)
        local n = match(name, '^gx:(.*)$')

        call('UNLINK', root .. ':' .. name)

        if n then
            unlink(root, 'ugdx', n .. ':0')
        end
    end


    -- Removes a log or snapshot that nobody appends to any more, unless a seek reads
    -- from it.
    function L.drop_source(root, name)
        if call('HEXISTS', L.uses(root), name) == 0 then
            unlink_shared(root, name)
        end
    end


    -- Which log or snapshot a line reads from, or nothing.
    local function shared(line)
        local key = match(line, '^s (g[gx]:%S+)')
        local n = not key and match(line, '^g (%S+):0 ')

        return key or n and 'gx:' .. n
    end


    -- Whether nothing but seeks knows of a log or snapshot any more.
    local function orphan(root, name)
        local kind, id = sub(name, 1, 3), sub(name, 4)

        if kind == 'gx:' then
            return call('EXISTS', L.snap(root, id)) == 0
        end

        return (call('HGET', L.topic(root, id), 'log') or '0') == '0'
    end


    -- A line is read no more.
    local function release(root, line)
        local name = shared(line)
        local kind, key = match(line, '^(%a) (%S+)')

        if not name then
            if kind == 's' then
                call('UNLINK', root .. ':' .. key)
            else
                unlink(root, 'ugdx', key)
            end

        elseif call('HINCRBY', L.uses(root), name, -1) <= 0 then
            call('HDEL', L.uses(root), name)

            if orphan(root, name) then
                unlink_shared(root, name)
            end
        end
    end


    function L.src_lines(f)
        local lines = {}

        for line in gmatch(f.src, '([^\n]+)\n') do
            lines[#lines + 1] = line
        end

        return lines
    end


    -- A seek is over or done otherwise: none of these lines is read any more.
    function L.release_lines(root, lines)
        for i = 1, #lines do
            release(root, lines[i])
        end
    end


    -- From now on these are read from.
    function L.use_lines(root, lines)
        for i = 1, #lines do
            local name = shared(lines[i])
            if name then
                call('HINCRBY', L.uses(root), name, 1)
            end
        end
    end


    -- Takes a message, unless the subscription does not want it or its retention is
    -- over.
    local function take(c, id, body)
        local p, ms = c.p, L.sent(id)

        L.spend(#body)
        c.left = c.left - 1

        if ms <= c.now - p.ret then
            return
        end

        local m = { id = id, ms = ms, body = body }

        if c.program or p.fifo then
            m.at, m.len, m.key = L.parts_of(body)
        end

        if not c.program or L.matches(c.program, L.attributes(m)) then
            c.list[#c.list + 1] = m
            c.size = max(c.size, #body)
            c.oldest = min(c.oldest or ms, ms)
        end
    end


    local function enough(c)
        return c.left <= 0 or L.spent()
    end


    -- What was read of a stream or queue that is the subscription's own goes, so that it
    -- is not stored twice for long.
    local function shorten(c, line)
        if not line or shared(line) then
            return
        end

        local key, ms, seq = match(line, '^s (%S+) (%d+)%-(%d+) ')

        if key then
            call('XTRIM', c.p.root .. ':' .. key, 'MINID', '=', ms .. '-'
                 .. L.text(seq + 1))

        elseif c.fields[2] then
            call('HDEL', unpack(c.fields))
        end
    end


    -- Each takes what a line has.  Returns the line as it is now, or nothing where it
    -- has no more.
    local from = {}

    function from.s(c, line)
        local key, pos, to = match(line, '^s (%S+) (%S+) (%S+)$')
        local few = shared(line) and 1 or L.few(c.p)    -- of any size, then

        while not enough(c) do
            local count = min(c.left, few)
            local entries = call('XRANGE', c.p.root .. ':' .. key, '(' .. pos,
                                 to, 'COUNT', count)

            for i = 1, #entries do
                pos = entries[i][1]
                take(c, pos, entries[i][2][2])
            end

            if #entries < count then
                return
            end
        end

        return concat({ 's', key, pos, to }, ' ')
    end


    -- The numbers of a group's messages from seq on, in their order: a list of those
    -- that were received, and the first and the last of those that follow.
    local function numbers(z, g, seq)
        local list = {}

        for _, e in ipairs(g.received and L.received(z, g.gid) or {}) do
            if e.seq >= seq then
                list[#list + 1] = e.seq
            end
        end

        return list, max(g.h, seq), g.t
    end


    function from.g(c, line)
        local head, rank, seq, low, high =
            match(line, '^g (%S+) (%d+) (%d+) (%d+) (%d*)$')
        local z = {}

        for letter in gmatch('ugdx', '.') do
            z[letter] = concat({ c.p.root, letter, head }, ':')
        end

        rank, seq, low = tonumber(rank), tonumber(seq), tonumber(low)
        c.fields = { z.u }
        high = tonumber(high)

        local function message(g, number)
            local value = call('HGET', z.u, g.gid .. ':' .. L.text(number))
            local ms, n, _, length, _, at = L.head(value or '0-0::0::')

            c.fields[#c.fields + 1] = g.gid .. ':' .. L.text(number)
            seq = number + 1

            if ms >= low and not (high and ms >= high) then
                take(c, L.text(ms) .. '-' .. n, sub(value, at, at + length - 1))
            else
                L.spend(length)
                c.left = c.left - 1
            end

            return high and ms >= high      -- so are those that follow
        end

        while not enough(c) do
            local name, score = unpack(call('ZRANGE', z.x, L.text(rank),
                                            L.text(rank), 'WITHSCORES'))

            -- no message of a group is older than its score
            if not name or (high and tonumber(score) >= high) then
                return
            end

            local record = call('HGET', z.g, name)

            local g = L.group(name, record or '0:1:0')
            local list, a, last = numbers(z, g, seq)
            local i, late = 1, false

            while not late and i <= #list + last - a + 1 and not enough(c) do
                late = message(g, list[i] or a + i - #list - 1)
                i = i + 1
            end

            if late or i > #list + last - a + 1 then
                rank, seq = rank + 1, 0
            end
        end

        return concat({ 'g', head, L.text(rank), L.text(seq), L.text(low),
                        high and L.text(high) or '' }, ' ')
    end


    -- Keys of a wrong type fail here.
    local function check(p, t)
        local root = p.root

        call('HLEN', L.topic(root, t))
        call('HLEN', L.subscriptions(root))

        if p.fifo then
            L.can_append_late(p, L.now())
        else
            call('XLEN', p.m)
        end

        call('ZCARD', L.agenda(root))
        call('HLEN', L.uses(root))
    end


    -- Adds what was taken to the queue, the oldest of which sets when retention is
    -- to look at it.
    local function add(c)
        local p = c.size > c.p.limit and L.grow(c.p, c.size) or c.p
        local list = c.list

        if not list[1] then
            return p
        end

        if p.fifo then
            for i = 1, #list do
                list[i].group, list[i].attributes = L.group_of(list[i]), ''
                list[i].key = nil
            end

            L.append(p, list)
        else
            for i = 1, #list do
                -- what is not after the last one is there already
                try('XADD', p.m, list[i].id, 'b', list[i].body)
            end
        end

        local h = call('HMGET', p.hot, 'hx', 't')
        local ends = c.oldest + p.ret

        call('HSET', p.hot, 'hx', L.text(min(tonumber(h[1]), ends)), 't',
             L.text(min(tonumber(h[2]), ends)))
        L.stocked(p, c.now)
        L.due(p, ends)

        return p
    end


    -- A step of what a seek brings back to the subscription of p.  Returns its plan,
    -- and its hot hash as L.read_receive() reads it.
    function L.bring_back(p, now)
        local root, f = p.root, L.read_sub(p.root, p.q)
        local lines, done = L.src_lines(f), {}
        local c = { p = p, now = now, left = STEP, list = {}, size = 0,
                    program = f.filter ~= '' and L.program(f.filter) or nil }

        check(p, f.t)

        while lines[1] and not enough(c) do
            local line = from[sub(lines[1], 1, 1)](c, lines[1])

            if line then
                c.cut = line ~= lines[1] and line
                lines[1] = line
            else
                done[#done + 1] = table_remove(lines, 1)
            end
        end

        local plan = add(c)

        call('HSET', L.sub(root, p.q), 'src', lines[1]
             and concat(lines, '\n') .. '\n' or '')
        L.release_lines(root, done)
        shorten(c, c.cut)

        if not lines[1] then
            plan = L.repack(root, p.q, { back = false })
            L.fan_set(root, f.t, p.q, p.fifo and 'f' or 's')
        end

        if c.list[1] then
            L.wake(plan)
        end

        local s, h = L.read_receive(p.hot)

        return L.plan(root, s), h
    end


    -- Removes from a topic's log what is older than it keeps.  Returns when to come
    -- again, or nothing.
    function L.trim_log(root, t, now)
        local keep = tonumber(call('HGET', L.topic(root, t), 'log') or 0)
        local key, first = L.topic_log(root, t), L.text(now - keep + 1)

        if keep == 0 then
            return
        end

        -- whole nodes of the stream first, and then a part of one
        if call('XTRIM', key, 'MINID', '~', first, 'LIMIT', TRIMMED)
           >= TRIMMED / 2
        then
            return now
        end

        call('XTRIM', key, 'MINID', '=', first)

        local head = call('XRANGE', key, '-', '+', 'COUNT', '1')[1]

        return keep + (head and L.sent(head[1]) or now)
    end
end
