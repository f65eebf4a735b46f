-- The names of all keys, and how a reference finds a queue.

function L.names(root)    return root .. ':n' end
function L.listing(root)  return root .. ':l' end
function L.sources(root)  return root .. ':r' end
function L.channel(root)  return root .. ':w' end
function L.queue(root, q) return root .. ':q:' .. q end


-- The keys of a generation.
function L.stored(root, q, gen)  return root .. ':m:' .. q .. ':' .. gen end
function L.later(root, q, gen)   return root .. ':z:' .. q .. ':' .. gen end
function L.due(root, q, gen)     return root .. ':y:' .. q .. ':' .. gen end
function L.flight(root, q, gen)  return root .. ':f:' .. q .. ':' .. gen end
function L.state(root, q, gen)   return root .. ':d:' .. q .. ':' .. gen end


-- Finds the queue of a reference with one HMGET in the usual case.  read(key)
-- gives its fields, of which the first are gen and id.  Returns Q and the
-- fields, or nothing.
function L.find(root, ref, read)
    local kind, name = byte(ref), sub(ref, 2)

    if kind == 113 then                                             -- q
        local fields = read(L.queue(root, name))
        if fields[1] then
            return name, fields
        end

        name = 'que_' .. name

    elseif kind == 117 then                                         -- u
        local q = sub(name, 1, 12)
        name = sub(name, 13)

        local fields = read(L.queue(root, q))
        if fields[1] and fields[2] == name then
            return q, fields
        end
    end

    local q = call('HGET', L.names(root), name)
    if q then
        local fields = read(L.queue(root, q))
        if fields[1] then
            return q, fields
        end
    end
end


-- Tells all who wait on a queue to try again.  Whoever calls this has seen
-- the flag w set, or wants to be heard anyway.
function L.hint(root, q)
    call('SPUBLISH', L.channel(root), q)
end


function L.wake(root, q)
    call('HSET', L.queue(root, q), 'w', '0')
    call('SPUBLISH', L.channel(root), q)
end
