
// What is on the screen is asked for again and again: never what is not visible,
// nothing in a hidden tab, and later where the server says so.

const EVERY = 5000
const AT_ONCE = 4
const LATEST = 60000

const watched = new Map()                 // element → { run, visible, due, busy }
let resting = 0                           // until then nothing is asked for
let wait = 0
let clock

const eyes = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    const w = watched.get(target)
    if (w) w.visible = isIntersecting
  }
  soon()
}, { rootMargin: "80px" })

// run() asks and shows; what it throws is told to failed()

function watch(element, run, failed = () => {}) {
  watched.set(element, { run, failed, visible: false, due: 0, busy: false })
  eyes.observe(element)
}

function watchAgain(element) {
  const w = watched.get(element)
  if (w) w.due = 0
  soon()
}

function forget() {
  eyes.disconnect()
  watched.clear()
  clearTimeout(clock)
}

function soon(delay = 0) {
  clearTimeout(clock)
  clock = setTimeout(turn, delay)
}

function turn() {
  if (!session || document.hidden) return live()
  for (const element of watched.keys()) {              // what was drawn anew
    if (!element.isConnected) {
      eyes.unobserve(element)
      watched.delete(element)
    }
  }
  const now = Date.now()
  if (now < resting) {
    live()
    return soon(Math.min(resting - now, 1000))
  }
  const all = [...watched.values()].filter((w) => w.visible)
  let room = AT_ONCE - [...watched.values()].filter((w) => w.busy).length
  for (const w of all.filter((w) => !w.busy && w.due <= now).sort((a, b) => a.due - b.due)) {
    if (room-- <= 0) break
    ask(w)
  }
  live()
  if (all.length) soon(500)
}

async function ask(w) {
  w.busy = true
  try {
    await w.run()
    w.due = Date.now() + EVERY
    if (wait) {
      wait = 0
      resting = 0
    }
    askAgainForKinds()
  } catch (error) {
    if (error.passing) {
      const now = Date.now()              // calls that were under way together fail as one
      if (now >= resting) wait = Math.min(wait ? wait * 2 : EVERY, LATEST)
      resting = Math.max(resting, now + Math.max(wait, (error.retryAfter ?? 0) * 1000))
      w.due = 0
    } else {
      w.due = Infinity                    // it would be the same again
    }
    w.failed(error)
  }
  w.busy = false
  soon(wait ? 200 : 0)
}

// the state of it, in the bar; read aloud only when it changes

function live() {
  const line = at("live")
  if (!line) return
  const seconds = Math.ceil((resting - Date.now()) / 1000)
  line.textContent = seconds > 0 ? `no answer, next try in ${seconds} s` : "live"
  line.className = seconds > 0 ? "badge bad" : "badge ok"
  const state = at("live-state")
  const text = seconds > 0 ? "The server gives no data at the moment." : ""
  if (state.textContent !== text) state.textContent = text
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) return
  for (const w of watched.values()) if (w.due < Infinity) w.due = 0
  soon()
})

// Samples of queues, for the charts: some minutes, as long as the page is open.

const MINUTES = 5
const past = new Map()                    // queueId → [{ at, counts, totals }]

function remember(queue) {
  const samples = past.get(queue.queueId) ?? []
  const now = Date.now()
  if (samples.length > 1 && samples[samples.length - 1].at > now - EVERY / 2) samples.pop()     // too near for a rate
  samples.push({ at: now, counts: queue.counts, totals: queue.totals ?? null })
  while (samples[0].at < now - MINUTES * 60000 - 2 * EVERY) samples.shift()
  past.set(queue.queueId, samples)
  return samples
}

// What a total grew by, per second, from one sample to another; null where a purge
// was between them, the page looked away or the server does not tell.

function growth(a, b, name) {
  const grown = a.totals && b.totals && b.at > a.at ? b.totals[name] - a.totals[name] : -1
  return grown >= 0 ? grown * 1000 / (b.at - a.at) : null
}

const apart = (a, b) => b.at - a.at > 4 * EVERY

function rates(samples, name) {
  return samples.slice(1).map((b, i) => [b.at, apart(samples[i], b) ? null : growth(samples[i], b, name)])
}

// the rate of now: over half a minute, so that it is calm

function recent(samples, name) {
  let first = samples.length - 1
  const last = samples[first]
  while (first > 0 && last.at - samples[first - 1].at <= 30000 && !apart(samples[first - 1], samples[first])) first--
  return growth(samples[first], last, name)
}

const levels = (samples, name) => samples.map((s, i) => [
  s.at, i && apart(samples[i - 1], s) ? null : s.counts[name] ?? null,
])
