-- What all functions share.  The files of this folder are one chunk: locals
-- are few (Lua allows 200), helpers hang on L.

local L = {}

-- Set by bind() at the first call: while a library is loaded there is neither
-- redis.call nor anything of Lua's own.
local call, try
local byte, find, format, match, sub
local gmatch, rep, concat
local floor, max, min
local ipairs, pcall, tonumber, type, unpack
local table_insert, table_remove


local function bind()
    byte, find, format = string.byte, string.find, string.format
    match, sub = string.match, string.sub
    gmatch, rep, concat = string.gmatch, string.rep, table.concat
    floor, max, min = math.floor, math.max, math.min
    ipairs, pcall, tonumber = _G.ipairs, _G.pcall, _G.tonumber
    type, unpack = _G.type, _G.unpack
    table_insert, table_remove = table.insert, table.remove
    call, try = redis.call, redis.pcall
end


-- Arguments of HSET and ZADD, kept from call to call, since growing tables
-- costs time.  What was left in them is never read.
local hset, zadd = {}, {}


L.SCHEMA = '1'
L.CAP = 120000              -- messages in flight at once on a standard queue
L.CAP_FIFO = 20000          -- and on a FIFO queue
L.HOLD = 43200000           -- ms that one delivery can last
L.BATCH = 1000              -- messages in one call
L.BYTES = 4194304           -- of bodies that one call copies, and one body
L.WORK = 2097152            -- likewise, of what is due: see L.spend
L.PULL = 8388608            -- bytes of bodies that one receive of Pub/Sub takes
L.PACK = 100                -- messages of one batch in flight


-- Registers P..name; fn is called with the project's root and the arguments.
function L.register(name, flags, fn)
    redis.register_function{
        function_name = P .. name,
        flags = flags,
        callback = function(keys, args)
            if not call then
                bind()
            end

            L.work, L.subs = 0, false

            if not keys[1] then
                return L.err('ARGUMENT', name .. ' needs the key of a project')
            end

            return fn(keys[1], args)
        end
    }
end


-- Whether the call may be about messages of Pub/Sub's subscriptions: what the
-- Queues API calls never is.
L.subs = false


-- Notes that a call has come to a message of so many bytes which it is to move,
-- remove or pass.  What there is to do is endless: a call does some of it, by
-- its limits, but no more where it has spent 2 MiB, at 4 KiB and the bytes a
-- message.
function L.spend(size)
    L.work = L.work + 4096 + size
end


function L.spent()
    return L.work >= L.WORK
end


-- How many messages of a queue are read at once, though fewer may be needed.
function L.few(p)
    return max(1, min(10, floor(L.WORK / p.limit)))
end


function L.err(code, text)
    return redis.error_reply('QUEUES ' .. code .. ' ' .. text)
end


function L.noqueue()
    return L.err('NOQUEUE', 'no such queue')
end


-- Arguments that no caller of ours sends.
function L.wrong(name)
    return L.err('ARGUMENT', 'wrong arguments of ' .. name)
end


-- The one clock of everything: ms since 1970.
function L.now()
    local t = call('TIME')
    return t[1] * 1000 + floor(t[2] / 1000)
end


-- A whole number as text; ".." would cut it at 14 digits.
function L.text(number)
    return format('%.0f', number)
end


-- The two numbers of a stream id or message id: when it was sent (ms), and
-- the count within that ms.
function L.parts(id)
    local dash = find(id, '-', 1, true)
    return tonumber(sub(id, byte(id) == 122 and 2 or 1, dash - 1)),
           tonumber(sub(id, dash + 1))
end


-- When a message was sent, in ms.
function L.sent(id)
    return tonumber(sub(id, byte(id) == 122 and 2 or 1,
                        find(id, '-', 1, true) - 1))
end


-- Whether a message id or stream id comes after another of the same stream.
function L.after(a, b)
    local ams, aseq = L.parts(a)
    local bms, bseq = L.parts(b)

    return ams > bms or (ams == bms and aseq > bseq)
end
