
// The bar: where one is, and what else there is. A kind is there where its API takes
// the project's name and answers, also when it is to say that this key may not see it.
// That of queues is taken to be there.

const KINDS = [
  { title: "Queues", href: "#/", api: QUEUES, pages: /^#\/queues\// },
  { title: "Logs", href: "#/logs", api: QUEEN, pages: /^#\/logs($|\/)/, look: (as) => get("/resources/queues?limit=1", { as, api: QUEEN, has: "queues" }) },
  { title: "Topics", href: "#/topics", api: PUBSUB, pages: /^#\/(topics|subs)($|\/)/, look: lookForTopics },
]

// A list of no topics is {}, as some other server may answer to everything. The counts
// of a subscription are of this API alone: it refuses this one for its name.

async function lookForTopics(as) {
  const page = await get("/topics?pageSize=1", { as, api: PUBSUB })
  if (page?.topics) return
  try {
    await get(`${subscriptionAt("-")}:counts`, { as, api: PUBSUB, has: "counts" })
  } catch (error) {
    if (error.status !== 400 || error.code === "unknown") throw error
  }
}

const possible = ({ api }) => session !== null && api.project.test(session.project)
const homeOf = () => (possible(KINDS[0]) ? "#/" : "#/topics")

const kinds = new Map()                   // title → whether it is there, once that is known
let askedBy = null                        // the session for which it is being asked
let asked = 0

const kindOfPage = () => KINDS.find(({ pages }) => pages.test(location.hash)) ?? KINDS[0]

async function askForKinds() {
  const as = session
  const unknown = KINDS.filter((kind) => kind.look && possible(kind) && !kinds.has(kind.title))
  if (as === askedBy || unknown.length === 0) return
  askedBy = as
  asked = Date.now()
  await Promise.all(unknown.map(async ({ title, look }) => {
    const there = await look({ ...as }).then(() => true, isThere)         // one that refuses the key is no reason to leave
    if (as === session && there !== undefined) kinds.set(title, there)
  }))
  if (as === askedBy) askedBy = null
  if (as === session) kindLinks()
}

// What an error tells of that. Nothing, where there was no answer or somebody before
// the server gave it: it is asked again as something else is answered.

function isThere(error) {
  if (error.status === 0 || error.code === "unknown") return error.passing ? undefined : false
  return error.status !== 401 && error.status !== 404
}

function askAgainForKinds() {
  if (session && Date.now() >= asked + EVERY) askForKinds()
}

// the links stay the same elements: somebody may have the focus in one

function kindLinks() {
  for (const kind of KINDS) {
    kind.link ??= at("kinds").appendChild(h("a", { href: kind.href }, kind.title))
    kind.link.hidden = !possible(kind) || (kind.look !== undefined && !kinds.get(kind.title))
    if (kind === kindOfPage()) kind.link.setAttribute("aria-current", kind.href === (location.hash || "#/") ? "page" : "true")
    else kind.link.removeAttribute("aria-current")
  }
}

function bar() {
  at("leave").hidden = session === null
  kindLinks()
  at("what").replaceChildren(...(session === null ? [] : [
    h("span", {}, `${session.organization} / ${session.project}`),
    h("span", { class: "badge ok", id: "live", "aria-hidden": "true" }, "live"),
    h("span", { class: "hidden", id: "live-state", role: "status" })]))
}
