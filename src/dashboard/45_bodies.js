
// Bodies of messages, as the text that they are: what cannot be seen, or turns the
// order of what can, is written as JSON would escape it.

const HIDDEN = /(?:(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}])+/gu
const PREVIEW = 2000

function escaped(text) {
  let out = ""
  for (let i = 0; i < text.length; i++) out += `\\u${text.charCodeAt(i).toString(16).padStart(4, "0")}`
  return out
}

function visibleText(text) {
  const nodes = []
  let from = 0
  for (const match of text.matchAll(HIDDEN)) {
    nodes.push(text.slice(from, match.index), h("span", { class: "esc" }, escaped(match[0])))
    from = match.index + match[0].length
  }
  nodes.push(text.slice(from))
  return nodes.filter((node) => node !== "")
}

const visibleString = (text) => text.replace(HIDDEN, escaped)

const whole = (text) => !/\p{Cs}/u.test(text)

// Indented for reading, token by token: a number keeps its digits and a string its
// escapes. null: it is no object or list.

function pretty(text) {
  try {
    const value = JSON.parse(text)
    if (value === null || typeof value !== "object") return null
  } catch {
    return null
  }
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g)
  let depth = 0
  const out = []
  const newLine = () => out.push("\n", "  ".repeat(Math.min(depth, 40)))
  tokens.forEach((token, i) => {
    const empty = (token === "}" && tokens[i - 1] === "{") || (token === "]" && tokens[i - 1] === "[")
    if (token === "}" || token === "]") {
      depth--
      if (!empty) newLine()
    }
    out.push(token)
    if (token === "{" || token === "[") {
      depth++
      if (tokens[i + 1] !== "}" && tokens[i + 1] !== "]") newLine()
    } else if (token === ",") newLine()
    else if (token === ":") out.push(" ")
  })
  return out.join("")
}

function copyBody(text) {
  if (whole(text)) copy(text, "The body")
  else copy(JSON.stringify(text), "The body is no valid Unicode: its JSON string")
}

// the body of a message, and what one can do with it

function body(text) {
  const nice = text.length <= 262144 ? pretty(text) : null
  const size = new TextEncoder().encode(text).length
  const shown = h("pre", { class: "text", tabindex: "0", role: "group", "aria-label": "Body" })
  let all = text.length <= PREVIEW
  let indent = false

  const more = button(`Show all ${bytes(size)}`, () => {
    all = true
    show()
    shown.focus()
  }, "plain")
  const turn = button("Indent JSON", () => {
    indent = !indent
    turn.setAttribute("aria-pressed", String(indent))
    show()
  }, "plain")
  turn.setAttribute("aria-pressed", "false")

  function show() {
    const is = indent ? nice : text
    let end = all ? is.length : Math.min(is.length, PREVIEW)
    if (end < is.length && /[\ud800-\udbff]/.test(is[end - 1])) end--         // no half of a character
    shown.replaceChildren(...visibleText(is.slice(0, end)), ...(end < is.length ? [" …"] : []))
    more.hidden = end === is.length
  }
  show()

  return [shown, h("div", { class: "row" }, button("Copy body", () => copyBody(text), "plain"),
    nice !== null && turn, more, h("span", { class: "muted small number" }, bytes(size)))]
}

function attributeList(attributes) {
  const all = Object.entries(attributes ?? {})
  return all.length > 0 && h("dl", { class: "attributes" }, all.map(([key, value]) =>
    h("div", {}, h("dt", {}, visibleText(key)), h("dd", {}, h("code", {}, visibleText(value))))))
}
