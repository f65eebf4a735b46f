-- The names of all keys, what the hot hash of a queue says, and how a
-- reference finds a queue.

function L.names(root)     return root .. ':n' end
function L.listing(root)   return root .. ':l' end
function L.sources(root)   return root .. ':r' end
function L.channel(root)   return root .. ':w' end
function L.agenda(root)    return root .. ':t' end
function L.lease(root)     return root .. ':a' end
function L.queue(root, q)  return root .. ':q:' .. q end
function L.hot(root, q)    return root .. ':h:' .. q end
function L.once(root, key) return root .. ':j:' .. key end


-- Both caches are emptied when they have this many entries.
local MOST = 1000

local plans, nplans = {}, 0         -- the field s of a hot hash → its plan
local known, nknown = {}, 0         -- root → reference → plan


-- Keys of a generation: of both kinds of queues, of standard, of FIFO ones.
local KEYS = { 'y', 'f', 'd', 'b', 'e', s = { 'm', 'z' },
               f = { 'u', 'g', 'o', 'x', 'k' } }


-- A subscription of Pub/Sub is a queue that has no id, but in its place
-- "MIN,MAX,LETTERS": the backoff of its retry policy (ms; empty: it has none); e
-- it delivers exactly once, r it retains what is acknowledged, p it has a push
-- part, x it is detached, y a seek brings messages back.
function L.plan_sub(p)
    local low, high, letters = match(p.id, '^(%d*),(%d*),(%a*)$')

    if low then
        p.sub, p.low_backoff = true, tonumber(low)
        p.high_backoff = tonumber(high)

        for letter in gmatch(letters, '.') do
            p['is_' .. letter] = true
        end
    end
end


