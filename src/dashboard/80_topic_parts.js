
// What the pages of topics and subscriptions share: calls of the Pub/Sub API, and how it
// names and measures things.

const DELETED = "_deleted-topic_"

const pubsub = (method, path, body, options) => call(method, path, body, { ...options, api: PUBSUB })

const topicAt = (id) => `/topics/${encodeURIComponent(id)}`
const snapshotAt = (id) => `/snapshots/${encodeURIComponent(id)}`
const fullName = (kind, id) => `projects/${session.project}/${kind}/${id}`
const idOf = (name) => name.slice(name.lastIndexOf("/") + 1)

const topicHref = (id) => `#/topics/${encodeURIComponent(id)}`
const subHref = (id) => `#/subs/${encodeURIComponent(id)}`
const topicName = (name) => (name === DELETED ? "a topic that was deleted" : idOf(name))
const topicLink = (name) => (name === DELETED ? h("span", { class: "muted" }, topicName(name))
  : h("a", { href: topicHref(idOf(name)) }, topicName(name)))
const subLink = (id) => h("a", { href: subHref(id) }, id)

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

// of what is new

const nameField = () => field("name", "Name", {
  wide: true, maxlength: 255, hint: "3 to 255 letters, digits and “-”, “_”, “.”, “~”, “+”, “%”, a letter first. It cannot be changed later.",
})

// an empty name would be another path

function nameIn(name) {
  if (name.text === "") throw new Refused(400, "invalid_argument", "Write a name.", { field: "name" })
  return name.text
}

const labelsField = (labels) => pairsField("labels", "Label", "Up to 64 of lower-case letters, digits, “_” and “-”.", labels)

// The settings of a topic or a subscription in a form. What somebody has changed is sent,
// and nothing else: others may have changed the rest meanwhile.

function editSettings(what, id, fields, done) {
  const before = fields.values()
  askIn({
    title: `Settings of ${id}`, action: "Save", inside: fields.nodes,
    async submit() {
      const now = await patchOf(what, id, before, fields.values())
      if (now) done(now)
      say("The settings are saved.")
    },
  })
}

const differing = (before, now) => Object.keys(now).filter((name) => JSON.stringify(now[name]) !== JSON.stringify(before[name]))

// before and now: what the form said and says; null where that is the same

async function patchOf(what, id, before, now) {
  const changed = differing(before, now)
  if (changed.length === 0) return null
  const mask = changed.flatMap((name) => (name === "pushConfig" ? pushMask(before.pushConfig, now.pushConfig) : name))
  return pubsub("PATCH", `/${what}s/${encodeURIComponent(id)}`, { [what]: Object.fromEntries(changed.map((name) => [name, now[name]])), updateMask: mask.join(",") })
}

// what is pushed before and after keeps what the form does not ask for

const pushMask = (before, now) => before.pushEndpoint && now.pushEndpoint
  ? differing(before, now).map((part) => `pushConfig.${part}`) : "pushConfig"
