
// The bar: where one is, and what else there is. A kind is there where its API
// answers, also when it is to say that this key may not see it.

const KINDS = [
  { title: "Queues", href: "#/", pages: /^#\/queues\// },
  { title: "Logs", href: "#/logs", pages: /^#\/logs($|\/)/, look: (as) => get("/resources/queues?limit=1", { as, api: QUEEN, has: "queues" }) },
  { title: "Topics", href: "#/topics", pages: /^#\/(topics|subs)($|\/)/, look: (as) => get("/topics?pageSize=1", { as, api: PUBSUB }) },
]

const kinds = new Set()                   // the titles of those that have answered

const kindOfPage = () => KINDS.find(({ pages }) => pages.test(location.hash)) ?? KINDS[0]

async function askForKinds() {
  const as = session
  await Promise.all(KINDS.filter((kind) => kind.look).map(async (kind) => {
    try {
      await kind.look({ ...as })         // one that refuses the key is not there, and no reason to leave
    } catch (error) {
      if (error.code === "unknown" || error.status === 0 || error.status === 401 || error.status === 404) return
    }
    if (as === session) kinds.add(kind.title)
  }))
  if (as === session) kindLinks()
}

function kindLinks() {
  const shown = session === null ? [] : KINDS.filter(({ title, look }) => !look || kinds.has(title))
  at("kinds").replaceChildren(...shown.map((kind) => h("a", {
    href: kind.href, "aria-current": kind === kindOfPage() && (kind.href === (location.hash || "#/") ? "page" : "true"),
  }, kind.title)))
}

function bar() {
  at("leave").hidden = session === null
  kindLinks()
  at("what").replaceChildren(...(session === null ? [] : [
    h("span", {}, `${session.organization} / ${session.project}`),
    h("span", { class: "badge ok", id: "live", "aria-hidden": "true" }, "live"),
    h("span", { class: "hidden", id: "live-state", role: "status" })]))
}
