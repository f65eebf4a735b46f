-- Logs: what a push appends to a lane.

do
    local SPARSE = 32           -- segments, or 8 KiB of one, for each entry in
                                -- the index by time
    local BEHIND = 250          -- ms that a caller's moment may be behind, as
                                -- those are that come in crowds
    local BEHIND_TIMED = 10     -- where messages are held back for a time


    -- The numbers of a chunk's messages that were not pushed before; or nothing
    -- where that is all of them.
    local function fresh(dup, flat, n)
        local keep, k = {}, 0

        for i = 1, n do
            if not dup[flat + i] then
                k = k + 1
                keep[k] = i
            end
        end

        return k < n and keep or nil
    end


    -- The segment that has these messages of one.
    local function pick(whole, keep, stamp)
        local ids, traces, lens, payloads = {}, {}, {}, {}
        local k, sealed, producer = #keep, nil, nil

        for i = 1, k do
            local one = L.log_cut(whole, keep[i], keep[i])
            local _, _, flags, a, b, x, d, at = L.log_head(one)
            local from = at + a

            sealed, producer = flags, sub(one, at, from - 1)
            ids[i] = sub(one, from, from + b - 1)
            traces[i] = sub(one, from + b, from + b + x - 1)
            lens[i] = sub(one, from + b + x, from + b + x + d - 1)
            payloads[i] = sub(one, from + b + x + d)
        end

        traces = concat(traces, '\n')

        return L.log_segment(stamp, k, sealed, producer, concat(ids, '\n'),
                             find(traces, '[^\n]') and traces or '',
                             concat(lens, ' '), concat(payloads))
    end


    -- The segment of n messages without what was pushed before.  Returns how
    -- many messages are in it, and its text.  One that the caller made with the
    -- moment that it gets is stored as it is: a long string more costs more than
    -- the rest of a push.
    local function segment(n, text, rest, keep, stamp)
        if keep and not keep[1] then
            return 0
        end

        if keep then
            return #keep, pick(text .. rest, keep, stamp)
        end

        if sub(text, 1, #stamp + 1) ~= stamp .. ':' then
            text = stamp .. sub(text, (find(text, ':', 1, true)))
        end

        return n, rest ~= '' and text .. rest or text
    end


    -- The moment that a lane's new messages get: the caller's where it has just
    -- been, or what it has to be.  One that the lane has overtaken gets the
    -- lane's: with a later one, those behind it would be overtaken as well.
    local function moment(t, g)
        local now, first, ms = t.c.now, max(g.lane.last, t.reg + 1), g.ms
        local p = t.p
        local behind = (p.delay > 0 or p.window > 0) and BEHIND_TIMED or BEHIND

        return max(first, ms and ms <= now and ms > now - behind and ms or now)
    end


    -- What the index of ids gets of k messages of a chunk, of all of it or of
    -- those that are kept.
    local function index(t, g, c, offset, name, suffix, k, keep, flat, hashes)
        local lane, w, fields = g.lane, t.write, t.fields

        if keep then
            local kept = {}

            for i = 1, k do
                kept[i] = fields[flat + keep[i]]
            end

            fields, flat, hashes = kept, 0, nil
        end

        if g.run then
            L.log_run(t, w, lane, name, suffix, hashes or concat(fields),
                      g.ids[c * 2 - 1], g.ids[c * 2])
        else
            lane.own = w.mark
            L.log_index(w.index, lane.l, offset, name, k, suffix, fields, flat,
                        hashes)
        end
    end


    -- Appends what is for one lane: t.write has what is to be written.  Returns
    -- the word of the reply.
    function L.log_append(t, g, args)
        local lane, w, dup = g.lane, t.write, t.dup
        local ms = moment(t, g)
        local start, offset, name = lane.next, lane.next, L.log_n(lane.next)
        local stamp, first = L.log_n(ms), name
        local suffix, at, flat = ':' .. stamp, g.at, g.flat
        local words = dup and {}

        for c = 1, #g.counts do
            local n = g.counts[c]
            local keep = dup and fresh(dup, flat, n)
            local k, text = segment(n, args[at + 1], args[at + 2], keep, stamp)

            if k > 0 then
                L.log_put(w, 'segments', lane.l .. ':' .. name, text)
                lane.seg = offset
                lane.since = lane.since + 1 + floor(#text / 8192)
                w.big = max(w.big, #text)

                if lane.since >= SPARSE then
                    lane.since = 0
                    L.log_put(w, 'times', '0',
                              format('%012.0f:%013.0f:%012.0f', lane.l, ms,
                                     offset))
                end
            end

            if k > 0 then
                index(t, g, c, offset, name, suffix, k, keep, flat, args[at])
            end

            for i = 1, dup and n or 0 do
                if dup[flat + i] then
                    words[#words + 1] = concat({ ' ', flat - g.flat + i - 1, ':',
                                                 dup[flat + i] })
                end
            end

            at, flat = at + 3, flat + n

            if k > 0 then
                offset = offset + k
                name = L.log_n(offset)
            end
        end

        if offset > start then
            t.stored = t.stored + offset - start
            L.log_appended(t, lane, start, offset, ms)
        end

        return t.p.q .. ':' .. lane.l .. suffix .. ':' .. first
               .. (words and concat(words) or '')
    end


    -- The ids of a chunk, which begins with a text, in lines.
    local function ids_in(text)
        local _, _, _, a, b, _, _, from = L.log_head(text)

        return sub(text, from + a, from + a + b - 1)
    end


    -- The ids of a group's messages.
    function L.log_ids_of(g, args)
        local ids, k = {}, 0

        for c = 1, #g.counts do
            for id in gmatch(ids_in(args[g.at + c * 3 - 2]) .. '\n', '([^\n]*)\n') do
                k = k + 1
                ids[k] = id
            end
        end

        return ids
    end


    -- The id of a group's message of this number, from 1.
    function L.log_id_of(g, args, number)
        local at = g.at

        for c = 1, #g.counts do
            local n = g.counts[c]

            if number <= n then
                return L.log_items(ids_in(args[at + 1]), '\n', number, number)
            end

            number, at = number - n, at + 3
        end
    end


    -- A lane has got messages up to the offset before next.
    function L.log_appended(t, lane, start, next, ms)
        local w = t.write

        if lane.head == start then
            L.log_put(w, 'oldest', L.log_n(ms), lane.l)
        end

        if lane.act <= t.seen then
            t.act = t.act + 1
            lane.act = t.act
            L.log_put(w, 'noted', L.log_n(t.act), lane.l)
        end

        if lane.new then
            lane.created, lane.new = ms, nil
            L.log_put(w, 'lanes', lane.name, lane.l)
        end

        lane.next, lane.last = next, ms
        w.last = max(w.last, ms)
        L.log_put(w, 'records', lane.l, L.log_lane_text(lane))
    end
end
