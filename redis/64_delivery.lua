-- Deliveries of subscriptions: the owner claims a batch, and settles it.

local GIVEN_UP = 10         -- s past its timeout that a delivery counts as open
local HIDDEN = 30           -- s past it for which messages stay hidden, at least
L.LONGEST = 600000          -- ms, likewise of one of Pub/Sub
local AGAIN = 1000          -- ms until a failed one of a queue without visibility
                            -- timeout is visible

local LOST, CHANGED, FULL, NONE = 1, 2, 3, 4


-- For how many seconds messages of a delivery are hidden; and the moment at
-- which it counts as given up.
function L.hidden(p, s)
    return max(p.vt, s.to + HIDDEN)
end


function L.given_up(s, now)
    return L.text(now + (s.to + GIVEN_UP) * 1000)
end


-- What a claim or the end of a delivery needs of a subscription, or nothing.
local function read(root, k)
    local s = call('HMGET', L.subscription(root, k), 'q', 'o', 'fn', 'ver', 'st',
                   'to', 'bs', 'mc', 'fl', 'ls', 'nd', 'ne', 'nm', 'x')

    if s[1] then
        return { root = root, k = k, q = s[1], o = s[2], fn = s[3],
                 ver = s[4], st = s[5], to = s[6], bs = s[7], mc = s[8], fl = s[9], ls = s[10],
                 nd = s[11], ne = s[12], nm = s[13], x = s[14] }
    end
end


-- Whether a subscription may have no further delivery; and if so, in how many
-- ms the first one that is open counts as given up.
local function full(key, s, now)
    local most = tonumber(s.mc)

    if call('ZCARD', key) < most then
        return false
    end

    call('ZREMRANGEBYSCORE', key, '-inf', L.text(now))

    if call('ZCARD', key) < most then
        return false
    end

    local first = call('ZRANGE', key, '0', '0', 'WITHSCORES')[2]

    return true, max(1, first - now)
end


-- Takes a batch for the owner of s.  Appends to out what push_claim answers.
local function claim(root, s, args, token, now, out)
    local n = #out

    out[n + 2] = now

    if not s or s.o ~= args[2] or s.fn ~= args[3] or s.st ~= 'a' then
        out[n + 1] = LOST
        return out
    end

    if s.ver ~= args[4] then
        out[n + 1] = CHANGED
        return L.job(out, L.read_subscription(root, s.k))
    end

    local key = L.deliveries(root, s.k)
    local is, soon = full(key, s, now)

    if is then
        out[n + 1], out[n + 3] = FULL, soon
        return out
    end

    local text, h = L.read_receive(L.hot(root, s.q))
    local p = text and L.plan(root, text)

    if not p then                           -- only by somebody else's hand
        out[n + 1] = LOST
        return out
    end

    local vt = L.hidden(p, s)
    local receive = p.sub and L.receive_sub or L.receive
    local got = receive(p, h, tonumber(s.bs), token, vt, 1, now)

    if got.err then
        return got
    end

    if got[6] then
        call('ZADD', key, L.given_up(s, now), token)
    end

    out[n + 1], out[n + 3] = 0, p.vt
    n = n + 3

    for i = 1, #got do
        out[n + i] = got[i]
    end

    return out
end


-- push_claim: takes a batch of a subscription's messages for its owner.
-- Keys: root.  Arguments: K worker fence ver token.  Reply: a code, now (ms),
-- and where the code is
-- 0    the queue's visibility timeout (seconds), and what receive answers: where
--      there are no messages, the queue's next change publishes a hint
-- 1    the worker is not the owner, or the subscription is paused or deleted
-- 2    settings have changed, and these are they: 11 elements, as of push_sync
-- 3    as many deliveries are open as may be: in how many ms the first one counts
--      as given up
-- Messages are hidden for the queue's visibility timeout, at least for 30 s more
-- than the delivery may take.
-- Cost: as of receive.
L.register('push_claim', { 'allow-oom' }, function(root, args)
    local k, token = args[1], args[5]

    if #args ~= 5 or not match(token, '^%d+$') then
        return L.wrong('push_claim')
    end

    return claim(root, read(root, k), args, token, L.now(), {})
end)


-- What failed, of the arguments of push_settle from the 12th on, as a run of
-- groups for L.move_run(); nothing where they are wrong.
local function failures(args)
    local run, n = { q = args[7], gen = args[8] }, 0

    for i = 12, #args, 3 do
        local ms, count = tonumber(args[i]), tonumber(args[i + 1])
        local ids, some = L.ids_of(args[i + 2] or '')

        if not (ms and count) or some == 0
            or concat(ids, ' ') ~= args[i + 2]
        then
            return
        end

        run[#run + 1] = { token = args[6], ms = ms, count = count, at = n,
                          text = args[i + 2], ids = ids, n = some }
        n = n + some
    end

    return run
end


