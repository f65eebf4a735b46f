
// The page as it is now: the fragment says which.

function focusTitle() {
  const title = document.querySelector("main h1")
  if (title) title.focus()
}

// what is newly shown has the focus at its title, but for the first time

let shownBefore = false

function show(title, ...nodes) {
  const kind = kindOfPage().title
  document.title = title === kind ? title : `${title} · ${kind}`
  at("main").replaceChildren(...nodes)
  scrollTo(0, 0)
  if (shownBefore) focusTitle()
  shownBefore = true
}

// pages but the first one; what stands in brackets is their name

const PAGES = [
  [/^#\/queues\/([^/]+)$/, queuePage],
  [/^#\/logs$/, logsPage],
  [/^#\/logs\/([^/]+)$/, logPage],
  [/^#\/topics$/, topicsPage],
  [/^#\/topics\/([^/]+)$/, topicPage],
  [/^#\/subs$/, subsPage],
  [/^#\/subs\/([^/]+)$/, subPage],
]

function route() {
  forget()
  bar()
  pages++
  if (!session) return loginPage()
  if (!possible(kindOfPage())) return location.replace(homeOf())       // which is a route, then
  askForKinds()
  for (const [pattern, page] of PAGES) {
    const found = pattern.exec(location.hash)
    try {
      if (found) return page(...found.slice(1).map(decodeURIComponent))
    } catch { /* somebody has written it by hand */ }
  }
  listPage()
}

function theme(value) {
  if (value) document.documentElement.dataset.theme = value
  else delete document.documentElement.dataset.theme
  at("theme").value = value
}

const COLOURS = "ngx_queues.colours"

at("theme").addEventListener("change", (event) => {
  theme(event.target.value)
  localStorage.setItem(COLOURS, event.target.value)
})
at("leave").addEventListener("click", () => leave("You are logged out."))
at("skip").addEventListener("click", (event) => {            // the fragment is a route
  event.preventDefault()
  at("main").focus()
})
addEventListener("hashchange", route)

theme(["light", "dark"].find((value) => value === localStorage.getItem(COLOURS)) ?? "")
keep(keptSession())
route()