-- What the field s of a hot hash says, with the names of the generation's
-- keys.  Plans are shared by calls: they are never changed, but for guess, how
-- many groups the last receive of a FIFO queue had.
function L.plan(root, s)
    local p = plans[s]

    if p and p.root == root then
        return p
    end

    local flags, q, gen, low, kind, cbd, mrc, dlq, limit, delay, vt, wait, ret,
          id, name = match(s, '^(%d):([^:]*):(%d+):([^:]*):([sf])([01])'
                              .. ':([^:]*):([^:]*):([^:]*):([^:]*):([^:]*)'
                              .. ':([^:]*):([^:]*):([^:]*):(.*)$')
    local keys = {}

    p = {
        s = s, root = root, q = q, gen = gen, number = tonumber(gen),
        waits = flags % 2 == 1, due = flags >= '2', fifo = kind == 'f',
        low = low ~= '0-0' and low or nil, cbd = cbd == '1',
        mrc = dlq ~= '' and tonumber(mrc) or 0, dlq = dlq,
        limit = tonumber(limit), delay = delay, vt = tonumber(vt),
        wait = tonumber(wait), ret = tonumber(ret) * 1000, id = id,
        name = name, head = q .. ' ' .. gen .. ' ', hot = L.hot(root, q),
        keys = keys
    }

    for _, list in ipairs({ KEYS, KEYS[kind] }) do
        for _, letter in ipairs(list) do
            p[letter] = concat({ root, letter, q, gen }, ':')
            keys[#keys + 1] = p[letter]
        end
    end

    L.plan_sub(p)

    if nplans >= MOST then
        plans, nplans = {}, 0
    end

    plans[s], nplans = p, nplans + 1

    return p
end


-- The field s, what a plan is made of: flags, 1 where somebody waits for a
-- hint and 2 where the queue is on the agenda for its retention; the id, the
-- generation, the floor; then settings as L.read_settings() has them.
function L.pack(flags, q, gen, low, s)
    return concat({ flags, q, gen, low,
                    (s[4] == 'fifo' and 'f' or 's') .. s[10], s[12], s[11],
                    s[9], s[8], s[5], s[6], s[7], s[2], s[3] }, ':')
end


-- The plan of a queue of the Queues API, whom nothing of Pub/Sub is told.
function L.own_plan(root, s)
    local p = s and L.plan(root, s)

    return p and not p.sub and p or nil
end


-- Finds the queue of a reference.  read(key) gives s and what else it reads
-- of a hot hash.  Returns the plan and that, or nothing; and as the third
-- whether the reference says all by itself, whatever other queues there are.
local function look_up(root, ref, read)
    local kind, name = byte(ref), sub(ref, 2)
    local direct = kind == 110                                      -- n

    if kind == 113 then                                             -- q
        local s, more = read(L.hot(root, name))
        local p = L.own_plan(root, s)

        if p then
            return p, more, true
        end

        name = 'que_' .. name

    elseif kind == 117 then                                         -- u
        local q = sub(name, 1, 12)
        name = sub(name, 13)

        local s, more = read(L.hot(root, q))
        local p = L.own_plan(root, s)

        if p and p.id == name then
            return p, more, true
        end
    end

    local q = call('HGET', L.names(root), name)
    if q then
        local s, more = read(L.hot(root, q))
        if s then
            return L.plan(root, s), more, direct
        end
    end
end


-- The same with one read where the reference was seen before: s says itself
-- whether the queue is still the one that was meant.
function L.find(root, ref, read)
    local refs = known[root]
    local old = refs and refs[ref]

    if old then
        local s, more = read(old.hot)

        if s == old.s then
            return old, more
        end

        local p = s and L.plan(root, s)

        if p and p.id == old.id and p.name == old.name then
            refs[ref] = p
            return p, more
        end
    end

    local p, more, direct = look_up(root, ref, read)

    if p and direct then
        if nknown >= MOST then
            known, nknown, refs = {}, 0, nil
        end

        if not refs then
            refs = {}
            known[root] = refs
        end

        refs[ref], nknown = p, nknown + 1
    end

    return p, more
end


-- Reads no more than s.
function L.read_plan(key)
    return call('HGET', key, 's')
end


-- Tells all who wait on a queue to try again.  Where Redis refuses it, what it
-- would tell of is done all the same, and no error may say otherwise.
function L.hint(root, q)
    try('SPUBLISH', L.channel(root), q)
end


-- Sets or clears a flag of s, as it is now.  Returns whether it was otherwise.
local function flag(p, value, on)
    local s = call('HGET', p.hot, 's')
    local flags = tonumber(sub(s, 1, 1))
    local is = floor(flags / value) % 2 == 1

    if is ~= on then
        flags = on and flags + value or flags - value
        call('HSET', p.hot, 's', flags .. sub(s, 2))
    end

    return is ~= on
end


-- Likewise, where somebody waits; clears the flag.  p is as read in this
-- call.
function L.wake(p)
    if p.waits and flag(p, 1, false) then
        L.hint(p.root, p.q)
    end
end


-- From now on somebody waits.  The flag may have been cleared in this call.
function L.wait(p)
    flag(p, 1, true)
end


-- Something of a queue is due at a moment, or earlier than it was.  Where the
-- agenda is no sorted set, what the call is about is done all the same.
function L.due(p, moment)
    return try('ZADD', L.agenda(p.root), 'LT', L.text(moment), p.q)
end


-- Something ends at a moment; t is as it was read of the hot hash.
function L.ends(p, t, moment)
    if moment < tonumber(t) then
        call('HSET', p.hot, 't', L.text(moment))
    end

    if p.mrc > 0 then
        L.due(p, moment)
    end
end


-- A queue has messages: it is on the agenda until it was found empty.
function L.stocked(p, now)
    if p.due then
        return
    end

    local moment = now + p.ret

    -- a receive that ends at t, or later, asks for no earlier look
    if p.mrc > 0 then
        moment = min(moment, max(now, tonumber(call('HGET', p.hot, 't'))))
    end

    if type(L.due(p, moment)) == 'number' then
        flag(p, 2, true)
    end
end


-- A queue has none any more.
function L.emptied(p)
    if p.due then
        flag(p, 2, false)
    end
end
