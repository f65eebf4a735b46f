-- Logs: runs.  Where the ids of a segment rise, and no other run of its lane and
-- window has any between its first and its last one, the index has these two and
-- nothing for each id.  So runs are in order, by their last ids, and whether an
-- id is known is seen by the one that it would be in.

do
    local FEW = 4               -- runs in which each of some ids is looked for
    local MARKS = 31            -- marks of windows are from 1 to it


    -- A lane's record says by marks in which window it last had ids of its own in
    -- the index, and runs.  One that is much older may look like a new one.
    function L.log_mark(w)
        return w % MARKS + 1
    end


    -- Whether a lane with that mark may have something in a window that there is.
    function L.log_marked(t, mark)
        return mark > 0 and (t.iw + 1 - mark) % MARKS <= t.ip
    end


    -- The windows in which it may, the last one first.
    local function windows(t, mark)
        local list = {}

        for back = (t.iw + 1 - mark) % MARKS, mark > 0 and t.ip or -1 do
            list[#list + 1] = L.log_n(t.iw - back)
        end

        return list
    end


    -- Whether a text is before another one, byte by byte: "<" goes by the locale.
    local function before(a, b)
        local at = 1

        while true do
            local x, y = byte(a, at), byte(b, at)

            if x ~= y or not x then
                return (x or -1) < (y or -1)
            end

            at = at + 1
        end
    end


    -- The runs of a lane in a window that may have ids from low to high, so many
    -- at most.
    local function runs_between(t, w, l, low, high, most)
        local list = call('ZRANGEBYLEX', t.p.runs .. ':' .. w,
                          '[' .. l .. ':' .. low, '(' .. l .. ';', 'LIMIT', '0',
                          most)
        local n = #list

        for i = 1, n do
            local first, start, ms
                = match(list[i], '^[^\n]*\n([^\n]*)\n(%d+):(%d+)$')

            if before(high, first) then
                for k = i, n do
                    list[k] = nil
                end

                break
            end

            list[i] = { name = l .. ':' .. start, start = tonumber(start),
                        ms = tonumber(ms) }
        end

        return list
    end


    -- Looks in a run for the k-th of some ids.
    local function look(run, list, field, k, found)
        local at = L.log_place(list, field)

        if at then
            L.log_found(found, k, run.start + at, run.ms)
        end

        return at
    end


    -- Looks for ids one by one: most often the next one is in the same run.
    local function each(t, w, l, fields, from, ids, found)
        local run, list
        local key = t.p.index .. ':' .. w

        for i = 1, #ids do
            if not (run and look(run, list, fields[from + i], from + i, found))
            then
                local one = runs_between(t, w, l, ids[i], ids[i], '1')[1]

                if one then
                    run, list = one, call('HGET', key, one.name) or ''
                    look(run, list, fields[from + i], from + i, found)
                end
            end
        end
    end


    -- Looks in the runs of a lane for ids: fields after from are what the index
    -- has of them, fn() gives them as texts.  low and high, if they are known:
    -- none is before or behind.  found, if they are to be looked for.  Returns
    -- whether none of the runs in the last window is between them.
    function L.log_look_in_runs(t, lane, fields, from, n, low, high, fn, found)
        local ws, apart = windows(t, lane.runs), true

        for i = 1, #ws do
            local w, list = ws[i], nil
            local last = w == L.log_n(t.iw)

            if low and (found or last) then
                list = runs_between(t, w, lane.l, low, high, FEW + 1)
                apart = apart and not (last and list[1])
            end

            if found and (not list or #list > FEW) then
                each(t, w, lane.l, fields(), from, fn(), found)

            elseif found and list[1] then
                local names = {}

                for k = 1, #list do
                    names[k] = list[k].name
                end

                local texts = call('HMGET', t.p.index .. ':' .. w,
                                   unpack(names))
                local hashes = fields()

                for k = 1, #list do
                    for j = from + 1, texts[k] and from + n or 0 do
                        look(list[k], texts[k], hashes[j], j, found)
                    end
                end
            end
        end

        return apart
    end


    -- Adds a segment to what is written of runs: of its ids the hashes in one
    -- text, the first and the last one.
    function L.log_run(t, w, lane, start, ms, hashes, low, high)
        local list = w.index
        local k = list.n

        list[k + 1], list[k + 2] = lane.l .. ':' .. start, hashes
        list.n = k + 2
        lane.runs = w.mark

        L.log_put(w, 'runs', '0', concat({ lane.l, ':', high, '\n', low, '\n',
                                           start, ms }))
    end
end
