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
            end
        end

        L.log_set(t, 'ip', (w > 0 and now < t.is + span * 2) and 1 or 0)
        L.log_set(t, 'iw', w + 1)
        L.log_set(t, 'is', now)
    end


    -- The windows of ids, the last one first.
    function L.log_windows(t)
        local list = {}

        for back = 0, t.iw > 0 and t.ip or -1 do
            list[#list + 1] = t.p.index .. ':' .. L.text(t.iw - back)
        end

        return list
    end


    -- How many hashes are before one in a list of them, or nothing.
    local function place(list, field)
        local at = find(list, field, 1, true)

        while at and at % HASH ~= 1 do
            at = find(list, field, at + 1, true)
        end

        return at and (at - 1) / HASH
    end


    -- What a window has of ids: values are those of fields, of the lanes ls, or
    -- of one lane.  Returns offsets and moments, of those that are known.
    local function locate(key, fields, ls, values, n)
        local offsets, moments, listed, names, lists, m = {}, {}, {}, {}, {}, 0

        for k = 1, n do
            if values[k] then
                local start, ms, many = match(values[k], '^(%d+):(%d+)(:?)$')
                local l = type(ls) == 'table' and ls[k] or ls
                local name = l .. ':' .. start

                offsets[k], moments[k] = tonumber(start), tonumber(ms)

                if many ~= '' then
                    listed[k] = name

                    if not lists[name] then
                        m = m + 1
                        names[m], lists[name] = name, ''
                    end
                end
            end
        end

        local texts = L.log_many('HMGET', key, names, m)

        for i = 1, m do
            lists[names[i]] = texts[i] or ''
        end

        for k = 1, n do
            if listed[k] then
                local before = place(lists[listed[k]], fields[k])

                offsets[k] = before and offsets[k] + before
            end
        end

        return offsets, moments
    end


    -- Looks for n ids of the lanes ls, or of one lane, in the windows from the
    -- first on; the last one is first.  Calls fn(k, offset, ms, data) for each
    -- that a window has.
    function L.log_look_up(t, fields, ls, n, first, fn, data)
        local keys = L.log_windows(t)

        for i = first, #keys do
            local values, any = L.log_many('HMGET', keys[i], fields, n), false

            for k = 1, n do
                any = any or values[k]
            end

            if any then
                local offsets, moments = locate(keys[i], fields, ls, values, n)

                for k = 1, n do
                    if offsets[k] then
                        fn(k, offsets[k], moments[k], data)
                    end
                end
            end
        end
    end


    -- A message was pushed before: t.dup has its "offset:ms".
    local function note_duplicate(k, offset, ms, t)
        if ms + t.p.dedup > t.c.now then
            t.dup = t.dup or {}
            t.dup[k] = t.dup[k] or L.text(offset) .. ':' .. L.text(ms)
        end
    end


    -- The names that ids of a queue's messages have in the index.
    function L.log_name_ids(t, args)
        local fields, ls, k = t.fields, {}, 0

        for i = 1, #t.pushes do
            local g = t.pushes[i]

            g.flat = k

            for c = 1, #g.counts do
                cut(args[g.at + c * 3 - 3], g.counts[c], fields, k)
                k = k + g.counts[c]
            end
        end

        turn_window(t)

        if not t.ask or t.p.dedup == 0 then
            return
        end

        for i = 1, #t.pushes > 1 and #t.pushes or 0 do
            local g = t.pushes[i]

            for j = g.flat + 1, g.flat + g.n do
                ls[j] = g.lane.l
            end
        end

        L.log_look_up(t, fields, ls[1] and ls or t.pushes[1].lane.l, k,
                      t.turned and 2 or 1, note_duplicate, t)
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
