-- Logs: pops over the queues of a namespace or task.

do
    local LOOK = 50             -- queues looked at in a call


    -- The set of names to go through, and the one whose names count besides, if
    -- any.
    local function sets(root, space, task)
        if space == '' then
            return L.log_of_task(root, task)
        end

        return L.log_of_space(root, space),
               task ~= '' and L.log_of_task(root, task) or nil
    end


    -- The names after one, LOOK at most, from the first on where they are over.
    local function names_after(key, last)
        local function read(from, to, count)
            return call('ZRANGEBYLEX', key, from, to, 'LIMIT', '0', L.text(count))
        end

        if last == '' then
            return read('-', '+', LOOK)
        end

        local list = read('(' .. last, '+', LOOK)

        if #list < LOOK then
            local more = read('-', '[' .. last, LOOK - #list)

            for i = 1, #more do
                list[#list + 1] = more[i]
            end
        end

        return list
    end


    -- Which of the names have the other label too: a list of scores, or nothing
    -- where there is none.
    local function with_both(key, names)
        return key and names[1] and call('ZMSCORE', key, unpack(names))
    end


    -- Where a round is that found nothing yet: how many names it has still to
    -- look at, the first moment at which there will be something (0: none), and
    -- the last name.
    local function read_round(root, selector, total)
        local left, soon, last = match(call('HGET', L.log_rounds(root), selector)
                                       or '', '^(%d+):(%d+):(.*)$')

        left = tonumber(left)

        return left and left > 0 and min(left, total) or total,
               left and left > 0 and tonumber(soon) or 0, last or ''
    end


    -- What nobody asks for any more is forgotten.
    local function write_round(root, selector, left, soon, last)
        local key = L.log_rounds(root)

        call('HSET', key, selector, concat({ L.text(left), L.text(soon), last },
                                           ':'))
        call('PEXPIRE', key, L.text(L.DAY))
    end


    -- Pops of one queue.  Returns as L.log_take().
    local function take(c, name, group)
        local t = L.log_by_name(c, name)

        if not t then
            return -1
        end

        local g = L.log_contact(c, t, group)

        if not g then
            return -1
        end

        local next = L.log_take(c, t, g)

        if next and c.wait then
            L.log_wait(t, 2)
        end

        return next
    end


    -- log_find: log_pop over the queues of a namespace, a task, or both, in
    -- turn: 50 of them are looked at in a call, from where the last call for the
    -- same group stopped.  The group is registered on these.
    -- Keys: root.  Arguments: namespace, task (empty: none; one is needed),
    -- group, then as of log_pop from batch on.
    -- Reply: as of log_pop; the first element is empty.  Where nothing was found
    -- and there are more queues to look at in this round, the second one is 0.
    -- A hint is published as message d.
    -- Cost: as of 50 log_pop.
    L.register('log_find', { 'allow-oom' }, function(root, args)
        local c, space, task, group = L.log_call(root), args[1], args[2], args[3]

        if #args ~= 11 or space .. task == '' or not L.log_read_pop(c, args, 4)
        then
            return L.wrong('log_find')
        end

        if L.log_paused(root) then
            c.out[2] = 1000
            return c.out
        end

        local key, other = sets(root, space, task)
        local selector = concat({ c.wait and 1 or 0, space, task, group }, '\n')
        local total = call('ZCARD', key)
        local left, soon, last = read_round(root, selector, total)
        local names = names_after(key, last)
        local both = with_both(other, names)
        local found, more = false, false

        for i = 1, min(left, #names) do
            left, last = left - 1, names[i]

            local next = both and not both[i] and -1 or take(c, last, group)

            if not next then
                found = true
            elseif next == 0 then
                more = true
            elseif next > 0 and (soon == 0 or c.now + next < soon) then
                soon = c.now + next
            end

            if c.need <= 0 or c.lanes <= 0 or c.bytes >= L.BYTES
                or c.tries >= c.most
            then
                break
            end
        end

        if not found then
            if left > 0 or more then
                c.out[2] = 0
            elseif soon > 0 then
                c.out[2] = max(1, soon - c.now)
            end
        end

        write_round(root, selector, c.out[2] == 0 and left or 0, soon, last)
        L.log_hold(c)

        return c.out
    end)
end
