-- What ends a delivery or moves its end: ack, visibility.  Messages of a batch are
-- found by its token, all others by their ids.

-- Ids that are separated by blanks, as a table.
function L.ids_of(text)
    local ids, n = {}, 0

    for id in gmatch(text, '[^ ]+') do
        n = n + 1
        ids[n] = id
    end

    return ids, n
end


-- The handles of a call come in groups of the same queue, generation and token
-- (and vt), width arguments each, the last one the ids.  Returns a list of runs,
-- each of which has the groups of one queue and generation in their order, or
-- nothing where the arguments are wrong; and how many handles there are.
local function parse(args, width)
    local list, known, run, total = {}, {}, nil, 0

    if #args % width ~= 0 then
        return
    end

    for i = 1, #args, width do
        local q, gen, text = args[i], args[i + 1], args[i + width - 1]
        local ids, n = L.ids_of(text)

        if n == 0 or concat(ids, ' ') ~= text then
            return
        end

        if not run or run.q ~= q or run.gen ~= gen then
            local name = q .. ':' .. gen

            run = known[name]

            if not run then
                run = { q = q, gen = gen }
                known[name], list[#list + 1] = run, run
            end
        end

        run[#run + 1] = { token = args[i + 2], vt = args[i + 3], at = total,
                          text = text, ids = ids, n = n }
        total = total + n
    end

    return list, total
end


L.groups_of_call = parse


-- Reads a queue.  Returns its plan and the fields s, cur, t, nb, nf
-- of its hot hash, or nothing where the generation is gone; and as the third
-- the moment at which or before which was sent what outlived retention.
local function open(root, q, gen, now)
    local h = call('HMGET', L.hot(root, q), 's', 'cur', 't', 'nb', 'nf')
    local p = h[1] and L.plan(root, h[1])

    if not p or p.gen ~= gen or (p.sub and not L.subs) then
        return
    end

    return p, h, now >= tonumber(h[3]) and now - p.ret or nil
end

L.open = open


-- The records of a run's batches: false where there is none.
local function records(p, h, run)
    if h[4] == '0' then
        return {}
    end

    if #run == 1 then
        return { call('HGET', p.e, run[1].token) }
    end

    local tokens = {}

    for i = 1, #run do
        tokens[i] = run[i].token
    end

    return call('HMGET', p.e, unpack(tokens))
end


-- The moment of receive and the ids of a record.
local function split(record)
    local blank = find(record, ' ', 1, true)
    return sub(record, 1, blank - 1), sub(record, blank + 1)
end


-- Whether text is all the ids of a record, in order, and none of them outlived
-- retention.
local function whole(record, text, cutoff)
    local blank = find(record, ' ', 1, true)

    return #record == blank + #text and find(record, text, blank + 1, true)
           and not (cutoff
                    and L.sent(match(text, '^[^ ]+')) <= cutoff)
end

L.whole = whole


local function add_singles(singles, g)
    local n = #singles

    for i = 1, g.n do
        singles[n + 1], singles[n + 2] = g.ids[i], g.token
        singles[n + 3] = g.at + i
        n = n + 3
    end
end


-- The states of single messages, false where the token does not hold them, and
-- their ids.  singles has triples of id, token, place in the reply.
local function held(p, singles, cutoff)
    local ids, n = {}, 0

    for i = 1, #singles, 3 do
        n = n + 1
        ids[n] = singles[i]
    end

    local states = call('HMGET', p.d, unpack(ids))

    for i = 1, n do
        local token = singles[i * 3 - 1]

        if states[i]
            and (sub(states[i], 1, #token + 1) ~= token .. ':'
                 or (cutoff and L.sent(ids[i]) <= cutoff))
        then
            states[i] = false
        end
    end

    return states, ids
end


-- Removes a batch, the ids of which are text, with its messages.  Returns how
-- many they were, or an error where it could not: then its visibility ends.
--
-- A batch is all that m has from its first to its last id.  So where m has
-- nothing before it, it can be trimmed off, which costs much less than XDEL:
-- that searches the stream's node once for each id.
local function ack_whole(p, token, text)
    local blank, n, done = find(text, ' ', 1, true), nil, nil

    call('ZREM', p.b, token)

    if blank and not (try('XRANGE', p.m, '-', '(' .. sub(text, 1, blank - 1),
                          'COUNT', '1')[1])
    then
        local ms, seq = match(text, '.* (%d+)-(%d+)$')

        done = try('XTRIM', p.m, 'MINID', '=', ms .. '-' .. L.text(seq + 1))
        n = done
    else
        local ids

        ids, n = L.ids_of(text)
        done = try('XDEL', p.m, unpack(ids))
    end

    if type(done) == 'table' then           -- a key of a wrong type
        call('ZADD', p.b, '1', token)       -- its end is not known any more
        call('HSET', p.hot, 't', '1')
        L.due(p, 1)
        return done
    end

    call('HDEL', p.e, token)
    call('HINCRBY', p.hot, 'nb', -n)

    return n
end


-- Acknowledges what a group has of a batch: marks it in out, and appends the
-- rest of the group to singles.
local function ack_part(p, g, record, cutoff, out, singles)
    local moment, ids = split(record)
    local left, gone = ' ' .. ids .. ' ', { p.m }

    for i = 1, g.n do
        local id, place = g.ids[i], g.at + i
        local a, z = find(left, ' ' .. id .. ' ', 1, true)

        if not a then
            local k = #singles
            singles[k + 1], singles[k + 2] = id, g.token
            singles[k + 3] = place

        elseif not (cutoff and L.sent(id) <= cutoff) then
            left = sub(left, 1, a) .. sub(left, z + 1)
            gone[#gone + 1] = id
            out[place] = '1'
        end
    end

    if not gone[2] then
        return
    end

    call('ZCARD', p.b)                      -- a key of a wrong type fails here
    call('XDEL', unpack(gone))

    if left == ' ' then
        call('ZREM', p.b, g.token)
        call('HDEL', p.e, g.token)
    else
        call('HSET', p.e, g.token, moment .. sub(left, 1, -2))
    end

    call('HINCRBY', p.hot, 'nb', 1 - #gone)
end


local function ack_singles(p, singles, cutoff, out)
    local states, ids = held(p, singles, cutoff)
    local live, m, z, seen = {}, { p.m }, { p.z }, {}

    for i = 1, #ids do
        local id = ids[i]

        if states[i] and not seen[id] then
            seen[id] = true
            live[#live + 1] = id
            out[singles[i * 3]] = '1'

            if byte(id) == 122 then
                z[#z + 1] = sub(id, 2)
            else
                m[#m + 1] = id
            end
        end
    end

    if not live[1] then
        return
    end

    call('ZCARD', p.f)                      -- keys of a wrong type fail here

    if z[2] then
        call('XLEN', p.m)
        call('XDEL', unpack(z))
    end

    if m[2] then
        call('XDEL', unpack(m))
    end

    call('ZREM', p.f, unpack(live))
    call('HDEL', p.d, unpack(live))
end


-- Acknowledges a run of groups; marks in out.  Returns an error or nothing.
local function ack_run(root, run, now, out)
    local p, h, cutoff = open(root, run.q, run.gen, now)

    if not p then
        return
    end

    if p.fifo then
        L.ack_fifo(p, h, run, now, out)
        return
    end

    local full = p.waits and h[4] + call('ZCARD', p.f) >= L.CAP
    local list, singles = records(p, h, run), {}

    if run[2] then                          -- keys of a wrong type fail here,
        call('ZCARD', p.f)                  -- before the first group is done
        call('HLEN', p.d)
        call('XLEN', p.m)
        call('XLEN', p.z)
    end

    for i = 1, #run do
        local g, record = run[i], list[i]

        -- an earlier group of this token may have changed the record
        if record and i > 1 then
            record = call('HGET', p.e, g.token)
        end

        if not record then
            add_singles(singles, g)

        elseif whole(record, g.text, cutoff) then
            local done = ack_whole(p, g.token, g.text)

            if type(done) == 'table' then
                return done
            end

            for k = g.at + 1, g.at + g.n do
                out[k] = '1'
            end

        else
            ack_part(p, g, record, cutoff, out, singles)
        end
    end

    if singles[1] then
        ack_singles(p, singles, cutoff, out)
    end

    if full then
        L.wake(p)
    end
end


-- The usual case, a whole batch and nothing else: the reply of ack, or nothing
-- where it is not that.
local function ack_one(root, args, now)
    local p, h, cutoff = open(root, args[1], args[2], now)
    local record = p and h[4] ~= '0' and not p.fifo
                   and call('HGET', p.e, args[3])

    if p and p.fifo and h[4] ~= '0' then
        return L.ack_fifo_one(p, h, args[3], args[4], now)
    end

    if not record or not whole(record, args[4], cutoff) then
        return
    end

    local full = p.waits and h[4] + call('ZCARD', p.f) >= L.CAP
    local done = ack_whole(p, args[3], args[4])

    if type(done) == 'table' then
        return done
    end

    if full then
        L.wake(p)
    end

    return rep('1', done)
end


-- Removes messages that were handled, for ack, whose arguments and reply these
-- are.
function L.ack(root, args, now)
    if #args == 4 and find(args[4], ' ', 1, true) then
        local reply = ack_one(root, args, now)

        if reply then
            return reply
        end
    end

    local list, total = parse(args, 4)

    if not list then
        return L.wrong('ack')
    end

    local out = { nil, nil, nil, nil, nil, nil, nil, nil, nil }

    for i = 1, total do
        out[i] = '0'
    end

    for i = 1, #list do
        local failed = ack_run(root, list[i], now, out)

        if failed then
            return failed
        end
    end

    return concat(out)
end


-- ack: removes messages that were handled.
-- Keys: root.  Arguments: for each group of messages Q G token ids, which are
-- separated by blanks.
-- Reply: a string with a character for each: 1, or 0 where the delivery is
-- over (also for its second mention).
-- Cost: O(n * log in flight), with one read of each queue named.
L.register('ack', { 'allow-oom' }, function(root, args)
    return L.ack(root, args, L.now())
end)


-- In how many ms from now the visibility of a message ends that a group g is to
-- move, which was received count times: of Pub/Sub later by the backoff, unless
-- it goes to the dead letters.
function L.delay_of(p, g, count)
    if not g.backs_off or (g.dead and count >= p.mrc) then
        return g.ms
    end

    return g.ms + L.backoff(p, count)
end


-- Moves the ends of single messages, each by what its group says, which are in
-- their order.  Returns the first one, and whether one came to be earlier while
-- somebody waits.
local function move_singles(p, singles, groups, cutoff, now, out, seen)
    local states, ids = held(p, singles, cutoff)
    local moves, k, first, earlier = { p.f, 'XX' }, 2, nil, false
    local old = p.waits and call('ZMSCORE', p.f, unpack(ids))

    for i = 1, #ids do
        if states[i] and not seen[ids[i]] then
            local count, last = match(states[i], '^[^:]*:(%d+):%d+:(%d+)$')
            local moment = min(now + L.delay_of(p, groups[i], tonumber(count)),
                               last + L.HOLD)

            moves[k + 1], moves[k + 2] = L.text(moment), ids[i]
            k, seen[ids[i]] = k + 2, true
            first = min(first or moment, moment)
            out[singles[i * 3]] = '1'

            if old and moment < (tonumber(old[i]) or 0) then
                earlier = true
            end
        end
    end

    if k > 2 then
        call('ZADD', unpack(moves))
    end

    return first, earlier
end


-- One, or more, of a group's messages were mentioned before.
local function mentioned(g, seen)
    for i = 1, g.n do
        if seen[g.ids[i]] then
            return true
        end
    end
end


-- Moves the ends of a run of groups, each to its ms from now; marks in out.
function L.move_run(root, run, now, out)
    local p, h, cutoff = open(root, run.q, run.gen, now)

    if not p then
        return
    end

    if p.fifo then
        L.move_fifo(p, h, run, now, out)
        return
    end

    local list = records(p, h, run)
    local singles, groups, first, earlier = {}, {}, nil, false
    local seen = {}                         -- a second mention is over

    for i = 1, #run do
        local g, record = run[i], list[i]

        if record and i > 1 then
            record = call('HGET', p.e, g.token)
        end

        if record
            and (mentioned(g, seen) or not whole(record, g.text, cutoff))
        then
            L.explode(p, g.token, record)
            record = nil
        end

        if record then
            local moment = min(now + L.delay_of(p, g, 1),
                               split(record) + L.HOLD)

            if p.waits and moment < tonumber(call('ZSCORE', p.b, g.token)) then
                earlier = true
            end

            call('ZADD', p.b, 'XX', L.text(moment), g.token)
            first = min(first or moment, moment)

            for k = 1, g.n do
                out[g.at + k], seen[g.ids[k]] = '1', true
            end

        else
            add_singles(singles, g)

            for _ = 1, g.n do
                groups[#groups + 1] = g
            end
        end
    end

    if singles[1] then
        local moment, sooner = move_singles(p, singles, groups, cutoff, now, out,
                                              seen)

        first = moment and min(first or moment, moment) or first
        earlier = earlier or sooner
    end

    if first then
        L.ends(p, h[3], first)
    end

    if earlier then
        L.wake(p)
    end
end


-- visibility: moves the end of deliveries to vt seconds from now, but at most
-- 12 hours from the receive; 0 makes a message visible at once.
-- Keys: root.  Arguments: for each group of messages Q G token vt ids.  Reply:
-- as of ack.
-- Cost: O(n * log in flight), with one read of each queue named.
L.register('visibility', { 'allow-oom' }, function(root, args)
    local list, total = parse(args, 5)

    if not list then
        return L.wrong('visibility')
    end

    local out, now = {}, L.now()

    for i = 1, total do
        out[i] = '0'
    end

    for i = 1, #list do
        for _, g in ipairs(list[i]) do
            local vt = tonumber(g.vt)

            if not vt then
                return L.wrong('visibility')
            end

            g.ms = vt * 1000
        end
    end

    for i = 1, #list do
        L.move_run(root, list[i], now, out)
    end

    return concat(out)
end)
