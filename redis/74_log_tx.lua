-- Logs: leases, and pushes and acks that are done together or not at all.

do
    -- The cursors that a lease holds, group by group: calls fn(t, g, ls, texts)
    -- with the numbers of their lanes and what they are.
    local function held(c, lease, fn)
        local text = call('GET', L.log_lease(c.root, lease))
        local list, by = {}, {}

        for q, g, l in gmatch(text or '', '([^ :]+):(%d+):(%d+)') do
            local key = q .. ':' .. g
            local one = by[key]

            if not one then
                one = { q = q, g = g, ls = {} }
                by[key], list[#list + 1] = one, one
            end

            one.ls[#one.ls + 1] = l
        end

        for i = 1, #list do
            local one = list[i]
            local t = L.log_by_id(c, one.q)

            if t then
                local key = concat({ c.root, 'lc', one.q, one.g }, ':')
                local ready = concat({ c.root, 'lr', one.q, one.g }, ':')

                fn(t, key, ready, one.ls, L.log_many('HMGET', key, one.ls,
                                                     #one.ls))
            end
        end

        return text
    end


    -- Whether a lease holds all that it is said to.
    local function live(c, lease)
        local all = true

        local text = held(c, lease, function(t, key, ready, ls, texts)
            for i = 1, #ls do
                local cur = texts[i] and L.log_cursor(texts[i])
                all = all and cur and cur.lease == lease and cur.expiry > c.now
            end
        end)

        return text and all
    end


    local REFUSED = { a = true, b = true, c = true, l = true, u = true }


    -- The first ack that would not succeed: its letter and its number among all,
    -- from 0.
    local function refused(list)
        local n = 0

        for k = 1, #list do
            for letter in gmatch(list[k].words, '.') do
                if REFUSED[letter] then
                    return letter .. ' ' .. n
                end

                n = n + 1
            end
        end
    end


    -- The id of a message that was pushed before, if any.
    local function repeated(c, args)
        for k = 1, #c.list do
            local t = c.list[k]

            for i = 1, t.dup and #t.pushes or 0 do
                local g = t.pushes[i]

                for j = 1, g.n do
                    if t.dup[g.flat + j] then
                        return L.log_id_of(g, args, j)
                    end
                end
            end
        end
    end


    -- log_tx: pushes and acknowledges, all of it or nothing.
    -- Keys: root.  Arguments: how many leases, the leases; then as of log_push;
    -- then how many groups of acks, each as of log_ack with the group (of
    -- consumers) before it.
    -- Reply: "ok", then as of log_push, then as of log_ack; or "failed" and why:
    -- LEASE and the lease that is not live any more; DUPLICATE and the id that
    -- was pushed before; ACK and the letter of an ack that would not succeed, a
    -- blank, its number among all (from 0).  Errors: as of log_push.
    -- Cost: as of both.
    L.register('log_tx', {}, function(root, args)
        local c, n, known = L.log_call(root), tonumber(args[1]), {}

        if not n then
            return L.wrong('log_tx')
        end

        -- each of them once, as a lease may have many lanes
        for i = 2, n + 1 do
            local lease = args[i] or ''

            if not known[lease] and not live(c, lease) then
                return { 'failed', 'LEASE', lease }
            end

            known[lease] = true
        end

        local words, i = L.log_plan_push(c, args, n + 2)

        if not words then
            return i
        end

        local dup = repeated(c, args)
        if dup then
            return { 'failed', 'DUPLICATE', dup }
        end

        local list, failed = L.log_plan_acks(c, args, i + 1, tonumber(args[i]))

        if not list then
            return failed
        end

        local word = refused(list)
        if word then
            return { 'failed', 'ACK', word }
        end

        L.log_write_push(c)
        L.log_write_acks(c, list)

        local out, told = { 'ok' }, L.log_tell_acks(list)

        for k = 1, #words do
            out[k + 1] = words[k]
        end

        for k = 1, #told do
            out[#out + 1] = told[k]
        end

        return out
    end)


    -- log_extend: prolongs a lease on all lanes that it still holds; never
    -- shortens it, and never brings one back that is over.
    -- Keys: root.  Arguments: lease, seconds.  Reply: on how many lanes, and the
    -- first moment at which it ends on one (ms), 0: none.
    -- Cost: O(lanes of the lease * log lanes).
    L.register('log_extend', { 'allow-oom' }, function(root, args)
        local lease, seconds = args[1], tonumber(args[2])

        if not (lease and seconds) then
            return L.wrong('log_extend')
        end

        local c, renewed, first, longest = L.log_call(root), 0, nil, 0
        local till = c.now + max(0, min(seconds, L.LOG_SECONDS)) * 1000

        held(c, lease, function(t, key, ready, ls, texts)
            local cursors, moments = {}, {}

            call('ZCARD', ready)            -- a key of a wrong type fails here

            for i = 1, #ls do
                local cur = texts[i] and L.log_cursor(texts[i])

                if cur and cur.lease == lease and cur.expiry > c.now then
                    cur.expiry = max(cur.expiry, till)
                    first = min(first or cur.expiry, cur.expiry)
                    longest = max(longest, cur.expiry)
                    renewed = renewed + 1

                    local n = #cursors

                    cursors[n + 1], cursors[n + 2] = ls[i], L.log_cursor_text(cur)
                    moments[n + 1], moments[n + 2] = L.text(cur.expiry), ls[i]
                end
            end

            L.log_many('HSET', key, cursors, #cursors)
            L.log_many('ZADD', ready, moments, #moments)
        end)

        if renewed > 0 then
            try('PEXPIRE', L.log_lease(root, lease), L.text(longest - c.now))
        end

        return { renewed, first or 0 }
    end)


    -- log_undo: gives back what a pop took and nobody got, as if it had not
    -- been.
    -- Keys: root.  Arguments: lease.  Reply: how many lanes were given back.
    -- Cost: O(lanes of the lease * log lanes).
    L.register('log_undo', { 'allow-oom' }, function(root, args)
        local lease, c, n = args[1], L.log_call(root), 0

        if not lease then
            return L.wrong('log_undo')
        end

        held(c, lease, function(t, key, ready, ls, texts)
            local cursors, moments = {}, {}

            call('ZCARD', ready)            -- a key of a wrong type fails here

            for i = 1, #ls do
                local cur = texts[i] and L.log_cursor(texts[i])

                if cur and cur.lease == lease then
                    local k = #cursors

                    L.log_let_go(cur)
                    cursors[k + 1], cursors[k + 2] = ls[i], L.log_cursor_text(cur)
                    moments[k + 1], moments[k + 2] = c.text, ls[i]
                    n = n + 1
                end
            end

            L.log_many('HSET', key, cursors, #cursors)
            L.log_many('ZADD', ready, moments, #moments)

            if cursors[1] then
                L.log_wake(t)
            end
        end)

        call('UNLINK', L.log_lease(root, lease))

        return n
    end)
end
