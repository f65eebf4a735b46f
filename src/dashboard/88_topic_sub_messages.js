
// What of a subscription can be looked at: some of its messages, by a pull, and its
// snapshots.

const PULLED = [1, 5, 10]

function pulledCard(page) {
  const { sub } = page
  const list = h("div", { class: "looks" })
  const why = sub.detached ? "It is detached: it has none, and gets none."
    : sub.pushConfig.pushEndpoint && "They are pushed to the endpoint. Only those of a subscription that is pulled can be looked at."
  if (why) return card("Messages", {}, h("div", { class: "empty" }, h("p", {}, why)))
  const limit = h("select", { "aria-label": "How many" }, PULLED.map((n) => h("option", { value: n, selected: n === 5 }, `${n} at most`)))
  const pull = () => lookInto(page, Number(limit.value), list)
  const go = async () => {
    try {
      await pull()
    } catch (error) {
      list.replaceChildren(note(inWords(error)))
    }
  }
  const ask = () => confirmIn({
    title: `Pull from ${page.id}?`, action: "Pull", kind: "first",
    inside: h("p", {}, "This look is a delivery attempt of each message that it shows. After ",
      plural(page.sub.deadLetterPolicy.maxDeliveryAttempts, "attempt"), " a message goes to ", topicLink(page.sub.deadLetterPolicy.deadLetterTopic), "."),
    submit: pull,
  })
  return card("Messages", { head: [limit, button("Pull and give back", () => page.sub.deadLetterPolicy ? ask() : go(), "plain")] },
    note("There is no other way to look at them than to pull them. They are given back at once, but it is a delivery: it counts as an attempt, "
         + "takes them from others for a moment, and where there is a backoff they come again after it.", "warn"), list)
}

async function lookInto(page, most, list) {
  const at = subscriptionAt(page.id)
  const { receivedMessages: got = [] } = await pubsub("POST", `${at}:pull`, { maxMessages: most, returnImmediately: true })
  let back = "; they are given back"
  try {
    if (got.length) await pubsub("POST", `${at}:modifyAckDeadline`, { ackIds: got.map(({ ackId }) => ackId), ackDeadlineSeconds: 0 })
  } catch (error) {
    back = null
    list.replaceChildren(note(`They could not be given back, and come again in ${duration(page.sub.ackDeadlineSeconds)}. ${inWords(error)}`))
  }
  if (back) list.replaceChildren()
  list.append(...(got.length
    ? [h("p", { class: "muted small" }, `${plural(got.length, "message")}, as of `, moment(new Date().toISOString()), back ?? ""),
       h("ol", {}, got.map(pulledItem))]
    : [h("div", { class: "empty" }, h("p", {}, page.counts.visible + page.counts.inFlight
        ? "Nothing can be given now: what there is is with clients, or waits for its backoff or for its turn." : "It has no messages."))]))
  page.again()
}

function pulledItem({ message: m, deliveryAttempt: attempt }) {
  const { text, note: binary } = dataOf(m.data ?? "")
  return h("li", { class: "message" },
    h("header", {}, h("code", {}, m.messageId), h("span", {}, "published ", moment(m.publishTime)),
      attempt !== undefined && h("span", {}, `attempt ${attempt}`),
      m.orderingKey && h("span", {}, "key ", h("bdi", {}, visibleText(m.orderingKey))), binary && h("span", {}, binary)),
    attributeList(m.attributes),
    m.data ? body(text) : h("p", { class: "muted small" }, "No data"))
}

// data is bytes: a text where it is UTF-8, else it stays base64

function dataOf(data) {
  try {
    const all = Uint8Array.from(atob(data), (c) => c.charCodeAt(0))
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(all) }
  } catch {
    return { text: data, note: "no text, here in base64" }
  }
}

// Those of its topic, of which it may seek to each.

function snapshotsCard(page) {
  const list = h("div", {})
  const { topic, detached } = page.sub
  let size = 10

  const load = loader(list, async () => {
    const { snapshots: names = [], nextPageToken: more } = await pubsub("GET", `${topicAt(idOf(topic))}/snapshots?pageSize=${size}`)
    const all = await Promise.all(names.map((name) => pubsub("GET", snapshotAt(idOf(name))).catch((error) => ({ name, error }))))
    return [
      names.length ? h("ol", {}, all.map((snapshot) => snapshotItem(page, snapshot, load)))
        : h("p", { class: "muted" }, "The topic has none. A snapshot remembers what is not acknowledged, so that one can seek back to it."),
      more && button("Show more", () => {
        size += 20
        load()
      }, "plain"),
    ]
  }, (error) => refusedNote(error, () => load()))

  if (topic === DELETED || detached) {
    return card("Snapshots", {}, h("p", { class: "muted" },
      detached ? "It is detached, and can seek to none." : "Its topic was deleted, with the list of its snapshots."))
  }
  load()
  return card("Snapshots", { head: button("Make a snapshot", () => makeSnapshot(page, load), "plain") }, list)
}

function snapshotItem(page, { name, expireTime, error }, done) {
  const id = idOf(name)
  return h("li", { class: "message" },
    h("header", {}, h("code", {}, id), error ? h("span", {}, inWords(error)) : h("span", {}, "expires ", moment(expireTime))),
    h("div", { class: "row" }, button("Seek to it…", () => seekToSnapshot(page, id), "plain"),
      button("Delete…", () => deleteSnapshot(id, done), "danger plain")))
}

function makeSnapshot(page, done) {
  const name = nameField()
  askIn({
    title: `Make a snapshot of ${page.id}`, action: "Make snapshot",
    inside: [h("p", {}, "It remembers what is not acknowledged now, and keeps all that is published from now on, for up to 7 days."), name.node],
    async submit() {
      await pubsub("PUT", snapshotAt(nameIn(name)), { subscription: page.sub.name })
      say(`The snapshot ${name.text} is made.`)
      await done()
    },
  })
}

function seekToSnapshot(page, id) {
  confirmIn({
    title: `Seek ${page.id} to ${id}?`, action: "Seek",
    inside: h("p", {}, "What the snapshot has, and what was published after it, comes again. All else counts as acknowledged, "
                       + "and what is being delivered is given up."),
    async submit() {
      await pubsub("POST", `${subscriptionAt(page.id)}:seek`, { snapshot: fullName("snapshots", id) })
      say(`It has sought to ${id}.`)
      page.again()
    },
  })
}

function deleteSnapshot(id, done) {
  confirmIn({
    title: `Delete the snapshot ${id}?`, action: "Delete snapshot",
    inside: h("p", {}, "Nobody can seek to it any more. Subscriptions and their messages stay as they are."),
    async submit() {
      await pubsub("DELETE", snapshotAt(id))
      say(`The snapshot ${id} is deleted.`)
      await done()
    },
  })
}
