-- Sending to FIFO queues.

L.WINDOW = 300000           -- ms in which a message is known again
L.DAY = 86400000

-- What was sent in a window is known by the hash i of that window, and which
-- sequence number a group had last by the hash c of that day.  Each is looked
-- up in two of them, and the ones before are dropped whole.


local function window(p, letter, number)
    return concat({ p.root, letter, p.q, L.text(number) }, ':')
end


-- Goes on to another window: drops those that are over.
local function turn_over(p, letter, field, old, new)
    call('UNLINK', window(p, letter, old - 1))

    if new > old + 1 then
        call('UNLINK', window(p, letter, old))
    end

    call('HSET', p.hot, field, L.text(new))
end


-- Drops what a FIFO queue knows besides its messages.
function L.forget(p)
    local h = call('HMGET', p.hot, 'dw', 'cw')

    for i, letter in ipairs({ 'i', 'c' }) do
        if h[i] then
            call('UNLINK', window(p, letter, h[i]), window(p, letter, h[i] - 1))
        end
    end
end


-- Drops what is not needed any more.  Returns when there will be more to drop,
-- or nothing.
function L.forget_old(p, now)
    local h, soon = call('HMGET', p.hot, 'dw', 'cw'), nil

    for i, letter in ipairs({ 'i', 'c' }) do
        if h[i] then
            local old = tonumber(h[i])
            local over = (old + 2) * (i == 1 and L.WINDOW or L.DAY)

            if now >= over then
                call('UNLINK', window(p, letter, old), window(p, letter, old - 1))
                call('HDEL', p.hot, i == 1 and 'dw' or 'cw')
            else
                soon = soon and min(soon, over) or over
            end
        end
    end

    return soon
end


