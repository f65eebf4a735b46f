-- Messages in flight that were received together for the first time: one
-- record for all of them instead of one for each.  The field of e is the token,
-- its value the moment of the receive (ms) and the ids, separated by blanks; b
-- has the token with the end of their visibility.


-- Puts messages in flight one by one.  k arguments of HSET and ZADD are in
-- hset and zadd from 2 on.  Returns nothing, or an error that has changed
-- nothing.
local function fly(p, k)
    hset[1], zadd[1] = p.d, p.f
    call('HSET', unpack(hset, 1, k))

    local done = try('ZADD', unpack(zadd, 1, k))

    if type(done) == 'table' then           -- a key of a wrong type
        for i = 2, k, 2 do
            call('HDEL', p.d, hset[i])
        end

        return done
    end
end


-- Puts messages in flight as a batch.  Likewise; and false where a batch has
-- this token already.
function L.fly_together(p, token, record, deadline)
    if call('HSETNX', p.e, token, record) == 0 then
        return false
    end

    local done = try('ZADD', p.b, deadline, token)

    if type(done) == 'table' then
        call('HDEL', p.e, token)
        return done
    end
end


-- Puts n entries of m that were never received in flight; record has their
-- ids.  Returns how many of them are in a batch; and an error, if any, that has
-- changed nothing.
function L.fly_new(p, entries, n, record, token, text, deadline)
    if n > 1 and n <= L.PACK then
        local failed = L.fly_together(p, token, record, deadline)

        if failed ~= false then
            return n, failed
        end
    end

    local state = token .. ':1:' .. text .. ':' .. text

    for i = 1, n do
        hset[i * 2], hset[i * 2 + 1] = entries[i][1], state
        zadd[i * 2], zadd[i * 2 + 1] = deadline, entries[i][1]
    end

    return 0, fly(p, n * 2 + 1)
end


-- Takes a batch apart: its messages become single ones in flight until moment.
-- Returns how many they are.  Types of keys, and what is counted in nb and nf,
-- are left to the caller.
local function take_apart(p, token, record, moment)
    local last, ids = match(record, '^(%d+) (.*)$')
    local state = token .. ':1:' .. last .. ':' .. last
    local k = 1

    for id in gmatch(ids, '[^ ]+') do
        hset[k + 1], hset[k + 2] = id, state
        zadd[k + 1], zadd[k + 2] = moment, id
        k = k + 2
    end

    hset[1], zadd[1] = p.d, p.f
    call('HSET', unpack(hset, 1, k))
    call('ZADD', unpack(zadd, 1, k))
    call('HDEL', p.e, token)
    call('ZREM', p.b, token)

    return (k - 1) / 2
end


-- Keys of a wrong type fail here.
local function check(p)
    call('HLEN', p.d)
    call('ZCARD', p.f)
    call('HLEN', p.e)
end


local function recount(p, n)
    call('HINCRBY', p.hot, 'nb', L.text(-n))
    call('HINCRBY', p.hot, 'nf', L.text(n))
end


-- Takes the batch of this token and record apart.
function L.explode(p, token, record)
    local moment = call('ZSCORE', p.b, token)

    check(p)
    recount(p, take_apart(p, token, record, moment))
end


-- Takes batches apart that end at the moment until (text) or before, the first
-- of them first, till they had limit messages or more.  Returns how many.
function L.explode_ended(p, until_, limit)
    local n, full = 0, true

    check(p)

    while full and n < limit do
        local list = call('ZRANGEBYSCORE', p.b, '-inf', until_, 'WITHSCORES',
                          'LIMIT', '0', '10')

        full = #list == 20

        for i = 1, #list, 2 do
            local record = call('HGET', p.e, list[i])

            if record then
                n = n + take_apart(p, list[i], record, list[i + 1])
            else
                call('ZREM', p.b, list[i])
            end

            if n >= limit then
                break
            end
        end
    end

    if n > 0 then
        recount(p, n)
    end

    return n
end