-- Messages that failed are visible again later, but no later than the queue
-- has it, of Pub/Sub's no later than the longest backoff; those that were received as often as it allows at once, as these
-- move to its dead-letter queue.
local function put_off(root, p, run, now)
    local most = p.sub and L.LONGEST or p.vt > 0 and p.vt * 1000 or AGAIN
    local dead, to = false, p.mrc > 0 and L.dead_letter_queue(p)

    for i = 1, #run do
        local g = run[i]

        if to and g.count >= p.mrc then
            g.ms, dead = 0, true
        else
            g.ms = min(g.ms, most)
        end
    end

    L.move_run(root, run, now, {})

    if dead and not p.fifo then             -- on a FIFO queue they have moved
        pcall(L.catch_up, L.plan(root, L.read_plan(p.hot)), now, L.PACK)
    end
end


-- Keys of a wrong type fail here.
local function check(p)
    if p.fifo then
        L.check_fifo(p)
    else
        L.can_drop(p)
        call('HLEN', p.e)
        call('ZCARD', p.b)
    end

    call('ZCARD', L.agenda(p.root))
end


-- Acknowledges.  Returns how many were, or an error.
function L.acked(root, groups, now)
    local done, n = L.ack(root, groups, now), 0

    if type(done) == 'table' then
        return done
    end

    for _ in gmatch(done, '1') do
        n = n + 1
    end

    return n
end


-- Ends a delivery for its messages.  Returns how many were acknowledged, or an
-- error.
local function finish(root, args, run, now)
    local ok, n, p = args[11], 0, nil

    if args[9] == 'u' then
        L.undo(root, args[7], args[8], args[6], L.ids_of(ok), now)
        return 0
    end

    if run[1] then
        p = L.open(root, args[7], args[8], now)

        if not p then
            return 0
        end

        check(p)
    end

    if ok ~= '' then
        n = L.acked(root, { args[7], args[8], args[6], ok }, now)

        if type(n) == 'table' then
            return n
        end
    end

    if p then
        put_off(root, p, run, now)
    end

    return n
end


-- Notes how deliveries of s ended that were open, count of them.
local function note(root, s, outcome, window, acknowledged, count, now)
    local fields, n = { L.subscription(root, s.k) }, 1

    local function put(field, value)
        fields[n + 1], fields[n + 2] = field, value
        n = n + 2
    end

    if window ~= '' then
        put('w', window)
    end

    if outcome ~= 'u' then
        local second = L.text(floor(now / 1000))
        local failed = outcome ~= '+'
        local fl = failed and '1' or '0'

        put('nd', L.text(s.nd + count))

        if acknowledged > 0 then
            put('nm', L.text(s.nm + acknowledged))

            if s.x then
                L.note_use(L.hot(s.root, s.q), now)
            end
        end

        if fl ~= s.fl then
            put('fl', fl)
        end

        if failed then
            put('ne', L.text(s.ne + count))
            put('le', second .. ' ' .. sub(outcome, 2))
        elseif second ~= s.ls then
            put('ls', second)
        end
    end

    if n > 1 then
        call('HSET', unpack(fields))
    end
end


-- For what ends several deliveries.
L.pushed = { read = read, claim = claim, note = note, NONE = NONE }


-- push_settle: ends a delivery, and may claim the next batch.
-- Keys: root.  Arguments: K worker fence ver newtoken (empty: no claim), then
-- of the delivery: token Q G outcome window ok, and for what failed triples of
-- ms (till it is visible again), count (how often it was received) and
-- ids.  ok: the ids of what was handled, separated by blanks; or
-- empty.  outcome: "u", nothing was sent: ok has all ids, which are given back;
-- "+"; or "-" and the class of an error, a status (0: none) and a message,
-- separated by blanks.  window: from now on so many deliveries at once, 0: as
-- many as may be; or empty.
-- Reply: 1 where the delivery was open, else 0; then what push_claim answers,
-- or 4 and now where none was asked for, or it failed. Who settles need not be
-- the owner any more.  Where the subscription or the queue is gone, what is
-- left of them is done all the same.
-- Cost: as of ack, visibility and receive together.
L.register('push_settle', { 'allow-oom' }, function(root, args)
    local k, token, outcome, window = args[1], args[6], args[9], args[10]
    local failed = #args >= 11 and #args % 3 == 2 and failures(args)

    if not failed or not match(window, '^%d*$')
        or not match(args[5], '^%d*$')
        or not (outcome == 'u' or outcome == '+'
                or match(outcome, '^%-[^ ]+ %d+ '))
    then
        return L.wrong('push_settle')
    end

    L.subs = true

    local now, s = L.now(), read(root, k)
    local key = L.deliveries(root, k)
    local done = finish(root, args, failed, now)

    if type(done) == 'table' then
        return done
    end

    -- where that is no sorted set, what the call is about is done all the same
    local open = s and try('ZREM', key, token) == 1

    if open then
        note(root, s, outcome, window, done, 1, now)
    end

    local out = { open and 1 or 0 }

    if args[5] ~= '' then
        local fine, reply = pcall(claim, root, s, args, args[5], now,
                                  { out[1] })

        if fine and not reply.err then
            return reply
        end
    end

    out[2], out[3] = NONE, now

    return out
end)
