-- How many messages a queue has.

-- How many messages of a standard queue are visible, in flight, delayed, where
-- no batch is in flight that ended.
function L.counts(p, now)
    local after = '(' .. L.text(now)
    local flying = call('HGET', p.hot, 'nb')
                   + call('ZCOUNT', p.f, after, '+inf')
    local delayed = call('ZCOUNT', p.y, after, '+inf')

    return call('XLEN', p.m) + call('XLEN', p.z) - flying - delayed, flying,
           delayed
end


-- The same of a FIFO queue that was brought up to now.
function L.counts_fifo(p, now)
    local h = call('HMGET', p.hot, 'n', 'nb', 'nf')
    local flying = h[2] + h[3]
    local delayed = call('ZCOUNT', p.y, '(' .. L.text(now), '+inf')

    return h[1] - flying - delayed, flying, delayed
end


-- Brings a standard queue up to now: about limit messages of each kind.
-- Returns whether there may be more.
function L.catch_up(p, now, limit)
    local h, more = call('HMGET', p.hot, 'hx', 'nb'), false

    if now >= tonumber(h[1]) and not L.sweep(p, now, limit) then
        more = true
    end

    if h[2] ~= '0' and L.explode_ended(p, L.text(now), limit) >= limit then
        more = true
    end

    return p.mrc > 0 and L.bury_ended(p, now, limit) or more
end


-- When the oldest message of a FIFO queue was sent, or nothing; and whether it is
-- not known yet, after limit groups or fewer.
local function oldest_fifo(p, now, limit)
    local c = L.open_fifo(p, now)

    for i = 1, limit do
        local name, score = unpack(call('ZRANGE', p.x, '0', '0', 'WITHSCORES'))

        if not name then
            return nil, false
        end

        if i > 1 and L.spent() then
            break
        end

        L.look_at_age(c, name, now - p.ret, 10)

        if call('ZSCORE', p.x, name) == score then
            L.close_fifo(c)
            return tonumber(score), false
        end
    end

    L.close_fifo(c)

    return nil, true
end


-- queue_count: the settings of a queue and how many messages it has.
-- Keys: root.  Arguments: ref.  Reply: settings, more, visible, inFlight,
-- delayed, oldestAgeSeconds (-1: no message), sources (how many queues have it
-- as their dead-letter queue); then since it was made or purged sent,
-- acknowledged, expired, deadLettered.  At most 1,000 messages that outlived their
-- retention are removed first, about 1,000 whose batch ended taken out of it, and
-- as many moved to the dead-letter queue; more is 1 where some may be left.
-- Errors: NOQUEUE.
-- Cost: O(log in flight + log delayed), and O(log) for each of those messages.
L.register('queue_count', { 'allow-oom' }, function(root, args)
    local p, s = L.find_settings(root, args[1])

    if not p then
        return L.noqueue()
    end

    local now, more = L.now(), false
    local totals, oldest, _
    local counts = p.fifo and L.counts_fifo or L.counts

    if p.fifo then
        local cutoff, soon = L.catch_up_fifo(p, now, 1000)
        local unknown

        oldest, unknown = oldest_fifo(p, now, 100)
        more = cutoff or unknown or (soon and soon <= now)
        totals = L.totals(p)
    else
        more = L.catch_up(p, now, 1000)
        totals, _, oldest = L.totals(p)
    end

    local out = L.settings({}, root, p.q, s)

    out[15] = more and 1 or 0
    out[16], out[17], out[18] = counts(p, now)
    out[19] = oldest and max(0, floor((now - oldest) / 1000)) or -1
    out[20] = tonumber(call('HGET', L.sources(root), p.q) or 0)
    out[21], out[22], out[23], out[24] = unpack(totals, 1, 4)

    return out
end)
