
// Logs: the queues of the Queen API.

const LOG_LIST = {
  one: "log", many: "logs", search: "Names that begin with", exact: true, notFound: notBegun, show: showLogs, href: logHref,
  none: "A log keeps messages in the order of each partition; consumer groups read it at their own pace. The first push makes it.",
  first: () => button("Create the first log", () => createLog()),
}

function logsPage() {
  const list = h("div", { "aria-busy": "true" })
  show("Logs",
    h("div", { class: "head" }, h("div", {}, h("h1", { tabindex: "-1" }, "Logs"),
      h("p", { class: "under" }, "The queues of the Queen API, of the one project that this server has for it, whichever you have logged in to."))),
    listTools(LOG_LIST, list, button("Push a message", () => pushMessage({ again: () => watchAgain(list) }), "first"),
      button("Create log", () => createLog())), maintenance(), list)
  showLogs(list)
}

// It is watched as a whole: a call has the counts of all its logs, another their lags.

function showLogs(list) {
  const mine = ++newest
  const walk = walkOf(LOG_LIST)
  let drawn = null
  let lags
  const table = lagTable(() => lags)

  forget()
  watch(list, async () => {
    const { logs, next } = await someLogs(walk)
    lags = await logLags()
    if (mine !== newest) return
    list.removeAttribute("aria-busy")
    table.show(logs)
    const frame = JSON.stringify([logs.length > 0, next, lags.told])
    if (frame === drawn) return
    drawn = frame
    list.replaceChildren(logs.length ? h("div", { class: "card table" }, table.node) : emptyList(LOG_LIST, next),
      ...(lags.told ? [h("p", { class: "muted small totals" }, lags.told)] : []), ...pager(walk, next, () => showLogs(list)))
  }, (error) => {
    if (mine !== newest || (error.passing && drawn !== null)) return
    drawn = null
    list.removeAttribute("aria-busy")
    list.replaceChildren(...listRefused(LOG_LIST, error, list))
  })
}

// lags(): of the logs that are shown, as logLags() tells

function lagTable(lags) {
  return liveTable({
    caption: "Logs, the counts of this moment and the consumer group that is furthest behind",
    columns: [["Name"], ["Partitions", "n"], ["Messages", "n"], ["Dead letters", "n"], ["Lag", "n"], ["Furthest behind", "who"]],
    key: (log) => `${log.name} ${labels(log)}`,
    title: (log) => [logLink(log.name), h("span", { class: "muted small labels" }, visibleText(labels(log)))],
    put(log, [partitions, messages, dead, lag, who]) {
      const { behind, complete } = lags()
      const group = behind.get(log.name)
      putNumber(partitions, log.partitions)
      putNumber(messages, log.messages.total)
      putNumber(dead, log.messages.deadLetter)
      putNumber(lag, group?.totalLag ?? (complete ? log.messages.pending : null))
      who.replaceChildren(group ? groupName(group.name) : complete ? "nobody consumes it" : "")
    },
  })
}

// The next page with something on it, of the first ten. Names that begin so stand behind
// that name itself, which is asked for by itself.

async function someLogs({ text: prefix, from }) {
  const first = from[from.length - 1]
  const logs = first === null && prefix ? await theLog(prefix) : []
  let after = first ?? prefix
  for (let i = 0; ; i++) {
    const query = new URLSearchParams({ limit: PAGE, after })
    const page = await queen("GET", `/resources/queues?${query}`, "queen.read.queues", { has: "queues" })
    const right = page.queues.filter((log) => log.name.startsWith(prefix))
    logs.push(...right)
    const next = right.length === page.queues.length && (!prefix || page.next?.startsWith(prefix)) ? page.next : null
    if (logs.length || next === null || i === 9) return { logs, next }
    after = next
  }
}

async function theLog(name) {
  try {
    const { totals, ...log } = await oneLog(name)
    return [{ ...log, partitions: totals.partitions, messages: totals }]
  } catch (error) {
    if (error.status === 404 || error.status === 403 || error.code === "invalid_argument") return []
    throw error
  }
}

// the group of each log that is furthest behind, as far as one page tells

async function logLags() {
  const behind = new Map()
  try {
    const groups = await queen("GET", `/consumer-groups?limit=${GROUPS}`, "queen.read.groups", { has: "length" })
    for (const group of groups) {
      if (!(behind.get(group.queueName)?.totalLag >= group.totalLag)) behind.set(group.queueName, group)
    }
    const complete = groups.length < GROUPS
    const first = `The lag is of the first ${GROUPS} consumer groups of the project; each log's page has all of its own.`
    return { behind, complete, told: complete ? "" : first }
  } catch (error) {
    if (error.code !== "permission_denied") throw error
    return { behind, complete: false, told: inWords(error) }
  }
}

// What is switched off for the whole project: told where it is, and to those alone
// who may switch it on again.

function maintenance() {
  const box = h("div", { class: "stack notices" })
  const switches = [
    ["popMaintenanceMode", "/system/maintenance/pop",
     "Pops are switched off: consumers of this project are told that there is nothing, in all logs.", "Switch pops on"],
    ["maintenanceMode", "/system/maintenance", "Maintenance is on: clients that ask are told so. Pushes are stored as ever.", "End maintenance"],
  ]
  const look = async () => {
    const state = await queen("GET", "/system/maintenance", "queen.admin.maintenance", { has: "maintenanceMode" })
    box.replaceChildren(...switches.filter(([name]) => state[name]).map(([, path, text, end]) =>
      h("div", { class: "note warn row" }, h("span", {}, text), button(end, turnOff(path), "plain"))))
  }
  const turnOff = (path) => async () => {
    try {
      await queen("POST", path, "queen.admin.maintenance", { body: { enabled: false } })
      say("It is over.")
      await look()
      focusTitle()
    } catch (error) {
      say(inWords(error))
    }
  }
  look().catch(() => {})                   // who may not know need not
  return box
}
