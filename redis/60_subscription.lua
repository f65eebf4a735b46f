-- Push subscriptions: create, get, list, update, pause and resume, rotate the
-- secret, delete.  A queue has one at most.  K is a subscription's id, like Q.

function L.subscriptions(root)     return root .. ':p' end
function L.creations(root)         return root .. ':v' end
function L.active(root)            return root .. ':pa' end
function L.free(root)              return root .. ':pf' end
function L.leases(root)            return root .. ':pw' end
function L.owned(root, worker)     return root .. ':po:' .. worker end
function L.deliveries(root, k)     return root .. ':pd:' .. k end
function L.subscription(root, k)   return root .. ':s:' .. k end


local SECRETS = 4           -- of one subscription, at most
local PREVIOUS = 86400      -- s for which the secret before is still in use


-- A subscription, or nothing.
function L.read_subscription(root, k)
    local s = call('HMGET', L.subscription(root, k), 'id', 'q', 'url', 'to',
                   'bs', 'mc', 'st', 'ct', 'ut', 'fl', 'ls', 'le', 'nd', 'ne',
                   'nm', 'sec', 'ver', 'o', 'fn', 'w', 'x')

    if s[1] then
        return { k = k, id = s[1], q = s[2], url = s[3], to = s[4], bs = s[5],
                 mc = s[6], st = s[7], ct = s[8], ut = s[9], fl = s[10],
                 ls = s[11], le = s[12], nd = s[13], ne = s[14], nm = s[15],
                 sec = s[16], ver = s[17], o = s[18], fn = s[19], w = s[20],
                 x = s[21] }
    end
end


-- The subscription that sub means: "q" and K, or "u", K and its UUID.  One of
-- Pub/Sub, which has a field x, is not meant.
local function find_subscription(root, ref)
    local kind, k, id = match(ref or '', '^([qu])(............)(.*)$')
    local s = k and L.read_subscription(root, k)

    if s and not s.x
        and (kind == 'q' and id == '' or kind == 'u' and id == s.id)
    then
        return s
    end
end


local function nosub()
    return L.err('NOSUB', 'no such subscription')
end


