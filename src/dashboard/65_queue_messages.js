
// The messages of a queue: peeked at, which receives none of them; and sent.

const STATES = [["visible", "Visible"], ["inFlight", "In flight"], ["delayed", "Delayed"]]

const WITHOUT = {
  visible: "Nothing waits to be received. What is being worked on is in flight.",
  inFlight: "No message is with a receiver at the moment.",
  delayed: "No message waits for its delay to end.",
}

function messagesCard(page) {
  const name = newId("state")
  const list = h("div", {})
  const limit = h("select", { "aria-label": "How many", onchange: () => load() },
    [10, 25, 100].map((n) => h("option", { value: n }, `${n} at most`)))
  const choice = h("div", { class: "switch", role: "radiogroup", "aria-label": "State" }, STATES.map(([value, text]) =>
    h("label", {}, h("input", { type: "radio", name, value, checked: value === "visible", onchange: () => load() }), text)))
  const load = loader(list, async () => {
    const state = choice.querySelector(":checked").value
    const { messages } = await get(`${queueAt(page.queue.queue)}/messages?limit=${limit.value}&state=${state}`)
    return messages.length
      ? [h("p", { class: "muted small" }, `The first ${count(messages.length)}, as of `, moment(new Date().toISOString())),
         h("ol", {}, messages.map(messageItem))]
      : [h("div", { class: "empty" }, h("p", {}, WITHOUT[state]),
           state === "visible" && button("Send a test message", () => sendMessage(page)))]
  })

  return { load, node: card("Messages", { head: [choice, limit, button("Refresh", load, "plain")] }, list) }
}

function messageItem(m) {
  return h("li", { class: "message" },
    h("header", {}, h("code", {}, m.messageId), h("span", {}, "sent ", moment(m.sentAt)),
      h("span", {}, m.receiveCount ? `received ${plural(m.receiveCount, "time")}` : "never received"),
      m.groupId !== undefined && h("span", {}, "group ", h("bdi", {}, m.groupId), ` · ${m.seq}`)),
    attributeList(m.attributes),
    body(m.body))
}

function sendMessage(page) {
  const { queue } = page
  const fifo = queue.kind === "fifo"
  const text = field("body", "Body", { type: "textarea", hint: `Text of at most ${bytes(queue.maxMessageBytes)}.` })
  const attributes = pairsField("attributes", "Attribute", "At most 10, which receivers get beside the body.")
  const group = fifo && field("groupId", "Group", { hint: "Messages of a group are received in order." })
  const dedup = fifo && field("deduplicationId", "Deduplication id", {
    hint: queue.contentBasedDeduplication ? "Empty: the body tells." : "A second message with the same one is not stored, for 5 minutes.",
  })
  const delay = !fifo && field("delaySeconds", "Delay", {
    type: "number", unit: "seconds", hint: `0 to 900. Empty: the queue's, ${duration(queue.delaySeconds)}.`,
  })

  askIn({
    title: `Send a message to ${queue.name}`, action: "Send",
    inside: [text.node, h("div", { class: "fields" }, group && group.node, dedup && dedup.node, delay && delay.node), attributes.node],
    async submit() {
      const message = { body: text.input.value, attributes: attributes.pairs() }
      if (fifo) {
        if (group.text) message.groupId = group.text
        if (dedup.text) message.deduplicationId = dedup.text
      } else {
        message.delaySeconds = delay.number
      }
      const [stored] = (await post(`${queueAt(queue.queue)}/messages`, message)).messages
      say(stored.duplicate ? `It is a duplicate of ${stored.messageId} and was not stored again.` : `The message ${stored.messageId} is stored.`)
      page.again()
    },
  })
}
