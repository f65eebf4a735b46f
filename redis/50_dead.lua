-- Dead letters: a message that was received as often as its queue allows goes
-- to the dead-letter queue when its visibility ends.
--
-- A message that was moved says where it comes from: "Q,G,id" of where it was
-- sent, by which it keeps its messageId, and, in a dead-letter queue,
-- ",Q,count,moment": the queue it was in before, how often it was received
-- there, and when it was moved (ms).

-- What is visible again on a queue with a dead-letter queue has the moment
-- less this as score in f: before all moments, and in their order.  So a
-- message whose visibility ended is looked at once, not at every step.
L.AGAIN = 100000000000000


-- The origin of a message that moves: that of before, if it has one.
function L.origin(p, id, origin)
    return origin and match(origin, '^[^,]*,[^,]*,[^,]*')
           or concat({ p.q, p.gen, id }, ',')
end


-- The plan of the dead-letter queue, or nothing where it is gone, which only
-- somebody else's hand can do.  Of a subscription of Pub/Sub: see
-- 87_forward.lua.
function L.dead_letter_queue(p)
    if p.sub then
        return L.dead_letter_topic(p)
    end

    local s = L.read_plan(L.hot(p.root, p.dlq))
    local to = s and L.plan(p.root, s)

    return to and to.fifo == p.fifo and to or nil
end


-- Whether a queue has as many messages in flight as it may have.
function L.full(p)
    return call('HGET', p.hot, 'nb') + call('ZCARD', p.f)
           >= (p.fifo and L.CAP_FIFO or L.CAP)
end


-- Keys of a wrong type fail here.
function L.can_move(p, to)
    L.can_drop(p)

    if to.m then
        call('XLEN', to.m)
    end
end


-- Moves messages of a standard queue, none of which is in a batch, to another:
-- one at least, and more unless the call has done enough; what outlived its
-- retention is removed.
-- way is which way they go (24_totals.lua), note(id) what is appended to the origin.
-- Returns how many ids it came through, and how many messages it moved.
function L.move(p, to, ids, now, way, note)
    local n, moved, removed = 0, 0, 0

    L.can_move(p, to)

    for i = 1, #ids do
        local id = ids[i]
        local delayed = byte(id) == 122
        local stream, raw = delayed and p.z or p.m, delayed and sub(id, 2) or id
        local entry = call('XRANGE', stream, raw, raw)[1]

        n = i
        L.spend(entry and #entry[2][2] or 0)

        if entry and L.sent(id) > now - p.ret then
            local fields, attributes, origin = entry[2], '', nil

            for k = 3, #fields, 2 do
                if fields[k] == 'a' then
                    attributes = fields[k + 1]
                else
                    origin = fields[k + 1]
                end
            end

            L.put(to, now, fields[2], attributes,
                  L.origin(p, id, origin) .. note(id))
            moved = moved + 1
        end

        removed = removed + L.drop(p, stream, { id }, { raw })

        if L.spent() then
            break
        end
    end

    L.lose(p, way, moved)
    L.lose(p, 'ex', removed - moved)

    if moved > 0 then
        L.stocked(to, now)
        L.wake(to)
    end

    return n, moved
end


-- Moves messages of f to the dead-letter queue, as L.move() does.
function L.bury(p, to, ids, now)
    local full = p.waits and L.full(p)
    local counts, states = {}, call('HMGET', p.d, unpack(ids))

    for i = 1, #ids do
        counts[ids[i]] = match(states[i] or '', '^[^:]*:(%d+):') or '0'
    end

    local n

    if p.sub then
        n = L.forward(p, to, ids, counts, now)
    else
        n = L.move(p, to, ids, now, 'dl', function(id)
            return concat({ '', p.q, counts[id], L.text(now) }, ',')
        end)
    end

    if full then
        L.wake(p)
    end

    return n
end


-- Looks at up to limit single messages whose visibility ended: moves those that
-- were received often enough, and marks the others.  Returns whether there
-- may be more.
function L.bury_ended(p, now, limit)
    local list = call('ZRANGEBYSCORE', p.f, '0', L.text(now), 'WITHSCORES',
                      'LIMIT', '0', limit)
    local to = list[1] and L.dead_letter_queue(p)
    local ids, dead, again, left = {}, {}, { p.f, 'XX' }, false

    if not to then
        return false
    end

    for i = 1, #list, 2 do
        ids[#ids + 1] = list[i]
    end

    local states = call('HMGET', p.d, unpack(ids))

    for i = 1, #ids do
        local count = match(states[i] or '', '^[^:]*:(%d+):')

        if count and tonumber(count) >= p.mrc then
            dead[#dead + 1] = ids[i]
        else
            again[#again + 1] = L.text(list[i * 2] - L.AGAIN)
            again[#again + 1] = ids[i]
        end
    end

    if again[3] then
        call('ZADD', unpack(again))
    end

    if dead[1] then
        left = L.bury(p, to, dead, now) < #dead
    end

    return left or #ids >= limit
end
