
// What the pages of topics and subscriptions share: calls of the Pub/Sub API, and how it
// names and measures things.

const DELETED = "_deleted-topic_"

const pubsub = (method, path, body, options) => call(method, path, body, { ...options, api: PUBSUB })

const topicAt = (id) => `/topics/${encodeURIComponent(id)}`
const snapshotAt = (id) => `/snapshots/${encodeURIComponent(id)}`
const fullName = (kind, id) => `projects/${session.project}/${kind}/${id}`
const idOf = (name) => name.slice(name.lastIndexOf("/") + 1)

const topicLink = (name) => name === DELETED ? h("span", { class: "muted" }, "a topic that was deleted")
  : h("a", { href: `#/topics/${encodeURIComponent(idOf(name))}` }, idOf(name))
const subLink = (id) => h("a", { href: `#/subs/${encodeURIComponent(id)}` }, id)

const getTopic = (id) => pubsub("GET", topicAt(id), undefined, { has: "name" })
const getSub = (id) => pubsub("GET", subscriptionAt(id), undefined, { has: "name" })
const getCounts = (id) => pubsub("GET", `${subscriptionAt(id)}:counts`, undefined, { has: "counts" })

// as remember() has samples of queues

const countsOf = (id, counted) => ({ queueId: `subscriptions/${id}`, ...counted })

// "600s", "1.500s"

const secondsOf = (text) => Number(text.replace(/s$/, ""))

function span(text) {
  const n = secondsOf(text)
  return Number.isInteger(n) || n >= 60 ? duration(n) : `${n} s`
}

// a field of seconds, which may have a part of one; undefined where it is empty

function spanField(name, label, { value, ...rest }) {
  const is = field(name, label, { type: "number", unit: "seconds", value: value === undefined ? "" : String(secondsOf(value)), ...rest })
  is.span = () => {
    if (is.text === "") return undefined
    if (!/^\d{1,9}(\.\d{1,9})?$/.test(is.text)) throw new Refused(400, "invalid_argument", "Write a number of seconds.", { field: name })
    return `${is.text}s`
  }
  return is
}

const labelBadges = (labels) => Object.entries(labels ?? {}).map(([key, value]) =>
  [h("span", { class: "badge wraps" }, value ? `${key}: ${value}` : key), " "])

function subBadges(sub) {
  return [
    sub.pushConfig.pushEndpoint && ["Push"], sub.enableMessageOrdering && ["Ordered"], sub.enableExactlyOnceDelivery && ["Exactly once"],
    sub.detached && ["Detached", "warn"], sub.topic === DELETED && ["No topic", "warn"],
  ].filter(Boolean).map(([text, kind]) => [h("span", { class: `badge ${kind ?? ""}` }, text), " "])
}

// What a page of one of them begins with. Nothing where it cannot be shown, or
// somebody has gone on to another one meanwhile.

async function opened(what, crumb, read, again) {
  const mine = ++pages
  const current = () => mine === pages && session !== null
  const title = () => h("h1", { tabindex: "-1" }, what)
  show(what, crumb, title(), h("p", { class: "muted", "aria-busy": "true" }, "…"))
  try {
    const is = await read()
    return current() ? is : null
  } catch (error) {
    if (current()) show(what, crumb, title(), note(inWords(error)), h("p", { class: "row again" }, button("Try again", again)))
    return null
  }
}

const crumbOf = (href, text) => h("nav", { class: "crumb", "aria-label": "Where you are" }, h("a", { href }, `← ${text}`))

// A patch of what somebody has changed in a form, and of nothing else: others may have
// changed the rest meanwhile. before and now are what the form said and says.

async function patchOf(path, what, before, now) {
  const changed = Object.keys(now).filter((name) => JSON.stringify(now[name]) !== JSON.stringify(before[name]))
  if (changed.length === 0) return null
  const mask = changed.map((name) => name === "pushConfig" && now.pushConfig.pushEndpoint ? "pushConfig.pushEndpoint" : name)
  return pubsub("PATCH", path, { [what]: Object.fromEntries(changed.map((name) => [name, now[name]])), updateMask: mask.join(",") })
}
