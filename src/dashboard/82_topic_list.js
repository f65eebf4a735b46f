
// The topics of the project, and its subscriptions: also those of no topic any more.

const FOUND = 100                         // rows, of names that are looked for
const WALKED = 5                          // pages of 1,000 names that are looked through

const TOPICS = {
  title: "Topics", href: "#/topics", path: "/topics", member: "topics", one: "topic",
  caption: "Topics, and how many subscriptions each has",
  heads: [["Name"], ["Subscriptions", "n"], ["Keeps messages", "n"], ["Labels"]],
  row: topicRow,
  none: "A topic takes messages, and each of its subscriptions gets a copy of every one.",
}
const SUBS = {
  title: "Subscriptions", href: "#/subs", path: "/subscriptions", member: "subscriptions", one: "subscription",
  caption: "Subscriptions, the counts of this moment and the rates of the last minutes",
  row: (sub) => subRow(idOf(sub.name), sub),
  none: "Subscriptions are made on the page of their topic.",
}

const SUB_HEADS = [["Name"], ["Visible", "n"], ["In flight", "n"], ["Oldest", "n"], [`Rates, ${MINUTES} min`]]
SUBS.heads = SUB_HEADS

// where somebody is in them, for as long as the same one is logged in

let walks = { as: null }

function walkOf(kind) {
  if (walks.as !== session) walks = { as: session }
  walks[kind.member] ??= { text: "", tokens: [null] }
  return walks[kind.member]
}

const topicsPage = () => resourcesPage(TOPICS)
const subsPage = () => resourcesPage(SUBS)

async function resourcesPage(kind) {
  pages++
  const walk = walkOf(kind)
  const search = field("text", "Names with", { value: walk.text, type: "search" })
  const list = h("div", {})
  let typing

  search.node.querySelector("label").className = "hidden"
  search.node.classList.add("search")
  search.input.placeholder = "Names with …"
  search.input.addEventListener("input", () => {
    clearTimeout(typing)
    typing = setTimeout(() => {
      Object.assign(walk, { text: search.text, tokens: [null] })
      showResources(kind, list)
    }, 250)
  })

  show(kind.title,
    h("div", { class: "head" }, h("div", {}, h("h1", { tabindex: "-1" }, kind.title)),
      h("nav", { class: "row", "aria-label": "Topics and subscriptions" }, [TOPICS, SUBS].map((k) =>
        h("a", { class: "tab", href: k.href, "aria-current": k === kind && "page" }, k.title)))),
    h("div", { class: "tools" }, search.node, button("Refresh", () => showResources(kind, list)),
      kind === TOPICS && h("span", { class: "end" }, button("Create topic", createTopic, "first"))), list)
  await showResources(kind, list)
}

async function showResources(kind, list) {
  const mine = ++newest
  const current = () => mine === newest && list.isConnected
  list.setAttribute("aria-busy", "true")
  let shown
  try {
    const page = await walked(kind, walkOf(kind))
    if (!current()) return
    forget()
    shown = [...(page.items.length ? [tableOf(kind.caption, kind.heads, page.items.map(kind.row))] : [noneOf(kind, page)]),
             page.left > 0 && h("p", { class: "under" }, `${count(page.left)} more have it: write more of the name.`),
             ...resourcePager(kind, page, list)].filter(Boolean)
  } catch (error) {
    if (!current()) return
    forget()
    shown = refusedList(kind, error, list)
  }
  list.removeAttribute("aria-busy")
  list.replaceChildren(...shown)
}

// The API has pages in the order of names and does not look for any: that is done here,
// over some thousand of them at a time.

async function walked(kind, { text, tokens }) {
  let token = tokens[tokens.length - 1]
  const items = []
  for (let i = 0; i < WALKED && items.length < (text ? PAGE : 1); i++) {
    const query = new URLSearchParams({ pageSize: text ? 1000 : PAGE, ...(token && { pageToken: token }) })
    const page = await pubsub("GET", `${kind.path}?${query}`)
    items.push(...(page[kind.member] ?? []).filter(({ name }) => idOf(name).includes(text)))
    token = page.nextPageToken
    if (!token) break
  }
  return { items: items.slice(0, FOUND), left: items.length - FOUND, next: token }
}

function tableOf(caption, heads, rows) {
  return h("div", { class: "card table" }, h("table", { role: "table" },
    h("caption", { class: "hidden" }, caption),
    h("thead", {}, h("tr", {}, heads.map(([text, kind]) => h("th", { scope: "col", class: kind }, text)))),
    h("tbody", { role: "rowgroup" }, rows)))
}

