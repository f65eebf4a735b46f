-- What is due is done also where nobody calls.  The agenda of a project, t, has
-- its queues by the moment at which something ends on them that must not wait
-- for a call: retention, and visibility where there is a dead-letter queue.
-- One worker at a time looks after a project, by its lease.

-- ms for which a lease outlasts the moment at which its holder wants to come.
local GRACE = 2000
local PAUSE = 10000         -- ms until a queue is tried again that failed


-- Brings a queue up to now, about limit messages.  Returns when to come again,
-- or nothing.
local function tend(p, now, limit)
    local left = L.catch_up(p, now, limit)

    if call('XLEN', p.m) + call('XLEN', p.z) == 0 then
        L.emptied(p)
        return
    end

    if left then
        return now
    end

    local h = call('HMGET', p.hot, 'hx', 't')
    local soon, t = tonumber(h[1]), tonumber(h[2])

    -- a receive that ends at t, or later, asks for no earlier look
    if p.mrc > 0 and L.dead_letter_queue(p) then
        soon = t > now and min(soon, t) or soon

        for i, key in ipairs({ p.f, p.b, p.y }) do
            local head = call('ZRANGEBYSCORE', key, i < 3 and '0'
                              or '(' .. L.text(now), '+inf', 'WITHSCORES',
                              'LIMIT', '0', '1')
            soon = min(soon, tonumber(head[2]) or soon)
        end
    end

    return max(soon, now + 1)
end


local function tend_fifo(p, now, limit)
    local cutoff, soon = L.catch_up_fifo(p, now, limit)
    local later = L.forget_old(p, now)
    local h = call('HMGET', p.hot, 'n', 'hx')

    if h[1] == '0' then
        L.emptied(p)
        return later
    end

    if cutoff or (soon and soon <= now) then
        return now
    end

    later = min(later or tonumber(h[2]), tonumber(h[2]))

    return p.mrc > 0 and soon and min(soon, later) or later
end


-- Members of the agenda that are no queues, by how they begin: logs; of Pub/Sub
-- subscriptions that expire, logs of topics, and snapshots.
L.others = {
    ['l:'] = function(...) return L.log_due(...) end,
    ['x:'] = function(...) return L.expire_sub(...) end,
    ['g:'] = function(...) return L.trim_log(...) end,
    ['n:'] = function(...) return L.expire_snap(...) end,
}


-- Looks after a queue.  Returns when to come again, or nothing.
local function look_after(root, q, now)
    local other = L.others[sub(q, 1, 2)]

    if other then
        return other(root, sub(q, 3), now)
    end

    local s = L.read_plan(L.hot(root, q))
    local p = s and L.plan(root, s)

    if p and p.is_y then
        p = L.bring_back(p, now)

        if p.is_y then
            return now
        end
    end

    return p and (p.fifo and tend_fifo or tend)(p, now, 100)
end


-- Looks after the first queues of the agenda, up to one that has more to do,
-- which goes behind the others.  One that cannot be looked after does not keep
-- them from it.
local function work(root, now, steps)
    local agenda = L.agenda(root)
    local list = call('ZRANGEBYSCORE', agenda, '-inf', L.text(now), 'LIMIT', '0',
                      steps)

    for i, q in ipairs(list) do
        if i > 1 and L.spent() then
            return
        end

        local done, soon = pcall(look_after, root, q, now)

        if not done then
            soon = now + PAUSE
        end

        if soon then
            call('ZADD', agenda, L.text(soon), q)
        else
            call('ZREM', agenda, q)
        end

        if soon == now then                 -- much to do: enough for a call
            break
        end
    end
end


