-- Logs: the index of ids, by which duplicates are known, and what is acknowledged.
-- An id is a hash there, which the caller of a push has made: Lua takes long to
-- make a string of an id, and Redis more room to keep it.  Ids of a segment have
-- one value, and a list of them says which one is where, if that is worth it.

do
    local HASH = 14             -- bytes of SHA-1, as many as a string has in the
                                -- 16 bytes that it takes
    local BLOCK = 64            -- hashes that are cut at once
    local LIST = 16             -- of so many there is a list
    local CUT = {}
    -- 0 to 999 as text, and with three digits: Lua is slow in writing numbers.
    local SMALL, PADDED = {}, {}


    local function byte_of(digits)
        return string.char(tonumber(digits, 16))
    end


    -- What an id of a lane is in the index.
    function L.log_hash(name, id)
        local hex = redis.sha1hex(name .. '\n' .. id)

        return (string.gsub(sub(hex, 1, HASH * 2), '..', byte_of))
    end


    -- How many hashes a text is, a fraction where it is none.
    function L.log_count_hashes(text)
        return #text / HASH
    end


    -- Adds n of them to a list of k.
    local function cut(text, n, list, k)
        if n == 1 then
            list[k + 1] = text
            return
        end

        for a = 0, n - 1, BLOCK do
            local m = min(BLOCK, n - a)

            CUT[m] = CUT[m] or rep('c' .. HASH, m)

            local some = { struct.unpack(CUT[m], text, a * HASH + 1) }

            for i = 1, m do
                list[k + a + i] = some[i]
            end
        end
    end


    -- Nothing of a window is needed when another one of its length is over.
    function L.log_expire(p, key)
        call('PEXPIRE', key, L.text(p.span * 2 + 60000))
    end


    -- Ids stay for as long as other settings ask for.  Where the last window has
    -- gone by those before, the next push begins another one.
    function L.log_keep_ids(t)
        local p = t.p

        L.log_numbers(t)

        if t.iw == 0 then
            return
        end

        if call('EXISTS', p.index .. ':' .. L.log_n(t.iw)) == 0 then
            L.log_set(t, 'is', 0)
            L.log_write_numbers(t)
            return
        end

        for w = t.iw - t.ip, t.iw do
            L.log_expire(p, p.index .. ':' .. L.log_n(w))
            L.log_expire(p, p.runs .. ':' .. L.log_n(w))
        end
    end


    -- Goes on to another window of ids where the one that there is was long
    -- enough.
    local function turn_window(t)
        local now, span, w = t.c.now, t.p.span, t.iw

        if w > 0 and now < t.is + span then
            return
        end

        t.over, t.turned = {}, true

        for back = 0, w > 0 and 1 or -1 do
            if back == 1 or now >= t.is + span * 2 then
                t.over[#t.over + 1] = t.p.index .. ':' .. L.text(w - back)
                t.over[#t.over + 1] = t.p.runs .. ':' .. L.text(w - back)
            end
        end

        L.log_set(t, 'ip', (w > 0 and now < t.is + span * 2) and 1 or 0)
        L.log_set(t, 'iw', w + 1)
        L.log_set(t, 'is', now)
    end


    -- How many hashes are before one in a list of them, or nothing.
    function L.log_place(list, field)
        local at = find(list, field, 1, true)

        while at and at % HASH ~= 1 do
            at = find(list, field, at + 1, true)
        end

        return at and (at - 1) / HASH
    end


    -- The k-th of some ids is that of a message: the last one of them counts.
    -- found has offsets and moments by k then.
    function L.log_found(found, k, offset, ms)
        if not found.offsets then
            found.offsets, found.moments = {}, {}
        end

        if offset > (found.offsets[k] or 0) then
            found.offsets[k], found.moments[k] = offset, ms
        end
    end


    -- What a window has of ids: values are those of fields, of the lanes ls, or
    -- of one lane.
    local function locate(key, fields, ls, values, n, found)
        local listed, names, lists, m = {}, {}, {}, 0

        for k = 1, n do
            if values[k] then
                local start, ms, many = match(values[k], '^(%d+):(%d+)(:?)$')
                local l = type(ls) == 'table' and ls[k] or ls
                local name = l .. ':' .. start

                if many ~= '' then
                    listed[k] = { name = name, start = tonumber(start),
                                  ms = tonumber(ms) }

                    if not lists[name] then
                        m = m + 1
                        names[m], lists[name] = name, ''
                    end
                else
                    L.log_found(found, k, tonumber(start), tonumber(ms))
                end
            end
        end

        local texts = L.log_many('HMGET', key, names, m)

        for i = 1, m do
            lists[names[i]] = texts[i] or ''
        end

        for k = 1, n do
            local one = listed[k]
            local at = one and L.log_place(lists[one.name], fields[k])

            if at then
                L.log_found(found, k, one.start + at, one.ms)
            end
        end
    end


    -- Looks for n ids of the lanes ls, or of one lane, in the windows that there
    -- are, the last one first; not in so many of them.
    local function look_up(t, fields, ls, n, but, found)
        for back = but, t.iw > 0 and t.ip or -1 do
            local key = t.p.index .. ':' .. L.log_n(t.iw - back)
            local values, any = L.log_many('HMGET', key, fields, n), false

            for k = 1, n do
                any = any or values[k]
            end

            if any then
                locate(key, fields, ls, values, n, found)
            end
        end
    end


    -- Looks for ids of a lane.  Returns what was found: offsets and moments, if
    -- anything was.
    function L.log_look_up(t, lane, ids)
        local found, fields = {}, {}

        L.log_numbers(t)

        for i = 1, #ids do
            fields[i] = L.log_hash(lane.name, ids[i])
        end

        if L.log_marked(t, lane.own) then
            look_up(t, fields, lane.l, #ids, 0, found)
        end

        if L.log_marked(t, lane.runs) then
            L.log_look_in_runs(t, lane, function() return fields end, 0, #ids,
                               nil, nil, function() return ids end, found)
        end

        return found
    end


    -- The hashes of a group's ids are in t.fields, after g.flat.
    local function name_ids(t, g, args)
        local k, at = g.flat, g.at

        if g.n == 1 then
            t.fields[k + 1] = args[at]
            return
        end

        for c = 1, g.named and 0 or #g.counts do
            cut(args[at], g.counts[c], t.fields, k)
            k, at = k + g.counts[c], at + 3
        end

        g.named = true
    end


    -- Looks in runs for the ids of a group, if they are to be looked for.  Returns
    -- whether its segments can be runs.
    local function apart(t, g, args, ask)
        local first, last = g.ids[1], g.ids[#g.ids]

        if g.n == 1 then
            first = L.log_id_of(g, args, 1)
            last = first

        elseif not g.rising then
            first, last = match(args[g.at - 1], '^.([^\n]*)\n([^\n]*)\n$')
        end

        t.write.probed = t.write.probed or g.lane.runs == t.write.mark

        return L.log_look_in_runs(t, g.lane, function()
            name_ids(t, g, args)
            return t.fields
        end, g.flat, g.n, first, last, function()
            return L.log_ids_of(g, args)
        end, ask and t)
    end


    -- Looks for n ids of groups where the index has them one by one.
    local function look_up_own(t, list, n, all)
        local fields, but = t.fields, t.turned and 1 or 0

        t.write.looked = not t.turned

        if not list[2] and list[1].flat == 0 then
            return look_up(t, fields, list[1].lane.l, n, but, t)
        end

        local ls, at, some, found, k = {}, {}, {}, {}, 0

        for i = 1, #list do
            local g = list[i]
            local l = g.lane.l

            for j = g.flat + 1, g.flat + g.n do
                k = k + 1
                ls[k] = l

                if not all then
                    at[k], some[k] = j, fields[j]
                end
            end
        end

        if all then
            return look_up(t, fields, ls, n, but, t)
        end

        look_up(t, some, ls, n, but, found)

        for i = 1, found.offsets and n or 0 do
            if found.offsets[i] then
                L.log_found(t, at[i], found.offsets[i], found.moments[i])
            end
        end
    end


    -- What was found of k ids was pushed before if that is not too long ago: t.dup
    -- has "offset:ms" of it.
    local function note_duplicates(t, k)
        for i = 1, k do
            local ms = t.moments[i]

            if ms and ms + t.p.dedup > t.c.now then
                t.dup = t.dup or {}
                t.dup[i] = L.text(t.offsets[i]) .. ':' .. L.text(ms)
            end
        end
    end


    -- Looks for the ids of what is pushed to a queue.  Groups whose segments will
    -- be runs have g.run.
    function L.log_name_ids(t, args)
        local own, nown, n, k = {}, 0, 0, 0
        local pushes, write, ask = t.pushes, t.write, t.ask and t.p.dedup > 0

        turn_window(t)
        write.mark = L.log_mark(t.iw)

        for i = 1, #pushes do
            local g = pushes[i]
            local lane = g.lane

            g.flat, g.run = k, g.rising
            k = k + g.n

            if lane.runs > 0 and (ask or g.rising)
                and L.log_marked(t, lane.runs)
            then
                g.run = apart(t, g, args, ask) and g.rising
            end

            -- in the last window, as most often, or before it
            if ask and (lane.own == write.mark or L.log_marked(t, lane.own)) then
                nown, n = nown + 1, n + g.n
                own[nown] = g
                name_ids(t, g, args)

            elseif not g.run then
                name_ids(t, g, args)
            end
        end

        if n > 0 then
            look_up_own(t, own, n, n == k)
        end

        if t.offsets then
            note_duplicates(t, k)
        end
    end


    -- What the index of ids says of n messages from an offset on.
    local function values_of(offset, n, suffix)
        local list, high, low = {}, floor(offset / 1000), offset % 1000
        local prefix = high > 0 and L.text(high)

        if not SMALL[0] then
            for i = 0, 999 do
                SMALL[i] = i .. ''
                PADDED[i] = format('%03d', i)
            end
        end

        for i = 1, n do
            list[i] = prefix and prefix .. PADDED[low] .. suffix
                      or SMALL[low] .. suffix
            low = low + 1

            if low == 1000 then
                high, low = high + 1, 0
                prefix = L.text(high)
            end
        end

        return list
    end


    -- Adds what the index of ids gets of a segment of n messages from an offset
    -- on, as a text start, to a list of list.n.  Of these it has the fields after
    -- from; text: all of them, if that is there.
    function L.log_index(list, l, offset, start, n, suffix, fields, from, text)
        local k = list.n

        if n == 1 then
            list[k + 1], list[k + 2] = fields[from + 1], start .. suffix
            list.n = k + 2
            return
        end

        if n < LIST then
            local values = values_of(offset, n, suffix)

            for i = 1, n do
                list[k + 1], list[k + 2] = fields[from + i], values[i]
                k = k + 2
            end

            list.n = k
            return
        end

        local value = start .. suffix .. ':'

        for i = 1, n do
            list[k + 1], list[k + 2] = fields[from + i], value
            k = k + 2
        end

        list[k + 1], list[k + 2] = l .. ':' .. start,
                                   text or concat(fields, '', from + 1, from + n)
        list.n = k + 2
    end
end