function noneOf(kind, page) {
  const box = (title, text, ...more) => h("div", { class: "card empty" }, h("h2", {}, title), h("p", {}, text), more)
  const { text } = walkOf(kind)
  if (text) return box(`No such ${kind.one}`, `No name ${page.next ? "of those that were looked through " : ""}has “${text}”.`)
  if (page.next) return box("Nothing here", `This key may not list the ${kind.member} of this page. There are more of them.`)
  return box(`No ${kind.one} yet`, kind.none, kind === TOPICS && button("Create the first topic", createTopic, "first"))
}

function resourcePager(kind, page, list) {
  const { tokens } = walkOf(kind)
  const turn = (change) => async () => {
    change()
    await showResources(kind, list)
    focusTitle()
  }
  const back = tokens.length > 1 && button("Previous", turn(() => tokens.pop()))
  const next = page.next && button("Next", turn(() => tokens.push(page.next)))
  return back || next ? [h("nav", { class: "pages", "aria-label": "Pages" },
    h("span", { class: "muted small" }, `Page ${tokens.length}`), h("span", { class: "row" }, back, next))] : []
}

// who may not list may still know a name

function refusedList(kind, error, list) {
  if (error.code !== "permission_denied") {
    return [note(inWords(error)), h("p", { class: "row again" }, button("Try again", () => showResources(kind, list)))]
  }
  const name = field("name", `Open a ${kind.one} by its name`)
  return [note(inWords(error)), h("form", {
    class: "tools", novalidate: true, onsubmit: (event) => {
      event.preventDefault()
      if (name.text) location.hash = `${kind.href}/${encodeURIComponent(name.text)}`
    },
  }, h("div", { class: "search" }, name.node), h("button", { type: "submit" }, "Open"))]
}

const cellOf = (label, text = "…", kind = "n") => h("td", { class: kind, role: "cell", "data-label": label }, text)

function topicRow(topic) {
  const subs = cellOf("Subscriptions")
  const row = h("tr", { role: "row" },
    h("th", { scope: "row", role: "rowheader" }, topicLink(topic.name)), subs,
    cellOf("Keeps messages", topic.messageRetentionDuration ? span(topic.messageRetentionDuration) : "–"),
    h("td", { class: "labels", role: "cell" }, labelBadges(topic.labels)))
  watch(row, async () => {
    const page = await pubsub("GET", `${topicAt(idOf(topic.name))}/subscriptions?pageSize=100`)
    const n = page.subscriptions?.length ?? 0
    subs.textContent = page.nextPageToken ? `${n}+` : count(n)
    subs.classList.toggle("zero", n === 0)
  }, (error) => { if (!error.passing) subs.textContent = error.status === 404 ? "It is gone." : "–" })
  return row
}

// sub: what is known of it, where its topic is to be told; or nothing yet

function subRow(id, sub) {
  const about = h("span", { class: "subject" })
  const cells = ["Visible", "In flight", "Oldest"].map((label) => cellOf(label))
  const chart = h("td", { class: "rates", role: "cell" })
  const row = h("tr", { role: "row" }, h("th", { scope: "row", role: "rowheader" }, subLink(id), about,
    sub && h("span", { class: "labels small muted" }, "of ", sub.topic === DELETED ? "a topic that was deleted" : idOf(sub.topic))), cells, chart)

  const put = (i, n, text) => {
    cells[i].textContent = text
    cells[i].classList.toggle("zero", n === 0)
  }
  const tell = () => about.replaceChildren(...subBadges(sub).flat())
  if (sub) tell()
  watch(row, async () => {
    const [is, counted] = await Promise.all([sub ?? getSub(id), getCounts(id)])
    const { visible, inFlight, oldestMessageAgeSeconds: age } = counted.counts
    if (!sub) {
      sub = is
      tell()
    }
    put(0, visible, count(visible))
    put(1, inFlight, count(inFlight))
    put(2, age, visible + inFlight ? duration(age) : "–")
    chart.replaceChildren(spark(remember(countsOf(id, counted))))
  }, (error) => {
    if (error.passing) return
    cells.forEach((_, i) => put(i, 0, "–"))
    chart.replaceChildren(h("span", { class: "small muted" },
      error.status === 404 ? "It is gone." : error.status === 403 ? "This key may not see its counts." : inWords(error)))
  })
  return row
}
