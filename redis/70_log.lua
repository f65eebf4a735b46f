-- Logs: queues of partitions (lanes) that are appended to, and groups of
-- consumers, each with a cursor on each lane.  docs/redis.md has the keys.
--
-- What a call knows of a queue is a table t: its plan p, the numbers of its hot
-- hash, and what the call has read and will write.  A call reads and decides
-- first, and writes when nothing can fail any more.

function L.log_names(root)        return root .. ':ln' end
function L.log_listing(root)      return root .. ':ll' end
function L.log_switches(root)     return root .. ':lz' end
function L.log_rounds(root)       return root .. ':lF' end
function L.log_settings(root, q)  return root .. ':lq:' .. q end
function L.log_hot(root, q)       return root .. ':lh:' .. q end
function L.log_lease(root, lease) return root .. ':le:' .. lease end
function L.log_of_space(root, s)  return root .. ':lN:' .. s end
function L.log_of_task(root, s)   return root .. ':lT:' .. s end
function L.log_of_group(root, s)  return root .. ':lG:' .. s end

L.LOG_POPS = 1000           -- messages of a pop
L.LOG_GROUPS = 10000        -- groups of a queue
L.LOG_KNOWN = 900           -- s for which ids are known at least
L.LOG_FULL = 100            -- messages for which windowBuffer waits no longer
L.LOG_SECONDS = 2147483647  -- the longest lease


do
    local texts, moment, moment_text = {}, nil, nil


    -- A number below 10^14 as text.  Lua is slow in writing them: small ones and
    -- the last moment are kept.
    function L.log_n(number)
        local text = texts[number]

        if text then
            return text
        end

        if number < 1000 then
            texts[number] = number .. ''
            return texts[number]
        end

        if number < 1000000000000 then
            return number .. ''
        end

        if number ~= moment then
            moment, moment_text = number, number .. ''
        end

        return moment_text
    end
end


