-- Pub/Sub: subscriptions.  Each is a queue of the message engine, of the name
-- gcp.sub.NAME, which the Queues API does not find: it is in none of its lists,
-- and has no root:q:Q.  Its generations are those of queues.

do
    function L.subs_by_name(root)  return root .. ':gs' end
    function L.sub(root, q)        return root .. ':gq:' .. q end

    -- What is published while a seek brings messages back.
    function L.pending(p)
        return concat({ p.root, 'gp', p.q, p.gen }, ':')
    end

    local SIZE = 4096               -- bytes of a body at first: see L.grow()
    local FIELDS = { 'name', 't', 'cfg', 'vt', 'ret', 'mrc', 'dlq', 'min',
                     'max', 'flags', 'filter', 'ttl', 'det', 'ver', 'ct', 'src' }


    function L.nosub()
        return L.err('NOSUB', 'no such subscription')
    end


    -- What is known of a subscription by its id, or nothing.
    function L.read_sub(root, q)
        local h = call('HMGET', L.sub(root, q), unpack(FIELDS))
        local f = { q = q }

        for i, field in ipairs(FIELDS) do
            f[field] = h[i]
        end

        return f.name and f or nil
    end


    -- Of a subscription by its name: its record, and the plan of its queue.
    function L.find_sub(root, name)
        local q = name and call('HGET', L.subs_by_name(root), name)
        local f = q and L.read_sub(root, q)
        local s = f and L.read_plan(L.hot(root, q))

        if s then
            return f, L.plan(root, s)
        end
    end


    -- Appends the 8 elements that tell of a subscription.
    function L.tell_sub(out, root, f)
        local topic = call('HMGET', L.topic(root, f.t), 'name', 'ret')
        local push = call('HEXISTS', L.subscriptions(root), f.q)

        for _, value in ipairs({ f.q, tonumber(f.ver), f.name, topic[1] or '',
                                 f.cfg, tonumber(f.det), tonumber(topic[2] or 0),
                                 push })
        do
            out[#out + 1] = value
        end

        return out
    end


    -- A topic's fan says to whom a publish goes: for each subscription that is not
    -- detached, and each snapshot, a line of a letter, the id, a colon, a number
    -- where it has a filter, no other one of the topic's.  The letter is s
    -- standard, f FIFO, S and F likewise while a seek brings messages back, n a
    -- snapshot.
    function L.fan_add(root, t, letter, id, filter)
        local key = L.topic(root, t)
        local fan = call('HGET', key, 'fan')
        local mark = filter ~= '' and L.text(call('HINCRBY', key, 'fn', 1)) or ''

        call('HSET', key, 'fan', concat({ fan, letter, id, ':', mark, '\n' }))
    end


    -- Puts another letter in the line of a subscription or snapshot; none: the
    -- line goes.
    function L.fan_set(root, t, id, letter)
        local key = L.topic(root, t)
        local fan = call('HGET', key, 'fan')
        local at = fan and find(fan, id .. ':', 1, true)

        if not at then
            return
        end

        local rest = sub(fan, letter and at or find(fan, '\n', at, true) + 1)

        call('HSET', key, 'fan', sub(fan, 1, at - 2) .. (letter or '') .. rest)
    end


    function L.fan_queues(root, t)
        local list = {}

        for id in gmatch(call('HGET', L.topic(root, t), 'fan') or '',
                         '[sfSF]([^:]*):[^\n]*\n')
        do
            list[#list + 1] = id
        end

        return list
    end


    -- The field s of a subscription's hot hash, as its record has it.  p is its
    -- plan of before, new what is otherwise: gen, back (a seek brings messages
    -- back), limit.
    function L.packed_sub(root, f, p, new)
        local topic = f.det == '0' and call('HGET', L.topic(root, f.t), 'ret')
        local back = p and p.is_y

        if new.gen or new.back ~= nil then
            back = new.back
        end

        local letters = string.gsub(f.flags, '[^er]', '')
            .. (call('HEXISTS', L.subscriptions(root), f.q) == 1 and 'p' or '')
            .. (f.det == '1' and 'x' or '') .. (back and 'y' or '')
        local id = concat({ f.min, f.max, letters }, ',')

        return L.pack(p and sub(call('HGET', p.hot, 's'), 1, 1) or '0', f.q,
                      new.gen or p and p.gen or '1', '0-0', {
            '', id, 'gcp.sub.' .. f.name,
            find(f.flags, 'o', 1, true) and 'fifo' or 'standard', f.vt, '0',
            L.text(max(tonumber(f.ret), tonumber(topic or 0))), '0',
            L.text(new.limit or p and p.limit or SIZE), '0', f.dlq, f.mrc
        })
    end


    -- Writes what s is to say of a subscription.  Returns the plan.
    function L.repack(root, q, new)
        local f = L.read_sub(root, q)
        local s = f and L.read_plan(L.hot(root, q))

        if s then
            s = L.packed_sub(root, f, L.plan(root, s), new or {})
            call('HSET', L.hot(root, q), 's', s)

            return L.plan(root, s)
        end
    end


    -- A longer body than any before came to a subscription: so much is read of it
    -- at once that a call is bounded.
    function L.grow(p, size)
        local limit = p.limit

        while limit < size do
            limit = limit * 2
        end

        return L.repack(p.root, p.q, { limit = limit })
    end


    -- Begins a new generation of a subscription.  What the one before has is
    -- removed, but for the keys of what a seek is to bring back.
    function L.renew(root, q, p, new, kept)
        new.gen = L.text(p.gen + 1)

        local plan = L.repack(root, q, new)
        local gone = {}

        for _, key in ipairs(p.keys) do
            gone[#gone + 1] = not (kept and kept[key]) and key or nil
        end

        L.reset(p.hot, plan.s)

        if gone[1] then
            call('UNLINK', unpack(gone))
        end

        L.hint(root, q)

        return plan
    end
end
