-- Logs: acks.  An ack commits a cursor; what failed holds it back.

do
    local RANK = { r = 1, f = 2, d = 3 }


    -- Reads what is acknowledged of one lane, from args[i] on, for a group of
    -- consumers.  Returns it and the next index, or nothing.
    local function read_group(args, i, name)
        local n, errors = tonumber(args[i + 3]), tonumber(args[i + 5])

        if not (n and errors) or n < 1 or #args[i + 4] ~= n then
            return
        end

        local a = { name = name, q = args[i], l = args[i + 1],
                    lease = args[i + 2], n = n, statuses = args[i + 4],
                    errors = errors, from = i + 6, at = i + 6 + errors * 2 }

        if args[a.at + n - 1] then
            return a, a.at + n
        end
    end


    -- Reads the cursors and lanes that a group of consumers acknowledges.
    local function read_cursors(t, g)
        local ls, unknown = g.lanes, {}
        local texts = L.log_many('HMGET', g.cursors, ls, #ls)

        for i = 1, #ls do
            g.cursor_of[ls[i]] = texts[i] and L.log_cursor(texts[i]) or nil

            if texts[i] and not t.lane_of[ls[i]] then
                unknown[#unknown + 1] = ls[i]
            end
        end

        texts = L.log_many('HMGET', t.p.records, unknown, #unknown)

        for i = 1, #unknown do
            t.lane_of[unknown[i]] = texts[i] and L.log_lane(unknown[i], texts[i])
                                    or nil
        end

        g.lanes = {}
        call('ZCARD', g.ready)              -- a key of a wrong type fails here
    end


    -- The offsets of a leased batch by id.  An id that is there twice means the
    -- first message of it that is not committed, and then the next.
    local function batch_of(cur)
        local of, later, list, n = {}, {}, {}, 0

        for id in gmatch(cur.ids, '[^\n]+') do
            n = n + 1
            list[n] = id
        end

        local base = cur.last - n

        for i = n, 1, -1 do
            local id = list[i]

            if base + i > cur.committed then
                later[base + i], of[id] = of[id], base + i
            elseif not of[id] then
                of[id] = base + i
            end
        end

        return of, later
    end


    -- The offsets of what is acknowledged, in order; nil where an id is not
    -- known.
    local function resolve(t, a, cur, args)
        local offsets, missing, places, k = {}, {}, {}, 0
        local of, later = {}, {}

        if cur.lease ~= '' then
            of, later = batch_of(cur)
        end

        for i = 1, a.n do
            local id = args[a.at + i - 1]
            local offset = of[id]

            if offset then
                offsets[i], of[id] = offset, later[offset] or offset
            else
                k = k + 1
                missing[k], places[k] = id, i
            end
        end

        if k > 0 then
            local found = L.log_look_up(t, t.lane_of[a.l], missing)

            for i = 1, found.offsets and k or 0 do
                if found.offsets[i] then
                    offsets[places[i]] = found.offsets[i]
                    a.ms = max(a.ms or 0, found.moments[i])
                end
            end
        end

        return offsets
    end


    -- What an item is told that changes nothing, or nothing where it counts.
    local function idle(status, offset, cur)
        if not offset then
            return 'u'
        end

        if offset <= cur.committed then
            return status == 'c' and 'n' or 'a'
        end

        if cur.lease ~= '' and offset > cur.last then
            return 'b'
        end
    end


    -- The lowest offset that did not succeed, with its status; and the highest
    -- one before it that did, if any.  words gets what each item is told.
    local function weigh(a, cur, offsets, words)
        local signal, status, item, done

        for i = 1, a.n do
            local is, offset = sub(a.statuses, i, i), offsets[i]
            local word = idle(is, offset, cur)

            words[i] = word or 'o'

            if not word and is ~= 'c'
                and (not signal or offset < signal
                     or (offset == signal and RANK[is] > RANK[status]))
            then
                signal, status, item = offset, is, i
            end
        end

        for i = 1, a.n do
            local offset = offsets[i]

            if words[i] == 'o' and sub(a.statuses, i, i) == 'c'
                and not (signal and offset >= signal)
            then
                done = max(done or 0, offset)
            end
        end

        return signal, status, item, done
    end


    -- The error that was given for an item, or nothing.
    local function error_of(a, item, args)
        for i = a.from, a.from + a.errors * 2 - 1, 2 do
            if tonumber(args[i]) == item - 1 then
                return args[i + 1]
            end
        end
    end


    -- A message becomes a dead letter: its row is written later.
    local function bury(t, g, a, cur, offset, item, args)
        local lane, id = t.lane_of[a.l], args[a.at + item - 1]
        local at, text = L.log_seek(t, lane, max(cur.seg, lane.head), offset)
        local why = error_of(a, item, args) or 'Retries exhausted'
        local ms, sealed, producer, payload = t.c.text, '0', '', 'null'

        if at then
            local one = L.log_cut(text, offset - at + 1, offset - at + 1)
            local _, b, c, x, d, from

            ms, _, sealed, b, c, x, d, from = L.log_head(one)
            producer = sub(one, from, from + b - 1)
            payload = sub(one, from + b + c + x + d)
            cur.seg = at
        end

        t.rows = t.rows or {}
        t.rows[#t.rows + 1] = {
            g = g.g, name = g.name, field = a.l .. ':' .. id,
            blob = concat({ concat({ a.l, g.g, offset, ms, t.c.text, cur.retries,
                                     sealed, #id, #producer, #why, #payload,
                                     #g.name }, ':') .. '\n',
                            id, producer, why, payload, g.name })
        }
    end


    -- The cursor is at an offset.  Where it did not get there in a batch, a
    -- place is looked for that is not far before it.
    local function commit(t, g, a, cur, offset)
        L.log_commit(g, cur, offset)
        cur.consumed, g.consumed = t.c.now, t.c.now

        if cur.lease == '' and a.ms then
            local lane = t.lane_of[a.l]
            cur.seg = max(cur.seg, L.log_landmark(t.p, lane, a.ms, offset + 1))
        end
    end


    -- Does what the lowest one says that did not succeed.
    local function hold_back(t, g, a, cur, signal, status, item, words, args)
        if status == 'd' or (status == 'f' and cur.retries >= t.p.retry) then
            local kept = status == 'd' or t.p.dlq

            if kept then
                bury(t, g, a, cur, signal, item, args)
            end

            words[item] = kept and 'd' or 'x'
            commit(t, g, a, cur, signal)
            cur.retries = 0

        elseif status == 'f' then
            cur.retries = cur.retries + 1
        end

        L.log_let_go(cur)
    end


    -- All of a leased batch is done.
    local function complete(t, g, a, cur)
        L.log_commit(g, cur, cur.last)
        cur.consumed, cur.retries, cur.seg = t.c.now, 0, cur.lastseg
        g.consumed = t.c.now
        L.log_let_go(cur)
        a.released = true
    end


    -- Whether a group is, in order, all that is left of a leased batch, and all
    -- of it done.
    local function whole(a, cur, args)
        return cur.lease ~= '' and a.n == cur.last - cur.committed
               and not find(a.statuses, '[^c]')
               and concat(args, '\n', a.at, a.at + a.n - 1) == cur.ids
    end


    -- Decides about a group.  Returns the letters of its items.
    local function decide(t, g, a, args)
        local cur = g and g.cursor_of[a.l]

        if not (cur and t.lane_of[a.l]) then
            return rep('c', a.n)
        end

        if a.lease ~= '' and (a.lease ~= cur.lease or cur.expiry <= t.c.now) then
            return rep('l', a.n)
        end

        local lease = cur.lease

        a.cur = cur

        if whole(a, cur, args) then
            complete(t, g, a, cur)
            a.over = lease
            return rep('o', a.n)
        end

        local words = {}
        local signal, status, item, done
            = weigh(a, cur, resolve(t, a, cur, args), words)

        if done then
            if not signal and lease ~= '' and done == cur.last then
                complete(t, g, a, cur)
            else
                commit(t, g, a, cur, done)
            end
        end

        if signal then
            hold_back(t, g, a, cur, signal, status, item, words, args)
        end

        a.released = lease ~= '' and cur.lease == ''
        a.over = a.released and lease
        a.idle = not (done or signal)

        return concat(words)
    end


    -- Keys of a wrong type fail here.
    local function check(t)
        if t.rows then
            L.log_numbers(t)
            call('HLEN', t.p.dead)
            call('ZCARD', t.p.rows)
            call('HLEN', t.p.row_of)
            call('ZCARD', L.log_dead_of(t.p.root, ''))

            for i = 1, #t.rows do
                call('ZCARD', t.p.rows .. ':' .. t.rows[i].g)
                call('ZCARD', L.log_dead_of(t.p.root, t.rows[i].name))
            end
        end
    end


    -- Reads groups of acks from args[i] on, n of them: for the group of
    -- consumers of this name, or each for one that is named before it.  Returns
    -- the list of them, or nothing.
    local function read_groups(c, args, i, n, name)
        local list = {}

        for k = 1, n do
            local a, next = read_group(args, name and i or i + 1, name or args[i])

            if not a then
                return
            end

            list[k], i = a, next

            local t = L.log_by_id(c, a.q)
            local g = t and L.log_group_named(t, a.name)

            if g then
                a.t, a.g = t, g
                g.lanes[#g.lanes + 1] = a.l
            end
        end

        return not args[i] and list or nil
    end


    -- Decides what becomes of acks, from args[i] on.  Returns the list of the
    -- groups, each with its words; or nothing and an error.
    function L.log_plan_acks(c, args, i, n, name)
        local list = n and read_groups(c, args, i, n, name)

        if not list then
            return nil, L.wrong('log_ack')
        end

        for k = 1, #list do
            local a = list[k]

            if a.g and a.g.lanes[1] then
                read_cursors(a.t, a.g)
            end
        end

        for k = 1, #list do
            local a = list[k]

            a.words = decide(a.t, a.g, a, args)
        end

        for k = 1, #c.list do
            check(c.list[k])
        end

        return list
    end
end
