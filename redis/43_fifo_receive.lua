-- Receiving from FIFO queues.

-- Which messages of the groups whose turn it is are to be received: from each
-- group as many as there is room for, so that others have the groups after it.
-- Returns lists of the groups' names, of words "gid:a:z" for them, of how many
-- messages these are, and of the fields of u; and of groups of which messages are visible again.
local function choose(p, need)
    local names, words, sizes, fields, again = {}, {}, {}, {}, {}
    local n, k, from, more = 0, 0, 0, min(p.guess or 1, need)

    -- as many groups as the last receive had; if these are too few, as many as
    -- may be needed
    while need > 0 do
        local some = call('ZRANGE', p.o, from, from + more - 1)
        local records = some[1] and call('HMGET', p.g, unpack(some))

        for i = 1, #some do
            local record = records[i]
            local gid, h, t = match(record or '', '^(%d+):(%d+):(%d+)$')

            if need <= 0 then
                break
            end

            if not record then
                call('ZREM', p.o, some[i])

            elseif not gid then
                local g = L.group(some[i], record)

                g.list = L.received(p, g.gid)
                again[#again + 1] = g
                need = need - #g.list

            elseif h == t then
                n, k, need = n + 1, k + 1, need - 1
                names[n], words[n], sizes[n] = some[i], record, 1
                fields[k] = gid .. ':' .. h

            else
                h, t = tonumber(h), tonumber(t)
                n = n + 1
                names[n], words[n] = some[i], record

                if t - h >= need then
                    t = h + need - 1
                    words[n] = gid .. ':' .. h .. ':' .. t
                end

                sizes[n] = t - h + 1
                need = need - sizes[n]

                for seq = h, t do
                    k = k + 1
                    fields[k] = gid .. ':' .. seq
                end
            end
        end

        if #some < more then
            break
        end

        from, more = from + more, max(need, 1)
    end

    p.guess = max(n, 1)

    return names, words, sizes, fields, again
end


-- Leaves out what is delayed or not there: a group's messages from there on; and
-- groups of which the first message outlived its retention.  Returns what choose()
-- does, and the values, without it.
local function cut(c, names, words, fields, values)
    local left, ranges, sizes, ids, bodies, k = {}, {}, {}, {}, {}, 0

    for i = 1, #names do
        local gid, a, z = match(words[i], '^(%d+):(%d+):(%d+)$')
        local first, last = values[k + 1], nil
        local old = first and c.cutoff and L.head(first) <= c.cutoff

        for seq = tonumber(a), tonumber(z) do
            local value = values[k + seq - a + 1]
            local _, _, due = L.head(value or '0-0::0::')

            if not value or old or (due and due > c.now) then
                break
            end

            last = seq
            ids[#ids + 1] = fields[k + seq - a + 1]
            bodies[#bodies + 1] = value
        end

        k = k + z - a + 1

        if last then
            left[#left + 1] = names[i]
            ranges[#left] = gid .. ':' .. a .. ':' .. last
            sizes[#left] = last - a + 1

        elseif not old then
            local g = L.group(names[i], call('HGET', c.p.g, names[i]))

            g.h = first and g.h or g.h + 1
            L.settle(c, g, {}, c.now)
        end
    end

    return left, ranges, sizes, ids, bodies
end


-- Puts new messages of groups in flight as a batch.  Appends to the words of the
-- reply and to its bodies.  Returns an error, if any.
local function fly(c, names, ranges, sizes, fields, values, token, deadline,
                   words, out)
    local p, n, k = c.p, #out, 0
    local record = { L.text(c.now) .. ' ' .. #fields, concat(fields, ' ') }

    for i = 1, #names do
        record[i + 2] = ranges[i] .. ' ' .. names[i]
    end

    record[#record + 1] = ''

    deadline = deadline + L.backoff(p, 1)

    local failed = L.fly_together(p, token, concat(record, '\n'),
                                  L.text(deadline))

    if failed ~= nil then
        return failed or L.err('TOKEN', 'the token is in use')
    end

    call('ZREM', p.o, unpack(names))

    for i = 1, #names do
        words[i + 1] = ranges[i]
        n = n + 1
        out[n] = names[i]

        for _ = 1, sizes[i] do
            n, k = n + 1, k + 1
            out[n] = values[k]
        end
    end

    c.nb = c.nb + #fields
    c.soon = min(c.soon or deadline, deadline)
end


-- Puts up to need messages of a group in flight one by one: those that are
-- visible again first.  Returns how many.
local function fly_again(c, g, need, token, deadline, words, out)
    local p, n, list, dead = c.p, 0, g.list, 0
    local to = p.mrc > 0 and L.dead_letter_queue(p)

    if c.cutoff and L.outlived(p, g, list[1].seq, c.cutoff) then
        return 0
    end

    for i = 1, #list do
        local e = list[i]
        local field = g.gid .. ':' .. L.text(e.seq)
        local value = n < need and call('HGET', p.u, field)

        -- the queue may have come to allow fewer receives
        if to and e.count >= p.mrc then
            e.moment, dead = c.now, dead + 1

        elseif value then
            e.count = e.count + 1
            e.first = e.count > 1 and e.first or L.text(c.now)
            e.token, e.last = token, c.now
            e.moment = deadline + L.backoff(p, e.count)
            n = n + 1
            words[#words + 1] = concat({ field, L.text(e.seq), e.count,
                                         e.first }, ':')
            out[#out + 1], out[#out + 2] = g.name, value
        end
    end

    while n < need and dead == 0 and g.h <= g.t do
        local field = g.gid .. ':' .. L.text(g.h)
        local value = call('HGET', p.u, field)
        local _, _, due = L.head(value or '0-0::0::')

        if not value or (due and due > c.now) then
            break
        end

        list[#list + 1] = { seq = g.h, token = token, count = 1,
                            first = L.text(c.now), last = c.now,
                            moment = deadline + L.backoff(p, 1) }
        g.h, n = g.h + 1, n + 1
        words[#words + 1] = field .. ':' .. L.text(list[#list].seq)
        out[#out + 1], out[#out + 2] = g.name, value
    end

    c.nf = c.nf + n + dead
    L.settle(c, g, list, c.now)

    return n
end


-- A group of which something may have outlived its retention is looked at
-- before it is received.
local function trim_first(p, now, need)
    local c = L.open_fifo(p, now)
    local names = call('ZRANGE', p.o, '0', L.text(need - 1))

    for i = 1, #names do
        if i == 1 or not L.spent() then
            L.look_at_age(c, names[i], now - p.ret, 50)
        end
    end

    L.close_fifo(c)
end


-- receive on a FIFO queue.  h is what was read of its hot hash.  The string of
-- the reply is "f" and now (ms), then for each group, or each message that was
-- received before, a word "gid:a:z", with the numbers of the first and the last
-- message, or "gid:a:z:count:first".  The group's name follows for each word
-- and the values of these messages.
function L.receive_fifo(p, h, out, need, token, vt, wait, now, text)
    local cutoff, full = nil, false

    if now >= tonumber(h[3]) then
        cutoff = L.catch_up_fifo(p, now, max(need, 50))

        if cutoff then
            trim_first(p, now, need)
        end

        h = call('HMGET', p.hot, 's', 'cur', 't', 'nb', 'nf')
        p = L.plan(p.root, h[1])
    end

    local room = L.CAP_FIFO - h[4] - h[5]

    if p.sub then
        need = min(need, max(1, floor(L.PULL / p.limit)))
    end

    if room < need then
        full, need = true, max(room, 0)
    end

    local c, words = L.open_fifo(p, now, h), { 'f' .. text }
    local deadline = now + vt * 1000
    local names, ranges, sizes, fields, again = choose(p, need)

    c.cutoff = cutoff

    if again[1] then                        -- keys of a wrong type fail here
        call('ZCARD', p.f)
        call('ZCARD', p.k)
    end

    if fields[1] then
        local values = call('HMGET', p.u, unpack(fields))

        -- a value that is not there, or is delayed
        if now < c.dl or cutoff or L.holes(values, #fields) then
            names, ranges, sizes, fields, values = cut(c, names, ranges, fields,
                                                       values)
        end

        local failed = fields[1] and fly(c, names, ranges, sizes, fields, values,
                                         token, deadline, words, out)
        if failed then
            return failed
        end
    end

    need = need - #fields

    for i = 1, #again do
        if need > 0 then
            need = need - fly_again(c, again[i], need, token, deadline, words,
                                    out)
        end
    end

    if c.nb ~= 0 or c.nf ~= 0 or c.soon then
        c.ready = false
        L.close_fifo(c)
    end

    if words[2] then
        out[5] = concat(words, ' ')
        return out
    end

    out[5] = words[1]

    if wait > 0 then
        L.wait(p)
    end

    local soon = L.next_end(p)

    if not full and call('EXISTS', p.o) == 1 then
        soon = now                          -- more was due than one call does
    end

    if soon then
        out[4] = max(1, soon - now)
    end

    return out
end


function L.holes(values, n)
    for i = 1, n do
        if not values[i] then
            return true
        end
    end
end
