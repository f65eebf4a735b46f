
// A topic's page.

async function topicPage(id) {
  const crumb = crumbOf("#/topics", "Topics")
  const topic = await opened("Topic", crumb, () => getTopic(id), () => topicPage(id))
  if (!topic) return

  const page = { id, topic }
  const settings = h("div", {})
  const subs = topicSubs(page)
  const changed = (now) => {
    page.topic = now
    settings.replaceChildren(topicSettings(page, changed))
  }

  show(id,
    h("div", { class: "head" },
      h("div", {}, crumb, h("h1", { tabindex: "-1" }, id), h("p", { class: "under" }, h("code", {}, topic.name), " ",
        button("Copy name", () => copy(topic.name, "The name"), "link"))),
      h("div", { class: "row", role: "group", "aria-label": "Actions" },
        button("Publish message", () => publishMessage(page), "first"), button("Subscribe…", () => createSub(page)),
        button("Delete…", () => deleteTopic(page), "danger"))),
    h("div", { class: "stack" }, subs, settings))
  changed(topic)
}

function topicSettings({ id, topic }, done) {
  return card("Settings", { head: button("Edit settings", () => editSettings("topic", id, topicFields(topic), done), "plain") },
    pairs(
      ["Keeps messages", topic.messageRetentionDuration
        ? `for ${span(topic.messageRetentionDuration)}, all of them, so that subscriptions can seek to them`
        : "no: each subscription keeps its own"],
      ["Labels", topic.labels ? labelBadges(topic.labels) : "none"]))
}

// The names of its subscriptions, asked for again as others make some; a row stays the
// same element as long as its subscription is there: somebody may have the focus in it.

function topicSubs(page) {
  const box = h("div", {})
  const walk = { from: [null] }
  let rows = new Map()
  let drawn = ""

  async function load() {
    const token = walk.from[walk.from.length - 1]
    const query = new URLSearchParams({ pageSize: PAGE, ...(token && { pageToken: token }) })
    const { subscriptions: names = [], nextPageToken: next } = await pubsub("GET", `${topicAt(page.id)}/subscriptions?${query}`)
    const text = JSON.stringify([walk.from, names, next])
    if (text === drawn) return
    drawn = text
    rows = new Map(names.map((name) => [name, rows.get(name) ?? subRow(idOf(name))]))
    const inside = document.activeElement
    box.replaceChildren(
      names.length ? tableOf("Subscriptions of this topic, the counts of this moment and the rates of the last minutes", SUB_HEADS, [...rows.values()])
        : h("div", { class: "card empty" }, h("h3", {}, "No subscription"),
          h("p", {}, "What is published now goes to nobody. A subscription gets what is published once it is there."),
          button("Make the first subscription", () => createSub(page), "first")),
      ...pager(walk, next, () => load().catch(refused)))
    if (inside.isConnected) inside.focus()
  }

  const refused = (error) => {
    if (error.passing && drawn !== "") return
    drawn = ""
    rows = new Map()
    box.replaceChildren(note(error.status === 404 ? "This topic was deleted meanwhile." : inWords(error)))
  }

  box.append(h("p", { class: "muted" }, "…"))
  page.again = () => watchAgain(box)
  const node = h("section", { class: "stack", "aria-label": "Subscriptions" }, h("h2", {}, "Subscriptions"), box)
  watch(box, load, refused)
  return node
}

function topicFields(topic) {
  const name = !topic && nameField()
  const kept = spanField("messageRetentionDuration", "Keeps messages", {
    wide: true, value: topic?.messageRetentionDuration,
    hint: "600 to 2,678,400, of all messages, so that subscriptions can seek to them: they need memory. Empty: it keeps none.",
  })
  const labels = labelsField(topic?.labels)
  return {
    name, nodes: [h("div", { class: "fields" }, name && name.node, kept.node), labels.node],
    values: () => ({ messageRetentionDuration: kept.span(), labels: labels.pairs() }),
  }
}

function createTopic() {
  const fields = topicFields(null)
  askIn({
    title: "Create a topic", action: "Create topic", inside: fields.nodes,
    async submit() {
      const id = nameIn(fields.name)
      await pubsub("PUT", topicAt(id), fields.values())
      say(`The topic ${id} is there.`)
      location.hash = topicHref(id)
    },
  })
}

function deleteTopic({ id }) {
  confirmByName({
    title: `Delete ${id}?`, name: id, action: "Delete topic",
    warning: "Its subscriptions keep what they have and get nothing more, not even from a new topic of this name. There is no way back.",
    async submit() {
      await pubsub("DELETE", topicAt(id))
      say(`The topic ${id} is deleted.`)
      location.hash = "#/topics"
    },
  })
}

// bytes of UTF-8 in base64, some thousand at a time, as so many may be arguments

function base64(text) {
  const data = new TextEncoder().encode(text)
  let out = ""
  for (let i = 0; i < data.length; i += 8192) out += String.fromCharCode(...data.subarray(i, i + 8192))
  return btoa(out)
}

function publishMessage(page) {
  const data = field("data", "Data", { type: "textarea", hint: "Text, which is sent as UTF-8." })
  const key = field("orderingKey", "Ordering key", {
    wide: true, hint: "Subscriptions with ordering give messages of one key in the order in which they were published. Empty: none.",
  })
  const attributes = pairsField("attributes", "Attribute", "Up to 100, which filters look at. A message has data or an attribute.")
  askIn({
    title: `Publish to ${page.id}`, action: "Publish", inside: [data.node, h("div", { class: "fields" }, key.node), attributes.node],
    async submit() {
      const message = { data: base64(data.input.value) || undefined, orderingKey: key.input.value || undefined, attributes: attributes.pairs() }
      const { messageIds: [id] } = await pubsub("POST", `${topicAt(page.id)}:publish`, { messages: [message] }, { has: "messageIds" })
      say(`The message ${id} is published.`)
      page.again()
    },
  })
}
