-- Receiving of messages.

local function read_receive(key)
    return call('HMGET', key, 'gen', 'id', 'cur', 'hx', 'w', 'vt', 'wait',
                'ret')
end


-- Arguments of HSET and ZADD, kept from call to call, since growing tables
-- costs time.  What was left in them is never read.
local hset, zadd = {}, {}


-- Takes messages from f or y (index) whose moment came.  taken of need are
-- there, k is how many arguments hset and zadd have; returns both anew.
local function claim_due(c, out, index, need, taken, k)
    local ids = call('ZRANGEBYSCORE', index, '-inf', c.text, 'LIMIT', '0',
                     need - taken + (c.cutoff and 50 or 0))
    local states = index == c.flight and ids[1]
                   and call('HMGET', c.state, unpack(ids))

    for i = 1, #ids do
        local id = ids[i]
        local delayed = byte(id) == 122
        local raw = delayed and sub(id, 2) or id
        local stream = delayed and c.later or c.stored
        local entry = not (c.cutoff and L.sent(id) <= c.cutoff)
                      and call('XRANGE', stream, raw, raw)[1]

        if entry then
            local fields, n, count, first = entry[2], #out, 0, nil

            if states and states[i] then
                count, first = match(states[i], '^[^:]*:(%d+):(%d+):')
            end

            count = count + 1
            first = count > 1 and first or c.text

            out[n + 1], out[n + 2], out[n + 3] = id, fields[2], fields[4] or ''
            out[n + 4], out[n + 5] = count, tonumber(first)

            hset[k + 1] = id
            hset[k + 2] = c.token .. ':' .. count .. ':' .. first .. ':'
                          .. c.text
            zadd[k + 1], zadd[k + 2] = c.deadline, id
            k = k + 2

            if not states then
                c.undelay[#c.undelay + 1] = id
            end

            taken = taken + 1
            if taken == need then
                break
            end

        else
            c.dead[#c.dead + 1] = { stream, id, raw }
        end
    end

    return taken, k
end


-- Reads what was never received, past what outlived its retention.
local function unread(stored, cur, cutoff, count)
    local from = '(' .. cur

    if cutoff and L.sent(cur) <= cutoff then
        from = L.text(cutoff + 1)
    end

    return call('XRANGE', stored, from, '+', 'COUNT', count)
end


-- Takes messages that were never received: fills out from n, hset and zadd
-- from k.  Returns the new k.
local function claim_new(entries, out, n, k, now, deadline, state)
    for i = 1, #entries do
        local entry = entries[i]
        local id, fields = entry[1], entry[2]

        out[n + 1], out[n + 2], out[n + 3] = id, fields[2], fields[4] or ''
        out[n + 4], out[n + 5] = 1, now
        n = n + 5

        hset[k + 1], hset[k + 2] = id, state
        zadd[k + 1], zadd[k + 2] = deadline, id
        k = k + 2
    end

    return k
end


-- Ends a receive that took from f or y; returns their new heads.
function L.settle(root, q, gen, c)
    if c.undelay[2] then
        call('ZREM', unpack(c.undelay))
    end

    for i = 1, #c.dead do
        local dead = c.dead[i]
        L.drop(root, q, gen, dead[1], { dead[2] }, { dead[3] })
    end

    return call('ZRANGE', c.flight, '0', '0', 'WITHSCORES'),
           call('ZRANGE', c.undelay[1], '0', '0', 'WITHSCORES')
end


-- The earlier of two moments, the second one being that of a key's head, or
-- nothing.
local function sooner(moment, head)
    local score = tonumber(head[2])
    return score and (not moment or score < moment) and score or moment
end


-- How many may be taken under the cap on messages in flight, and whether that
-- is fewer than wanted.
local function room(flight, need, text)
    local free = L.CAP - call('ZCOUNT', flight, '(' .. text, '+inf')
    return min(need, free), free < need
end


-- A reply with no message in it, with space for ten.
local function new_reply(q, gen, wait)
    return {
        q, tonumber(gen), wait, -1,
        nil, nil, nil, nil, nil, nil, nil, nil, nil, nil,
        nil, nil, nil, nil, nil, nil, nil, nil, nil, nil,
        nil, nil, nil, nil, nil, nil, nil, nil, nil, nil,
        nil, nil, nil, nil, nil, nil, nil, nil, nil, nil,
        nil, nil, nil, nil, nil, nil, nil, nil, nil, nil
    }
end


-- receive: takes messages that are visible: first those whose visibility
-- ended, then delayed ones, then new ones, each in order.
-- Keys: root.  Arguments: ref max vt wait token (vt and wait in seconds,
-- empty: the queue's).  Reply: Q, G, wait (in force), next (ms until a message
-- becomes visible by itself, at least 1, or -1; where the cap on messages in
-- flight cut the receive off, until there is room), then for each message: id,
-- body, attributes, count, first (ms).  Where nothing is found and wait > 0
-- the next change publishes a hint.  Errors: NOQUEUE.
-- Cost: O(max * log in flight), whatever the backlog.
L.register('receive', { 'allow-oom' }, function(root, args)
    local q, s = L.find(root, args[1] or '', read_receive)

    if not q then
        return L.noqueue()
    end

    local need, token = tonumber(args[2]), args[5]
    local vt = tonumber(args[3] ~= '' and args[3] or s[6])
    local wait = tonumber(args[4] ~= '' and args[4] or s[7])

    if not (need and vt and wait and token) then
        return L.wrong('receive')
    end

    local gen, now, cutoff = s[1], L.now(), nil
    local stored, flight = L.stored(root, q, gen), L.flight(root, q, gen)
    local due = L.due(root, q, gen)

    -- cutoff is set only while messages are left that outlived retention
    if now >= tonumber(s[4])
        and not L.sweep(root, q, gen, now, tonumber(s[8]), 50)
    then
        cutoff = now - s[8] * 1000
    end

    local head = call('ZRANGE', flight, '0', '0', 'WITHSCORES')
    local soon = call('ZRANGE', due, '0', '0', 'WITHSCORES')
    local text, full = L.text(now), false

    need = max(1, min(need, L.BATCH))

    if head[1] and call('ZCARD', flight) + need > L.CAP then
        need, full = room(flight, need, text)
    end

    local out = new_reply(q, gen, wait)
    local deadline = now + vt * 1000
    local overdue = head[1] and tonumber(head[2]) <= now
    local arrived = soon[1] and tonumber(soon[2]) <= now
    local taken, k, state, c, cur = 0, 1, L.state(root, q, gen), nil, nil

    if overdue or arrived then
        c = { text = text, deadline = L.text(deadline), cutoff = cutoff,
              token = token, stored = stored, later = L.later(root, q, gen),
              flight = flight, state = state, undelay = { due }, dead = {} }

        if overdue and need > 0 then
            taken, k = claim_due(c, out, flight, need, 0, k)
        end

        if arrived and taken < need then
            taken, k = claim_due(c, out, due, need, taken, k)
        end
    end

    if taken < need then
        local entries = unread(stored, s[3], cutoff, need - taken)

        if entries[1] then
            k = claim_new(entries, out, 4 + taken * 5, k, now,
                          L.text(deadline),
                          token .. ':1:' .. text .. ':' .. text)
            taken = taken + #entries
            cur = entries[#entries][1]
        end
    end

    if taken > 0 then
        hset[1], zadd[1] = state, flight
        call('HSET', unpack(hset, 1, k))
        call('ZADD', unpack(zadd, 1, k))

        if cur then
            call('HSET', L.queue(root, q), 'cur', cur)
        end

    elseif wait > 0 and s[5] ~= '1' then
        call('HSET', L.queue(root, q), 'w', '1')
    end

    if c then
        head, soon = L.settle(root, q, gen, c)
    end

    if full then
        head = call('ZRANGEBYSCORE', flight, '(' .. text, '+inf',
                    'WITHSCORES', 'LIMIT', '0', '1')
        soon = head
    end

    local moment = sooner(sooner(taken > 0 and deadline, head), soon)

    if moment then
        out[4] = max(1, moment - now)
    end

    return out
end)
