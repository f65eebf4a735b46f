-- Logs: pushes.

do
    -- Of the first queue of a call, as long as its messages are many: kept from
    -- call to call, since growing tables costs time.  What was left is never read.
    local kept = { fields = {}, index = {} }


    -- Reads the queues of a push from args[i] on; those that are not there yet
    -- will be made.  Returns the list of them and the next index; or nothing and
    -- an error.
    local function read_queues(c, args, i)
        local n, list = tonumber(args[i]), {}

        if not n or i + n * 3 > #args then
            return nil, L.wrong('log_push')
        end

        for k = 1, n do
            local name, q, uuid = args[i + 1], args[i + 2], args[i + 3]
            local t, failed = L.log_by_name(c, name)

            if not t then
                t, failed = L.log_new_queue(c, name, q, uuid,
                                            L.log_defaults(name))
                if failed then
                    return nil, failed
                end
            end

            list[k], i = t, i + 3
        end

        return list, i + 1
    end


    local none = {}             -- never changed


    -- The ids that are with the flags of what is for one lane, if they rise.
    local function read_ids(text)
        local ids, k = {}, 0

        for id in gmatch(sub(text, 2), '([^\n]*)\n') do
            k = k + 1
            ids[k] = id
        end

        return ids
    end


    -- Reads what is for one lane, from args[i] on.  Returns it and the next
    -- index, or nothing.
    local function read_group(args, i)
        local n, text = tonumber(args[i + 2]), args[i + 3]
        local flags = byte(text or '')

        if not (n and flags) or n < 1 then
            return
        end

        local g = { name = args[i + 1], n = n, at = i + 4, counts = {}, ms = 0,
                    t = false, lane = false, flat = 0, named = false,
                    run = false, sealed = flags % 2 == 1 and '1' or '0',
                    fresh = flags % 4 > 1, rising = flags % 8 > 3,
                    ids = none }
        local have = 0

        if g.rising then
            g.ids = read_ids(text)
        end

        i = g.at

        while have < n do
            local ms, count = match(args[i + 1] or '', '^(%d+):(%d+):[01]:')

            count = tonumber(count)

            if not count or count < 1
                or count ~= L.log_count_hashes(args[i])
            then
                return
            end

            g.counts[#g.counts + 1], g.ms = count, tonumber(ms)
            have, i = have + count, i + 3
        end

        if have == n and args[i - 1]
            and not (g.rising and #g.ids ~= #g.counts * 2)
        then
            return g, i
        end
    end


    -- Finds the lanes of a queue's groups; those that are not there yet get
    -- their numbers.
    local function find_lanes(t)
        local groups, names = t.pushes, {}

        for i = 1, #groups do
            names[i] = groups[i].name
        end

        local lanes = L.log_lanes_named(t, names)

        for i = 1, #names do
            local lane = t.lane_named[names[i]]

            if lanes[i] then
                lane = lane or lanes[i]
                t.old, t.ask = true, t.ask or not groups[i].fresh
            elseif not lane then
                L.log_set(t, 'lanes', t.lanes + 1)
                lane = { l = L.text(t.lanes), next = 1, head = 1, seg = 1,
                         last = 0, act = 0, since = 0, own = 0, runs = 0,
                         name = names[i], new = true }
            end

            t.lane_named[names[i]] = lane
            groups[i].lane, t.lane_of[lane.l] = lane, lane
        end
    end


    -- Keys of a wrong type fail here.  The segments of the first queue that is
    -- written, if it is there, are the first thing to be written at all.
    local function check(t, first)
        local p, w = t.p, t.write

        if t.new or not first then
            call('HLEN', p.segments)
        end

        if not t.old then
            call('HLEN', p.records)
        end

        if not w.looked then
            call('HLEN', p.index .. ':' .. L.log_n(t.iw))
        end

        if w.runs and not w.probed then
            call('ZCARD', p.runs .. ':' .. L.log_n(t.iw))
        end

        if w.noted then
            call('ZCARD', p.noted)
        end

        if w.oldest then
            call('ZCARD', p.oldest)
        end

        if w.times then
            call('ZCARD', p.times)
        end
    end


    -- What is to be written of a queue.
    local function new_write(t, index)
        index.n = 0

        return { segments = false, index = index, records = false, lanes = false,
                 noted = false, oldest = false, times = false, runs = false,
                 big = t.big, last = t.last, mark = 0, looked = false,
                 probed = false }
    end


    -- Reads what a push has from args[i] on, and decides what becomes of it.
    -- Returns the words of the reply and the next index; or nothing and an
    -- error.
    function L.log_plan_push(c, args, i)
        local list, at = read_queues(c, args, i)
        local groups, ngroups, words, tables = {}, 0, {}, kept

        if not list then
            return nil, at
        end

        ngroups, i = tonumber(args[at]), at + 1

        for k = 1, ngroups or 0 do
            local t = list[tonumber(args[i])]
            local g, next = read_group(args, i)

            if not (t and g) then
                ngroups = nil
                break
            end

            if g.sealed ~= t.p.sealed and not c.as_it_was then
                return nil, L.err('SEAL', args[i])
            end

            if not t.pushes then
                t.pushes = {}
                t.fields, t.write = tables.fields, new_write(t, tables.index)
                tables = { fields = {}, index = {} }
            end

            g.t, groups[k], i = t, g, next
            t.pushes[#t.pushes + 1] = g
        end

        if not ngroups then
            return nil, L.wrong('log_push')
        end

        for k = 1, #list do
            if list[k].pushes and not list[k].named then
                list[k].named = true
                find_lanes(list[k])
                L.log_name_ids(list[k], args)
            end
        end

        for k = 1, ngroups do
            words[k] = L.log_append(groups[k].t, groups[k], args)
        end

        local first = true

        for k = 1, #c.list do
            if c.list[k].write then
                check(c.list[k], first)
                first = first and c.list[k].stored == 0
            end
        end

        return words, i
    end


    local function store(command, key, list)
        if list then
            L.log_many(command, key, list, #list)
        end
    end


    local function write_runs(t, w)
        local key = t.p.runs .. ':' .. L.log_n(t.iw)

        store('ZADD', key, w.runs)

        if t.ir ~= t.iw then
            L.log_expire(t.p, key)
            L.log_set(t, 'ir', t.iw)
        end
    end


    local function write(t)
        local p, w = t.p, t.write
        local key = p.index .. ':' .. L.log_n(t.iw)

        if t.new then
            L.log_make(t)
        end

        if t.stored == 0 then
            return
        end

        store('HSET', p.segments, w.segments)
        store('HSET', p.records, w.records)
        store('HSET', p.lanes, w.lanes)
        store('ZADD', p.noted, w.noted)
        store('ZADD', p.oldest, w.oldest)
        store('ZADD', p.times, w.times)

        if t.turned and t.over[1] then
            call('UNLINK', unpack(t.over))
        end

        L.log_many('HSET', key, w.index, w.index.n)
        if w.runs then
            write_runs(t, w)
        end

        -- who looks after the queue comes before Redis would remove it
        if t.turned then
            L.log_expire(p, key)
            L.log_due_at(t, t.c.now + p.span)
        end

        if w.oldest and p.age + p.cret > 0 then
            L.log_due_at(t, L.log_soonest(p, tonumber(w.oldest[1])))
        end

        t.big, t.last, t.n = w.big, w.last, t.n + t.stored
        L.log_set(t, 'pushed', t.pushed + t.stored)
        L.log_write_numbers(t)
        L.log_wake(t)
    end


    -- Writes what was decided.
    function L.log_write_push(c)
        for i = 1, #c.list do
            if c.list[i].write then
                write(c.list[i])
            end
        end
    end


    -- log_push: appends messages to lanes; all or nothing.  Queues and lanes
    -- that are not there are made.
    -- Keys: root.  Arguments: how many queues, for each of them name, Q and UUID
    -- (the last two are used where it is to be made); how many groups, for each
    -- of them: number of the queue (from 1), lane, how many messages, flags (1:
    -- they are sealed; 2: their ids were made for this call, none can be known;
    -- 4: their ids rise) and after these in lines the lowest and the highest id
    -- of all, or where they rise of each segment; then segments till these
    -- messages are there: the hashes of its ids, what it begins with, and the
    -- rest or nothing.  The moment of a segment is kept where it may be.
    -- A lane is in one group, and ids in a group differ.  Reply: for each group
    -- "Q:l:ms:start", and " i:offset:ms" for each message that was pushed before
    -- (i from 0); the others have offsets from start on, in order, and ms.
    -- Errors: SEAL i (number of a queue), IDTAKEN (a new queue's Q).
    -- Cost: O(n), or O(n * log runs) where ids are among others that rose, and
    -- O(log lanes) for each lane.
    L.register('log_push', {}, function(root, args)
        local c = L.log_call(root)
        local words, failed = L.log_plan_push(c, args, 1)

        if not words then
            return failed
        end

        L.log_write_push(c)

        return words
    end)
end
