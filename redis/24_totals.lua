-- What became of a queue's messages, since it was made or purged.
--
-- Nothing is counted where most messages go: what came in is told by the streams
-- of a standard queue themselves, and by the field in, which a send to a FIFO queue
-- writes with others; what is not there any more and went no other way was
-- acknowledged.  The other ways are fields of the hot hash, which are there once
-- something went that way: ex outlived its retention, dl became a dead letter,
-- dropped likewise with nowhere to go, rd was moved by a redrive.

do
    -- The first three of all queues of a project that ever were.
    function L.losses(root) return root .. ':m' end


    -- Messages of a queue went that way.  Where the project's key is no hash, what
    -- the call is about is done all the same.
    function L.lose(p, way, n)
        if n == 0 then
            return
        end

        call('HINCRBY', p.hot, way, n)

        if way ~= 'rd' then
            try('HINCRBY', L.losses(p.root), way, n)
        end
    end


    -- How many entries a stream has, how many it had ever, and when the first one
    -- was sent.
    local function stream(key)
        if call('PTTL', key) == -2 then     -- there is none
            return 0, 0
        end

        local info, has = call('XINFO', 'STREAM', key), {}

        for i = 1, #info, 2 do
            has[info[i]] = info[i + 1]
        end

        local first, last = has['first-entry'], has['last-entry']

        L.spend(first and #first[2][2] + #last[2][2] or 0)

        return has.length, has['entries-added'], first and L.sent(first[1])
    end


    -- What came in, was acknowledged, and went the other three ways that are told;
    -- how many messages are there, and of a standard queue when the first one was
    -- sent, or nothing.
    function L.totals(p)
        local h = call('HMGET', p.hot, 'ex', 'dl', 'dropped', 'rd', 'in', 'n')
        local came, there, oldest

        for i = 1, 4 do
            h[i] = tonumber(h[i] or 0)
        end

        if p.fifo then
            came, there = tonumber(h[5] or h[6]), tonumber(h[6])
        else
            local m, m_came, m_first = stream(p.m)
            local z, z_came, z_first = stream(p.z)

            there, came = m + z, m_came + z_came
            oldest = m_first and z_first and min(m_first, z_first)
                     or m_first or z_first
        end

        local acknowledged = came - there - h[1] - h[2] - h[3] - h[4]

        return { came, max(0, acknowledged), h[1], h[2], h[3] }, there, oldest
    end
end
