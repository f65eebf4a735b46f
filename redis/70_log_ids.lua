-- Logs: the index of ids, by which duplicates are known, and what is acknowledged.
-- An id is a hash there, which the caller of a push has made: Lua takes long to
-- make a string of an id, and Redis more room to keep it.

do
    local HASH = 14             -- bytes of SHA-1, as many as a string has in the
                                -- 16 bytes that it takes
    local BLOCK = 64            -- hashes that are cut at once
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


    -- Whether a text is so many hashes.
    function L.log_are_hashes(text, n)
        return #text == n * HASH
    end


    -- Adds them to a list of k.
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


    -- Which of a queue's messages were pushed before: number → value.
    local function find_duplicates(t, fields, n)
        local dedup, now, dup = t.p.dedup, t.c.now, nil
        local keys = L.log_windows(t)

        for i = t.turned and 2 or 1, #keys do
            local values = L.log_many('HMGET', keys[i], fields, n)

            for k = 1, n do
                local value = values[k]

                if value and not (dup and dup[k])
                    and match(value, '%d+$') + dedup > now
                then
                    dup = dup or {}
                    dup[k] = value
                end
            end
        end

        t.dup = dup
    end


    -- The names that ids of a queue's messages have in the index.
    function L.log_name_ids(t)
        local fields, k = {}, 0

        for i = 1, #t.pushes do
            local g = t.pushes[i]

            cut(g.hashes, g.n, fields, k)
            g.flat, k = k, k + g.n
        end

        t.fields, t.stored = fields, 0
        turn_window(t)

        if t.ask and t.p.dedup > 0 then
            find_duplicates(t, fields, k)
        end
    end


    -- What the index of ids says of n messages from an offset on.
    function L.log_index_values(offset, n, suffix)
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
end
