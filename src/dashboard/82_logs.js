
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
      h("p", { class: "under" }, "The queues of the Queen API: of the project that the server has for it."))),
    h("div", { class: "tools" }, search.node, button("Refresh", () => showLogs(list))), list)
  showLogs(list)
}

// The rows stay the same elements as long as the names do: somebody may have the
// focus in one.

function showLogs(list) {
  const rows = new Map()
  let drawn = null

  forget()
  watch(list, async () => {
    const page = await someLogs()
    const lags = await logLags()
    list.removeAttribute("aria-busy")
    const names = JSON.stringify([page.logs.map((log) => log.name), page.next, lags.told])
    if (names !== drawn) {
      const inside = document.activeElement
      for (const log of page.logs) if (!rows.has(log.name)) rows.set(log.name, logRow(log))
      list.replaceChildren(...(page.logs.length ? [logTable(page.logs.map((log) => rows.get(log.name).row))] : [noLogs(page)]),
        ...(lags.told ? [h("p", { class: "muted small totals" }, lags.told)] : []), ...logPager(page, list))
      if (inside.isConnected) inside.focus()
      drawn = names
    }
    for (const log of page.logs) rows.get(log.name).put(log, lags)
  }, (error) => {
    if (error.passing && drawn !== null) return
    drawn = null
    list.removeAttribute("aria-busy")
    list.replaceChildren(...logsRefused(error, list))
  })
}

const logTable = (rows) => h("div", { class: "card table" }, h("table", { role: "table" },
  h("caption", { class: "hidden" }, "Logs, the counts of this moment and the consumer group that is furthest behind"),
  h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Name"), ["Partitions", "Messages", "Dead letters", "Lag"].map((text) =>
    h("th", { scope: "col", class: "n" }, text)), h("th", { scope: "col" }, "Furthest behind"))),
  h("tbody", { role: "rowgroup" }, rows)))

function logRow({ name }) {
  const cell = (label) => h("td", { class: "n", role: "cell", "data-label": label })
  const cells = ["Partitions", "Messages", "Dead letters", "Lag"].map(cell)
  const under = h("span", { class: "muted small labels" })
  const who = h("td", { class: "who small", role: "cell" })
  const row = h("tr", { role: "row" }, h("th", { scope: "row", role: "rowheader" }, logLink(name), under), cells, who)

  return {
    row,
    put(log, { behind, complete }) {
      const group = behind.get(log.name)
      const lag = group?.totalLag ?? (complete ? log.messages.pending : null)
      under.replaceChildren(...visibleText(labels(log)))
      ;[log.partitions, log.messages.total, log.messages.deadLetter, lag].forEach((n, i) => {
        cells[i].textContent = count(n)
        cells[i].classList.toggle("zero", !n)
      })
      who.replaceChildren(group ? groupName(group.name) : complete ? "nobody consumes it" : "")
    },
  }
}

// A page may be empty for a key that may read some only, and not be the last. Names
// that begin so stand behind that name itself, which is asked for by itself.

async function someLogs() {
  const { prefix } = logsListed
  let after = logsListed.after[logsListed.after.length - 1]
  const logs = after === "" && prefix ? await theLog(prefix) : []
  after ||= prefix
  for (let i = 0; ; i++) {
    const page = await queen("GET", `/resources/queues?${new URLSearchParams({ limit: LOGS, after })}`, "queen.read.queues", { has: "queues" })
    const right = page.queues.filter((log) => log.name.startsWith(prefix))
    logs.push(...right)
    const next = right.length === page.queues.length && (!prefix || page.next?.startsWith(prefix)) ? page.next : null
    if (logs.length || next === null || i === 9) return { logs, next }
    after = next
  }
}

async function theLog(name) {
  try {
    const { totals, ...log } = await queen("GET", `${logAt(name)}?limit=1`, "queen.read.queues", { has: "totals" })
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
    return { behind, complete, told: complete ? "" : `The lag is of the first ${GROUPS} consumer groups of the project; each log's page has all of its own.` }
  } catch (error) {
    if (error.code !== "permission_denied") throw error
    return { behind, complete: false, told: inWords(error) }
  }
}

function noLogs({ next }) {
  const box = (title, text) => h("div", { class: "card empty" }, h("h2", {}, title), h("p", {}, text))
  if (next !== null) return box("Nothing here", "This key may not see the logs of this page. There are more of them.")
  if (logsListed.prefix) return box("No such log", `No name begins with “${logsListed.prefix}”.`)
  return box("No log yet", "A log keeps messages in the order of each partition; consumer groups read it at their own pace. The first push makes it.")
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

function logsRefused(error, list) {
  return [note(inWords(error)), h("p", { class: "row again" }, button("Try again", () => showLogs(list)))]
}
