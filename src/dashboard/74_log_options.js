
// The options of a log. A change replaces all of them: what the form does not have is
// sent as it was.

const OPTIONS = [
  ["leaseTime", "Lease", "seconds", "300", "How long a consumer has for what it popped. 0 is 60."],
  ["retryLimit", "Retries", null, "3", "How often what failed comes again."],
  ["delayedProcessing", "Delay", "seconds", "0", "How long a new message is not delivered."],
  ["windowBuffer", "Window", "seconds", "0", "A partition is delivered when its newest message is that old, or 100 are there. 0: at once."],
  ["dedupWindowSeconds", "Deduplication window", "seconds", "3600", "For how long a transaction id is known. 0: not at all."],
  ["maxWaitTimeSeconds", "Longest wait", "seconds", "0", "Messages of this age leave, whatever else is said here. 0: never."],
  ["retentionSeconds", "Retention", "seconds", "0", "Messages of this age leave, consumed or not. 0: never."],
  ["completedRetentionSeconds", "Retention once consumed", "seconds", "0", "Those that every group has consumed leave at this age. 0: never."],
]

// those by which a message leaves count only while this one says so
const KEPT_OPTIONS = ["retentionSeconds", "completedRetentionSeconds"]

const keepsDead = (options) => options.deadLetterQueue || options.dlqAfterMaxRetries

function optionsCard(page) {
  const { options, namespace, task, id, createdAt } = page.log
  const seconds = (name) => (options[name] ? duration(options[name]) : "–")
  return card("Options", { head: button("Change options", () => editLog(page), "plain") }, pairs(
    ["Namespace", namespace ? named(namespace) : "–"],
    ["Task", task ? named(task) : "–"],
    ...OPTIONS.map(([name, label, unit]) =>
      [label, KEPT_OPTIONS.includes(name) && !options.retentionEnabled ? "off" : unit ? seconds(name) : count(options[name])]),
    ["What failed too often", keepsDead(options) ? "becomes a dead letter" : "is dropped"],
    ["Stored encrypted", options.encryptionEnabled ? "yes" : "no"],
    ["Created", moment(createdAt)],
    ["Id", h("code", {}, id)]))
}

// log is null for a new one; changes() are those that somebody has made

function logFields(log) {
  const was = log?.options
  const texts = {
    namespace: field("namespace", "Namespace", { value: log?.namespace ?? "" }),
    task: field("task", "Task", { value: log?.task ?? "", hint: "Pops by labels take from all logs of a namespace or a task." }),
  }
  const numbers = OPTIONS.map(([name, label, unit, usual, hint]) => {
    const before = String(was?.[name] ?? usual)
    return { name, before, field: field(name, label, { type: "number", unit, hint, value: before }) }
  })
  const check = (name, label, checked, hint) => field(name, label, { type: "checkbox", wide: true, value: Boolean(checked), hint })
  const retention = check("retentionEnabled", "Retention is on", was?.retentionEnabled, "Without it neither retention counts.")
  const dead = check("deadLetterQueue", "Keep what failed too often as a dead letter", was ? keepsDead(was) : true, "Else it is dropped.")
  const sealed = check("encryptionEnabled", "Store payloads encrypted", was?.encryptionEnabled, "What is pushed from now on.")

  return {
    nodes: h("div", { class: "fields" }, texts.namespace.node, texts.task.node, numbers.map(({ field: f }) => f.node),
      retention.node, dead.node, sealed.node),
    changes() {
      const options = {}
      for (const { name, before, field: f } of numbers) if (f.text !== before) options[name] = f.number ?? 0
      for (const [name, { input }] of [["retentionEnabled", retention], ["encryptionEnabled", sealed]]) {
        if (input.checked !== Boolean(was?.[name])) options[name] = input.checked
      }
      if (dead.input.checked !== (was ? Boolean(keepsDead(was)) : true)) {
        options.deadLetterQueue = options.dlqAfterMaxRetries = dead.input.checked
      }
      const changed = { options }
      for (const [name, { input }] of Object.entries(texts)) if (input.value !== (log?.[name] ?? "")) changed[name] = input.value
      return changed
    },
  }
}

// others may have changed something since the page has asked

function editLog(page) {
  const shown = visibleString(page.name)
  const fields = logFields(page.log)
  askIn({
    title: `Options of ${shown}`, action: "Save", inside: fields.nodes,
    async submit() {
      const { options, ...texts } = fields.changes()
      const now = await oneLog(page.name)
      await queen("POST", "/configure", "queen.use.configure", { body: {
        queue: page.name, namespace: now.namespace, task: now.task, ...texts, options: { ...now.options, ...options },
      } })
      say(`The options of ${shown} are saved.`)
      page.changed(await oneLog(page.name))
    },
  })
}

function createLog() {
  const name = field("queue", "Name", { wide: true, hint: "It cannot be changed later." })
  const fields = logFields(null)
  askIn({
    title: "Create a log", action: "Create log", inside: [h("div", { class: "fields" }, name.node), fields.nodes],
    async submit() {
      const queue = name.input.value
      if (queue === "") throw new Refused(400, "invalid_argument", "Write a name.", { field: "queue" })
      const { options, ...texts } = fields.changes()
      if ((await theLog(queue)).length) {            // it would have these options then
        throw new Refused(409, "already_exists", "There is a log of this name.", { field: "queue" })
      }
      await queen("POST", "/configure", "queen.use.configure", { body: { queue, ...texts, options } })
      say(`The log ${visibleString(queue)} is there.`)
      location.hash = logHref(queue)
    },
  })
}
