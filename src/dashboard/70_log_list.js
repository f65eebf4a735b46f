
// Logs: the queues of the Queen API, whose location has a project of its own.

// what is called, with the permission that a refusal does not name

const queen = (method, path, needs, { body, ...more } = {}) =>
  call(method, path, body, { api: QUEEN, needs, ...more })

// A name in a path. Browsers take dots away, and other ones have no place there.

function inPath(name) {
  if (name === "" || name === "." || name === ".." || !whole(name)) {
    throw new Refused(400, "invalid_argument", "A browser cannot ask for something of this name: it stands in a path.")
  }
  return encodeURIComponent(name)
}

const logAt = (name) => `/resources/queues/${inPath(name)}`

// names are any text, also none

const named = (name) => h("bdi", {}, name === "" ? "(no name)" : visibleText(name))
const logHref = (name) => `#/logs/${encodeURIComponent(name)}`
const logLink = (name) => (whole(name) && name !== "" ? h("a", { href: logHref(name) }, named(name)) : named(name))
const labels = (log) => [log.namespace, log.task].filter((label) => label && label !== log.name).join(" / ")

const QUEUE_MODE = "__QUEUE_MODE__"
const groupName = (name) => (name === QUEUE_MODE ? "no group" : named(name))

const LOGS = 25
const GROUPS = 100
const logsListed = { prefix: "", after: [""] }      // the name before each page so far

function logsPage() {
  const search = field("log-prefix", "Names that begin with", { value: logsListed.prefix, type: "search" })
  const list = h("div", { "aria-busy": "true" })
  let typing

  search.node.querySelector("label").className = "hidden"
  search.node.classList.add("search")
  search.input.placeholder = "Names that begin with …"
  search.input.addEventListener("input", () => {
    clearTimeout(typing)
    typing = setTimeout(() => {
      Object.assign(logsListed, { prefix: search.input.value, after: [""] })
      showLogs(list)
    }, 250)
  })

  show("Logs",
    h("div", { class: "head" }, h("div", {}, h("h1", { tabindex: "-1" }, "Logs"),
      h("p", { class: "under" }, "The queues of the Queen API, of the one project that this server has for it, whichever you have logged in to."))),
    h("div", { class: "tools" }, search.node, button("Refresh", () => showLogs(list)),
      h("span", { class: "end row" }, button("Push a message", () => pushMessage({ again: () => watchAgain(list) }), "first"),
        button("Create log", () => createLog()))), maintenance(), list)
  showLogs(list)
}

function showLogs(list) {
  const mine = ++newest
  let drawn = null
  let lags
  const table = liveTable({
    caption: "Logs, the counts of this moment and the consumer group that is furthest behind",
    columns: [["Name"], ["Partitions", "n"], ["Messages", "n"], ["Dead letters", "n"], ["Lag", "n"], ["Furthest behind", "who"]],
    key: (log) => `${log.name} ${labels(log)}`,
    title: (log) => [logLink(log.name), h("span", { class: "muted small labels" }, visibleText(labels(log)))],
    put(log, [partitions, messages, dead, lag, who]) {
      const group = lags.behind.get(log.name)
      putNumber(partitions, log.partitions)
      putNumber(messages, log.messages.total)
      putNumber(dead, log.messages.deadLetter)
      putNumber(lag, group?.totalLag ?? (lags.complete ? log.messages.pending : null))
      who.replaceChildren(group ? groupName(group.name) : lags.complete ? "nobody consumes it" : "")
    },
  })

  forget()
  watch(list, async () => {
    const page = await someLogs()
    lags = await logLags()
    if (mine !== newest) return
    list.removeAttribute("aria-busy")
    table.show(page.logs)
    const frame = JSON.stringify([page.logs.length > 0, page.next, lags.told])
    if (frame === drawn) return
    drawn = frame
    list.replaceChildren(page.logs.length ? h("div", { class: "card table" }, table.node) : noLogs(page),
      ...(lags.told ? [h("p", { class: "muted small totals" }, lags.told)] : []), ...logPager(page, list))
  }, (error) => {
    if (mine !== newest || (error.passing && drawn !== null)) return
    drawn = null
    list.removeAttribute("aria-busy")
    list.replaceChildren(...logsRefused(error, list))
  })
}

// A page may be empty for a key that may read some only, and not be the last. Names
// that begin so stand behind that name itself, which is asked for by itself.

async function someLogs() {
  const { prefix } = logsListed
  let after = logsListed.after[logsListed.after.length - 1]
  const logs = after === "" && prefix ? await theLog(prefix) : []
  after ||= prefix
  for (let i = 0; ; i++) {
    const query = new URLSearchParams({ limit: LOGS, after })
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

function noLogs({ next }) {
  const box = (title, text, ...more) => h("div", { class: "card empty" }, h("h2", {}, title), h("p", {}, text), more)
  if (next !== null) return box("Nothing here", "This key may not see the logs of this page. There are more of them.")
  if (logsListed.prefix) return box("No such log", `No name begins with “${logsListed.prefix}”.`)
  return box("No log yet", "A log keeps messages in the order of each partition; consumer groups read it at their own pace. The first push makes it.",
    button("Create the first log", () => createLog()))
}

function logPager({ next }, list) {
  const { after } = logsListed
  const turn = (change) => () => {
    change()
    showLogs(list)
    focusTitle()
  }
  const back = after.length > 1 && button("Previous", turn(() => after.pop()))
  const on = next !== null && button("Next", turn(() => after.push(next)))
  if (!back && !on) return []
  return [h("nav", { class: "pages", "aria-label": "Pages" },
    h("span", { class: "muted small" }, `Page ${after.length}`), h("span", { class: "row" }, back, on))]
}

// who may not list may still know a name

function logsRefused(error, list) {
  const again = h("p", { class: "row again" }, button("Try again", () => showLogs(list)))
  if (error.code !== "permission_denied") return [note(inWords(error)), again]
  const name = field("name", "Open a log by its name")
  return [note(inWords(error)), h("form", {
    class: "tools again", novalidate: true, onsubmit: (event) => {
      event.preventDefault()
      if (name.input.value) location.hash = logHref(name.input.value)
    },
  }, h("div", { class: "search" }, name.node), h("button", { type: "submit" }, "Open"))]
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
