-- Logs: what acks decided is written.

do
    -- Writes the rows of dead letters.
    local function write_rows(t)
        local p, row = t.p, t.dead

        for i = 1, #t.rows do
            local one = t.rows[i]
            local before = call('HGET', p.row_of, one.field)
            local number

            row = row + 1
            number = L.text(row)
            call('HSET', p.dead, number, one.blob)
            call('ZADD', p.rows, number, number)
            call('ZADD', p.rows .. ':' .. one.g, number, number)
            call('HSET', p.row_of, one.field,
                 before and before .. ' ' .. number or number)
            L.log_list_dead(t, one.name, number)
        end

        L.log_set(t, 'dead', row)
        L.log_write_numbers(t)
        t.rows = nil
    end


    -- Takes lanes off leases: over is lease → the words of these lanes.  Where
    -- Redis refuses it what was decided is done all the same: a cursor says
    -- itself who holds it.
    local function release(c, leases, over)
        for i = 1, #leases do
            local key, gone = L.log_lease(c.root, leases[i]), over[leases[i]]
            local text, left = try('GET', key), {}

            if type(text) == 'string' then
                for word in gmatch(text, '[^ ]+') do
                    if not gone[word] then
                        left[#left + 1] = word
                    end
                end

                if left[1] then
                    try('SET', key, concat(left, ' '), 'KEEPTTL')
                else
                    try('UNLINK', key)
                end
            end
        end
    end


    -- Takes one lane off a lease.
    function L.log_release(c, lease, word)
        release(c, { lease }, { [lease] = { [word] = true } })
    end


    -- Writes what was decided.
    function L.log_write_acks(c, list)
        local leases, over = {}, {}

        for k = 1, #list do
            local a = list[k]
            local w = a.g and a.g.write

            if a.cur and not a.idle then
                if not w then
                    w = { cursors = {}, moments = {}, gone = {} }
                    a.g.write = w
                end

                w.cursors[#w.cursors + 1] = a.l
                w.cursors[#w.cursors + 1] = L.log_cursor_text(a.cur)

                if a.t.lane_of[a.l].next <= a.cur.committed + 1 then
                    w.gone[#w.gone + 1] = a.l
                elseif a.cur.expiry <= c.now then
                    w.moments[#w.moments + 1] = c.text
                    w.moments[#w.moments + 1] = a.l
                end
            end

            if a.over then
                if not over[a.over] then
                    leases[#leases + 1], over[a.over] = a.over, {}
                end

                over[a.over][concat({ a.q, a.g.g, a.l }, ':')] = true
            end
        end

        for k = 1, #c.list do
            local t = c.list[k]

            if t.rows then
                write_rows(t)
            end

            for i = 1, #t.group_list do
                local g = t.group_list[i]
                local w = g.write

                if w then
                    L.log_many('HSET', g.cursors, w.cursors, #w.cursors)
                    L.log_many('ZADD', g.ready, w.moments, #w.moments)
                    L.log_many('ZREM', g.ready, w.gone, #w.gone)

                    if w.moments[1] then
                        L.log_wake(t)
                    end
                end

                if g.dirty then
                    call('HSET', t.p.groups, g.name, L.log_group_text(g))
                end
            end
        end

        release(c, leases, over)
    end


    -- The words of a reply.
    function L.log_tell_acks(list)
        local words = {}

        for k = 1, #list do
            words[k] = (list[k].released and '1' or '0') .. list[k].words
        end

        return words
    end


    -- log_ack: acknowledges messages of lanes.  Those of one lane and lease are
    -- decided together, each group for itself.
    -- Keys: root.  Arguments: group (of consumers), how many groups of acks; for
    -- each of them Q, l, lease (empty: the present holder's), n, statuses (n
    -- letters: c completed, f failed, r retry, d dlq), how many errors, for each
    -- of these the number of its item (from 0) and the text; then n ids.
    -- Reply: for each group a string: 1 where this call released the lease, else
    -- 0; then a letter for each item: o it succeeded; n likewise, it was
    -- committed before; a it did not succeed and was committed before; u it is
    -- not known; b it is beyond the leased batch; l the lease is not valid; c
    -- there is no such cursor; d it is a dead letter now; x it was dropped.
    -- Cost: O(n), and for each lane O(log lanes), and O(the leased batch) where
    -- not all that is left of it is acknowledged at once; where a message becomes
    -- a dead letter also the batch before it.
    L.register('log_ack', { 'allow-oom' }, function(root, args)
        local c = L.log_call(root)
        local list, failed = L.log_plan_acks(c, args, 3, tonumber(args[2]),
                                             args[1])

        if not list then
            return failed
        end

        L.log_write_acks(c, list)

        return L.log_tell_acks(list)
    end)
end
