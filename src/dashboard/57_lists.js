
// What the lists of queues, logs, topics and subscriptions share. Of each there is a
// record:
//   one, many   what it is of, in words; many names it
//   search      what its field looks for
//   exact       blanks belong to its names
//   href        the page of a name
//   none        what one is, where there is none yet
//   notFound    (text, next): why no name is shown, if it is for the text
//   first       a button that makes the first one; may be missing
//   show        (list): asks for it and shows it

const PAGE = 25

// Where somebody is in each, for as long as the same one is logged in: the text that is
// looked for, and what each page so far is asked for by.

let walks = { of: null }

function walkOf(kind) {
  if (walks.of !== session) walks = { of: session }
  return walks[kind.many] ??= { text: "", from: [null] }
}

function listTools(kind, list, ...actions) {
  const walk = walkOf(kind)
  const search = field("text", kind.search, { value: walk.text, type: "search" })
  let typing

  search.node.querySelector("label").className = "hidden"
  search.node.classList.add("search")
  search.input.placeholder = `${kind.search} …`
  search.input.addEventListener("input", () => {
    clearTimeout(typing)
    typing = setTimeout(() => {
      if (!list.isConnected) return
      Object.assign(walk, { text: textOf(kind, search), from: [null] })
      kind.show(list)
    }, 250)
  })
  return h("div", { class: "tools" }, search.node, button("Refresh", () => kind.show(list)),
    actions.length > 0 && h("span", { class: "end row" }, actions))
}

const textOf = ({ exact }, { text, input }) => (exact ? input.value : text)

// Fills list with what draw() makes of what ask() has found; the last asking counts.

let newest = 0

async function fillList(kind, list, ask, draw) {
  const mine = ++newest
  list.setAttribute("aria-busy", "true")
  const found = await ask().then((page) => () => draw(page), (error) => () => listRefused(kind, error, list))
  if (mine !== newest || !list.isConnected) return
  forget()
  list.removeAttribute("aria-busy")
  list.replaceChildren(...found())
}

function tableOf(caption, heads, rows) {
  return h("div", { class: "card table" }, h("table", { role: "table" },
    h("caption", { class: "hidden" }, caption),
    h("thead", {}, h("tr", {}, heads.map(([text, kind]) => h("th", { scope: "col", class: kind }, text)))),
    h("tbody", { role: "rowgroup" }, rows)))
}

const cellOf = (label, text = "…", kind = "n") => h("td", { class: kind, role: "cell", "data-label": label }, text)

// A row of counts, with the age of the oldest message and a chart of the rates. kinds:
// the label and the name of each count; look() asks for a sample.

function countsRow(title, kinds, look) {
  const cells = [...kinds.map(([label]) => cellOf(label)), cellOf("Oldest")]
  const chart = h("td", { class: "rates", role: "cell" })
  const row = h("tr", { role: "row" }, h("th", { scope: "row", role: "rowheader" }, title), cells, chart)

  watch(row, async () => {
    const sample = await look()
    const { counts } = sample
    const age = counts.oldestMessageAgeSeconds
    kinds.forEach(([, name], i) => putNumber(cells[i], counts[name]))
    putNumber(cells[kinds.length], age, kinds.some(([, name]) => counts[name]) ? duration(age) : "–")
    chart.replaceChildren(spark(remember(sample)))
  }, (error) => {
    if (error.passing) return
    for (const cell of cells) putNumber(cell, 0, "–")
    chart.replaceChildren(h("span", { class: "small muted" },
      error.status === 404 ? "It is gone." : error.status === 403 ? "This key may not see its counts." : inWords(error)))
  })
  return row
}

// A page may be empty for a key that may see some only, and not be the last.

function emptyList(kind, next) {
  const box = (title, text, ...more) => h("div", { class: "card empty" }, h("h2", {}, title), h("p", {}, text), more)
  const { text } = walkOf(kind)
  const why = text && kind.notFound(text, next)
  if (why) return box(`No such ${kind.one}`, why)
  if (next) return box("Nothing here", `This key may not see the ${kind.many} of this page. There are more of them.`)
  return box(`No ${kind.one} yet`, kind.none, kind.first?.())
}

const notBegun = (text, next) => !next && `No name begins with “${text}”.`

// next: what the page after this one is asked for by, if there is one

function pager({ from }, next, again) {
  const turn = (change) => async () => {
    change()
    await again()
    focusTitle()
  }
  const back = from.length > 1 && button("Previous", turn(() => from.pop()))
  const on = next && button("Next", turn(() => from.push(next)))
  return back || on ? [h("nav", { class: "pages", "aria-label": "Pages" },
    h("span", { class: "muted small" }, `Page ${from.length}`), h("span", { class: "row" }, back, on))] : []
}

// who may not list may still know a name

function listRefused(kind, error, list) {
  if (error.code !== "permission_denied") return refusedNote(error, () => kind.show(list))
  const name = field("name", `Open a ${kind.one} by its name`)
  return [note(inWords(error)), h("form", {
    class: "tools again", novalidate: true, onsubmit: (event) => {
      event.preventDefault()
      const text = textOf(kind, name)
      if (text) location.hash = kind.href(text)
    },
  }, h("div", { class: "search" }, name.node), h("button", { type: "submit" }, "Open"))]
}
