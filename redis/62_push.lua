-- Who delivers for which subscription.
--
-- Every worker that delivers is a member, in one place for all projects, where
-- also is told how many active subscriptions each project has.  By these two
-- every worker knows how many of a project's it should own.  It owns them in
-- the project itself, by a lease that it renews for all of them together; the
-- subscriptions of one whose lease ended are free for the others.

local LEASE = 6000          -- ms, of a member and of what it owns
local FORGET = 60000        -- ms for which a project without any is remembered
local STEP = 100            -- subscriptions, or projects, of one call


local function members(key)     return key .. ':m' end
local function changes(key)     return key .. ':p' end
local function numbers(key)     return key .. ':n' end
local function idle(key)        return key .. ':x' end


-- Keys of a wrong type fail here.
local function check(key)
    call('ZCARD', members(key))
    call('ZCARD', changes(key))
    call('HLEN', numbers(key))
    call('ZCARD', idle(key))
end


-- The project that changed last and its number, 0 where there is none.
local function last(key)
    local list = call('ZRANGE', changes(key), '-1', '-1', 'WITHSCORES')

    return list[1], tonumber(list[2] or 0)
end


-- Forgets projects that have had no active subscription for a while, but for the
-- one that changed last, by which the others' numbers go on.
local function forget(key, now, newest)
    local list = call('ZRANGEBYSCORE', idle(key), '-inf', L.text(now - FORGET),
                      'LIMIT', '0', STEP)
    local gone = {}

    for i = 1, #list do
        gone[#gone + 1] = list[i] ~= newest and list[i] or nil
    end

    if gone[1] then
        call('ZREM', changes(key), unpack(gone))
        call('HDEL', numbers(key), unpack(gone))
        call('ZREM', idle(key), unpack(gone))
    end
end


-- In how many ms the first lease of another worker ends; -1: there is none.
local function next_end(leases, worker, now)
    local list = call('ZRANGE', leases, '0', '1', 'WITHSCORES')
    local score = list[1] ~= worker and list[2] or list[4]

    return score and max(1, score - now) or -1
end


-- push_join: a worker is a member, for 6 s from now.
-- Keys: the place of all members.  Arguments: worker since limit; since: as it
-- was answered before, 0 at first.  Reply: since, more (1: there are further
-- changes), next (in how many ms the first lease of another member ends, -1:
-- there is none), how many members there are, their names in order; then pairs of
-- the root of a project, the number of whose active subscriptions has changed
-- since, and that number.  Where changes of before since are lost, all that there
-- are are told anew, and since is less than it was.  A member that is new, or whose
-- time is over, is told to all others by a hint.
-- Cost: O(members * log members + limit + log projects).
L.register('push_join', { 'allow-oom' }, function(key, args)
    local worker, since = args[1], tonumber(args[2])
    local limit = tonumber(args[3])

    if not (worker and since and limit) or worker == '' then
        return L.wrong('push_join')
    end

    check(key)
    limit = max(1, min(limit, L.BATCH))

    local now = L.now()

    local ended = call('ZREMRANGEBYSCORE', members(key), '-inf', L.text(now))
    local new = call('ZADD', members(key), L.text(now + LEASE), worker)

    if ended + new > 0 then
        L.hint(key, 'm')
    end

    local newest, number = last(key)

    if since > number then
        since = 0
    end

    forget(key, now, newest)

    local names = call('ZRANGE', members(key), '0', '-1')
    local list = call('ZRANGEBYSCORE', changes(key), '(' .. L.text(since),
                      '+inf', 'WITHSCORES', 'LIMIT', '0', limit + 1)
    local n = min(#list, 2 * limit)
    local out, roots = { since, #list > n and 1 or 0,
                         next_end(members(key), worker, now), #names }, {}

    table.sort(names)

    for i = 1, #names do
        out[i + 4] = names[i]
    end

    for i = 1, n, 2 do
        roots[#roots + 1] = list[i]
    end

    local active = roots[1] and call('HMGET', numbers(key), unpack(roots))

    for i = 1, #roots do
        out[#out + 1] = roots[i]
        out[#out + 1] = tonumber(active[i] or 0)
    end

    if n > 0 then
        out[1] = tonumber(list[n])
    end

    return out
end)


-- push_leave: a worker is no member any more, which is told to all others.
-- Keys: the place of all members.  Arguments: worker.  Reply: 1.
-- Cost: O(log members).
L.register('push_leave', { 'allow-oom' }, function(key, args)
    if not args[1] then
        return L.wrong('push_leave')
    end

    local ended = call('ZREMRANGEBYSCORE', members(key), '-inf',
                       L.text(L.now()))

    if call('ZREM', members(key), args[1]) + ended > 0 then
        L.hint(key, 'm')
    end

    return 1
end)


-- push_note: how many active subscriptions projects have.
-- Keys: the place of all members.  Arguments: pairs of root and number; 200 at
-- most.  Reply: how many were changed; where one was, it is told to all
-- members.  Also where memory is full, as subscriptions may be deleted then.
-- Cost: O(n log projects).
L.register('push_note', { 'allow-oom' }, function(key, args)
    if #args == 0 or #args > 400 or #args % 2 > 0 then
        return L.wrong('push_note')
    end

    for i = 2, #args, 2 do
        if not match(args[i], '^%d+$') then
            return L.wrong('push_note')
        end
    end

    check(key)

    local now, changed = L.now(), 0
    local _, number = last(key)
    local seq = max(number + 1, now)

    for i = 1, #args, 2 do
        local root, active = args[i], L.text(tonumber(args[i + 1]))
        local was = call('HGET', numbers(key), root)

        if was ~= active and (was or active ~= '0') then
            call('ZADD', changes(key), L.text(seq), root)
            call('HSET', numbers(key), root, active)

            if active == '0' then
                call('ZADD', idle(key), L.text(now), root)
            else
                call('ZREM', idle(key), root)
            end

            seq, changed = seq + 1, changed + 1
        end
    end

    if changed > 0 then
        L.hint(key, 'p')
    end

    return changed
end)


-- What the owner of a subscription needs, 11 elements appended.
function L.job(out, s)
    local n = #out

    out[n + 1], out[n + 2], out[n + 3] = s.k, s.q, tonumber(s.fn)
    out[n + 4], out[n + 5], out[n + 6] = tonumber(s.ver), s.url, tonumber(s.to)
    out[n + 7], out[n + 8] = tonumber(s.bs), tonumber(s.mc)
    out[n + 9], out[n + 10], out[n + 11] = s.sec, tonumber(s.w), s.x or ''

    return out
end


-- Makes up to limit subscriptions of a worker free.  Returns which.  What a dead one
-- was delivering is over: with it, its connections have ended.
local function release(root, worker, limit, dead)
    local owned = L.owned(root, worker)
    local list, read = call('SRANDMEMBER', owned, limit), {}

    for i = 1, #list do                     -- keys of a wrong type fail here
        read[i] = call('HMGET', L.subscription(root, list[i]), 'o', 'st')
    end

    for i = 1, #list do
        if read[i][1] == worker then
            call('HSET', L.subscription(root, list[i]), 'o', '')

            if dead then
                call('UNLINK', L.deliveries(root, list[i]))
            end

            if read[i][2] == 'a' then
                call('SADD', L.free(root), list[i])
            end
        end
    end

    if list[1] then
        call('SREM', owned, unpack(list))
    end

    return list
end


-- Makes free what a worker owns whose lease is lost, up to limit.  Till all of
-- it is, a lease that ended long ago says so.  Returns how many these were.
local function retire(root, worker, limit)
    local n = #release(root, worker, limit, true)

    if call('SCARD', L.owned(root, worker)) > 0 then
        call('ZADD', L.leases(root), '0', worker)
    else
        call('ZREM', L.leases(root), worker)
    end

    return n
end


-- Makes free what workers own whose leases ended, but for one of them.
local function bring_back(root, now, but)
    local list = call('ZRANGEBYSCORE', L.leases(root), '-inf', L.text(now),
                      'LIMIT', '0', STEP)
    local left = STEP

    for i = 1, #list do
        if list[i] ~= but and left > 0 then
            left = left - retire(root, list[i], left)
        end
    end
end


-- Makes free what keys that are lost made nobody's, up to 100 of those that are
-- active.  Only for who owns less than it wants while nothing is free.
local function recover(root)
    local key = L.leases(root)
    local workers = call('ZRANGE', key, '0', '-1')
    local n = call('SCARD', L.active(root))

    for i = 1, #workers do
        n = n - call('SCARD', L.owned(root, workers[i]))
    end

    if n <= 0 then
        return
    end

    local list, has = call('SRANDMEMBER', L.active(root), STEP), {}

    for i = 1, #list do                     -- keys of a wrong type fail here
        local o = call('HGET', L.subscription(root, list[i]), 'o')

        has[i] = o and o ~= '' and call('ZSCORE', key, o)
                 and call('SISMEMBER', L.owned(root, o), list[i]) == 1
    end

    for i = 1, #list do
        local s = not has[i] and L.read_subscription(root, list[i])

        if s then
            if s.o ~= '' then
                call('SREM', L.owned(root, s.o), s.k)
            end

            call('HSET', L.subscription(root, s.k), 'o', '')
            call('SADD', L.free(root), s.k)
        end
    end
end


-- Takes up to limit subscriptions that are free; appends them as jobs.  Returns
-- how many.
local function take(root, worker, limit, out)
    local list, read = call('SRANDMEMBER', L.free(root), limit), {}
    local taken = { L.owned(root, worker) }

    for i = 1, #list do                     -- keys of a wrong type fail here
        read[i] = L.read_subscription(root, list[i]) or false
    end

    for i = 1, #list do
        local s = read[i]

        if s then
            s.o, s.fn = worker, L.text(s.fn + 1)
            call('HSET', L.subscription(root, s.k), 'o', worker, 'fn', s.fn)
            taken[#taken + 1] = s.k
            L.job(out, s)
        end
    end

    if list[1] then
        call('SREM', L.free(root), unpack(list))
    end

    if taken[2] then
        call('SADD', unpack(taken))
    end

    return #taken - 1
end


-- push_sync: a worker brings what it owns to want, up to 100 at a time, and is
-- its owner for 6 s from now.
-- Keys: root.  Arguments: worker want.  Reply: active, owned, free (how many
-- subscriptions of the project are so now); renewed, 0 where its lease was
-- lost and with it all that it owned; next: in how many ms the first lease of
-- another worker ends, -1: there is none; how many it has given away and
-- which, and then, 11 elements each, what it has taken.  First frees up to 100
-- of workers whose leases ended, and where nothing is left to take, of those that
-- are nobody's as keys are lost.
-- Cost: O(want + log workers), at most that of some hundred subscriptions; and
-- O(workers) where there is nothing to take.
L.register('push_sync', { 'allow-oom' }, function(root, args)
    local worker, want = args[1], tonumber(args[2])

    if not (worker and want) or worker == '' then
        return L.wrong('push_sync')
    end

    local now, key, mine = L.now(), L.leases(root), L.owned(root, worker)
    local score = tonumber(call('ZSCORE', key, worker) or nil)
    local renewed = score and score > 0
    local active = call('SCARD', L.active(root))
    local owned, released, jobs = call('SCARD', mine), {}, {}

    call('SCARD', L.free(root))             -- a key of a wrong type fails here
    bring_back(root, now, worker)

    if not renewed and owned > 0 then
        owned = owned - retire(root, worker, STEP)
        want = owned > 0 and 0 or want
    end

    local lost = not renewed and owned > 0

    if owned > want and not lost then
        released = release(root, worker, min(owned - want, STEP))
        owned = owned - #released

    elseif owned < want then
        if call('SCARD', L.free(root)) == 0 then
            recover(root)
        end

        owned = owned + take(root, worker, min(want - owned, STEP), jobs)
    end

    if lost or (want == 0 and owned > 0) then
        call('ZADD', key, '0', worker)      -- anybody may free the rest
    elseif want > 0 and active > 0 then
        call('ZADD', key, L.text(now + LEASE), worker)
    else
        call('ZREM', key, worker)
    end

    local out = { active, lost and 0 or owned, call('SCARD', L.free(root)),
                  renewed and 1 or 0,
                  lost and 1 or next_end(L.leases(root), worker, now), #released }

    for i = 1, #released do
        out[i + 6] = released[i]
    end

    for i = 1, #jobs do
        out[#out + 1] = jobs[i]
    end

    return out
end)