-- maintain: a step of what is due in a project.
-- Keys: root.  Arguments: holder (a name of the worker that calls), steps (how
-- many queues to look after, at most).  Reply: mine, next, active.  mine is 1
-- where the worker has the lease; next in how many ms it is to come again: 0 at
-- once, as more is due, -1: nothing will be.  mine is 0 where another one has it,
-- who will come in time; next in how many ms its lease ends.  active is how many
-- subscriptions of the project are active.
-- Cost: O(steps * 100 * log).
L.register('maintain', { 'allow-oom' }, function(root, args)
    local holder, steps = args[1], tonumber(args[2])

    if not (holder and steps) then
        return L.wrong('maintain')
    end

    local agenda, lease, now = L.agenda(root), L.lease(root), L.now()
    local active = call('SCARD', L.active(root))
    local owner, at = match(call('GET', lease) or '', '^(.*) (%d+)$')
    local head = call('ZRANGE', agenda, '0', '0', 'WITHSCORES')[2]

    if owner and owner ~= holder and head and tonumber(at) <= head + 500 then
        return { 0, max(1, call('PTTL', lease)), active }
    end

    if head and tonumber(head) <= now then
        work(root, now, max(1, min(steps, 100)))
        active = call('SCARD', L.active(root))
        head = call('ZRANGE', agenda, '0', '0', 'WITHSCORES')[2]
    end

    if not head then
        call('UNLINK', lease)
        return { 1, -1, active }
    end

    local soon = max(0, head - now)

    call('SET', lease, holder .. ' ' .. L.text(now + soon), 'PX',
         L.text(soon + GRACE))

    return { 1, soon, active }
end)


-- The registry: a sorted set of the roots of those projects where something is to
-- come, by the moment at which they are to be looked after.  Several workers note
-- moments of the same project, each by what it knows.  A moment may be too early,
-- never too late; so one that is still to come is not put off: who noted it looks
-- after the project then, or, should it be no more, someone else does.

local NEAR = 500            -- ms: a moment that near has come

-- project_note: when projects are to be looked after.
-- Keys: the registry.  Arguments: pairs of root and ms from now, -1 where nothing is
-- to come; 200 at most, no root twice.  Reply: how many were changed.
-- Also where memory is full, as what is received then is due all the same: it is
-- one entry for each project that has messages.
-- Cost: O(n log).
L.register('project_note', { 'allow-oom' }, function(key, args)
    if #args == 0 or #args > 400 or #args % 2 > 0 then
        return L.wrong('project_note')
    end

    local roots, times = {}, {}

    for i = 1, #args, 2 do
        roots[#roots + 1] = args[i]
        times[#times + 1] = tonumber(match(args[i + 1], '^%-?%d+$'))
    end

    if #times < #roots then
        return L.wrong('project_note')
    end

    local now = L.now()
    local old = call('ZMSCORE', key, unpack(roots))
    local set, gone = { key }, { key }

    for i, root in ipairs(roots) do
        local moment, was = now + times[i], tonumber(old[i] or nil)
        local came = not was or was <= now + NEAR

        if times[i] < 0 then
            gone[#gone + 1] = was and came and root or nil

        elseif came or moment < was then
            set[#set + 1] = L.text(moment)
            set[#set + 1] = root
        end
    end

    if #set > 1 then
        call('ZADD', unpack(set))
    end

    if #gone > 1 then
        call('ZREM', unpack(gone))
    end

    return floor(#set / 2) + #gone - 1
end)


-- project_due: the projects whose moment has come, or comes soon, the earliest
-- first.
-- Keys: the registry.  Arguments: ahead (ms, may be negative), limit, cursor (empty at
-- first).  Reply: the next cursor (empty at the end), then pairs of root and ms left
-- (negative: it is late).  The cursor is a moment, and where not all of that moment
-- were told, how many were: what is told once is in nobody's way, whether its
-- moment changes then or not.
-- Cost: O(limit + log).
L.register('project_due', { 'no-writes' }, function(key, args)
    local ahead, limit = tonumber(args[1]), tonumber(args[2])

    if not (ahead and limit and args[3]) or limit < 1 then
        return L.wrong('project_due')
    end

    if call('EXISTS', key) == 0 then
        return { '' }
    end

    limit = min(limit, 1000)

    local from, skip = match(args[3], '^(.+) (%d+)$')
    local now = L.now()

    -- one more than is told, as the cursor depends on it

    local list = call('ZRANGEBYSCORE', key, from or '-inf', L.text(now + ahead),
                      'WITHSCORES', 'LIMIT', skip or '0', L.text(limit + 1))
    local n = min(#list, 2 * limit)
    local last, more = list[n], list[n + 2]
    local same = last and last == from and tonumber(skip) or 0
    local reply = { '' }

    for i = 1, n, 2 do
        reply[i + 1] = list[i]
        reply[i + 2] = max(-1e15, floor(list[i + 1] - now))
        same = list[i + 1] == last and same + 1 or 0
    end

    if more then
        reply[1] = more == last and last .. ' ' .. L.text(same)
                   or '(' .. last .. ' 0'
    end

    return reply
end)
