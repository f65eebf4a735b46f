
// One module of these files, in the order of their names. Whatever comes from
// the server becomes text by way of text nodes, attributes or values alone.

const SVG = "http://www.w3.org/2000/svg"

function fill(node, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value)
    else if (name === "value") node.value = value
    else if (name === "checked") node.checked = value
    else node.setAttribute(name, value === true ? "" : value)
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false))
  return node
}

function h(tag, properties, ...children) {
  return fill(document.createElement(tag), properties, children)
}

function svg(tag, properties, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children)
}

const at = (id) => document.getElementById(id)

let serial = 0
const newId = (name) => `${name}-${++serial}`

function button(text, onclick, kind) {
  return h("button", { type: "button", class: kind, onclick }, text)
}

// what has been done, seen for a while and read aloud

let silence

function say(text) {
  clearTimeout(silence)
  const open = document.querySelector("dialog[open]")
  ;(open ?? document.body).append(at("says"))       // or the dialog would hide it
  at("says").textContent = text
  silence = setTimeout(() => { at("says").textContent = "" }, 10000)
}

function note(text, kind = "bad") {
  return h("p", { class: `note ${kind}`, role: kind === "bad" ? "alert" : null }, text)
}

function card(title, properties, ...children) {
  const id = newId("card")
  const { head, ...rest } = properties
  return h("section", { "aria-labelledby": id, ...rest, class: `card ${rest.class ?? ""}` },
    h("header", {}, h("h2", { id }, title), head ?? []), children)
}

function pairs(...rows) {
  return h("dl", { class: "pairs" }, rows.filter(Boolean).map(([term, ...value]) =>
    [h("dt", {}, term), h("dd", {}, value)]))
}

// numbers and times

const integer = new Intl.NumberFormat("en", { maximumFractionDigits: 0 })

const count = (n) => (n === undefined || n === null ? "–" : integer.format(n))
const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`

function rate(n) {
  if (n === null || n === undefined) return "–"
  if (n > 0 && n < 0.05) return "<0.1/s"
  return `${n > 0 && n < 10 ? String(Math.round(n * 10) / 10) : integer.format(n)}/s`
}

const UNITS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]]

// 90 → "1 min 30 s": the two largest units, or less

function duration(seconds) {
  const parts = []
  let rest = Math.round(seconds)
  for (const [unit, size] of UNITS) {
    const n = Math.floor(rest / size)
    rest -= n * size
    if (n) parts.push(`${n} ${unit}`)
    else if (parts.length) break
    if (parts.length === 2) break
  }
  return parts.join(" ") || "0 s"
}

function bytes(n) {
  if (n < 1024) return plural(n, "byte")
  return n < 1048576 ? `${Math.round(n / 102.4) / 10} KiB` : `${Math.round(n / 104857.6) / 10} MiB`
}

function moment(text) {
  if (!text) return "never"
  const date = new Date(text)
  const today = date.toDateString() === new Date().toDateString()
  return h("time", { datetime: text, title: text },
    date.toLocaleString("en-GB", today ? { timeStyle: "medium" } : { dateStyle: "medium", timeStyle: "medium" }))
}

// Not every page is in a secure context, where alone there is a clipboard.

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    const area = h("textarea", { class: "hidden", "aria-hidden": "true", value: text })
    const back = document.activeElement
    ;(document.querySelector("dialog[open]") ?? document.body).append(area)
    area.select()
    const done = document.execCommand("copy")
    area.remove()
    back?.focus()
    if (!done) return say(`The browser does not let this page copy: select the text by hand.`)
  }
  say(`${what} is copied.`)
}
