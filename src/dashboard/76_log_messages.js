
// The messages of a log, looked at, and its dead letters. Payloads keep their text.

// The texts of what is called name in the objects of an answer's list: numbers lose
// digits once they are parsed. It is JSON, and may be too long for a pattern.

function memberTexts(text, name) {
  const wanted = JSON.stringify(name)
  const found = []
  let depth = 0
  let key = null
  let from = -1
  for (let i = 0; i < text.length; i++) {
    const c = text[i]
    if (c === '"') {
      const start = i++
      while (text[i] !== '"') i += text[i] === "\\" ? 2 : 1
      if (depth === 3 && from < 0) key = text.slice(start, i + 1)
    } else if (c === "{" || c === "[") {
      depth++
    } else if (depth === 3 && c === ":" && from < 0 && key === wanted) {
      from = i + 1
    } else if (depth === 3 && (c === "," || c === "}") && from >= 0) {
      found.push(text.slice(from, i))
      from = -1
      key = null
    }
    if (c === "}" || c === "]") depth--
  }
  return found
}

function withPayloads(text) {
  const answer = JSON.parse(text)
  const texts = memberTexts(text, "data")
  answer.messages?.forEach((message, i) => { message.text = texts[i] })
  return answer
}

const lookAt = (path, query, needs) => queen("GET", `${path}?${query}`, needs, { has: "messages", read: withPayloads })

const paged = (limit) => h("select", { "aria-label": "How many" }, limit.map((n) => h("option", { value: n }, `${n} at most`)))

// Earlier and later pages of a list whose newest are first

function turner(load) {
  const line = h("div", { class: "row again" })
  const state = { offset: 0, line }
  const turn = (by) => () => {
    state.offset = Math.max(0, state.offset + by)
    load()
  }
  state.show = (size, more) => line.replaceChildren(...[
    state.offset > 0 && button("Newer", turn(-size), "plain"), more && button("Older", turn(size), "plain"),
  ].filter(Boolean))
  return state
}

const STATUSES = [["", "All messages"], ["pending", "Pending"], ["processing", "Leased"], ["completed", "Completed"], ["dead_letter", "Dead letter"]]
const STATUS_KINDS = { pending: "", processing: "warn", completed: "ok", dead_letter: "bad" }

function logMessages(page) {
  const list = h("div", {})
  const anew = () => {
    pages.offset = 0
    load()
  }
  const limit = paged([10, 25, 100])
  const status = h("select", { "aria-label": "Status" }, STATUSES.map(([value, text]) => h("option", { value }, text)))
  const partition = h("input", { type: "search", "aria-label": "Partition", placeholder: "All partitions", autocomplete: "off", spellcheck: "false" })
  for (const input of [limit, status, partition]) input.addEventListener("change", anew)

  const load = loader(list, async () => {
    const query = new URLSearchParams({
      queue: page.name, from: "1970-01-01T00:00:00Z", limit: limit.value, offset: pages.offset,
      ...(status.value && { status: status.value }), ...(partition.value && { partition: partition.value }),
    })
    const { messages } = await lookAt("/messages", query, "queen.read.messages")
    const size = Number(limit.value)                 // of which a status chooses
    pages.show(size, status.value ? pages.offset + size < page.log.totals.total : messages.length === size)
    if (messages.length) {
      const asOf = h("p", { class: "muted small" }, "The newest first, as of ", moment(new Date().toISOString()))
      return [asOf, h("ol", {}, messages.map(logMessage)), pages.line]
    }
    return [h("div", { class: "empty" }, h("p", {}, "Nothing of that kind is here."),
      button("Push a test message", () => pushMessage(page))), pages.line]
  })
  const pages = turner(load)

  return {
    load,
    only(name) {
      partition.value = name
      anew()
      partition.focus()
    },
    node: card("Messages", { head: [status, limit, button("Refresh", load, "plain")] },
      h("div", { class: "tools" }, h("div", { class: "search" }, partition)), list),
  }
}

function logMessage(m) {
  const { consumedBy, totalGroups } = m.busStatus
  const told = STATUSES.find(([value]) => value === m.status)?.[1] ?? m.status
  return h("li", { class: "message" },
    h("header", {}, h("code", {}, named(m.transactionId)), h("span", {}, "in ", named(m.partition)), h("span", {}, "pushed ", moment(m.createdAt)),
      h("span", { class: `badge ${STATUS_KINDS[m.status] ?? ""}` }, told),
      totalGroups > 0 && h("span", {}, `consumed by ${count(consumedBy)} of ${plural(totalGroups, "group")}`),
      m.leaseExpiresAt && h("span", {}, "leased until ", moment(m.leaseExpiresAt)),
      m.producerSub && h("span", {}, "by ", named(m.producerSub)), m.traceId && h("span", {}, "trace ", named(m.traceId))),
    body(m.text))
}

// Dead letters.

const DEAD = 10

