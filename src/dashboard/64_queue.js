
// A queue's page.

async function queuePage(id) {
  const crumb = crumbOf("#/", "Queues")
  const queue = await opened("Queue", crumb, () => get(queueAt(id), { has: "queueId" }), () => queuePage(id))
  if (!queue) return

  const page = { queue, deadLetterName: "" }
  const messages = messagesCard(page)
  const subscription = subscriptionCard(page)
  const settings = h("div", {})
  const overview = h("section", { class: "card", "aria-label": "Counts" })
  const charts = h("section", { class: "charts", "aria-label": `The last ${MINUTES} minutes` })

  page.again = () => {                     // after something was done
    watchAgain(overview)
    messages.load()
  }
  const changed = (now) => {
    page.queue = now
    settings.replaceChildren(settingsCard(page, async () => changed(await get(queueAt(queue.queue)))))
  }

  show(queue.name,
    h("div", { class: "head" },
      h("div", {}, crumb, h("h1", { tabindex: "-1" }, queue.name, " ", kindBadge(queue)),
        h("p", { class: "under" }, h("code", {}, queue.queue), " ",
          button("Copy id", () => copy(queue.queue, "The id"), "link"))),
      h("div", { class: "row", role: "group", "aria-label": "Actions" },
        button("Send message", () => sendMessage(page), "first"), button("Redrive…", () => redrive(page)),
        button("Purge…", () => purge(page), "danger"), button("Delete…", () => deleteQueue(page.queue), "danger"))),
    h("div", { class: "stack" }, overview, charts,
      h("div", { class: "halves" }, messages.node, h("div", { class: "stack" }, subscription, settings))))

  const see = (now) => {
    overview.replaceChildren(...tiles(now))
    const samples = remember(now)
    charts.replaceChildren(ratesChart(samples), depthChart(samples))
    if (now.updatedAt !== page.queue.updatedAt || now.counts.deadLetterSource !== page.queue.counts.deadLetterSource) {
      changed(now)
    }
    page.queue = now
  }
  see(queue)
  changed(queue)
  messages.load()
  watch(overview, async () => see(await get(queueAt(queue.queue))), toldIn(overview, "queue"))
}

function tiles(queue) {
  const { visible, inFlight, delayed, oldestMessageAgeSeconds: age } = queue.counts
  const t = queue.totals
  return [
    h("dl", { class: "tiles" }, tile("Visible", count(visible)), tile("In flight", count(inFlight)),
      tile("Delayed", count(delayed)), tile("Oldest message", visible + inFlight + delayed ? duration(age) : "–", `${count(age)} seconds`)),
    t && h("p", { class: "totals" }, `Since it was made or purged: ${count(t.sent)} sent, ${count(t.acknowledged)} acknowledged, `
      + `${count(t.expired)} expired, ${count(t.deadLettered)} dead-lettered`),
  ].filter(Boolean)
}

function settingsCard(page, done) {
  const q = page.queue
  const dead = h("span", {})
  const sources = h("span", {}, "…")

  if (q.redrivePolicy) {
    page.deadLetterName = q.redrivePolicy.deadLetterQueueId
    const link = h("a", { href: `#/queues/${page.deadLetterName}` }, page.deadLetterName)
    const waiting = h("span", {})
    dead.append(link, waiting)
    const look = async () => {
      const queue = await get(queueAt(q.redrivePolicy.deadLetterQueueId))
      page.deadLetterName = link.textContent = queue.name
      waiting.textContent = ` (${count(queue.counts.visible)} visible)`
    }
    look().catch(() => {})                 // the name is needed before it is seen
    watch(dead, look)
  }
  if (q.counts.deadLetterSource) sourceLinks(q, sources)
  return card("Settings", { head: button("Edit settings", () => editQueue(page.queue, page.deadLetterName, done), "plain") },
    pairs(
      ["Visibility timeout", duration(q.visibilityTimeoutSeconds)],
      ["Receive wait", duration(q.receiveWaitSeconds)],
      ["Retention", duration(q.retentionSeconds)],
      ["Delay", duration(q.delaySeconds)],
      ["Largest message", bytes(q.maxMessageBytes)],
      q.kind === "fifo" && ["Equal bodies", q.contentBasedDeduplication ? "are duplicates" : "are different messages"],
      ["Dead letters", ...(q.redrivePolicy
        ? ["to ", dead, ` after ${plural(q.redrivePolicy.maxReceiveCount, "receive")}`]
        : ["none: a message is tried until it expires"])],
      q.counts.deadLetterSource > 0 && ["Dead-letter queue of", sources],
      ["Created", moment(q.createdAt)],
      ["Changed", moment(q.updatedAt)]))
}

// The API tells how many; which ones is in the settings of the others.

async function sourceLinks(queue, box, pages = 5) {
  const n = queue.counts.deadLetterSource
  try {
    const { found, more } = await someQueues(pages)
    const sources = found.filter((q) => q.redrivePolicy?.deadLetterQueueId === queue.queueId)
    box.replaceChildren(...sources.flatMap((q, i) => (i ? [", ", queueLink(q)] : [queueLink(q)])))
    if (sources.length < n) {
      box.append(`${sources.length ? ", and " : ""}${plural(n - sources.length, "queue")} that ${more ? "the first pages of the list do not have" : "this key may not list"} `)
      if (more) box.append(button("Look further", () => sourceLinks(queue, box, pages * 4), "link"))
    }
  } catch {
    box.replaceChildren(`${plural(n, "queue")}, which this key may not list`)
  }
}