-- Which messages of a list were sent before, by their keys: index → the value
-- in i, or true where one before it in the list has the same key.
local function known_keys(p, list, w, now, dw)
    local keys, at, found, seen = {}, {}, {}, {}

    for i = 1, #list do
        local key = list[i].key

        if key then
            keys[#keys + 1], at[#at + 1] = key, i
            found[i], seen[key] = seen[key], true
        end
    end

    if not keys[1] then
        return found
    end

    if w ~= dw then
        turn_over(p, 'i', 'dw', dw or w, w)
        L.due(p, (w + 2) * L.WINDOW)
    end

    for back = 0, 1 do
        local values = call('HMGET', window(p, 'i', w - back), unpack(keys))

        for i = 1, #keys do
            local value = values[i]

            if value and type(found[at[i]]) ~= 'string'
                and match(value, '(%d+)$') + L.WINDOW > now
            then
                found[at[i]] = value
            end
        end
    end

    return found
end


-- The groups of a list's messages by name, also those that are new: these are
-- given a number and go on where their group had ended.
local function groups_of(p, list, skip, gid, day)
    local names, records, groups = {}, nil, {}

    for i = 1, #list do
        local name = list[i].group

        if not skip[i] and not groups[name] then
            groups[name] = true
            names[#names + 1] = name
        end
    end

    if not names[1] then
        return groups, names, gid
    end

    records = call('HMGET', p.g, unpack(names))

    local new = {}

    for i = 1, #names do
        if records[i] then
            groups[names[i]] = L.group(names[i], records[i])
        else
            new[#new + 1] = names[i]
        end
    end

    if not new[1] then
        return groups, names, gid
    end

    local today = call('HMGET', window(p, 'c', day), unpack(new))
    local before = call('HMGET', window(p, 'c', day - 1), unpack(new))

    for i = 1, #new do
        local t = tonumber(today[i] or before[i] or 0)

        gid = gid + 1
        groups[new[i]] = { name = new[i], gid = L.text(gid), h = t + 1, t = t,
                           new = true }
    end

    return groups, names, gid
end


-- Keys of a wrong type fail here, and none after it.
function L.can_append(p)
    call('HLEN', p.u)
    call('ZCARD', p.o)
    call('ZCARD', p.x)
    call('ZCARD', p.k)
    call('ZCARD', p.y)
    call('ZCARD', L.agenda(p.root))
end


-- The same of what a send finds by reading: for those who have written before.
function L.can_append_late(p, now)
    local days = call('HMGET', p.hot, 'last', 'cw')
    local ms = tonumber(match(days[1] or '0', '^%d+'))

    L.can_append(p)
    call('HLEN', p.g)
    call('HLEN', window(p, 'c', floor(max(now, ms) / L.DAY)))

    if days[2] then
        call('HLEN', window(p, 'c', days[2]))
    end
end


-- Whether the last number of a group is not remembered: on a subscription of
-- Pub/Sub, that of a message without ordering key.
local function forgotten(p, name)
    return p.sub and byte(name) == 109                              -- m
end


-- Appends messages to their groups.  Each has group, key (of deduplication, or
-- nothing), body, attributes, origin, and delay (ms, or nothing); and where it has
-- its id from elsewhere, id and ms; checked: L.can_append_late() was called.
-- Returns the words of a reply of send_fifo.
function L.append(p, list)
    local h = call('HMGET', p.hot, 'last', 'gid', 'dw', 'cw', 'cur', 't', 'n',
                   'in')
    local ms, n = match(h[1] or '0-0', '^(%d+)%-(%d+)$')
    local now = max(L.now(), tonumber(ms))
    local day, dl, t = floor(now / L.DAY), tonumber(h[5]) or 0, tonumber(h[6])
    local newest = h[1] or '0-0'
    local stored, words, dw = 0, {}, tonumber(h[3])
    local w = max(floor(now / L.WINDOW), dw or 0)

    n = tonumber(n)

    if not list.checked then
        L.can_append(p)
    end

    local found = known_keys(p, list, w, now, dw)
    local groups, names, gid = groups_of(p, list, found, tonumber(h[2]) or 0,
                                         day)

    if day ~= tonumber(h[4]) and names[1] then
        turn_over(p, 'c', 'cw', tonumber(h[4]) or day, day)
        L.due(p, (day + 2) * L.DAY)
    end

    local bodies, delayed, keys, firsts = { p.u }, { p.y }, { false }, {}
    local moment = L.text(now)
    local b, k, stamp = 1, 1, ' ' .. p.gen .. ' ' .. moment

    for i = 1, #list do
        local m = list[i]
        local known = found[i] == true and firsts[m.key] or found[i]

        if known then
            words[i] = concat({ match(known, '^(%S+) (%d+) (%d+) ') }, ':')

        else
            local g, due, mark = groups[m.group], nil, '::'

            n, stored, g.t = n + 1, stored + 1, g.t + 1

            local id = m.id or moment .. '-' .. n % 4294967296
            local seq = g.t .. ''
            local field = g.gid .. ':' .. seq

            if m.delay and m.delay > 0 then
                due = now + m.delay
                mark = ':' .. L.text(due) .. ':'
                dl = max(dl, due)
                delayed[#delayed + 1] = L.text(due)
                delayed[#delayed + 1] = field .. ':' .. m.group
                g.due = g.due or (g.new and due)
            end

            if m.id and L.after(id, newest) then
                newest = id
            end

            g.sent = g.sent or m.id and L.text(m.ms) or moment
            words[i] = id .. ':' .. seq
            bodies[b + 1] = field
            bodies[b + 2] = id .. mark .. #m.body .. ':' .. (m.origin or '')
                            .. ':' .. m.body .. m.attributes
            b = b + 2

            if m.key then
                known = id .. ' ' .. seq .. stamp
                firsts[m.key], keys[k + 1], keys[k + 2] = known, m.key, known
                k = k + 2
            end
        end
    end

    if stored == 0 then
        return words
    end

    if not p.sub then
        newest = moment .. '-' .. L.text(n)
    end

    local counts, records = { window(p, 'c', day) }, { p.g }
    local turns, ages, later, soon = { p.o }, { p.x }, { p.k }, nil

    for i = 1, #names do
        local g = groups[names[i]]

        if not forgotten(p, g.name) then
            counts[#counts + 1] = g.name
            counts[#counts + 1] = L.text(g.t)
        end

        records[i * 2], records[i * 2 + 1] = g.name, L.record_of(g, g.received)

        if g.new then
            local place = g.due and later or turns

            place[#place + 1] = g.due and L.text(g.due) or moment
            place[#place + 1] = g.name
            ages[#ages + 1], ages[#ages + 2] = g.sent, g.name

            if g.due then
                t = min(t, g.due)
                soon = min(soon or g.due, g.due)
            end
        end
    end

    if counts[2] then
        call('HSET', unpack(counts))
    end

    call('HSET', unpack(bodies))
    call('HSET', unpack(records))

    for _, args in ipairs({ turns, ages, later, delayed }) do
        if args[2] then
            call('ZADD', unpack(args))
        end
    end

    if keys[2] then
        keys[1] = window(p, 'i', w)
        call('HSET', unpack(keys))
    end

    call('HSET', p.hot, 'last', newest, 'gid', L.text(gid),
         'cur', L.text(dl), 't', L.text(t), 'n', L.text(h[7] + stored),
         'in', L.text((h[8] or h[7]) + stored))

    L.stocked(p, now)

    if soon and p.mrc > 0 then
        L.due(p, soon)
    end

    if turns[2] or later[2] then
        L.wake(p)
    end

    return words
end


-- send_fifo: appends messages to their groups, all or none.
-- Keys: root.  Arguments: ref, the longest decoded length of a body, then for
-- each message: group, key of deduplication ("d" and an id, or "h" and the hash
-- of the body where there is none), body, attributes (empty: none).
-- Reply: one string: "Q G", and for each message a word "id:seq", with the
-- message's number in its group, or "id:seq:generation", those of the first one
-- where the same was sent within the last 5 minutes.  Errors: NOQUEUE; TOOBIG
-- limit; NOTFIFO; NODEDUP ("h", and the queue does not deduplicate by bodies).
-- Cost: O(n), and O(log groups) for each group that had no message.
L.register('send_fifo', {}, function(root, args)
    local p = L.find(root, args[1] or '', L.read_plan)

    if not p then
        return L.noqueue()
    end

    local n, longest, list = #args, tonumber(args[2]), {}

    if n < 6 or (n - 2) % 4 ~= 0 or not longest then
        return L.wrong('send_fifo')
    end

    if not p.fifo then
        return L.err('NOTFIFO', 'a standard queue has no groups')
    end

    if longest > p.limit then
        return L.too_big(p)
    end

    for i = 3, n, 4 do
        local key = args[i + 1]

        if byte(key) == 104 and not p.cbd then                      -- h
            return L.err('NODEDUP', 'a message needs a deduplication id')
        end

        list[#list + 1] = { group = args[i], key = key, body = args[i + 2],
                            attributes = args[i + 3],
                            delay = p.delay * 1000 }
    end

    return p.head .. concat(L.append(p, list), ' ')
end)
