-- Pub/Sub: seek.

do
    local LINES = 100               -- of what earlier seeks bring back
    local END = '-18446744073709551615'


    -- The first moment of which a subscription may have what a topic's log has;
    -- nothing where it has none for it.  Its own r is of what was published since it
    -- was created.
    local function log_from(root, f, now)
        local h = call('HMGET', L.topic(root, f.t), 'ret', 'log', 'since', 'last')
        local tret = tonumber(h[1] or 0)
        local own = find(f.flags, 'r', 1, true) and tonumber(f.ret) or 0

        if not h[2] or h[2] == '0' or tret + own == 0 then
            return nil, h[4]
        end

        local from = now - max(tret, own) * 1000 + 1

        if tret == 0 then
            from = max(from, tonumber(f.ct))
        end

        return max(from, tonumber(h[3])), h[4]
    end


    -- Lines of before, for what was sent from the moment low on and before high (or
    -- nothing).
    local function cut(lines, low, high)
        local out = {}
        local pos, to = L.text(low - 1) .. END, high and L.text(high - 1) .. END

        for i, line in ipairs(lines) do
            local key, at, last = match(line, '^s (%S+) (%S+) (%S+)$')

            if key then
                at = L.after(pos, at) and pos or at
                last = to and (last == '+' or L.after(last, to)) and to or last
                out[i] = concat({ 's', key, at, last }, ' ')
            else
                local head, a, z = match(line, '^(g %S+ %d+ %d+ )(%d+) (%d*)$')

                a, z = max(tonumber(a), low), tonumber(z)
                z = high and min(z or high, high) or z
                out[i] = head .. L.text(a) .. ' ' .. (z and L.text(z) or '')
            end
        end

        return out
    end


    -- What is to come back for a seek to the moment ms: lines, and what of the
    -- generation of p is read from then.  Lines of before that are read no more are
    -- released.
    local function of_time(root, f, p, ms, now, old)
        local w, last = log_from(root, f, now)
        local lines, kept = {}, {}

        w = w and max(w, ms)

        if w and w <= ms then
            L.release_lines(root, old)
        else
            local own = {}

            if not p.fifo and call('XLEN', p.m) > 0 then
                own[1] = concat({ 's m', p.q, p.gen .. ' 0-0 +' }, ':')
                kept[p.m] = true

            elseif p.fifo and call('HGET', p.hot, 'n') ~= '0' then
                own[1] = concat({ 'g ', p.q, ':', p.gen, ' 0 0 0 ' })
                kept = { [p.u] = true, [p.g] = true, [p.d] = true, [p.x] = true }
            end

            for i = 1, #old do
                own[#own + 1] = old[i]
            end

            lines = cut(own, ms, w)
        end

        if w and L.sent(last) >= w then
            local line = concat({ 's gg:', f.t, ' ', L.text(w - 1), END, ' ',
                                  last })

            L.use_lines(root, { line })
            lines[#lines + 1] = line
        end

        return lines, kept
    end


    -- Likewise of a seek to a snapshot, of kind.
    local function of_snapshot(root, f, n, kind, old)
        local last = call('HGET', L.topic(root, f.t), 'last') or '+'
        local lines = {}

        if kind == 'f' then
            lines[1] = 'g ' .. n .. ':0 0 0 0 '
        end

        lines[#lines + 1] = concat({ 's gx:', n, ' 0-0 ', last })
        L.use_lines(root, lines)
        L.release_lines(root, old)

        return lines, {}
    end


    -- Keys of a wrong type fail here.
    local function check(root, f, p)
        call('HLEN', L.uses(root))
        call('HLEN', L.topic(root, f.t))
        call('HLEN', L.subscriptions(root))
        call('ZCARD', L.agenda(root))

        if p.fifo then
            L.check_fifo(p)
            L.can_append_late(p, L.now())
        else
            L.can_drop(p)
        end
    end


    -- sub_seek: what a subscription has and has not handled becomes what it was at
    -- a moment, or in a snapshot.  Deliveries that are not over yet are over.  A
    -- moment that is to come is as good as now: what is published later is not
    -- there yet to be taken for handled.
    -- Keys: root.  Arguments: name, "t" and a moment (ms), or "s" and a snapshot's
    -- name.  Reply: 1.  Errors: NOSUB, NOSNAP, OTHERTOPIC (the snapshot is of
    -- another topic, or of an ordered subscription and this is not one), DETACHED,
    -- TOOMANY (of seeks that are not through).
    -- Cost: O(1), and of 100 messages; the rest is brought back in steps.
    L.register('sub_seek', {}, function(root, args)
        local f, p = L.find_sub(root, args[1])
        local kind, to, ms, n, h = args[2], args[3], tonumber(args[3]), nil, nil

        if not f then
            return L.nosub()
        end

        if #args ~= 3 or not (kind == 's' or kind == 't' and ms) then
            return L.wrong('sub_seek')
        end

        if f.det == '1' then
            return L.err('DETACHED', 'the subscription is detached')
        end

        if kind == 's' then
            n, h = L.find_snap(root, to)

            if not n then
                return L.nosnap()
            end

            if h.t ~= f.t or (h.kind == 'f' and not p.fifo) then
                return L.err('OTHERTOPIC', 'the snapshot is of another topic')
            end
        end

        check(root, f, p)

        local now, old = L.now(), L.src_lines(f)

        if #old >= LINES and kind == 't' then
            return L.err('TOOMANY', 'earlier seeks are not done yet')
        end

        L.note_use(p.hot, now)

        local lines, kept

        if kind == 's' then
            lines, kept = of_snapshot(root, f, n, h.kind, old)
        elseif ms > now then
            L.release_lines(root, old)
            lines, kept = {}, {}
        else
            lines, kept = of_time(root, f, p, max(1, floor(ms)), now, old)
        end

        local back = lines[1] ~= nil
        local plan = L.renew(root, f.q, p, { back = back }, kept)

        if back then
            lines[#lines + 1] = concat({ 's gp', f.q, plan.gen .. ' 0-0 +' }, ':')
        end

        call('HSET', L.sub(root, f.q), 'src', back and concat(lines, '\n') .. '\n'
             or '')
        L.fan_set(root, f.t, f.q, p.fifo and (back and 'F' or 'f')
                  or (back and 'S' or 's'))

        if back then
            L.due(plan, now)
            pcall(L.bring_back, plan, now)
        end

        return 1
    end)
end
