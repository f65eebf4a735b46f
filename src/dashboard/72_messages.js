
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
  let calls = 0

  async function load() {
    const mine = ++calls
    const state = choice.querySelector(":checked").value
    list.setAttribute("aria-busy", "true")
    let shown
    try {
      const { messages } = await get(`${queueAt(page.queue.queue)}/messages?limit=${limit.value}&state=${state}`)
      shown = messages.length
        ? [h("p", { class: "muted small" }, `The first ${count(messages.length)}, as of `, moment(new Date().toISOString())),
           h("ol", {}, messages.map(messageItem))]
        : [h("div", { class: "empty" }, h("p", {}, WITHOUT[state]),
             state === "visible" && button("Send a test message", () => sendMessage(page)))]
    } catch (error) {
      shown = [note(inWords(error))]
    }
    if (mine !== calls) return
    list.removeAttribute("aria-busy")
    list.replaceChildren(...shown)
  }

  return { load, node: card("Messages", { head: [choice, limit, button("Refresh", load, "plain")] }, list) }
}

function messageItem(m) {
  const attributes = Object.entries(m.attributes ?? {})
  return h("li", { class: "message" },
    h("header", {}, h("code", {}, m.messageId), h("span", {}, "sent ", moment(m.sentAt)),
      h("span", {}, m.receiveCount ? `received ${plural(m.receiveCount, "time")}` : "never received"),
      m.groupId !== undefined && h("span", {}, "group ", h("bdi", {}, m.groupId), ` · ${m.seq}`)),
    attributes.length > 0 && h("dl", { class: "attributes" }, attributes.map(([key, value]) =>
      h("div", {}, h("dt", {}, key), h("dd", {}, h("code", {}, visibleText(value)))))),
    body(m.body))
}

function sendMessage(page) {
  const { queue } = page
  const fifo = queue.kind === "fifo"
  const text = field("body", "Body", { type: "textarea", hint: `Text of at most ${bytes(queue.maxMessageBytes)}.` })
  const rows = h("div", {})
  const attributes = h("fieldset", { class: "field" }, h("legend", {}, "Attributes"), rows,
    h("p", { class: "hint" }, "At most 10, which receivers get beside the body."),
    h("p", { class: "error", hidden: true }))
  const group = fifo && field("groupId", "Group", { hint: "Messages of a group are received in order." })
  const dedup = fifo && field("deduplicationId", "Deduplication id", {
    hint: queue.contentBasedDeduplication ? "Empty: the body tells." : "A second message with the same one is not stored, for 5 minutes.",
  })
  const delay = !fifo && field("delaySeconds", "Delay", {
    type: "number", unit: "seconds", hint: `0 to 900. Empty: the queue's, ${duration(queue.delaySeconds)}.`,
  })

  const addRow = () => {
    const key = h("input", { "aria-label": "Attribute name", placeholder: "name", autocomplete: "off", spellcheck: "false" })
    const row = h("div", { class: "pair" }, key,
      h("input", { "aria-label": "Attribute value", placeholder: "value", autocomplete: "off", spellcheck: "false" }),
      button("Remove", () => {
        row.remove()
        add.focus()
      }, "plain"))
    rows.append(row)
    key.focus()
  }
  const add = button("Add attribute", addRow, "plain")
  attributes.append(add)
  attributes.field = {
    name: "attributes", hidden: () => false, focus: () => (rows.querySelector("input") ?? add).focus(),
    wrong: (words) => {
      const line = attributes.querySelector(".error")
      line.textContent = words
      line.hidden = words === ""
    },
  }

  askIn({
    title: `Send a message to ${queue.name}`, action: "Send",
    inside: [text.node, h("div", { class: "fields" }, group && group.node, dedup && dedup.node, delay && delay.node), attributes],
    async submit() {
      const message = { body: text.input.value }
      const given = [...rows.children].map((row) => [...row.querySelectorAll("input")].map((input) => input.value)).filter(([key, value]) => key || value)
      if (new Set(given.map(([key]) => key)).size < given.length) {
        throw new Refused(400, "invalid_argument", "Two attributes have one name.", { field: "attributes" })
      }
      if (given.length) message.attributes = Object.fromEntries(given)
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
