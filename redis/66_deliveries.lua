-- Deliveries of a subscription all messages of which were handled: several of
-- them end in one call, and as many batches are claimed.  What a call costs by
-- itself, and most of what a command does, is paid once then.


-- Batches by the place of their first message: triples of its two numbers and
-- the ids.
local function earlier(a, b)
    return a[1] < b[1] or (a[1] == b[1] and a[2] < b[2])
end


-- Removes batches from m, which are whole.  Those that have nothing before them
-- but each other are trimmed off.  Reads first: a key of a wrong type fails
-- before anything is removed.
local function remove(p, tokens, texts)
    local list, n, from, gone = {}, 0, '-', nil

    for i = 1, #texts do
        local ms, seq = match(texts[i], '^(%d+)-(%d+)')
        list[i] = { tonumber(ms), tonumber(seq), texts[i] }
    end

    table.sort(list, earlier)

    for i = 1, #list do
        local text = list[i][3]

        if call('XRANGE', p.m, from, '(' .. match(text, '^[^ ]+'), 'COUNT',
                '1')[1]
        then
            break
        end

        -- what is greedy comes to the last one at once
        n, from = i, '(' .. (match(text, '.* (.*)$') or text)
    end

    call('ZREM', p.b, unpack(tokens))

    if n > 0 then
        local ms, seq = match(from, '(%d+)-(%d+)$')

        gone = call('XTRIM', p.m, 'MINID', '=', ms .. '-' .. L.text(seq + 1))
    end

    for i = n + 1, #list do
        gone = (gone or 0) + call('XDEL', p.m, unpack((L.ids_of(list[i][3]))))
    end

    call('HDEL', p.e, unpack(tokens))
    call('HINCRBY', p.hot, 'nb', -gone)

    return gone
end


-- In the usual case, where each delivery is a batch in flight: acknowledges all
-- of them.  Returns how many messages these were, or nothing.
local function batches(root, args, tokens, texts, now)
    local p, h, cutoff = L.open(root, args[7], args[8], now)

    if not p or p.fifo or h[4] == '0' then
        return
    end

    local list = call('HMGET', p.e, unpack(tokens))

    for i = 1, #tokens do
        if not list[i] or not L.whole(list[i], texts[i], cutoff) then
            return
        end
    end

    local full = p.waits and h[4] + call('ZCARD', p.f) >= L.CAP
    local n = remove(p, tokens, texts)

    if full then
        L.wake(p)
    end

    return n
end


-- Likewise in all cases; or an error.
local function acknowledge(root, args, tokens, texts, now)
    local n = tokens[2] and batches(root, args, tokens, texts, now)

    if n then
        return n
    end

    local groups = {}

    for i = 1, #tokens do
        local k = #groups
        groups[k + 1], groups[k + 2] = args[7], args[8]
        groups[k + 3], groups[k + 4] = tokens[i], texts[i]
    end

    return L.acked(root, groups, now)
end


-- Puts n batches of size entries each in flight, as the deliveries of these
-- tokens.  Returns the words of each of them, or nothing where a token is in
-- use.
local function fly_apart(root, p, s, entries, size, n, tokens, now)
    local used = call('HMGET', p.e, unpack(tokens, 1, n))
    local text, moment = L.text(now), L.text(now + L.hidden(p, s) * 1000)
    local given_up = L.given_up(s, now)
    local e, b, open = { p.e }, { p.b }, { L.deliveries(root, s.k) }
    local all = {}

    for i = 1, n do
        local words = { text }

        if used[i] then
            return
        end

        for k = 1, size do
            words[k + 1] = entries[(i - 1) * size + k][1]
        end

        all[i] = words
        e[2 * i], e[2 * i + 1] = tokens[i], concat(words, ' ')
        b[2 * i], b[2 * i + 1] = moment, tokens[i]
        open[2 * i], open[2 * i + 1] = given_up, tokens[i]
    end

    call('ZADD', unpack(b))                 -- a key of a wrong type fails here
    call('HSET', unpack(e))
    call('ZADD', unpack(open))

    return all
end


