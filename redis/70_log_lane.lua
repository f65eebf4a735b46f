-- Logs: records of lanes, groups and cursors, and segments.

do
    local digits = L.log_n
    local LINE = '\n'
    local LANE = '>I6I6I6I6I6I6I2'
    local GROUP = '^(%d+):(%d+):(%a):(%d+):(%d+):(%d+):(%d+):(%d+)$'
    local CURSOR = '^(%d+):(%d+):([^:]*):(%d+):(%d+):(%d+):(%d+):(%d+)()'
    local SEGMENT = '^(%d+):(%d+):(%d+):(%d+):(%d+):(%d+):(%d+)\n()'
    local KNOWN = 10000         -- lanes whose numbers are kept from call to call

    -- n in all: key of a queue's lanes → name → number
    local kept = { lanes = {}, n = 0 }


    -- A lane; l is its number, as text.
    function L.log_lane(l, text)
        local next, head, seg, last, act, created, marks, at
            = struct.unpack(LANE, text)
        local since, own = marks % 32, marks % 1024

        return { l = l, next = next, head = head, seg = seg, last = last,
                 act = act, created = created, since = since,
                 own = (own - since) / 32, runs = (marks - own) / 1024,
                 name = sub(text, at) }
    end


    function L.log_lane_text(a)
        return struct.pack(LANE, a.next, a.head, a.seg, a.last, a.act, a.created,
                           a.since + 32 * a.own + 1024 * a.runs) .. a.name
    end


    -- Lanes by their names, as far as they are all in known; or nothing.
    local function recall(t, known, names)
        local ls, lanes = {}, {}

        for i = 1, #names do
            ls[i] = known[names[i]]

            if not ls[i] then
                return
            end
        end

        local records = L.log_many('HMGET', t.p.records, ls, #ls)

        for i = 1, #ls do
            lanes[i] = records[i] and L.log_lane(ls[i], records[i])

            if not (lanes[i] and lanes[i].name == names[i]) then
                return
            end
        end

        return lanes
    end


    -- Lanes by their names; false where there is none.  A lane keeps its number,
    -- and its record says whether it is the one that is meant.
    function L.log_lanes_named(t, names)
        local known, n = kept.lanes[t.p.lanes], #names
        local lanes = known and recall(t, known, names)

        if lanes then
            return lanes
        end

        local found = t.new and {} or L.log_many('HMGET', t.p.lanes, names, n)
        local ls, k = {}, 0

        for i = 1, n do
            if found[i] then
                k = k + 1
                ls[k] = found[i]
            end
        end

        local records = L.log_many('HMGET', t.p.records, ls, k)

        if kept.n + k > KNOWN then
            kept.lanes, kept.n, known = {}, 0, nil
        end

        if not known then
            known = {}
            kept.lanes[t.p.lanes] = known
        end

        lanes, k, kept.n = {}, 0, kept.n + k

        for i = 1, n do
            lanes[i] = false

            if found[i] then
                k = k + 1
                lanes[i], known[names[i]] = L.log_lane(found[i], records[k]),
                                            found[i]
            end
        end

        return lanes
    end


    function L.log_group(p, name, text)
        local g, seen, mode, from, ct, passed, base, consumed
            = match(text, GROUP)

        return { name = name, g = g, seen = tonumber(seen), mode = mode,
                 from = tonumber(from), ct = ct, passed = tonumber(passed),
                 base = tonumber(base), consumed = tonumber(consumed),
                 cursor_of = {}, lanes = {},
                 cursors = concat({ p.root, 'lc', p.q, g }, ':'),
                 ready = concat({ p.root, 'lr', p.q, g }, ':') }
    end


    function L.log_group_text(g)
        return concat({ g.g, digits(g.seen), g.mode, digits(g.from), g.ct,
                        digits(g.passed), digits(g.base),
                        digits(g.consumed) }, ':')
    end


    -- A registered group of a queue, or nothing.
    function L.log_group_named(t, name)
        local g = t.group_of[name]

        if g == nil then
            local text = call('HGET', t.p.groups, name)

            g = text and L.log_group(t.p, name, text) or false
            t.group_of[name] = g

            if g then
                t.group_list[#t.group_list + 1] = g
            end
        end

        return g or nil
    end


    -- A group begins with what is pushed from now on: that has a later moment and
    -- a larger act.
    function L.log_begin_now(t, g)
        L.log_numbers(t)

        local ms = max(t.c.now, t.last)

        g.mode, g.from, g.base, g.seen = 't', ms + 1, t.pushed, t.act
        L.log_set(t, 'reg', ms)
        L.log_set(t, 'last', ms)
        L.log_set(t, 'seen', max(t.seen, t.act))
    end


    -- A group begins with what has a moment, or a later one.  What is pushed from
    -- now on has, where that moment has been: not one that was a little before.
    function L.log_begin_at(t, g, from)
        L.log_numbers(t)

        local ms = min(from - 1, t.c.now)

        g.mode, g.from = 't', min(from, 9999999999999)

        if ms > t.reg then
            L.log_set(t, 'reg', ms)
        end
    end


    -- Registers a group, which is written at once.  mode: a, from the first
    -- message that there is; n, from now on; t, from the moment from on.  One of
    -- which dead letters were left has its number again.  Returns the group; or
    -- nothing and an error.
    function L.log_register(t, name, mode, from)
        local p, c = t.p, t.c

        if call('HLEN', p.groups) >= L.LOG_GROUPS then
            return nil, L.err('GROUPS', 'the queue has too many groups')
        end

        call('ZCARD', L.log_of_group(p.root, name)) -- wrong types fail here
        call('ZCARD', L.log_groups(p.root))
        L.log_numbers(t)

        local former = tonumber(call('HGET', p.former, name) or nil)
        local g = { g = former or t.groups + 1, seen = 0, mode = mode, from = 0,
                    ct = c.text, passed = 0, base = 0, consumed = 0 }

        if mode == 'n' then
            L.log_begin_now(t, g)
        elseif mode == 't' then
            L.log_begin_at(t, g, from)
        end

        if former then
            call('HDEL', p.former, name)
        else
            L.log_set(t, 'groups', g.g)
        end

        call('HSET', p.groups, name, L.log_group_text(g))
        call('ZADD', L.log_of_group(p.root, name), '0', p.name)
        call('ZADD', L.log_groups(p.root), '0', name)
        L.log_write_numbers(t)
        t.group_of[name] = nil

        return L.log_group_named(t, name)
    end


    function L.log_cursor(text)
        local committed, seg, lease, expiry, last, lastseg, retries, consumed,
              at = match(text, CURSOR)

        return { committed = tonumber(committed), seg = tonumber(seg),
                 lease = lease, expiry = tonumber(expiry),
                 last = tonumber(last), lastseg = tonumber(lastseg),
                 retries = tonumber(retries), consumed = tonumber(consumed),
                 ids = lease ~= '' and sub(text, at + 1) or nil }
    end


    function L.log_cursor_text(c)
        local head = concat({ digits(c.committed), digits(c.seg), c.lease,
                              digits(c.expiry), digits(c.last), digits(c.lastseg),
                              digits(c.retries), digits(c.consumed) }, ':')

        return c.lease ~= '' and head .. LINE .. c.ids or head
    end


    -- Nobody holds the lane any more.
    function L.log_let_go(c)
        c.lease, c.expiry, c.last, c.lastseg, c.ids = '', 0, 0, 0, nil
    end


    function L.log_head(text)
        return match(text, SEGMENT)
    end


    -- Items from … to of a text in which a byte separates them.
    function L.log_items(text, separator, from, to)
        local a, b = 1, 0

        for i = 1, to do
            if i == from then
                a = b + 1
            end

            b = find(text, separator, b + 1, true)
            if not b then
                return sub(text, a)
            end
        end

        return sub(text, a, b - 1)
    end


    -- ".." makes the long string once: what table.concat() does on its way costs
    -- more than the rest of a push.
    function L.log_segment(ms, n, flags, producer, ids, traces, lens, payloads)
        return concat({ ms, digits(n), flags, digits(#producer), digits(#ids),
                        digits(#traces), digits(#lens) }, ':')
               .. LINE .. producer .. ids .. traces .. lens .. payloads
    end


    -- The segment that has messages from … to of one, counted from 1.
    function L.log_cut(text, from, to)
        local ms, _, flags, a, b, c, d, at = L.log_head(text)
        local ids, traces, lens = at + a, at + a + b, at + a + b + c
        local list, k = {}, 0
        local skip, size = lens + d, 0

        for len in gmatch(sub(text, lens, lens + d - 1), '%d+') do
            k = k + 1

            if k < from then
                skip = skip + len
            elseif k <= to then
                list[k - from + 1] = len
                size = size + len
            else
                break
            end
        end

        return L.log_segment(ms, to - from + 1, flags, sub(text, at, ids - 1),
                             L.log_items(sub(text, ids, traces - 1), LINE, from,
                                         to),
                             c ~= '0' and L.log_items(sub(text, traces,
                                                          lens - 1), LINE,
                                                      from, to) or '',
                             concat(list, ' '), sub(text, skip, skip + size - 1))
    end


    -- Reads segments of a lane from the one at at on into found, by their
    -- starts: of n messages each, as one before was, till want messages; most
    -- is how many, at most.
    function L.log_read_ahead(p, lane, at, n, want, most, found)
        local count = min(floor((want + n - 1) / n), most)
        local fields, k, prefix = {}, 0, lane.l .. ':'

        for start = at, min(at + (count - 1) * n, lane.next - 1), n do
            k = k + 1
            fields[k] = prefix .. start
        end

        local texts = call('HMGET', p.segments, unpack(fields, 1, k))

        for i = 1, k do
            found[at + (i - 1) * n] = texts[i] or nil
        end
    end


    -- How many segments may be read at once, whatever is in them.
    function L.log_room(t, bytes)
        L.log_numbers(t)

        return max(1, min(1000, floor((L.BYTES - bytes) / max(t.big, 64))))
    end


    -- The start of the segment with this offset, and its text; it is looked for
    -- from the segment at at on.  Nothing where it is gone.
    function L.log_seek(t, lane, at, offset)
        local found, n, most = {}, 1, L.log_room(t, 0)

        while at <= offset do
            if not found[at] then
                found = {}
                L.log_read_ahead(t.p, lane, at, n, offset - at + 1, most,
                                 found)
            end

            local text = found[at]
            if not text then
                return
            end

            local _, count = L.log_head(text)
            n = tonumber(count)

            if offset < at + n then
                return at, text
            end

            at = at + n
        end
    end


    -- The last entry of a lane in the index by time that is before a moment,
    -- or at it and not after an offset: where to begin to look for these.
    function L.log_landmark(p, lane, ms, offset)
        local prefix = format('%012.0f:', lane.l)
        local to = offset and format('[%s%013.0f:%012.0f', prefix, ms, offset)
                   or format('(%s%013.0f', prefix, ms)
        local entry = call('ZREVRANGEBYLEX', p.times, to, '[' .. prefix, 'LIMIT',
                           '0', '1')[1]

        return entry and max(lane.head, tonumber(sub(entry, -12)))
               or lane.head
    end


    -- The offset of a lane's first message of a moment or later, or nothing.
    function L.log_since(p, lane, ms)
        if lane.head == lane.next or lane.last < ms then
            return
        end

        local at = L.log_landmark(p, lane, ms)

        while at < lane.next do
            local text = call('HGET', p.segments, lane.l .. ':' .. at)
            local written, n = L.log_head(text or '')

            if not n or tonumber(written) >= ms then
                return at
            end

            at = at + n
        end
    end


    -- A cursor of a group on a lane where it has none; nothing where there is
    -- nothing to begin with yet.
    function L.log_cursor_start(t, g, lane)
        local at = lane.head

        if g.mode == 't' then
            at = L.log_since(t.p, lane, g.from)

            if not at then
                if g.from > t.c.now then
                    return
                end

                at = lane.next
            end
        end

        -- a group that began at some moment does not count what was before it
        if g.base == 0 or lane.created >= g.from then
            g.passed, g.dirty = g.passed + at - 1, true
        end

        return { committed = at - 1, seg = at, lease = '', expiry = 0, last = 0,
                 lastseg = 0, retries = 0, consumed = 0, fresh = true }
    end


    -- Moves a cursor on.
    function L.log_commit(g, cur, to)
        g.passed, g.dirty = g.passed + to - cur.committed, true
        cur.committed = to
    end


    -- A cursor moves on by itself, over what its group does not get.  Of a batch
    -- whose lease had ended nothing may be left.
    function L.log_pass(g, cur, to)
        L.log_commit(g, cur, to)

        if cur.last <= to then
            L.log_let_go(cur)
        end
    end


    -- What a lane's retention removed is passed.  Returns whether it was.
    function L.log_skip_hole(g, cur, lane)
        local moved = cur.committed + 1 < lane.head

        if moved then
            L.log_pass(g, cur, lane.head - 1)
        end

        cur.seg = max(cur.seg, lane.head)

        return moved
    end
end