-- Appends the 21 elements that tell of a subscription.
local function tell(out, root, s)
    local q = call('HMGET', L.queue(root, s.q), 'id', 'name')
    local at, class, status, message =
        match(s.le or '', '^(%d+) ([^ ]*) (%d+) (.*)$')

    for _, value in ipairs({ s.k, s.id, s.q, q[1] or '', q[2] or '', s.url,
                             tonumber(s.to), tonumber(s.bs), tonumber(s.mc),
                             s.st, tonumber(s.ct), tonumber(s.ut),
                             tonumber(s.fl), tonumber(s.ls),
                             tonumber(at or 0), class or '',
                             tonumber(status or 0), message or '',
                             tonumber(s.nd), tonumber(s.ne), tonumber(s.nm) })
    do
        out[#out + 1] = value
    end

    return out
end


-- The reply of what changes a subscription.
local function answer(root, repeated, s)
    return tell({ call('SCARD', L.active(root)), repeated }, root, s)
end


-- Keys of a wrong type fail here.
local function check(root, s)
    call('HLEN', L.subscriptions(root))
    call('ZCARD', L.creations(root))
    call('SCARD', L.active(root))
    call('SCARD', L.free(root))

    if s and s.o ~= '' then
        call('SCARD', L.owned(root, s.o))
    end
end


L.check_push = check


-- A number as create and update have it.
local function whole_number(text)
    return text and match(text, '^%d+$')
end


-- What a call was answered that had this key: its reply; or an error where
-- the call was another one.
local function answered(root, key, hash)
    local parts, failed = L.answered(root, key, hash)

    if not parts then
        return failed
    end

    local out = { call('SCARD', L.active(root)), 1 }

    for i = 1, #parts do
        local number = i > 6 and i ~= 10 and i ~= 16 and i ~= 18
        out[i + 2] = number and tonumber(parts[i]) or parts[i]
    end

    return out
end


-- subscription_create: makes the subscription of a queue.
-- Keys: root.  Arguments: ref K id url to bs mc st sealed (st: a active, p
-- paused; sealed: the secret).  Two more where the call may come again: a key,
-- and the hash of what is asked for.  Reply: active (how many subscriptions of
-- the project are), repeated (1: the first answer of 24 hours, where key and
-- hash are the same), then what tells of the subscription.  Errors: NOQUEUE,
-- SUBEXISTS (the queue has one), IDTAKEN (K is in use), CONFLICT.
-- Cost: O(log subscriptions).
L.register('subscription_create', {}, function(root, args)
    local k, id, st, key = args[2], args[3], args[8], args[10]

    if (#args ~= 9 and #args ~= 11) or not match(k, '^[^:]+$') or #k ~= 12
        or not (whole_number(args[5]) and whole_number(args[6])
                and whole_number(args[7]))
        or (st ~= 'a' and st ~= 'p')
    then
        return L.wrong('subscription_create')
    end

    local before = key and answered(root, key, args[11])
    if before then
        return before
    end

    local p = L.find(root, args[1], L.read_plan)

    if not p then
        return L.noqueue()
    end

    if call('HEXISTS', L.subscriptions(root), p.q) == 1 then
        return L.err('SUBEXISTS', 'the queue has a subscription')
    end

    if call('EXISTS', L.subscription(root, k)) == 1 then
        return L.err('IDTAKEN', 'a subscription with this id exists')
    end

    check(root)

    local now = L.text(floor(L.now() / 1000))

    call('HSET', L.subscription(root, k), 'v', L.SCHEMA, 'id', id, 'q', p.q,
         'url', args[4], 'to', args[5], 'bs', args[6], 'mc', args[7], 'st', st,
         'sec', '0 ' .. args[9], 'ct', now, 'ut', now, 'ver', '1', 'o', '',
         'fn', '0', 'w', '0', 'fl', '0', 'ls', '0', 'le', '', 'nd', '0', 'ne',
         '0', 'nm', '0')
    call('HSET', L.subscriptions(root), p.q, k)
    call('ZADD', L.creations(root), '0', id .. k)

    if st == 'a' then
        call('SADD', L.active(root), k)
        call('SADD', L.free(root), k)
    end

    local out = answer(root, 0, L.read_subscription(root, k))

    if key then
        call('SET', L.once(root, key), args[11] .. '\n' .. concat(out, '\n', 3)
             .. '\n', 'EX', '86400')
    end

    return out
end)


-- subscription_get: what there is to tell of a subscription.
-- Keys: root.  Arguments: sub ("q" and K, or "u", K and its UUID).  Reply: what
-- tells of it.  Errors: NOSUB.
-- Cost: O(1).
L.register('subscription_get', { 'no-writes' }, function(root, args)
    local s = find_subscription(root, args[1])

    return s and tell({}, root, s) or nosub()
end)


-- subscription_list: subscriptions in the order of their creation.
-- Keys: root.  Arguments: ref after limit; ref empty: of all queues; after: K
-- and the UUID of the last one of the page before, or empty.  Reply: more (1:
-- there are further ones), then what tells of each.  Errors: NOQUEUE.
-- Cost: O(log subscriptions + limit).
L.register('subscription_list', { 'no-writes' }, function(root, args)
    local ref, after, limit = args[1], args[2], tonumber(args[3])
    local list

    if not limit then
        return L.wrong('subscription_list')
    end

    limit = max(1, min(limit, L.BATCH))
    after = sub(after, 13) .. sub(after, 1, 12)

    if ref ~= '' then
        local p = L.find(root, ref, L.read_plan)

        if not p then
            return L.noqueue()
        end

        local k = call('HGET', L.subscriptions(root), p.q)
        local s = k and L.read_subscription(root, k)

        list = s and L.before(after, s.id .. k) and { s.id .. k } or {}

    else
        list = call('ZRANGEBYLEX', L.creations(root),
                    after == '' and '-' or '(' .. after, '+', 'LIMIT', '0',
                    limit + 1)
    end

    local out = { #list > limit and 1 or 0 }

    for i = 1, min(#list, limit) do
        local s = L.read_subscription(root, sub(list[i], 37))
        if s then
            tell(out, root, s)
        end
    end

    return out
end)


-- Writes fields of a subscription, which changes what its owner has of it, and
-- tells the owner.  fields: nothing, then pairs.
local function change(root, s, fields)
    local n = #fields

    fields[1] = L.subscription(root, s.k)
    fields[n + 1], fields[n + 2] = 'ver', L.text(s.ver + 1)
    fields[n + 3], fields[n + 4] = 'ut', L.text(floor(L.now() / 1000))

    call('HSET', unpack(fields))
    L.hint(root, 's' .. s.k)

    return answer(root, 0, L.read_subscription(root, s.k))
end


L.change_subscription = change


-- subscription_update: changes settings, also where memory is full: deliveries
-- make room there.  Where all is as it was, that is no change.
-- Keys: root.  Arguments: sub, then pairs of a field (url to bs mc) and its
-- value.  Reply: as of create.  Errors: NOSUB.
-- Cost: O(fields).
L.register('subscription_update', { 'allow-oom' }, function(root, args)
    local s = find_subscription(root, args[1])

    if not s then
        return nosub()
    end

    if #args % 2 == 0 then
        return L.wrong('subscription_update')
    end

    local differs = false

    for i = 2, #args, 2 do
        local field, value = args[i], args[i + 1]

        if field ~= 'url' and not ((field == 'to' or field == 'bs'
                                    or field == 'mc')
                                   and whole_number(value))
        then
            return L.wrong('subscription_update')
        end

        differs = differs or s[field] ~= value
    end

    call('SCARD', L.active(root))           -- a key of a wrong type fails here

    if not differs then
        return answer(root, 0, s)
    end

    return change(root, s, { '', unpack(args, 2) })
end)


-- Takes a subscription from its owner and those who might own it.
local function retire(root, s)
    call('SREM', L.active(root), s.k)
    call('SREM', L.free(root), s.k)

    if s.o ~= '' then
        call('SREM', L.owned(root, s.o), s.k)
    end

    if call('SCARD', L.active(root)) == 0 then
        call('UNLINK', L.leases(root))      -- of nothing
    end
end


-- subscription_state: pauses or resumes.  No claim succeeds once it is
-- paused.  Also where memory is full.
-- Keys: root.  Arguments: sub, a or p.  Reply: as of create.  Errors: NOSUB.
-- Cost: O(1).
L.register('subscription_state', { 'allow-oom' }, function(root, args)
    local s, st = find_subscription(root, args[1]), args[2]

    if not s then
        return nosub()
    end

    if st ~= 'a' and st ~= 'p' then
        return L.wrong('subscription_state')
    end

    check(root, s)

    if st == s.st then
        return answer(root, 0, s)
    end

    if st == 'p' then
        retire(root, s)
    else
        call('SADD', L.active(root), s.k)
        call('SADD', L.free(root), s.k)
    end

    return change(root, s, { '', 'st', st, 'o', '' })
end)


-- subscription_rotate: a new secret.  For 24 hours the one before is in use as
-- well.
-- Keys: root.  Arguments: sub sealed.  Reply: as of create.  Errors: NOSUB.
-- Cost: O(1).
L.register('subscription_rotate', {}, function(root, args)
    local s, sealed = find_subscription(root, args[1]), args[2]

    if not s then
        return nosub()
    end

    if not sealed or not match(sealed, '^[^ ]+$') then
        return L.wrong('subscription_rotate')
    end

    call('SCARD', L.active(root))           -- a key of a wrong type fails here

    local now = floor(L.now() / 1000)
    local secrets = { '0 ' .. sealed }

    for ends, old in gmatch(s.sec, '(%d+) ([^ ]+)') do
        ends = ends == '0' and now + PREVIOUS or tonumber(ends)

        if ends > now and #secrets < SECRETS then
            secrets[#secrets + 1] = L.text(ends) .. ' ' .. old
        end
    end

    return change(root, s, { '', 'sec', concat(secrets, ' ') })
end)


-- Removes a subscription, with what is known of its open deliveries: their ends
-- acknowledge messages and no more.
local function remove(root, s)
    retire(root, s)
    call('HDEL', L.subscriptions(root), s.q)
    call('ZREM', L.creations(root), s.id .. s.k)
    call('UNLINK', L.subscription(root, s.k), L.deliveries(root, s.k))
    L.hint(root, 's' .. s.k)
end


-- The subscription of a queue, if it has one.  Keys of a wrong type fail here.
function L.subscription_of(root, q)
    local k = call('HGET', L.subscriptions(root), q)
    local s = k and L.read_subscription(root, k)

    if s then
        check(root, s)
        return s
    end
end


-- Removes the subscription of a queue.  Returns how many are active.
function L.unsubscribe(root, s)
    remove(root, s)
    return call('SCARD', L.active(root))
end


-- subscription_delete: removes a subscription.
-- Keys: root.  Arguments: sub.  Reply: active.  Errors: NOSUB.
-- Cost: O(log subscriptions).
L.register('subscription_delete', { 'allow-oom' }, function(root, args)
    local s = find_subscription(root, args[1])

    if not s then
        return nosub()
    end

    check(root, s)

    return L.unsubscribe(root, s)
end)
