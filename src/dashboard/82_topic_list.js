
// The topics of the project, and its subscriptions: also those of no topic any more.

const FOUND = 100                         // rows, of names that are looked for
const WALKED = 5                          // pages of 1,000 names that are looked through

const noneHas = (text, next) => `No name ${next ? "of those that were looked through " : ""}has “${text}”.`

const TOPICS = {
  title: "Topics", at: "#/topics", one: "topic", many: "topics", search: "Names with", notFound: noneHas, show: (list) => showResources(TOPICS, list),
  href: topicHref,
  caption: "Topics, and how many subscriptions each has",
  heads: [["Name"], ["Subscriptions", "n"], ["Keeps messages", "n"], ["Labels"]],
  row: topicRow,
  none: "A topic takes messages, and each of its subscriptions gets a copy of every one.",
  first: () => button("Create the first topic", createTopic, "first"),
}

const SUB_COUNTS = [["Visible", "visible"], ["In flight", "inFlight"]]
const SUB_HEADS = [["Name"], ...SUB_COUNTS.map(([label]) => [label, "n"]), ["Oldest", "n"], [`Rates, ${MINUTES} min`]]

const SUBS = {
  title: "Subscriptions", at: "#/subs", one: "subscription", many: "subscriptions", search: "Names with", notFound: noneHas,
  show: (list) => showResources(SUBS, list), href: subHref,
  caption: "Subscriptions, the counts of this moment and the rates of the last minutes",
  heads: SUB_HEADS,
  row: (sub) => subRow(idOf(sub.name), sub),
  none: "Subscriptions are made on the page of their topic.",
}

const topicsPage = () => resourcesPage(TOPICS)
const subsPage = () => resourcesPage(SUBS)

async function resourcesPage(kind) {
  const list = h("div", {})
  show(kind.title,
    h("div", { class: "head" }, h("div", {}, h("h1", { tabindex: "-1" }, kind.title)),
      h("nav", { class: "row", "aria-label": "Topics and subscriptions" }, [TOPICS, SUBS].map((k) =>
        h("a", { class: "tab", href: k.at, "aria-current": k === kind && "page" }, k.title)))),
    listTools(kind, list, ...(kind === TOPICS ? [button("Create topic", createTopic, "first")] : [])), list)
  await kind.show(list)
}

function showResources(kind, list) {
  const walk = walkOf(kind)
  return fillList(kind, list, () => walked(kind, walk), ({ items, left, next }) => [
    items.length ? tableOf(kind.caption, kind.heads, items.map(kind.row)) : emptyList(kind, next),
    ...(left > 0 ? [h("p", { class: "under" }, `${count(left)} more have it: write more of the name.`)] : []),
    ...pager(walk, next, () => kind.show(list)),
  ])
}

// The API has pages in the order of names and does not look for any: that is done here,
// over some thousand of them at a time.

async function walked({ many }, { text, from }) {
  let token = from[from.length - 1]
  const items = []
  for (let i = 0; i < WALKED && items.length < (text ? PAGE : 1); i++) {
    const query = new URLSearchParams({ pageSize: text ? 1000 : PAGE, ...(token && { pageToken: token }) })
    const page = await pubsub("GET", `/${many}?${query}`)
    items.push(...(page[many] ?? []).filter(({ name }) => idOf(name).includes(text)))
    token = page.nextPageToken
    if (!token) break
  }
  return { items: items.slice(0, FOUND), left: items.length - FOUND, next: token }
}

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
  const tell = () => about.replaceChildren(...subBadges(sub).flat())
  if (sub) tell()

  return countsRow([subLink(id), about, sub && h("span", { class: "labels small muted" }, "of ", topicName(sub.topic))], SUB_COUNTS, async () => {
    const [is, counted] = await Promise.all([sub ?? getSub(id), getCounts(id)])
    if (!sub) {
      sub = is
      tell()
    }
    return countsOf(id, counted)
  })
}
