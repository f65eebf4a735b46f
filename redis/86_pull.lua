-- Pub/Sub: pull, and what ends a delivery or moves its end.

do
    local USED = 3600000            -- ms between two notes of use
    local LONGEST = 600             -- s, of sub_modify


    -- Notes that a subscription is used, by its hot hash: it does not expire then.
    function L.note_use(hot, now)
        local use = call('HGET', hot, 'use')

        if use and now - use >= USED then
            call('HSET', hot, 'use', L.text(now))
        end
    end


    -- What replies say of a subscription first: d where dead letters go somewhere,
    -- e where it delivers exactly once.
    local function flags(p)
        return (p.dlq ~= '' and p.dlq ~= '-' and 'd' or '')
               .. (p.is_e and 'e' or '')
    end


    -- A receive of a subscription, to which a seek may have to bring messages back
    -- first; for pull and push.  h is what L.read_receive() read.
    function L.receive_sub(p, h, need, token, vt, wait, now)
        if p.is_y then
            p, h = L.bring_back(p, now)
        end

        local out = L.receive(p, h, need, token, vt, wait, now)

        if p.is_y and out[4] == -1 and not out[6] then
            out[4] = 1                      -- there may be more to bring back
        end

        return out
    end


    -- sub_pull: takes messages of a subscription.
    -- Keys: root.  Arguments: name max wait (seconds) token.  Reply: flags, then as
    -- of receive.  Errors: NOSUB, ISPUSH, DETACHED.
    -- Cost: as of receive; of bodies it takes up to 8 MiB, and one message.
    L.register('sub_pull', { 'allow-oom' }, function(root, args)
        local q = args[1] and call('HGET', L.subs_by_name(root), args[1])
        local s, h = L.read_receive(L.hot(root, q or ''))
        local p = q and s and L.plan(root, s)
        local need, wait, token = tonumber(args[2]), tonumber(args[3]), args[4]

        if not p then
            return L.nosub()
        end

        if not (need and wait and token and match(token, '^%d+$')) then
            return L.wrong('sub_pull')
        end

        if p.is_x then
            return L.err('DETACHED', 'the subscription is detached')
        end

        if p.is_p then
            return L.err('ISPUSH', 'messages of the subscription are pushed')
        end

        local now = L.now()

        L.note_use(p.hot, now)

        local out = L.receive_sub(p, h, need, token, p.vt, wait, now)

        if not out.err then
            table_insert(out, 1, flags(p))
        end

        return out
    end)


    -- Which messages of a group of a call (34_receipt.lua) are in a batch, by its
    -- record: a table of their ids.
    local function ids_in(p, record)
        local set = {}
        local text = p.fifo and match(record, '^[^\n]*\n([^\n]*)\n')
                     or match(record, '^%d+ (.*)$')

        for id in gmatch(text, '[^ ]+') do
            set[id] = true
        end

        return set
    end


    -- When the lease of a message ends that is in flight by itself, or nothing.
    local function single_end(p, id, token)
        if not p.fifo then
            local by, count = match(call('HGET', p.d, id) or '', '^(%d+):(%d+):')
            local moment = by == token and call('ZSCORE', p.f, id)

            return moment and moment - L.backoff(p, tonumber(count))
        end

        local gid, seq = match(id, '^(%d+):(%d+)$')

        for _, e in ipairs(gid and L.received(p, gid) or {}) do
            if e.seq == tonumber(seq) and e.token == token then
                return e.moment - L.backoff(p, e.count)
            end
        end
    end


    -- For which messages of a group the lease is not over.
    local function leased(p, g, now)
        local record = call('HGET', p.e, g.token)
        local ends = record and call('ZSCORE', p.b, g.token)
        local batch, list = record and ids_in(p, record) or {}, {}

        ends = ends and ends - L.backoff(p, 1) or 0

        for i = 1, g.n do
            local id = g.ids[i]
            list[i] = (batch[id] and ends or single_end(p, id, g.token) or 0) > now
        end

        return list
    end


    -- The groups of a call that are of a subscription; or an error.  Where it
    -- delivers exactly once, only the messages the lease of which is not over.
    -- Returns args as ack has them, and where the result for each is to stand.
    local function parse(root, name, args, q, p, now)
        local groups = { unpack(args) }
        local list, total = L.groups_of_call(groups, 4)

        if not list or total == 0 then
            return L.wrong(name)
        end

        for i = 1, #list do
            if list[i].q ~= q then
                return L.err('FOREIGN', 'a delivery of another subscription')
            end
        end

        if not p.is_e then
            return nil, groups, nil, total
        end

        local left, places = {}, {}

        for _, run in ipairs(list) do
            for _, g in ipairs(run) do
                local is = run.gen == p.gen and leased(p, g, now) or {}
                local ids = {}

                for i = 1, g.n do
                    if is[i] then
                        ids[#ids + 1] = g.ids[i]
                        places[#places + 1] = g.at + i
                    end
                end

                if ids[1] then
                    local n = #left
                    left[n + 1], left[n + 2], left[n + 3] = q, p.gen, g.token
                    left[n + 4] = concat(ids, ' ')
                end
            end
        end

        return nil, left, places, total
    end


    -- Ends deliveries or moves their ends: act(p, groups, now) does, and returns a
    -- string as ack does, or an error.
    local function settle(root, name, args, from, act)
        local q = args[1] and call('HGET', L.subs_by_name(root), args[1])
        local s = q and L.read_plan(L.hot(root, q))
        local p, now = s and L.plan(root, s), L.now()

        if not p then
            return L.nosub()
        end

        local failed, groups, places, total =
            parse(root, name, { unpack(args, from) }, q, p, now)

        if failed then
            return failed
        end

        L.subs = true
        L.note_use(p.hot, now)

        local reply = groups[1] and act(p, groups, now) or ''

        if type(reply) == 'table' then
            return reply
        end

        if places then
            local out = {}

            for i = 1, total do
                out[i] = '0'
            end

            for i = 1, #places do
                out[places[i]] = sub(reply, i, i)
            end

            reply = concat(out)
        end

        return { flags(p), reply }
    end


    -- sub_ack: removes messages that were handled.
    -- Keys: root.  Arguments: name, and for each group of messages Q G token ids, as
    -- of ack.  Reply: flags, and a string with a character for each: 1, or 0 where
    -- the delivery is over.  Errors: NOSUB, FOREIGN (a Q is another one's; nothing
    -- was done).
    -- Cost: as of ack.
    L.register('sub_ack', { 'allow-oom' }, function(root, args)
        return settle(root, 'sub_ack', args, 2, function(_, groups, now)
            return L.ack(root, groups, now)
        end)
    end)


    -- sub_modify: deliveries last seconds from now; 0 ends them.  A message is
    -- visible again after the backoff of the retry policy.
    -- Keys: root.  Arguments: name seconds, and groups as of sub_ack.  Reply,
    -- errors: as of sub_ack.
    -- Cost: as of visibility.
    L.register('sub_modify', { 'allow-oom' }, function(root, args)
        local seconds = tonumber(args[2])

        if not seconds or seconds < 0 or seconds > LONGEST then
            return L.wrong('sub_modify')
        end

        return settle(root, 'sub_modify', args, 3, function(p, groups, now)
            local list, total = L.groups_of_call(groups, 4)
            local dead = seconds == 0 and p.mrc > 0 and L.dead_letter_queue(p)
            local out = {}

            for i = 1, total do
                out[i] = '0'
            end

            for _, run in ipairs(list) do
                for _, g in ipairs(run) do
                    g.ms, g.backs_off, g.dead = seconds * 1000, true, dead
                end

                L.move_run(root, run, now, out)
            end

            if dead and not p.fifo then     -- on a FIFO queue they have moved
                pcall(L.catch_up, L.plan(root, L.read_plan(p.hot)), now, L.PACK)
            end

            return concat(out)
        end)
    end)
end
