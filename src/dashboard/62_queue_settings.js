
// Creating, changing and deleting a queue.

const SETTINGS = [
  ["visibilityTimeoutSeconds", "Visibility timeout", "seconds", "30", "How long a message is hidden once it is received: 0 to 43,200."],
  ["receiveWaitSeconds", "Receive wait", "seconds", "0", "How long a receive waits for a message: 0 to 20."],
  ["retentionSeconds", "Retention", "seconds", "345600", "When a message expires: 60 to 1,209,600."],
  ["delaySeconds", "Delay", "seconds", "0", "How long a new message is hidden: 0 to 900."],
  ["maxMessageBytes", "Largest message", "bytes", "262144", "1,024 to 1,048,576."],
]

// the fields of a form; queue is null for a new one

async function queueFields(queue, deadLetterName = "") {
  let names = []
  try {
    names = (await someQueues()).found.filter((q) => q.queueId !== queue?.queueId).map((q) => q.name)
  } catch { /* no suggestions, then */ }

  const name = !queue && field("name", "Name", {
    wide: true, hint: "1 to 80 letters, digits, “_” or “-”. It cannot be changed later.", maxlength: 80,
  })
  const kind = !queue && field("kind", "Kind", {
    wide: true, value: "standard", options: [["standard", "Standard"], ["fifo", "FIFO: in order within groups"]],
  })
  const numbers = SETTINGS.map(([id, label, unit, usual, hint]) =>
    field(id, label, { type: "number", unit, hint, value: String(queue ? queue[id] : usual) }))
  const dedup = field("contentBasedDeduplication", "Take equal bodies for duplicates", {
    type: "checkbox", value: queue?.contentBasedDeduplication ?? false, wide: true,
    hint: "Messages without a deduplication id are told apart by their body, for 5 minutes.",
  })
  const dead = field("redrivePolicy.deadLetterQueueId", "Dead-letter queue", {
    list: names, value: deadLetterName, hint: "The name of a queue of the same kind, which is there already. Empty: none.",
  })
  const receives = field("redrivePolicy.maxReceiveCount", "Receives before that", {
    type: "number", value: String(queue?.redrivePolicy?.maxReceiveCount ?? 5), hint: "1 to 1,000.",
  })

  const fifo = () => (queue ? queue.kind : kind.input.value) === "fifo"
  const turn = () => { dedup.node.hidden = !fifo() }
  if (kind) kind.input.addEventListener("change", turn)
  turn()

  return {
    nodes: [h("div", { class: "fields" }, name && name.node, kind && kind.node, numbers.map((f) => f.node), dedup.node),
            h("fieldset", { class: "stack" }, h("legend", {}, "Dead letters"),
              h("div", { class: "fields" }, dead.node, receives.node))],
    values() {
      const values = queue ? {} : { name: name.text, kind: kind.input.value }
      SETTINGS.forEach(([id], i) => { values[id] = numbers[i].number })
      if (fifo()) values.contentBasedDeduplication = dedup.input.checked
      if (dead.text) values.redrivePolicy = { deadLetterQueueId: dead.text, maxReceiveCount: receives.number }
      else if (queue) values.redrivePolicy = null
      return values
    },
  }
}

async function createQueue() {
  const fields = await queueFields(null)
  const once = onceOnly()
  askIn({
    title: "Create a queue", action: "Create queue", inside: fields.nodes,
    async submit() {
      const values = fields.values()
      const queue = await post("/queues", values, once(values))
      say(`The queue ${queue.name} is there.`)
      location.hash = `#/queues/${queue.queue}`
    },
  })
}

// what is not changed is not sent: others may have changed it meanwhile

async function editQueue(queue, deadLetterName, done) {
  const fields = await queueFields(queue, deadLetterName)
  askIn({
    title: `Settings of ${queue.name}`, action: "Save", inside: fields.nodes,
    async submit() {
      const values = fields.values()
      for (const [name, value] of Object.entries(values)) if (value === queue[name]) delete values[name]
      const policy = values.redrivePolicy
      if (policy === null && !queue.redrivePolicy) delete values.redrivePolicy
      if (policy && policy.deadLetterQueueId === deadLetterName && policy.maxReceiveCount === queue.redrivePolicy?.maxReceiveCount) {
        delete values.redrivePolicy
      }
      await call("PATCH", queueAt(queue.queue), values)
      say("The settings are saved.")
      done()
    },
  })
}

function deleteQueue(queue) {
  confirmByName({
    title: `Delete ${queue.name}?`, name: queue.name, action: "Delete queue",
    warning: "Its messages and its subscription are deleted with it. There is no way back.",
    async submit() {
      await call("DELETE", queueAt(queue.queue))
      past.delete(queue.queueId)
      say(`The queue ${queue.name} is deleted.`)
      location.hash = "#/"
    },
  })
}
