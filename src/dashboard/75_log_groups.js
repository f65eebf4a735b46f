
// The consumer groups of a log.

const GROUP_PAGES = 5
const GROUP_ROWS = 50

async function groupsOf(name) {
  const groups = []
  let last = null
  try {
    for (let i = 0; i < GROUP_PAGES; i++) {
      const query = new URLSearchParams({ queue: name, limit: GROUPS, ...(last && { after: last.name, afterQueue: last.queueName }) })
      const page = await queen("GET", `/consumer-groups?${query}`, "queen.read.groups", { has: "length" })
      groups.push(...page)
      if (page.length < GROUPS) return { groups }
      last = page[page.length - 1]
    }
    return { groups, more: true }
  } catch (error) {
    if (error.code !== "permission_denied") throw error
    return { groups, refused: error }
  }
}

const byLag = (groups) => [...groups].sort((a, b) => b.totalLag - a.totalLag)

function groupsCard(page) {
  const box = h("div", { "aria-busy": "true" })
  const about = h("p", { class: "muted small about" })
  let samples = []
  let drawn = null

  const table = liveTable({
    caption: "Consumer groups, and how far they are behind",
    columns: [["Group"], ["Lag", "n"], ["Oldest waits", "n"], ["Behind in", "n"], ["Consumes", "n"], ["Actions", "acts"]],
    key: (group) => group.name,
    title: (group) => (group.name === QUEUE_MODE ? ["no group ", h("span", { class: "muted small labels" }, QUEUE_MODE)] : named(group.name)),
    put(group, [lag, waits, partitions, rateCell, acts]) {
      putNumber(lag, group.totalLag)
      putNumber(waits, group.maxTimeLag, group.totalLag ? duration(group.maxTimeLag) : "–")
      waits.classList.toggle("late", group.state === "Lagging")
      putNumber(partitions, group.partitionsWithLag, plural(group.partitionsWithLag, "partition"))
      rateCell.textContent = samples.length ? rate(recent(samples, `of ${group.name}`)) : "–"
      if (!acts.firstChild) {
        acts.append(button("Partitions", () => showPartitions(page, group.name), "plain"), button("Seek…", () => seekGroup(page, group.name), "plain"),
          button("Delete…", () => deleteGroup(page, group.name), "danger plain"))
      }
    },
  })

  function show({ groups, more, refused }, from) {
    samples = from
    const worst = groups.length > GROUP_ROWS ? new Set(byLag(groups).slice(0, GROUP_ROWS)) : null
    table.show(worst ? groups.filter((group) => worst.has(group)) : groups)
    about.textContent = [worst && `${count(GROUP_ROWS)} of ${count(groups.length)} groups, those that are furthest behind.`,
      more && `Only the first ${count(groups.length)} groups were looked at, in the order of their names.`].filter(Boolean).join(" ")
    const frame = groups.length ? "table" : refused ? inWords(refused) : "none"
    if (frame === drawn) return
    drawn = frame
    box.removeAttribute("aria-busy")
    box.replaceChildren(groups.length ? table.node : refused ? note(frame)
      : h("div", { class: "empty" }, h("p", {}, "Nobody has consumed this log yet. A group is there from its first pop on.")), about)
  }

  return { show, node: card("Consumer groups", { class: "table" }, box) }
}

const groupAt = (group) => `/consumer-groups/${inPath(group)}`
const shownGroup = (group) => visibleString(group)

// A dialog with each partition that the group has: one call, when it is asked for.

const PARTITIONS = 100

function showPartitions(page, group) {
  const list = h("div", {})
  const load = loader(list, async () => {
    const logs = await queen("GET", groupAt(group), "queen.read.groups")
    const all = Object.hasOwn(logs ?? {}, page.name) ? logs[page.name].partitions : []
    if (all.length === 0) return [h("p", { class: "muted" }, "The group has popped no partition of this log.")]
    const most = all.sort((a, b) => b.offsetLag - a.offsetLag || b.leaseActive - a.leaseActive).slice(0, PARTITIONS)
    const leased = all.filter((partition) => partition.leaseActive).length
    const table = liveTable({
      caption: "Partitions of the group, with their leases",
      columns: [["Partition"], ["Lag", "n"], ["Consumed", "n"], ["Last", "n"], ["Lease", "who"]],
      key: (partition) => partition.partition,
      title: (partition) => named(partition.partition),
      put(partition, [lag, consumed, last, lease]) {
        putNumber(lag, partition.offsetLag)
        putNumber(consumed, partition.totalConsumed)
        last.replaceChildren(moment(partition.lastConsumedAt))
        lease.replaceChildren(partition.leaseActive
          ? h("span", { class: "badge ok", title: partition.workerId }, "leased") : h("span", { class: "muted small" }, "no lease"))
      },
    })
    table.show(most)
    return [table.node, h("p", { class: "muted small" },
      `${count(most.length)} of ${plural(all.length, "partition")} that it has popped, those furthest behind first. ${count(leased)} leased.`)]
  })
  askIn({ title: `Partitions of ${shownGroup(group)}`, inside: list, cancel: "Close" })
  load()
}

function seekGroup(page, group) {
  const to = field("to", "Go on", {
    value: "end", options: [["start", "at the beginning, with the oldest"], ["end", "at the end, with the next one"],
                            ["time", "at a time, with the first one since"]],
  })
  const time = field("timestamp", "Time", { type: "datetime-local", step: "1", hint: "As the clock of this browser." })
  const partition = field("partition", "Partition", { hint: "That one alone. Empty: all of this log." })
  const turn = () => { time.node.hidden = to.input.value !== "time" }
  to.input.addEventListener("change", turn)
  turn()

  confirmIn({
    title: `Seek ${shownGroup(group)}?`, action: "Seek group", kind: "first",
    inside: [h("p", {}, "Its place in this log changes. What it skips is not delivered to it, what it goes back over comes again. "
                        + "Its leases are over: who works on something cannot acknowledge it any more."), partition.node, to.node, time.node],
    async submit() {
      const body = to.input.value === "end" ? { toEnd: true }
        : { timestamp: to.input.value === "start" ? "1970-01-01T00:00:00Z" : chosenTime(time) }
      const one = partition.input.value
      const at = `${groupAt(group)}/queues/${inPath(page.name)}${one && `/partitions/${inPath(one)}`}/seek`
      const { partitionsUpdated: n } = await queen("POST", at, "queen.use.seek", { body })
      say(`${shownGroup(group)} goes on elsewhere in ${one ? `the partition ${visibleString(one)}` : plural(n, "partition")}.`)
      page.again()
    },
  })
}

function chosenTime(time) {
  const date = new Date(time.input.value)
  if (Number.isNaN(date.getTime())) throw new Refused(400, "invalid_argument", "Choose a date and a time.", { field: "timestamp" })
  return date.toISOString()
}

function deleteGroup(page, group) {
  const shown = shownGroup(group)
  confirmByName({
    title: `Delete the group ${shown}?`, name: shown, action: "Delete group",
    warning: "Its places in this log are forgotten. If it pops again, it begins as a new group does. The messages stay.",
    async submit() {
      await queen("DELETE", `${groupAt(group)}/queues/${inPath(page.name)}`, "queen.admin.deleteGroup")
      say(`The group ${shown} is deleted.`)
      page.again()
    },
  })
}