do
    local plans, nplans = {}, 0         -- the field s → its plan
    local known, nknown = {}, 0         -- root → name → Q

    local KEYS = { lanes = 'lp', records = 'ld', segments = 'lm', noted = 'la',
                   times = 'lt', oldest = 'lo', groups = 'lg', dead = 'lk',
                   rows = 'lK', row_of = 'lX', index = 'li', runs = 'lj',
                   traces = 'lv', traced = 'lu', former = 'lf' }
    local LETTERS = { 'lanes', 'records', 'segments', 'noted', 'times',
                      'oldest', 'groups', 'dead', 'rows', 'row_of', 'index',
                      'runs', 'traces', 'traced', 'former' }

    -- The numbers of a hot hash are one field of it, as they are read and written
    -- together with each push: of 13 fields that took a tenth of its time.
    local NUMBERS = '>I6I6I6I6I6I6I6I6I6I6I6I6I6I6'


    -- The settings of a queue that a push or pop gives birth to.  Labels are
    -- the first two parts of its name.
    function L.log_defaults(name)
        local space, task = match(name, '^([^.]*)%.?([^.]*)')

        return { lease = 300, retry = 3, delay = 0, window = 0, ret = 0,
                 cret = 0, maxwait = 0, dlq = 1, enc = 0, dedup = 3600,
                 minpop = 0, ns = space, task = task, opt = '' }
    end


    -- The field s of a hot hash.
    function L.log_pack(flags, q, name, s)
        return concat({ flags, q, s.lease, s.retry, s.delay, s.window, s.ret,
                        s.cret, s.maxwait, s.dlq, s.enc, s.dedup, s.minpop,
                        name }, ':')
    end


    -- What it says, with the names of the queue's keys; shared by calls, and
    -- never changed.
    function L.log_plan(root, s)
        local p = plans[s]

        if p and p.root == root then
            return p
        end

        local flags, q, lease, retry, delay, window, ret, cret, maxwait, dlq,
              enc, dedup, minpop, name
            = match(s, '^(%d):([^:]*):' .. rep('(%d+):', 11) .. '(.*)$')

        p = {
            s = s, root = root, q = q, flags = tonumber(flags), name = name,
            lease = tonumber(lease), retry = tonumber(retry),
            delay = delay * 1000, window = window * 1000,
            ret = ret * 1000, cret = cret * 1000, maxwait = maxwait * 1000,
            dlq = dlq == '1', sealed = enc, dedup = dedup * 1000,
            minpop = tonumber(minpop), hot = L.log_hot(root, q),
            span = max(dedup + 0, cret + 0, L.LOG_KNOWN) * 1000
        }

        -- how old a message gets, whatever becomes of it
        p.age = p.ret > 0 and p.maxwait > 0 and min(p.ret, p.maxwait)
                or max(p.ret, p.maxwait)

        for i = 1, #LETTERS do
            p[LETTERS[i]] = concat({ root, KEYS[LETTERS[i]], q }, ':')
        end

        if nplans >= 1000 then
            plans, nplans = {}, 0
        end

        plans[s], nplans = p, nplans + 1

        return p
    end


    -- A call: what it has read of queues, by Q and by name.
    function L.log_call(root)
        local now = L.now()

        return { root = root, now = now, text = L.log_n(now), list = {}, by_q = {},
                 by_name = {} }
    end


    local function add(c, p)
        -- all that it will have, since growing tables costs time
        local t = { p = p, c = c, lane_of = {}, lane_named = {},
                    group_of = {}, group_list = {}, act = 0, seen = 0, last = 0,
                    reg = 0, n = 0, pushed = 0, lanes = 0, groups = 0, dead = 0,
                    iw = 0, is = 0, ip = 0, ir = 0, big = 0, read = false, set = false,
                    pushes = false, write = false, fields = false, named = false,
                    stored = 0,
                    old = false, ask = false, dup = false, turned = false }

        c.list[#c.list + 1], c.by_q[p.q], c.by_name[p.name] = t, t, t

        return t
    end


    -- The numbers of the hot hash are fields of t then.
    local function numbers(t, text)
        t.act, t.seen, t.last, t.reg, t.n, t.pushed, t.lanes, t.groups, t.dead,
        t.iw, t.is, t.ip, t.ir, t.big
            = struct.unpack(NUMBERS, text or rep('\0', 84))

        t.read = true
    end


    function L.log_numbers(t)
        if not t.read then
            numbers(t, call('HGET', t.p.hot, 'n'))
        end
    end


    -- One that log_write_numbers() writes.
    function L.log_set(t, name, value)
        L.log_numbers(t)
        t[name], t.set = value, true
    end


    function L.log_write_numbers(t)
        if t.set then
            call('HSET', t.p.hot, 'n',
                 struct.pack(NUMBERS, t.act, t.seen, t.last, t.reg, t.n, t.pushed,
                             t.lanes, t.groups, t.dead, t.iw, t.is, t.ip, t.ir,
                             t.big))
            t.set = false
        end
    end


    -- The queue with this Q, or nothing.  Without its numbers.
    function L.log_by_id(c, q)
        local t = c.by_q[q]

        if t == nil then
            local s = call('HGET', L.log_hot(c.root, q), 's')

            t = s and add(c, L.log_plan(c.root, s)) or false
            c.by_q[q] = t
        end

        return t or nil
    end


    local function read_hot(c, q, name)
        local h = call('HMGET', L.log_hot(c.root, q), 's', 'n')
        local p = h[1] and L.log_plan(c.root, h[1])

        if p and p.name == name then
            local t = c.by_q[q] or add(c, p)

            if not t.read then
                numbers(t, h[2])
            end

            return t
        end
    end


    -- The queue of this name, or nothing.  s says itself whether Q is still the
    -- one that was meant.
    function L.log_by_name(c, name)
        local t = c.by_name[name]

        if t then
            L.log_numbers(t)
            return t
        end

        local names = known[c.root]
        local q = names and names[name]

        t = q and read_hot(c, q, name)
        if t then
            return t
        end

        q = call('HGET', L.log_names(c.root), name)
        t = q and read_hot(c, q, name)

        if t then
            if nknown >= 1000 then
                known, nknown, names = {}, 0, nil
            end

            if not names then
                names = {}
                known[c.root] = names
            end

            names[name], nknown = q, nknown + 1
        end

        return t or nil
    end


    -- A queue that is to be made, or nothing and an error; log_make() writes it.
    -- Keys of a wrong type fail here.
    function L.log_new_queue(c, name, q, uuid, s)
        local root = c.root

        if q == '' or find(q, '[: ]') then
            return nil, L.wrong('log_push')
        end

        if call('EXISTS', L.log_settings(root, q), L.log_hot(root, q)) > 0 then
            return nil, L.err('IDTAKEN', 'a queue with this id exists')
        end

        call('ZCARD', L.log_listing(root))
        L.log_check_labels(root, s.ns, s.task)

        local t = add(c, L.log_plan(root, L.log_pack(0, q, name, s)))

        numbers(t)
        t.new = { uuid = uuid, s = s }

        return t
    end


    function L.log_label(root, name, space, task)
        if space ~= '' then
            call('ZADD', L.log_of_space(root, space), '0', name)
            call('ZADD', L.log_spaces(root), '0', space)
        end

        if task ~= '' then
            call('ZADD', L.log_of_task(root, task), '0', name)
            call('ZADD', L.log_tasks(root), '0', task)
        end
    end


    -- Whoever waits for queues with its labels does not know it yet.
    function L.log_make(t)
        local root, p, s = t.c.root, t.p, t.new.s

        call('HSET', L.log_names(root), p.name, p.q)
        call('ZADD', L.log_listing(root), '0', p.name)
        call('HSET', L.log_settings(root, p.q), 'v', L.SCHEMA, 'id', t.new.uuid,
             'name', p.name, 'ns', s.ns, 'task', s.task, 'ct', t.c.text, 'opt',
             s.opt)
        call('HSET', p.hot, 's', p.s)
        L.log_label(root, p.name, s.ns, s.task)
        L.hint(root, 'd')
        t.new = nil
    end


    function L.log_create_queue(c, name, q, uuid, s)
        local t, failed = L.log_new_queue(c, name, q, uuid, s)

        if t then
            L.log_make(t)
        end

        return t, failed
    end


    local function flags(t, value)
        local s = value .. sub(t.p.s, 2)

        call('HSET', t.p.hot, 's', s)
        t.p = L.log_plan(t.p.root, s)
    end


    -- Something has become deliverable: tells all who wait for it.
    function L.log_wake(t)
        local p = t.p

        if p.flags > 0 then
            flags(t, 0)

            if p.flags % 2 == 1 then
                L.hint(p.root, p.q)
            end

            if p.flags > 1 then
                L.hint(p.root, 'd')
            end
        end
    end


    -- From now on somebody waits: 1 a pop of this queue, 2 one by labels.
    function L.log_wait(t, value)
        local is = t.p.flags

        if floor(is / value) % 2 == 0 then
            flags(t, is + value)
        end
    end


    -- Adds two arguments to one of the lists of a table, which is false at first.
    function L.log_put(lists, name, a, b)
        local list = lists[name]

        if not list then
            lists[name] = { a, b }
            return
        end

        local n = #list

        list[n + 1], list[n + 2] = a, b
    end


    -- Calls a command with a key and many arguments, n of them.
    function L.log_many(command, key, list, n)
        if n <= 1000 then
            if n > 0 then
                return call(command, key, unpack(list, 1, n))
            end

            return {}
        end

        local all, k = {}, 0

        for a = 1, n, 1000 do
            local some = call(command, key, unpack(list, a, min(a + 999, n)))

            if type(some) == 'table' then
                for i = 1, min(1000, n - a + 1) do
                    all[k + i] = some[i]
                end

                k = k + 1000
            end
        end

        return all
    end
end
