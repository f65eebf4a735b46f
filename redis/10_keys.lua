-- The names of all keys, what the hot hash of a queue says, and how a
-- reference finds a queue.

function L.names(root)    return root .. ':n' end
function L.listing(root)  return root .. ':l' end
function L.sources(root)  return root .. ':r' end
function L.channel(root)  return root .. ':w' end
function L.queue(root, q) return root .. ':q:' .. q end
function L.hot(root, q)   return root .. ':h:' .. q end


-- Both caches are emptied when they have this many entries.
local MOST = 1000

local plans, nplans = {}, 0         -- the field s of a hot hash → its plan
local known, nknown = {}, 0         -- root → reference → plan


-- What the field s of a hot hash says, with the names of the generation's
-- keys.  Plans are shared by calls: they are never changed.
function L.plan(root, s)
    local p = plans[s]

    if p and p.root == root then
        return p
    end

    local w, q, gen, low, limit, delay, vt, wait, ret, id, name =
        match(s, '^([01]):([^:]*):(%d+):([^:]*):([^:]*):([^:]*):([^:]*)'
                 .. ':([^:]*):([^:]*):([^:]*):(.*)$')
    local tail = ':' .. q .. ':' .. gen

    p = {
        s = s, root = root, q = q, gen = gen, waits = w == '1',
        number = tonumber(gen), low = low ~= '0-0' and low or nil,
        limit = tonumber(limit), delay = delay, vt = tonumber(vt),
        wait = tonumber(wait), ret = tonumber(ret) * 1000, id = id,
        name = name, head = q .. ' ' .. gen .. ' ', hot = L.hot(root, q),
        m = root .. ':m' .. tail, z = root .. ':z' .. tail,
        y = root .. ':y' .. tail, f = root .. ':f' .. tail,
        d = root .. ':d' .. tail, b = root .. ':b' .. tail,
        e = root .. ':e' .. tail
    }

    if nplans >= MOST then
        plans, nplans = {}, 0
    end

    plans[s], nplans = p, nplans + 1

    return p
end


-- The field s: what a plan is made of.
function L.pack(w, q, gen, low, limit, delay, vt, wait, ret, id, name)
    return concat({ w, q, gen, low, limit, delay, vt, wait, ret, id, name },
                  ':')
end


-- Finds the queue of a reference.  read(key) gives s and what else it reads
-- of a hot hash.  Returns the plan and that, or nothing; and as the third
-- whether the reference says all by itself, whatever other queues there are.
local function look_up(root, ref, read)
    local kind, name = byte(ref), sub(ref, 2)
    local direct = kind == 110                                      -- n

    if kind == 113 then                                             -- q
        local s, more = read(L.hot(root, name))
        if s then
            return L.plan(root, s), more, true
        end

        name = 'que_' .. name

    elseif kind == 117 then                                         -- u
        local q = sub(name, 1, 12)
        name = sub(name, 13)

        local s, more = read(L.hot(root, q))
        local p = s and L.plan(root, s)

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


-- Likewise, where somebody waits; clears the flag.  p is as read in this
-- call.
function L.wake(p)
    if p.waits then
        call('HSET', p.hot, 's', '0' .. sub(p.s, 2))
        L.hint(p.root, p.q)
    end
end


-- From now on somebody waits.
function L.wait(p)
    if not p.waits then
        call('HSET', p.hot, 's', '1' .. sub(p.s, 2))
    end
end
