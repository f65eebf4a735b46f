-- Pub/Sub: dead letters, which are published to another topic, where they are new
-- messages, or dropped; and subscriptions that nobody uses.

do
    local LATER = 10000             -- ms until a dead letter is tried again that
                                    -- could not be published
    local PREFIX = 'CloudPubSubDeadLetterSource'


    -- Where dead letters of a subscription go, as a plan of a queue that has topic,
    -- or drop; nothing where the topic is gone: they stay then, and are delivered.
    function L.dead_letter_topic(p)
        if p.dlq == '-' then
            return { drop = true, size = 0 }
        end

        local t = call('HGET', L.topics(p.root), p.dlq)
        local topic = t and L.read_topic(p.root, t)

        return topic and { topic = topic, size = #topic.fan }
    end


    -- A moment (ms) as Google writes it there.
    local function time_text(ms)
        local days, rest = floor(ms / 86400000), ms % 86400000
        local z = days + 719468             -- from March of year 0 on
        local era = floor(z / 146097)
        local doe = z - era * 146097
        local yoe = floor((doe - floor(doe / 1460) + floor(doe / 36524)
                           - floor(doe / 146096)) / 365)
        local doy = doe - (365 * yoe + floor(yoe / 4) - floor(yoe / 100))
        local mp = floor((5 * doy + 2) / 153)
        local month = mp < 10 and mp + 3 or mp - 9

        return format('%04d-%02d-%02dT%02d:%02d:%02d.%03d+00:00',
                      yoe + era * 400 + (month <= 2 and 1 or 0), month,
                      doy - floor((153 * mp + 2) / 5) + 1,
                      floor(rest / 3600000), floor(rest / 60000) % 60,
                      floor(rest / 1000) % 60, rest % 1000)
    end


    -- A message as it is published as a dead letter, with what tells where it comes
    -- from instead of what may have told that before.
    local function letter(p, id, body, count)
        local out = {}
        local _, _, key = L.parts_of(body, function(name, value)
            if sub(name, 1, #PREFIX) ~= PREFIX then
                out[#out + 1] = '"' .. name .. '":' .. value
            end
        end)
        local project = match(p.root, '/([^}]*)}$') or ''

        for _, pair in ipairs({
            { 'DeliveryCount', count }, { 'Subscription', sub(p.name, 9) },
            { 'SubscriptionProject', (string.gsub(project, '["\\]', '\\%0')) },
            { 'TopicPublishTime', time_text(L.sent(id)) }
        }) do
            out[#out + 1] = concat({ '"', PREFIX, pair[1], '":"', pair[2], '"' })
        end

        local data = match(body, '^{("data":"[^"]*")')
        local head = data and '{' .. data .. ',"attributes":'
                     or '{"attributes":'
        local object = '{' .. concat(out, ',') .. '}'

        return { body = head .. object .. (key ~= '' and ',"orderingKey":"' .. key
                                           .. '"' or '') .. '}',
                 at = #head + 1, len = #object, key = key }
    end


    -- Notes what it costs to forward a message of so many bytes.
    local function spend(to, size)
        L.spend((4096 + size) * max(1, to.size) - 4096)
    end


    -- Sends letters to where they go, all or none.  Returns which way that is
    -- (24_totals.lua), or nothing where it did not.
    local function forward(p, to, list)
        if to.drop then
            return 'dropped'
        end

        if not list[1] then
            return 'dl'
        end

        local done, first = pcall(L.publish, p.root, to.topic, list)

        return done and type(first) == 'string' and 'dl' or nil
    end


    -- Moves messages of f, none of which is in a batch: one at least, and more unless
    -- the call has done enough.  What cannot be published is tried again later.
    -- counts: how often each was received.  Returns how many ids it came through.
    function L.forward(p, to, ids, counts, now)
        local list, raw = {}, {}

        for i = 1, #ids do
            local entry = call('XRANGE', p.m, ids[i], ids[i])[1]

            raw[i] = ids[i]
            spend(to, entry and #entry[2][2] or 0)

            if entry and L.sent(ids[i]) > now - p.ret then
                list[#list + 1] = letter(p, ids[i], entry[2][2], counts[ids[i]])
            end

            if L.spent() then
                break
            end
        end

        local way = forward(p, to, list)

        if way then
            L.lose(p, way, #list)
            L.lose(p, 'ex', L.drop(p, p.m, raw, raw) - #list)
        else
            for i = 1, #raw do
                call('ZADD', p.f, 'XX', L.text(now + LATER), raw[i])
            end
        end

        return #raw
    end


    -- The same of messages of a group of a FIFO queue, entries of d.  Returns those
    -- that are left; and when they are to be looked at again, or nothing.
    function L.forward_fifo(c, to, g, entries)
        local p, fields, list, n = c.p, {}, {}, 0

        while n < #entries and (n == 0 or not L.spent()) do
            n = n + 1
            fields[n] = g.gid .. ':' .. L.text(entries[n].seq)

            local value = call('HGET', p.u, fields[n])
            local ms, number, _, length, _, at = L.head(value or '0-0::0::')

            spend(to, length)

            if ms > c.now - p.ret then
                list[#list + 1] = letter(p, L.text(ms) .. '-' .. number,
                                         sub(value, at, at + length - 1),
                                         entries[n].count)
            end
        end

        local way = forward(p, to, list)

        if not way then
            return entries, c.now + LATER
        end

        -- the topic may be one of this subscription: the group has one more then
        local record = call('HGET', p.g, g.name)

        g.t = record and L.group(g.name, record).t or g.t
        call('HDEL', p.u, unpack(fields))
        c.n = c.n - n
        L.lose_fifo(c, way, #list)
        L.lose_fifo(c, 'ex', n - #list)

        return { unpack(entries, n + 1) }
    end


    -- A subscription that nobody uses expires after ttl seconds; 0: it never does.
    function L.due_unused(root, q, ttl, now)
        if ttl > 0 then
            call('ZADD', L.agenda(root), L.text(now + ttl * 1000), 'x:' .. q)
        else
            call('ZREM', L.agenda(root), 'x:' .. q)
        end
    end


    -- Removes a subscription that nobody has used as long as it allows.  Returns when
    -- to look again, or nothing.
    function L.expire_sub(root, q, now)
        local f = L.read_sub(root, q)
        local h = call('HMGET', L.hot(root, q), 's', 'use')
        local ttl = f and tonumber(f.ttl) or 0

        if ttl == 0 or f.det == '1' or not h[1] then
            return
        end

        local moment = (tonumber(h[2]) or now) + ttl * 1000

        if moment > now then
            return moment
        end

        L.remove_sub(root, f, L.plan(root, h[1]))
    end
end
