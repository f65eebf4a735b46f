-- Logs: pops.

do
    local MORE = 16             -- lanes taken from those noted, besides those
                                -- that are wanted
    local LUMP = 16             -- or so many at once, where enough are ready
    local KNOWN = 1000          -- groups of which is kept how many are due
    local TRIES = 32            -- lanes that may yield nothing, besides those
    local ROUND = 4             -- lanes looked at together, at first

    -- key of a group's ready lanes → how many of those noted are due to it, from
    -- call to call
    local due, ndue = {}, 0


    -- How many lanes a pop takes from those noted where enough are ready: one
    -- for each eight that it may give, but as taking one costs what taking a few
    -- does, a lump at once after some pops.  A group of which nothing is kept
    -- gets it now, so that none waits for ever.
    local function share(g, lanes)
        local has = due[g.ready]
        local n = (has or LUMP) + floor((lanes + 7) / 8)

        if not has then
            if ndue >= KNOWN then
                due, ndue = {}, 0
            end

            ndue = ndue + 1
        end

        due[g.ready] = n < LUMP and n or 0

        return n < LUMP and 0 or n
    end


    -- Takes lanes that were pushed to since the group took the last ones.  With
    -- windowBuffer a lane that was put off is looked at where it is full now.
    local function take_noted(c, t, g, count)
        local p = t.p
        local list = call('ZRANGEBYSCORE', p.noted, '(' .. L.text(g.seen),
                          '+inf', 'WITHSCORES', 'LIMIT', '0', L.text(count))
        local n = #list / 2
        local args, ls = {}, {}

        for i = 1, n do
            ls[i] = list[i * 2 - 1]
            args[i * 2 - 1], args[i * 2] = c.text, ls[i]
        end

        if n > 0 then
            c.tries = c.tries + n - call('ZADD', g.ready, 'NX', unpack(args))
        end

        if n > 0 and p.window > 0 then
            local records = call('HMGET', p.records, unpack(ls))
            local cursors = call('HMGET', g.cursors, unpack(ls))

            for i = 1, n do
                local cur = cursors[i] and L.log_cursor(cursors[i])

                if records[i] and cur and cur.expiry <= c.now
                    and L.log_lane(ls[i], records[i]).next - cur.committed
                        > L.LOG_FULL
                then
                    call('ZADD', g.ready, c.text, ls[i])
                end
            end
        end

        g.seen, g.dirty = n < count and t.act or tonumber(list[n * 2]), true

        if g.seen > t.seen then
            L.log_set(t, 'seen', g.seen)
        end
    end


    local function put(list, a, b)
        local n = #list
        list[n + 1], list[n + 2] = a, b
    end


    -- Gives a lane's messages to the caller.
    local function give(c, t, g, w, lane, cur, got)
        local out = c.out
        local n = #out

        out[n + 1] = concat({ t.p.q, lane.l, got.first, got.last, got.start,
                              got.n }, ':')
        out[n + 2] = lane.name

        for i = 1, got.n do
            out[n + 2 + i] = got[i]
        end

        c.need = c.need - (got.last - got.first + 1)
        c.lanes = c.lanes - 1

        if c.auto then
            L.log_commit(g, cur, got.last)
            L.log_let_go(cur)
            cur.seg, cur.consumed, cur.retries = got.lastseg, c.now, 0
            g.consumed = c.now

            if lane.next > got.last + 1 then
                put(w.moments, c.text, lane.l)
            else
                w.gone[#w.gone + 1] = lane.l
            end
        else
            local seconds = c.seconds or t.p.lease

            seconds = max(0, min(seconds, L.LOG_SECONDS))
            seconds = seconds > 0 and seconds or 60

            cur.seg = got.seg
            cur.lease, cur.expiry = c.lease, c.now + seconds * 1000
            cur.last, cur.lastseg, cur.ids = got.last, got.lastseg, got.ids
            c.longest = max(c.longest, cur.expiry)
            c.held[#c.held + 1] = concat({ t.p.q, g.g, lane.l }, ':')
            put(w.moments, L.text(cur.expiry), lane.l)
        end

        put(w.cursors, lane.l, L.log_cursor_text(cur))
    end


    -- Looks at a lane.  Returns its cursor where it may have messages for the
    -- group; else nothing, or nothing and a moment.
    local function examine(c, t, g, w, lane, text)
        local cur = text and L.log_cursor(text)
                    or L.log_cursor_start(t, g, lane)

        if not cur then
            return
        end

        if cur.expiry > c.now then
            return nil, cur.expiry
        end

        -- what the group has passed so is counted: the cursor is kept
        cur.moved = L.log_skip_hole(g, cur, lane) or cur.fresh

        if cur.committed + 1 < lane.next then
            return cur
        end

        if cur.moved then
            put(w.cursors, lane.l, L.log_cursor_text(cur))
        end
    end


    -- Reads the first segments of lanes that are wanted, from the i-th on.
    local function read_firsts(c, t, list, i)
        local fields, n = {}, min(#list, i + L.log_room(t, c.bytes) - 1,
                                  i + c.lanes - 1)

        for k = i, n do
            fields[k - i + 1] = list[k].lane.l .. ':' .. list[k].cur.seg
        end

        local texts = call('HMGET', t.p.segments, unpack(fields))

        for k = i, n do
            list[k].found = { [list[k].cur.seg] = texts[k - i + 1] or nil }
        end
    end


    -- Tries lanes of a list of their numbers; w has what is to be written.
    local function try_lanes(c, t, g, w, ls)
        local records = call('HMGET', t.p.records, unpack(ls))
        local cursors = call('HMGET', g.cursors, unpack(ls))
        local list = {}

        local function nothing(l, moment)
            c.tries = c.tries + 1

            if moment then
                put(w.moments, L.text(moment), l)
                w.till = moment
            else
                w.gone[#w.gone + 1] = l
            end
        end

        for i = 1, #ls do
            local lane = records[i] and L.log_lane(ls[i], records[i])
            local cur, moment

            if lane then
                cur, moment = examine(c, t, g, w, lane, cursors[i])
            end

            if cur then
                list[#list + 1] = { lane = lane, cur = cur }
            else
                nothing(ls[i], moment)
            end
        end

        for i = 1, #list do
            local one = list[i]
            local over = c.need <= 0 or c.lanes <= 0 or c.bytes >= L.BYTES
            local got, moment

            if not over then
                if not one.found then
                    read_firsts(c, t, list, i)
                end

                one.cur.moved = L.log_skip_old(t, g, one) or one.cur.moved
                got, moment = L.log_collect(c, t, one.lane, one.cur, one.found)
            end

            if got then
                give(c, t, g, w, one.lane, one.cur, got)
            else
                if one.cur.moved then
                    put(w.cursors, one.lane.l, L.log_cursor_text(one.cur))
                end

                if not over then
                    nothing(one.lane.l, moment)
                end
            end
        end
    end


    local function wanting(c)
        return c.need > 0 and c.lanes > 0 and c.tries < c.most
               and c.bytes < L.BYTES
    end


    -- Tries the lanes whose moment came, the one that waits longest first; some
    -- of those that were noted come after them at any rate.
    local function gather(c, t, g, w)
        local tried, size, mixed, count = 0, ROUND, false, 0

        -- once lanes were taken they may come before what was tried
        local function read()
            local list = call('ZRANGEBYSCORE', g.ready, '-inf', c.text, 'LIMIT',
                              L.log_n(mixed and 0 or tried),
                              L.log_n(mixed and tried + count or count))

            for i = #list, 1, -1 do
                if w.tried[list[i]] then
                    table_remove(list, i)
                end
            end

            for i = #list, count + 1, -1 do
                list[i] = nil
            end

            return list
        end

        while wanting(c) do
            count = min(c.lanes, c.need, size)

            local list = read()

            if t.act > g.seen then
                if #list < count then
                    mixed = true
                    take_noted(c, t, g, c.lanes + MORE)
                    list = read()
                elseif tried == 0 then
                    local some = share(g, c.lanes)

                    if some > 0 then
                        mixed = true
                        take_noted(c, t, g, some)
                    end
                end
            end

            if not list[1] and t.act <= g.seen then
                return
            end

            for i = 1, #list do
                w.tried[list[i]] = true
            end

            if list[1] then
                try_lanes(c, t, g, w, list)
            end

            tried, size = tried + #list, size * 4
        end
    end


    local function write(t, g, w)
        L.log_many('HSET', g.cursors, w.cursors, #w.cursors)
        L.log_many('ZADD', g.ready, w.moments, #w.moments)
        L.log_many('ZREM', g.ready, w.gone, #w.gone)

        if g.dirty then
            call('HSET', t.p.groups, g.name, L.log_group_text(g))
            g.dirty = nil
        end

        L.log_write_numbers(t)
    end


    -- In how many ms there will be something for the group by itself.
    local function soonest(c, g)
        local head = call('ZRANGEBYSCORE', g.ready, '(' .. c.text, '+inf',
                          'WITHSCORES', 'LIMIT', '0', '1')[2]

        return head and max(1, head - c.now) or -1
    end


    -- Reads what pops have in common from args[i] on; c is the call then.
    -- Returns whether it is right.
    function L.log_read_pop(c, args, i)
        local need, lanes = tonumber(args[i]), tonumber(args[i + 1])

        c.auto, c.seconds = args[i + 2] == '1', tonumber(args[i + 3])
        c.mode, c.from = args[i + 4], tonumber(args[i + 5])
        c.wait, c.lease = args[i + 6] == '1', args[i + 7]

        if not (need and lanes and c.lease)
            or not (c.mode == 'a' or c.mode == 'n' or (c.mode == 't' and c.from))
            or (c.lease == '' or find(c.lease, '[:\n]'))
        then
            return false
        end

        c.need, c.lanes = max(1, min(need, L.LOG_POPS)),
                          max(1, min(lanes, L.LOG_POPS))
        c.bytes, c.tries, c.most = 0, 0, c.lanes + TRIES
        c.held, c.longest, c.out = {}, 0, { '', -1, c.now }

        return true
    end


    -- The group of a pop, which is registered where it is not yet; or nothing
    -- and an error.
    function L.log_contact(c, t, name)
        local g = L.log_group_named(t, name)

        if g then
            return g
        end

        return L.log_register(t, name, name == '__QUEUE_MODE__' and 'a' or c.mode,
                              c.from)
    end


    -- Appends what a group gets of a queue, of one lane where its name is given,
    -- to c.out.  Returns the milliseconds till there will be something where
    -- nothing was got: -1 for ever, 0 where more lanes are to be looked at.
    function L.log_take(c, t, g, name)
        local w, before = { cursors = {}, moments = {}, gone = {}, tried = {} },
                          #c.out

        if name then
            local l = call('HGET', t.p.lanes, name)

            call('ZCARD', g.ready)          -- a key of a wrong type fails here
            c.lanes = 1

            if l then
                try_lanes(c, t, g, w, { l })
            end
        else
            gather(c, t, g, w)
        end

        write(t, g, w)

        if #c.out > before then
            return
        end

        if name then
            return w.till and max(1, w.till - c.now) or -1
        end

        return c.tries >= c.most and 0 or soonest(c, g)
    end


    -- What was taken is leased.
    function L.log_hold(c)
        if c.held[1] then
            call('SET', L.log_lease(c.root, c.lease), concat(c.held, ' '), 'PX',
                 L.text(c.longest - c.now))
        end
    end


    -- Whether nobody gets anything at present.
    function L.log_paused(root)
        return call('HGET', L.log_switches(root), 'pop') == '1'
    end


    -- log_pop: leases the next messages of lanes for a group, or commits them at
    -- once.  The queue is made, and the group registered, where they are not.
    -- Keys: root.  Arguments: name Q UUID (the last two for a new queue), lane
    -- (empty: any), group, batch (messages, at most), partitions (lanes, at
    -- most), auto (1: commit), seconds (of the lease; empty: the queue's), mode
    -- and from (where a group begins that is registered: a; n, now; t, at the
    -- moment from), wait (1: where nothing is found the next change publishes a
    -- hint), lease (its id).
    -- Reply: Q; in how many ms there will be something by itself where nothing
    -- was found, -1: never, 0: at once, as more is to be looked at; now (ms);
    -- then for each lane "Q:l:first:last:start:n", its name, and n segments:
    -- offsets first to last are given, start is that of the first segment.
    -- Errors: IDTAKEN, GROUPS (the queue has as many as it may).
    -- Cost: O(lanes * log(all lanes) + messages).
    L.register('log_pop', { 'allow-oom' }, function(root, args)
        local c = L.log_call(root)

        if #args ~= 13 or not L.log_read_pop(c, args, 6) then
            return L.wrong('log_pop')
        end

        if L.log_paused(root) then
            c.out[2] = 1000
            return c.out
        end

        local t, failed = L.log_by_name(c, args[1])

        if not t then
            t, failed = L.log_create_queue(c, args[1], args[2], args[3],
                                           L.log_defaults(args[1]))
            if failed then
                return failed
            end
        end

        local g

        g, failed = L.log_contact(c, t, args[5])
        if not g then
            return failed
        end

        local next = L.log_take(c, t, g, args[4] ~= '' and args[4])

        L.log_hold(c)
        c.out[1], c.out[2] = t.p.q, next or -1

        if next and next ~= 0 and c.wait then
            L.log_wait(t, 1)
        end

        return c.out
    end)
end
