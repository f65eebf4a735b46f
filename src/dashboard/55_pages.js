
// What the pages of a queue, a log, a topic and a subscription share.

let pages = 0                             // those that somebody has gone to

const crumbOf = (href, text) => h("nav", { class: "crumb", "aria-label": "Where you are" }, h("a", { href }, `← ${text}`))

const refusedNote = (error, again) =>
  [note(inWords(error)), h("p", { class: "row again" }, button("Try again", again))]

// What a page begins with: what read() tells of what it is of. Nothing where it cannot
// be shown, or somebody has gone on to another one meanwhile.

async function opened(what, crumb, read, again) {
  const mine = ++pages
  const current = () => mine === pages && session !== null
  const title = () => h("h1", { tabindex: "-1" }, what)
  show(what, crumb, title(), h("p", { class: "muted", "aria-busy": "true" }, "…"))
  try {
    const is = await read()
    return current() ? is : null
  } catch (error) {
    if (current()) show(what, crumb, title(), ...refusedNote(error, again))
    return null
  }
}

const tile = (term, text, title) => h("div", {}, h("dt", {}, term), h("dd", { title }, text))

// for watch(): told above what was there before

const toldIn = (box, what) => (error) => {
  if (error.status === 404) box.prepend(note(`This ${what} was deleted meanwhile.`))
  else if (!error.passing) box.prepend(note(inWords(error)))
}

// what a card is filled with when it is asked for; the last asking counts

function loader(list, make, failed = (error) => [note(inWords(error))]) {
  let calls = 0
  return async () => {
    const mine = ++calls
    list.setAttribute("aria-busy", "true")
    const shown = await make().catch(failed)
    if (mine !== calls) return
    list.removeAttribute("aria-busy")
    list.replaceChildren(...shown.filter(Boolean))
  }
}
