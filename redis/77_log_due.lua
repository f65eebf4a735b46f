-- Logs: what is due where nobody calls.  Messages leave by retention, in whole
-- segments, from the heads of lanes; windows of ids leave when they are over.

do
    local STEP = 100            -- segments, or lanes, of one call
    local CURSORS = 2000        -- cursors that it reads
    local PAUSE = 5000          -- ms between rounds over what may be consumed
    local REST = 10             -- and how often the time that the last one took


    -- The moment at which retention first concerns a message.
    function L.log_soonest(p, ms)
        local age = p.age > 0 and p.cret > 0 and min(p.age, p.cret)
                    or max(p.age, p.cret)

        return ms + age
    end


    -- A group's cursor passes what is older than the queue keeps messages.  one
    -- has the lane, the cursor, and as found the segment where that is.
    -- Returns whether it moved.
    function L.log_skip_old(t, g, one)
        local p, lane, cur = t.p, one.lane, one.cur
        local text = p.age > 0 and one.found[cur.seg]
        local ms = text and L.log_head(text)
        local limit = t.c.now - p.age

        if not ms or tonumber(ms) > limit then
            return false
        end

        local at = L.log_since(p, lane, limit + 1) or lane.next

        if at <= cur.committed + 1 then
            return false
        end

        L.log_pass(g, cur, at - 1)
        cur.seg, one.found = at, {}

        return true
    end


    -- Finds the segments at the head of a lane that are from limit or before,
    -- and end before an offset; b.left is how many may be removed.
    local function old_ones(t, lane, limit, offset, b)
        local at, n, found, ahead = lane.head, 1, {}, 1
        local old = { fields = {}, at = at }

        while at < min(lane.next, offset) and b.left > 0 and not L.spent() do
            if not found[at] then
                found = {}
                L.log_read_ahead(t.p, lane, at, n, lane.next - at,
                                 min(ahead, b.left, L.log_room(t, 0)), found)
                ahead = ahead * 4
            end

            local text = found[at]
            local ms, count = L.log_head(text or '')

            if not ms then
                break
            end

            n, old.next = tonumber(count), tonumber(ms)

            if old.next > limit or at + n > offset then
                old.stays = true
                break
            end

            L.spend(#text)
            b.left = b.left - 1
            old.fields[#old.fields + 1] = lane.l .. ':' .. at
            old.ms, old.last, at = old.next, at, at + n
        end

        old.at = at

        return old
    end


    -- Removes them.  Returns whether there were any.
    local function cut(t, lane, limit, offset, b)
        local p, old = t.p, old_ones(t, lane, limit, offset, b)

        if not old.ms then
            return false
        end

        L.log_many('HDEL', p.segments, old.fields, #old.fields)
        call('ZREMRANGEBYLEX', p.times, format('[%012.0f:', lane.l),
             format('[%012.0f:%013.0f:%012.0f', lane.l, old.ms, old.last))
        L.log_set(t, 'n', t.n - (old.at - lane.head))
        lane.head = old.at
        call('HSET', p.records, lane.l, L.log_lane_text(lane))

        -- where the next one was not looked at it is no older than the last
        if lane.head == lane.next then
            call('ZREM', p.oldest, lane.l)
        else
            call('ZADD', p.oldest, L.text(old.stays and old.next or old.ms),
                 lane.l)
        end

        return true
    end


    local function read_lanes(t, ls)
        local list = {}

        for i, text in ipairs(L.log_many('HMGET', t.p.records, ls, #ls)) do
            list[i] = text and L.log_lane(ls[i], text) or nil
        end

        return list
    end


    -- Removes what is older than the queue keeps messages.  Returns whether
    -- there is more to do, else when there will be, if ever.
    local function expire(t, b)
        local p, limit = t.p, t.c.now - t.p.age
        local ls = call('ZRANGEBYSCORE', p.oldest, '-inf', L.text(limit),
                        'LIMIT', '0', L.text(STEP))
        local lanes = ls[1] and read_lanes(t, ls)

        for i = 1, #ls do
            if b.left == 0 or L.spent() then
                return true
            end

            -- none was removed: what retention knew of the lane was too early
            if not lanes[i] then
                call('ZREM', p.oldest, ls[i])
            elseif not cut(t, lanes[i], limit, lanes[i].next, b) then
                local ms = L.log_head(call('HGET', p.segments, ls[i] .. ':'
                                           .. lanes[i].head) or '')

                call('ZADD', p.oldest, ms or t.c.text, ls[i])
            end
        end

        if #ls == STEP then
            return true
        end

        local head = call('ZRANGE', p.oldest, '0', '0', 'WITHSCORES')[2]

        if head then
            return head + p.age <= t.c.now, head + p.age
        end
    end


    -- What all groups of a queue have passed of lanes: for each an offset, and
    -- the moment from which on messages are to be kept anyway; nothing where
    -- no group has a cursor.
    local function passed_by_all(t, groups, ls)
        local low, keep = {}, {}

        for i = 1, #groups do
            local g = groups[i]
            local texts = call('HMGET', g.cursors, unpack(ls))

            for k = 1, #ls do
                local text = texts[k]

                if text then
                    local to = tonumber(match(text, '^%d+'))
                    low[k] = min(low[k] or to, to)
                elseif g.mode == 'a' then
                    keep[k] = 0
                else
                    keep[k] = min(keep[k] or g.from, g.from)
                end
            end
        end

        return low, keep
    end


    local function groups_of(t)
        local all, list = call('HGETALL', t.p.groups), {}

        for i = 1, #all, 2 do
            list[#list + 1] = L.log_group(t.p, all[i], all[i + 1])
        end

        return list
    end


    -- Looks at some lanes of a round over those that have something old enough:
    -- from is the moment of the last one of before, skip how many lanes of that
    -- moment were seen.  Returns from, skip, and whether the round is over.
    local function go_round(t, b, from, skip)
        local p, limit = t.p, t.c.now - t.p.cret
        local groups = groups_of(t)
        local count = max(1, min(STEP, floor(CURSORS / max(1, #groups))))
        local list = groups[1]
                     and call('ZRANGEBYSCORE', p.oldest, from, L.text(limit),
                              'WITHSCORES', 'LIMIT', skip, L.text(count))
                     or {}
        local ls, n = {}, #list / 2

        if n == 0 then
            return from, skip, true
        end

        for i = 1, n do
            ls[i] = list[i * 2 - 1]
        end

        local lanes = read_lanes(t, ls)
        local low, keep = passed_by_all(t, groups, ls)

        for i = 1, n do
            if b.left == 0 or L.spent() then
                return from, skip, false
            end

            L.spend(#groups * 100)

            local score = list[i * 2]
            local moved = lanes[i] and low[i]
                          and cut(t, lanes[i],
                                  min(limit, (keep[i] or 9e15) - 1), low[i] + 1,
                                  b)

            if score ~= from then
                from, skip = score, 0
            end

            if not moved then
                skip = skip + 1
            end
        end

        return from, skip, n < count
    end


    -- Removes what is consumed and old enough, in rounds over all lanes that
    -- have something so old, with pauses: rr in the hot hash says where a round
    -- is, "start:from:skip", or when the next may begin, ":moment".  Returns
    -- whether there is more to do, else when there will be, if ever.
    local function remove_consumed(t, b)
        local p, now = t.p, t.c.now
        local head = call('ZRANGE', p.oldest, '0', '0', 'WITHSCORES')[2]
        local due = head and head + p.cret
        local start, from, skip = match(call('HGET', p.hot, 'rr') or '',
                                        '^(%d*):([^:]*):?(%d*)$')

        if start == '' and due then
            due = max(due, tonumber(from))
        end

        if not due or due > now then
            return false, due
        end

        if not start or start == '' then
            start, from, skip = now, '-inf', 0
        end

        local over

        from, skip, over = go_round(t, b, from, tonumber(skip))

        if not over then
            call('HSET', p.hot, 'rr', concat({ L.text(start), from, skip }, ':'))
            return true
        end

        due = now + max(PAUSE, (now - start) * REST)
        call('HSET', p.hot, 'rr', ':' .. L.text(due))

        return false, due
    end


    -- Removes windows of ids that are over.  Returns when the next one is.
    local function drop_windows(t)
        local p, now = t.p, t.c.now
        local function drop(w)
            call('UNLINK', p.index .. ':' .. w, p.runs .. ':' .. w)
        end

        if t.iw == 0 or call('EXISTS', p.index .. ':' .. L.text(t.iw)) == 0 then
            return
        end

        if t.ip == 1 and now >= t.is + p.span then
            drop(L.text(t.iw - 1))
            L.log_set(t, 'ip', 0)
        end

        if now >= t.is + p.span * 2 then
            drop(L.text(t.iw))
            return
        end

        return t.is + (t.ip == 1 and p.span or p.span * 2)
    end


    -- Keys of a wrong type fail here.
    local function check(p)
        call('HLEN', p.segments)
        call('HLEN', p.records)
        call('ZCARD', p.oldest)
        call('ZCARD', p.times)
    end


    -- A step of what is due for a queue.  Returns when to come again, or
    -- nothing.
    function L.log_due(root, q, now)
        local c = L.log_call(root)
        local t = L.log_by_id(c, q)

        if not t then
            return
        end

        c.now, c.text = now, L.text(now)
        L.log_numbers(t)

        check(t.p)

        local b, soon = { left = STEP }, drop_windows(t)

        local function step(fn)
            local more, next = fn(t, b)

            next = more and now or next
            soon = next and min(next, soon or next) or soon
        end

        if t.p.age > 0 then
            step(expire)
        end

        if t.p.cret > 0 then
            step(remove_consumed)
        end

        L.log_write_numbers(t)

        return soon
    end
end
