
// The queues of the project.

const QUEUE_LIST = {
  one: "queue", many: "queues", search: "Names that begin with", notFound: notBegun, show: showQueues,
  href: (name) => `#/queues/${encodeURIComponent(name)}`,
  none: "A queue keeps messages until somebody receives and acknowledges them, or delivers them to an endpoint.",
  first: () => button("Create the first queue", () => createQueue(), "first"),
}

const QUEUE_COUNTS = [["Visible", "visible"], ["In flight", "inFlight"], ["Delayed", "delayed"]]

function queueLink(queue, text = queue.name) {
  return h("a", { href: `#/queues/${queue.queue}` }, text)
}

const kindBadge = (queue) => queue.kind === "fifo" && h("span", { class: "badge" }, "FIFO")

async function listPage() {
  const list = h("div", {})
  show("Queues",
    h("div", { class: "head" }, h("div", {}, h("h1", { tabindex: "-1" }, "Queues"))),
    listTools(QUEUE_LIST, list, button("Create queue", () => createQueue(), "first")), list)
  await showQueues(list)
}

function showQueues(list) {
  const walk = walkOf(QUEUE_LIST)
  return fillList(QUEUE_LIST, list, () => someQueuesOf(walk), ({ queues, nextPageToken: next }) => [
    queues.length ? tableOf("Queues, the counts of this moment and the rates of the last minutes",
      [["Name"], ...QUEUE_COUNTS.map(([label]) => [label, "n"]), ["Oldest", "n"], [`Rates, ${MINUTES} min`]], queues.map(queueRow))
      : emptyList(QUEUE_LIST, next),
    ...pager(walk, next, () => showQueues(list)),
  ])
}

// the next page with something on it, of the first ten

async function someQueuesOf({ text, from }) {
  let token = from[from.length - 1]
  for (let i = 0; ; i++) {
    const query = new URLSearchParams({ pageSize: PAGE, ...(text && { prefix: text }), ...(token && { pageToken: token }) })
    const page = await get(`/queues?${query}`, { has: "queues" })
    if (page.queues.length || !page.nextPageToken || i === 9) return page
    token = page.nextPageToken
  }
}

const queueRow = (queue) => countsRow([queueLink(queue), kindBadge(queue)], QUEUE_COUNTS, () => get(queueAt(queue.queue)))
