-- Logs: what a pop gives of a lane.

do
    local LOOK = 10000          -- ms after which a lane that is held back is
                                -- looked at again at the latest
    local SMALL = 2048          -- bytes of a segment that is given whole, though few
                                -- of its messages are: cutting it costs more


    -- The moment till which a lane is held back whose first message is of a
    -- moment, or nothing.
    local function held(c, p, lane, cur, ms)
        local till = p.delay > 0 and ms + p.delay or 0

        if p.window > 0 and lane.next - cur.committed <= L.LOG_FULL then
            till = max(till, ms + p.window)
        end

        -- the settings may change in between
        return till > c.now and min(till, c.now + LOOK) or nil
    end


    -- Takes messages of a lane, c.need at most; found has its first segment.
    -- Returns what was taken, with their ids where the pop does not commit; or
    -- nothing and the moment till which they are held back.
    function L.log_collect(c, t, lane, cur, found)
        local p, at, first = t.p, cur.seg, cur.committed + 1
        local got, ids = { n = 0, first = first }, {}
        local newest = p.delay > 0 and c.now - p.delay or nil
        local guess, want = 1, c.need

        while want > 0 and at < lane.next do
            if not found[at] then
                L.log_read_ahead(p, lane, at, guess, want,
                                 L.log_room(t, c.bytes), found)
            end

            local text = found[at]
            if not text then
                break
            end

            local ms, n, _, a, b, _, _, from = L.log_head(text)
            local start, stop = at, at + n

            guess = stop - at

            if stop > first then
                ms = tonumber(ms)

                if got.n == 0 then
                    local till = held(c, p, lane, cur, ms)
                    if till then
                        return nil, till
                    end
                elseif newest and ms > newest then
                    break
                end

                local low, high = max(first, at), min(stop, first + c.need) - 1
                local taken = high - low + 1
                local part = taken < guess

                if taken * 2 <= guess and #text > SMALL then
                    text, start = L.log_cut(text, low - at + 1, high - at + 1),
                                  low
                    part = false
                    _, _, _, a, b, _, _, from = L.log_head(text)
                end

                if not c.auto then
                    local list = sub(text, from + a, from + a + b - 1)

                    ids[got.n + 1] = part and L.log_items(list, '\n', low - at + 1,
                                                          high - at + 1)
                                     or list
                end

                got.n = got.n + 1
                got.start, got.seg = got.start or start, got.seg or at
                got[got.n], got.last = text, high
                got.lastseg = high == stop - 1 and stop or at
                want = want - taken
                c.bytes = c.bytes + #text

                if c.bytes >= L.BYTES then
                    break
                end
            end

            at = stop
        end

        if got.n > 0 then
            got.ids = concat(ids, '\n')
            return got
        end
    end
end
