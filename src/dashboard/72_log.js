
// A log's page.

async function logPage(name) {
  const crumb = crumbOf("#/logs", "Logs")
  const log = await opened("Log", crumb, () => oneLog(name), () => logPage(name))
  if (!log) return

  const page = { name, log }
  const messages = logMessages(page)
  const dead = deadLetters(page)
  const groups = groupsCard(page)
  const partitions = partitionsCard(page, messages)
  const options = h("div", {})
  const overview = h("section", { class: "card", "aria-label": "Counts" })
  const charts = h("section", { class: "charts", "aria-label": `The last ${MINUTES} minutes` })
  const moving = h("div", { class: "stack" }, overview, charts, groups.node)

  page.again = () => {                     // after something was done
    watchAgain(moving)
    for (const part of [messages, dead, partitions]) part.load()
  }
  page.changed = (now) => {
    page.log = now
    options.replaceChildren(optionsCard(page))
  }

  show(visibleString(name),
    h("div", { class: "head" },
      h("div", {}, crumb, h("h1", { tabindex: "-1" }, named(name)), h("p", { class: "under" }, visibleText(labels(log)))),
      h("div", { class: "row", role: "group", "aria-label": "Actions" },
        button("Push a message", () => pushMessage(page), "first"), button("Delete…", () => deleteLog(page), "danger"))),
    h("div", { class: "stack" }, maintenance(), moving,
      h("div", { class: "halves" }, h("div", { class: "stack" }, messages.node, dead.node),
        h("div", { class: "stack" }, options, partitions.node))))

  const see = (now, known) => {
    const samples = remember(sample(now, known.groups))
    overview.replaceChildren(logTiles(now, known))
    charts.replaceChildren(...logCharts(samples, known.groups))
    groups.show(known, samples)
    if (JSON.stringify(now.options) !== JSON.stringify(page.log.options)) page.changed(now)
    page.log = now
  }
  page.changed(log)
  for (const part of [messages, dead, partitions]) part.load()
  watch(moving, async () => see(await oneLog(name), await groupsOf(name)), toldIn(overview, "log"))
}

const oneLog = (name, partitions = 1) =>
  queen("GET", `${logAt(name)}?limit=${partitions}`, "queen.read.queues", { has: "totals" })

// as of a queue; what a group has passed grows as it consumes

function sample({ id, totals }, groups) {
  const counts = { messages: totals.total, dead: totals.deadLetter }
  const passed = { pushed: totals.pushed }
  for (const group of groups) {
    counts[`of ${group.name}`] = group.totalLag
    passed[`of ${group.name}`] = totals.pushed - group.totalLag
  }
  return { queueId: id, counts, totals: passed }
}

function logTiles({ totals }, { groups, refused }) {
  const lag = groups.length ? Math.max(...groups.map((group) => group.totalLag)) : refused ? null : totals.pending
  return h("dl", { class: "tiles" }, tile("Messages", count(totals.total)), tile("Largest lag", count(lag)),
    tile("Dead letters", count(totals.deadLetter)), tile("Partitions", count(totals.partitions)))
}

const short = (group) => {
  const text = group.name === QUEUE_MODE ? "no group" : visibleString(group.name)
  return text.length > 40 ? `${text.slice(0, 39)}…` : text
}

// the three groups that are furthest behind have a line

function logCharts(samples, groups) {
  const worst = byLag(groups).slice(0, 3)
  const rateOf = (kind, text, name) => [kind, text, rates(samples, name), rate(recent(samples, name))]
  const kinds = ["in", "out", "third"]
  return [
    chart("Rates", [rateOf("in", "pushed", "pushed"), ...worst.slice(0, 2).map((group, i) =>
      rateOf(kinds[i + 1], `consumed, ${short(group)}`, `of ${group.name}`))], rate),
    worst.length > 0 && chart("Lag", worst.map((group, i) =>
      [kinds[i], short(group), levels(samples, `of ${group.name}`), count(group.totalLag)]), count),
  ].filter(Boolean)
}

function deleteLog({ name, log }) {
  const shown = visibleString(name)
  confirmByName({
    title: `Delete ${shown}?`, name: shown, action: "Delete log",
    warning: `Its messages, ${count(log.totals.total)} at the last look, its consumer groups and its dead letters are deleted with it. `
             + "There is no way back.",
    async submit() {
      await queen("DELETE", logAt(name), "queen.admin.deleteQueue")
      past.delete(log.id)
      say(`The log ${shown} is deleted.`)
      location.hash = "#/logs"
    },
  })
}

// Partitions: those with most that is not consumed of the first ones that there are.

function partitionsCard(page, messages) {
  const list = h("div", {})
  const limit = h("select", { "aria-label": "Of how many", onchange: () => load() },
    [100, 1000].map((n) => h("option", { value: n }, `of the first ${count(n)}`)))
  const table = liveTable({
    caption: "Partitions, with what is not consumed of them without a group",
    columns: [["Partition"], ["Messages", "n"], ["Pending", "n"], ["Newest", "n"]],
    key: (partition) => partition.id,
    title: (partition) => button(named(partition.name), () => messages.only(partition.name), "link"),
    put(partition, [all, pending, newest]) {
      putNumber(all, partition.stats.total)
      putNumber(pending, partition.stats.pending)
      newest.replaceChildren(partition.newestMessage ? moment(partition.newestMessage) : "–")
    },
  })

  const load = loader(list, async () => {
    const { partitions, totals } = await oneLog(page.name, limit.value)
    const most = partitions.sort((a, b) => b.stats.pending - a.stats.pending || b.stats.total - a.stats.total).slice(0, 25)
    table.show(most)
    return [table.node, h("p", { class: "muted small" },
      `${count(most.length)} of ${plural(totals.partitions, "partition")}, those with most pending first.`)]
  })
  return { load, node: card("Partitions", { head: [limit, button("Refresh", load, "plain")], class: "table" }, list) }
}
