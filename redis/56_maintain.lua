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


-- Looks after a queue.  Returns when to come again, or nothing.
local function look_after(root, q, now)
    local s = L.read_plan(L.hot(root, q))
    local p = s and L.plan(root, s)

    return p and (p.fifo and tend_fifo or tend)(p, now, 100)
end


-- Looks after the first queues of the agenda.  One that cannot be looked after
-- does not keep the others from it.
local function work(root, now, steps)
    local agenda = L.agenda(root)
    local list = call('ZRANGEBYSCORE', agenda, '-inf', L.text(now), 'LIMIT', '0',
                      steps)

    for _, q in ipairs(list) do
        local done, soon = pcall(look_after, root, q, now)

        if not done then
            soon = now + PAUSE
        end

        if soon then
            call('ZADD', agenda, L.text(soon), q)
        else
            call('ZREM', agenda, q)
        end
    end
end


-- maintain: a step of what is due in a project.
-- Keys: root.  Arguments: holder (a name of the worker that calls), steps (how
-- many queues to look after, at most).  Reply: mine, next.  mine is 1 where the
-- worker has the lease; next in how many ms it is to come again: 0 at once, as
-- more is due, -1: nothing will be.  mine is 0 where another one has it, who will
-- come in time; next in how many ms its lease ends.
-- Cost: O(steps * 100 * log).
L.register('maintain', { 'allow-oom' }, function(root, args)
    local holder, steps = args[1], tonumber(args[2])

    if not (holder and steps) then
        return L.wrong('maintain')
    end

    local agenda, lease, now = L.agenda(root), L.lease(root), L.now()
    local owner, at = match(call('GET', lease) or '', '^(.*) (%d+)$')
    local head = call('ZRANGE', agenda, '0', '0', 'WITHSCORES')[2]

    if owner and owner ~= holder and head and tonumber(at) <= head + 500 then
        return { 0, max(1, call('PTTL', lease)) }
    end

    if head and tonumber(head) <= now then
        work(root, now, max(1, min(steps, 100)))
        head = call('ZRANGE', agenda, '0', '0', 'WITHSCORES')[2]
    end

    if not head then
        call('UNLINK', lease)
        return { 1, -1 }
    end

    local soon = max(0, head - now)

    call('SET', lease, holder .. ' ' .. L.text(now + soon), 'PX',
         L.text(soon + GRACE))

    return { 1, soon }
end)


-- project_add: a project that is to be looked after.
-- Keys: the list of projects.  Arguments: root.  Reply: 1, 0: it was there.
-- Cost: O(1).
L.register('project_add', {}, function(key, args)
    if not args[1] then
        return L.wrong('project_add')
    end

    return call('SADD', key, args[1])
end)


-- project_list: the projects.
-- Keys: the list of projects.  Arguments: cursor (0 at first), count.  Reply: the
-- next cursor (0 at the end), then roots, of which some may come twice.
-- Cost: O(count).
L.register('project_list', { 'no-writes' }, function(key, args)
    if #args ~= 2 then
        return L.wrong('project_list')
    end

    local page = call('SSCAN', key, args[1], 'COUNT', args[2])

    return { page[1], unpack(page[2]) }
end)