-- Takes whole batches of messages that were never received, where that is all
-- there is to do for more than one of these tokens.  Appends what came of
-- them to out.  Returns how many they are.
local function claim_new(root, s, p, h, tokens, now, out)
    local size = tonumber(s.bs)
    local room = s.mc - call('ZCARD', L.deliveries(root, s.k))
    local n = min(#tokens, room, floor(L.PACK / size))

    if n < 2 or size < 2 or p.fifo or not L.usual(h, n * size, now) then
        return 0
    end

    local entries = call('XRANGE', p.m, '(' .. h[2], '+', 'COUNT', n * size)

    n = floor(#entries / size)

    local all = n > 1 and fly_apart(root, p, s, entries, size, n, tokens, now)

    if not all then
        return 0
    end

    L.took(p, h, entries[n * size][1], 'nb', h[4] + n * size,
           now + L.hidden(p, s) * 1000)

    for i = 1, n do
        local at, some = #out + 1, { unpack(entries, (i - 1) * size + 1,
                                            i * size) }
        local head = { 0, 0, now, p.vt, p.q, p.number, 1, -1, '' }

        for k = 1, #head do
            out[at + k - 1] = head[k]
        end

        L.tell_new(all[i], 2, out, some)
        out[at + 8] = concat(all[i], ' ')
        out[at] = #out - at
    end

    return n
end


-- Claims a batch for each token till one gets less than it may have.  Appends
-- for each that was tried how many elements its answer has, and these.
local function claims(root, s, args, tokens, now, out)
    local done = 0

    if tokens[2] and s and s.o == args[2] and s.fn == args[3] and s.st == 'a'
        and s.ver == args[4]
    then
        local text, h = L.read_receive(L.hot(root, s.q))

        done = text and claim_new(root, s, L.plan(root, text), h, tokens, now,
                                  out) or 0
    end

    for i = done + 1, #tokens do
        local reply = L.pushed.claim(root, s, args, tokens[i], now, {})

        if reply.err then
            return
        end

        local at = #out + 1

        out[at] = #reply

        for k = 1, #reply do
            out[at + k] = reply[k]
        end

        -- "code now vt Q G wait next words", then at least one for each message
        if reply[1] ~= 0 or #reply < 8 + s.bs then
            return
        end
    end
end


-- push_done: ends deliveries all messages of which were handled, and may claim
-- further batches.
-- Keys: root.  Arguments: K worker fence ver newtokens (separated by blanks;
-- empty: no claim) window Q G, then of each delivery token and ids.  window, Q,
-- G and ids as of push_settle; to do it again does no harm either.
-- Reply: how many of the deliveries were open.  Then for each claim that was
-- tried how many elements its answer has, and the answer: as of push_claim; or
-- one answer, 4 and now, where none could be.  A claim is tried where the one
-- before got as much as it may.
-- Cost: as of ack and receive together.
L.register('push_done', { 'allow-oom' }, function(root, args)
    local new = L.ids_of(args[5] or '')
    local tokens, texts, seen = {}, {}, {}

    for i = 9, #args, 2 do
        local token, n = args[i], #tokens + 1

        -- ids are looked at where they are not those of a batch
        tokens[n], texts[n] = token, args[i + 1]

        if seen[token] or not texts[n] then
            return L.wrong('push_done')
        end

        seen[token] = true
    end

    if not tokens[1] or not match(args[6], '^%d*$')
        or not match(args[5], '^[%d ]*$')
    then
        return L.wrong('push_done')
    end

    L.subs = true

    local now, s = L.now(), L.pushed.read(root, args[1])
    local done = acknowledge(root, args, tokens, texts, now)

    if type(done) == 'table' then
        return done
    end

    -- where that is no sorted set, what the call is about is done all the same
    local open = s and try('ZREM', L.deliveries(root, args[1]), unpack(tokens))

    open = type(open) == 'number' and open or 0

    if open > 0 then
        L.pushed.note(root, s, '+', args[6], done, open, now)
    end

    local out = { open }

    if new[1] then
        pcall(claims, root, s, args, new, now, out)

        if #out == 1 then
            out[2], out[3], out[4] = 2, L.pushed.NONE, now
        end
    end

    return out
end)