function deadLetters(page) {
  const list = h("div", {})
  const purge = button("Purge…", () => purgeDead(page), "danger plain")
  const load = loader(list, async () => {
    const query = new URLSearchParams({ queue: page.name, limit: DEAD, offset: pages.offset })
    const { messages, total } = await lookAt("/dlq", query, "queen.read.deadLetters")
    if (messages.length === 0 && pages.offset > 0) {        // the last ones of the last page are gone
      pages.offset = 0
      return load()
    }
    purge.hidden = total === 0
    pages.show(DEAD, pages.offset + messages.length < total)
    if (messages.length === 0) {
      return [h("div", { class: "empty" }, h("p", {}, "None. What a group fails too often comes here, and stays until somebody takes it away."))]
    }
    return [h("p", { class: "muted small" }, `${plural(total, "dead letter")}, the newest first`),
      h("ol", {}, messages.map((m) => deadLetter(page, m))), pages.line]
  })
  const pages = turner(load)
  purge.hidden = true
  return { load, node: card("Dead letters", { head: [purge, button("Refresh", load, "plain")] }, list) }
}

function deadLetter(page, m) {
  return h("li", { class: "message" },
    h("header", {}, h("code", {}, named(m.transactionId)), h("span", {}, "in ", named(m.partition)),
      h("span", {}, "of ", groupName(m.consumerGroup)),
      h("span", {}, "failed ", moment(m.failedAt)), h("span", {}, m.retryCount ? plural(m.retryCount, "retry", "retries") : "not tried again")),
    h("p", { class: "note bad again" }, m.errorMessage ? visibleText(m.errorMessage) : "No error was told."),
    body(m.text),
    h("div", { class: "row" }, button("Push again…", () => pushAgain(page, m), "plain"),
      button("Delete…", () => deleteDead(page, m), "danger plain")))
}

const messageAt = (m) => `/messages/${inPath(m.partitionId)}/${inPath(m.transactionId)}`

function pushAgain(page, m) {
  confirmIn({
    title: "Push it again?", action: "Push again", kind: "first",
    inside: h("p", {}, "It goes to the end of its partition, with another transaction id, and all groups get it. It leaves the dead letters; "
                       + "where several groups have failed the same message, the newest of these does."),
    async submit() {
      const { newTransactionId } = await queen("POST", `${messageAt(m)}/retry`, "queen.use.retryMessage", { body: {} })
      say(`It is pushed again, as ${newTransactionId}.`)
      page.again()
    },
  })
}

function deleteDead(page, m) {
  confirmIn({
    title: "Delete the dead letter?", action: "Delete dead letter",
    inside: h("p", {}, "The message leaves the dead letters, of all groups. There is no way back. In the log it stays as long as the log keeps it."),
    async submit() {
      await queen("DELETE", messageAt(m), "queen.use.deleteMessage")
      say("The dead letter is deleted.")
      page.again()
    },
  })
}

function purgeDead(page) {
  const shown = visibleString(page.name)
  confirmByName({
    title: `Purge the dead letters of ${shown}?`, name: shown, action: "Purge dead letters",
    warning: `All of them are deleted, ${count(page.log.totals.deadLetter)} at the last look. There is no way back.`,
    async submit() {
      const { deleted } = await queen("DELETE", `/dlq?${new URLSearchParams({ queue: page.name })}`, "queen.admin.purgeDeadLetters")
      say(`${plural(deleted, "dead letter")} deleted.`)
      page.again()
    },
  })
}

// A push: of the log whose page it is, or of any. The payload goes as it is written.

function pushMessage(page) {
  const queue = page.name === undefined && field("queue", "Log", { hint: "It comes into being with the first push." })
  const partition = field("partition", "Partition", { placeholder: "Default", hint: "Messages of a partition are kept in order." })
  const id = field("transactionId", "Transaction id", { hint: "Empty: a new one. A second message with the same one is not stored again." })
  const payload = field("payload", "Payload", { type: "textarea", hint: "JSON, such as {\"id\": 1} or \"text\"." })

  askIn({
    title: page.name === undefined ? "Push a message" : `Push a message to ${visibleString(page.name)}`, action: "Push",
    inside: [h("div", { class: "fields" }, queue && queue.node, partition.node, id.node), payload.node],
    async submit() {
      const name = page.name ?? queue.input.value
      const wrong = (text, at) => { throw new Refused(400, "invalid_argument", text, { field: at }) }
      if (name === "") wrong("Write the name of a log.", "queue")
      try {
        JSON.parse(payload.input.value)
      } catch (error) {
        wrong(`This is no JSON: ${error.message}`, "payload")
      }
      const rest = JSON.stringify({ queue: name, ...(partition.input.value && { partition: partition.input.value }),
                                    ...(id.input.value && { transactionId: id.input.value }) })
      const [stored] = await queen("POST", "/push", "queen.push", { body: `{"items":[${rest.slice(0, -1)},"payload":${payload.input.value}}]}` })
      const shown = visibleString(stored.transaction_id)
      say(stored.status === "duplicate" ? `There is a message ${shown} already: it was not stored again.` : `The message ${shown} is stored.`)
      page.again()
    },
  })
}
