
// A subscription's page.

async function subPage(id) {
  const crumb = crumbOf("#/subs", "Subscriptions")
  const read = () => Promise.all([getSub(id), getCounts(id)])
  const first = await opened("Subscription", crumb, read, () => subPage(id))
  if (!first) return

  const page = { id, sub: null }
  const head = h("div", { class: "head" })
  const overview = h("section", { class: "card", "aria-label": "Counts" })
  const charts = h("section", { class: "charts", "aria-label": `The last ${MINUTES} minutes` })
  const settings = h("div", {})
  const messages = h("div", {})
  const snapshots = h("div", {})

  page.again = () => watchAgain(overview)
  page.changed = (sub) => {                // only then it is drawn anew: somebody may have the focus in it
    if (JSON.stringify(sub) === JSON.stringify(page.sub)) return
    const before = page.sub
    page.sub = sub
    head.replaceChildren(...subHead(page, crumb))
    settings.replaceChildren(subSettings(page))
    if (before?.detached === sub.detached && before?.topic === sub.topic && samePull(before, sub)) return
    messages.replaceChildren(pulledCard(page))
    snapshots.replaceChildren(snapshotsCard(page))
  }

  const see = ([sub, counted]) => {
    page.counts = counted.counts
    page.changed(sub)
    overview.replaceChildren(...subTiles(counted))
    const samples = remember(countsOf(id, counted))
    charts.replaceChildren(ratesChart(samples), depthChart(samples, SUB_DEPTHS))
  }
  see(first)
  show(id, head, h("div", { class: "stack" }, overview, charts,
    h("div", { class: "halves" }, messages, h("div", { class: "stack" }, settings, snapshots))))
  watch(overview, async () => see(await read()), toldIn(overview, "subscription"))
}

const samePull = (a, b) => [a, b].every(({ pushConfig }) => !pushConfig.pushEndpoint) || [a, b].every(({ pushConfig }) => pushConfig.pushEndpoint)

const SUB_DEPTHS = [["in", "visible", "visible"], ["out", "in flight", "inFlight"]]

function subHead(page, crumb) {
  const { id, sub } = page
  return [
    h("div", {}, crumb, h("h1", { tabindex: "-1" }, id), h("p", { class: "under" }, subBadges(sub), h("code", {}, sub.name), " ",
      button("Copy name", () => copy(sub.name, "The name"), "link"))),
    h("div", { class: "row", role: "group", "aria-label": "Actions" },
      !sub.detached && button("Seek…", () => seekTo(page)), !sub.detached && button("Detach…", () => detachSub(page), "danger"),
      button("Delete…", () => deleteSub(page), "danger")),
  ]
}

function subTiles({ counts, totals: t }) {
  const { visible, inFlight, oldestMessageAgeSeconds: age } = counts
  return [
    h("dl", { class: "tiles thirds" }, tile("Visible", count(visible)), tile("In flight", count(inFlight), "With a client or an endpoint, or waiting for a backoff"),
      tile("Oldest message", visible + inFlight ? duration(age) : "–", `${count(age)} seconds`)),
    h("p", { class: "totals" }, `Since it was made, or the last seek: ${count(t.sent)} came, ${count(t.acknowledged)} acknowledged, ${count(t.expired)} expired, `
      + `${count(t.deadLettered)} dead-lettered, ${count(t.dropped)} dropped`),
  ]
}

const SENT_AS = { wrapped: "", bare: ", the data alone", headers: ", the data alone, the rest as headers" }

function subSettings(page) {
  const { id, sub } = page
  const { pushEndpoint: url, oidcToken: token } = sub.pushConfig
  const { retryPolicy: retry, deadLetterPolicy: dead, expirationPolicy: expires } = sub
  return card("Settings", { head: button("Edit settings", () => editSub(page), "plain") },
    pairs(
      ["Topic", topicLink(sub.topic)],
      ["Delivery", ...(url ? ["pushed to ", h("span", { class: "mono" }, visibleText(url)), SENT_AS[sentBy(sub.pushConfig)]] : ["pulled"])],
      token && ["Token", "of ", visibleText(token.serviceAccountEmail), token.audience && [", for ", visibleText(token.audience)]],
      ["Ack deadline", duration(sub.ackDeadlineSeconds)],
      ["Retention", `${span(sub.messageRetentionDuration)}${sub.retainAckedMessages ? ", also of what was acknowledged" : ""}`],
      ["What fails", retry ? `comes again after ${span(retry.minimumBackoff)}, up to ${span(retry.maximumBackoff)}` : "comes again at once"],
      ["Dead letters", ...(dead ? ["to ", topicLink(dead.deadLetterTopic), ` after ${plural(dead.maxDeliveryAttempts, "attempt")}`] : ["none"])],
      ["Order", sub.enableMessageOrdering ? "of each ordering key" : "none"],
      ["Filter", sub.filter ? h("code", {}, visibleText(sub.filter)) : "none"],
      ["Unused", expires?.ttl ? `deleted after ${span(expires.ttl)}` : "stays"],
      ["Labels", sub.labels ? labelBadges(sub.labels) : "none"]))
}

async function editSub(page) {
  editSettings("subscription", page.id, await subFields(page.sub), page.changed)
}

// What waits is given up, or comes again: asked for before.

const SEEKS = [
  ["time", "What was published from a time on"], ["all", "All that is kept"], ["none", "Nothing of what is there now"],
]

function seekTo(page) {
  const what = field("what", "What comes again", { wide: true, options: SEEKS, value: "time" })
  const time = field("time", "Time, of this browser's zone", { wide: true, type: "datetime-local", step: "1" })
  what.input.addEventListener("change", () => { time.node.hidden = what.input.value !== "time" })
  const moments = { all: "1970-01-01T00:00:00Z", none: "9999-12-31T23:59:59Z" }

  confirmIn({
    title: `Seek ${page.id}?`, action: "Seek",
    inside: [h("p", {}, "What was published before counts as acknowledged. What came later comes again, as far as it is kept: what was acknowledged "
               + "only where the subscription or its topic keeps it. What is being delivered is given up."), what.node, time.node],
    async submit() {
      let at = moments[what.input.value]
      if (!at) {
        if (!time.input.value) throw new Refused(400, "invalid_argument", "Choose a time.", { field: "time" })
        at = new Date(time.input.value).toISOString()
      }
      await pubsub("POST", `${subscriptionAt(page.id)}:seek`, { time: at })
      say("It has sought there.")
      page.again()
    },
  })
}

const lost = ({ counts }) => `${count(counts.visible + counts.inFlight)} at the last look`

function detachSub(page) {
  confirmByName({
    title: `Detach ${page.id}?`, name: page.id, action: "Detach subscription",
    warning: `It gets nothing more from its topic, for good, and its messages are dropped, ${lost(page)}. There is no way back.`,
    async submit() {
      await pubsub("POST", `${subscriptionAt(page.id)}:detach`, {})
      say(`The subscription ${page.id} is detached.`)
      page.again()
    },
  })
}

function deleteSub(page) {
  confirmByName({
    title: `Delete ${page.id}?`, name: page.id, action: "Delete subscription",
    warning: `Its messages are deleted with it, ${lost(page)}. There is no way back.`,
    async submit() {
      await pubsub("DELETE", subscriptionAt(page.id))
      past.delete(`subscriptions/${page.id}`)
      say(`The subscription ${page.id} is deleted.`)
      location.hash = page.sub.topic === DELETED ? SUBS.at : topicHref(idOf(page.sub.topic))
    },
  })
}
