
// The queues of the project.

const PAGE = 25
const listed = { prefix: "", tokens: [null] }         // the first one of each page so far

function queueLink(queue, text = queue.name) {
  return h("a", { href: `#/queues/${queue.queue}` }, text)
}

const kindBadge = (queue) => queue.kind === "fifo" && h("span", { class: "badge" }, "FIFO")

async function listPage() {
  const search = field("prefix", "Names that begin with", { value: listed.prefix, type: "search" })
  const list = h("div", {})
  let typing

  search.node.querySelector("label").className = "hidden"
  search.node.classList.add("search")
  search.input.placeholder = "Names that begin with …"
  search.input.addEventListener("input", () => {
    clearTimeout(typing)
    typing = setTimeout(() => {
      listed.prefix = search.text
      listed.tokens = [null]
      showList(list)
    }, 250)
  })

  show("Queues",
    h("div", { class: "head" }, h("div", {}, h("h1", { tabindex: "-1" }, "Queues"))),
    h("div", { class: "tools" }, search.node, button("Refresh", () => showList(list)),
      h("span", { class: "end" }, button("Create queue", () => createQueue(), "first"))), list)
  await showList(list)
}

let newest = 0

async function showList(list) {
  const mine = ++newest
  list.setAttribute("aria-busy", "true")
  let page
  try {
    page = await somePage()
  } catch (error) {
    if (mine !== newest || !list.isConnected) return
    forget()
    list.removeAttribute("aria-busy")
    list.replaceChildren(...listRefused(error, list))
    return
  }
  if (mine !== newest || !list.isConnected) return
  forget()
  list.removeAttribute("aria-busy")
  if (page.queues.length === 0) {
    list.replaceChildren(emptyList(page), ...pager(page, list))
    return
  }
  const rows = page.queues.map(listRow)
  list.replaceChildren(
    h("div", { class: "card table" }, h("table", { role: "table" },
      h("caption", { class: "hidden" }, "Queues, the counts of this moment and the rates of the last minutes"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Name"), ["Visible", "In flight", "Delayed", "Oldest"].map((text) =>
        h("th", { scope: "col", class: "n" }, text)), h("th", { scope: "col" }, `Rates, ${MINUTES} min`))),
      h("tbody", { role: "rowgroup" }, rows))),
    ...pager(page, list))
}

// A page may be empty for a key that may list some queues only, and not be the last.

async function somePage() {
  let token = listed.tokens[listed.tokens.length - 1]
  for (let i = 0; ; i++) {
    const query = new URLSearchParams({ pageSize: PAGE, ...(listed.prefix && { prefix: listed.prefix }), ...(token && { pageToken: token }) })
    const page = await get(`/queues?${query}`, { has: "queues" })
    if (page.queues.length || !page.nextPageToken || i === 9) return page
    token = page.nextPageToken
  }
}

function listRow(queue) {
  const cell = (label) => h("td", { class: "n", role: "cell", "data-label": label }, "…")
  const cells = [cell("Visible"), cell("In flight"), cell("Delayed"), cell("Oldest")]
  const chart = h("td", { class: "rates", role: "cell" })
  const row = h("tr", { role: "row" },
    h("th", { scope: "row", role: "rowheader" }, queueLink(queue), kindBadge(queue)), cells, chart)

  const put = (i, n, text) => {
    cells[i].textContent = text
    cells[i].classList.toggle("zero", n === 0)
  }
  watch(row, async () => {
    const now = await get(queueAt(queue.queue))
    const { visible, inFlight, delayed, oldestMessageAgeSeconds: age } = now.counts
    ;[visible, inFlight, delayed].forEach((n, i) => put(i, n, count(n)))
    put(3, age, visible + inFlight + delayed ? duration(age) : "–")
    chart.replaceChildren(spark(remember(now)))
  }, (error) => {
    if (error.passing) return
    cells.forEach((_, i) => put(i, 0, "–"))
    chart.replaceChildren(h("span", { class: "small muted" },
      error.status === 404 ? "It is gone." : error.status === 403 ? "This key may not see its counts." : inWords(error)))
  })
  return row
}

function emptyList(page) {
  const box = (title, text, ...more) => h("div", { class: "card empty" }, h("h2", {}, title), h("p", {}, text), more)
  if (page.nextPageToken) return box("Nothing here", "This key may not see the queues of this page. There are more of them.")
  if (listed.prefix) return box("No such queue", `No name begins with “${listed.prefix}”.`)
  return box("No queue yet", "A queue keeps messages until somebody receives and acknowledges them, or delivers them to an endpoint.",
    button("Create the first queue", () => createQueue(), "first"))
}

function pager(page, list) {
  const turn = (change) => async () => {
    change()
    await showList(list)
    focusTitle()
  }
  const back = listed.tokens.length > 1 && button("Previous", turn(() => listed.tokens.pop()))
  const next = page.nextPageToken && button("Next", turn(() => listed.tokens.push(page.nextPageToken)))
  if (!back && !next) return []
  return [h("nav", { class: "pages", "aria-label": "Pages" },
    h("span", { class: "muted small" }, `Page ${listed.tokens.length}`), h("span", { class: "row" }, back, next))]
}

// who may not list may still know a name

function listRefused(error, list) {
  if (error.code !== "permission_denied") {
    return [note(inWords(error)), h("p", { class: "row" }, button("Try again", () => showList(list)))]
  }
  const name = field("name", "Open a queue by its name")
  return [note(inWords(error)), h("form", {
    class: "tools", novalidate: true, onsubmit: (event) => {
      event.preventDefault()
      if (name.text) location.hash = `#/queues/${encodeURIComponent(name.text)}`
    },
  }, h("div", { class: "search" }, name.node), h("button", { type: "submit" }, "Open"))]
}
