
// Dialogs and the fields in them. An error of the API stands at the field that it
// names, or above the buttons.

// submit(values) throws what it is refused with, or returns what the dialog is
// closed with; it may return false to leave it open.

function askIn({ title, inside, action, kind = "first", submit, cancel = "Cancel", ready = true, escape = true }) {
  const id = newId("dialog")
  const problem = h("div", { "aria-live": "assertive" })
  const go = action && h("button", { type: "submit", class: kind, disabled: !ready }, action)
  const back = h("button", { type: "button", onclick: () => dialog.close() }, cancel)
  const form = h("form", { novalidate: true, onsubmit },
    h("header", {}, h("h2", { id }, title)),
    h("div", { class: "inside stack" }, inside, problem),
    h("footer", {}, back, go))
  const dialog = h("dialog", { "aria-labelledby": id }, form)
  const opener = document.activeElement

  async function onsubmit(event) {
    event.preventDefault()
    if (go.disabled) return
    go.disabled = true
    problem.replaceChildren()
    for (const f of dialog.querySelectorAll(".field")) f.field.wrong("")
    try {
      if (await submit() !== false) dialog.close()
    } catch (error) {
      showWrong(error)
    }
    go.disabled = false
  }

  function showWrong(error) {
    const fields = [...dialog.querySelectorAll(".field")].map((f) => f.field)
    const named = error.field?.replace(/^messages\[0\]\.?/, "")
    const field = named && (fields.find((f) => f.name === named)
                            ?? fields.find((f) => f.name === named.split(/[.[]/)[0]))
    if (field && !field.hidden()) {
      field.wrong(error.message)
      field.focus()
    } else {
      problem.replaceChildren(note(inWords(error)))
      problem.scrollIntoView({ block: "nearest" })
    }
  }

  dialog.addEventListener("cancel", (event) => { if (!escape) event.preventDefault() })
  dialog.addEventListener("keydown", (event) => {           // Chrome lets a second Escape through
    if (!escape && event.key === "Escape") event.preventDefault()
  })
  dialog.addEventListener("close", () => {
    document.body.append(at("says"))
    dialog.remove()
    if (opener?.isConnected) opener.focus()
    else focusTitle()
  })
  document.body.append(dialog)
  dialog.showModal()
  return { dialog, go, back, problem }
}

// one that only asks whether; the careful button has the focus

function confirmIn(options) {
  const asked = askIn({ kind: "first danger", ...options })
  if (!options.focus) asked.back.focus()
  return asked
}

// { node, name, input, … } of a label, an input, a hint and the place of its error

function field(name, label, { hint, type = "text", value = "", unit, wide, options, list, ...rest } = {}) {
  const id = newId("field")
  const wrong = h("p", { class: "error", id: `${id}-error`, hidden: true })
  const told = hint && h("p", { class: "hint", id: `${id}-hint` }, hint)
  const about = [told && `${id}-hint`, `${id}-error`].filter(Boolean).join(" ")
  const given = { id, "aria-describedby": about, ...rest }
  const names = list && h("datalist", { id: `${id}-list` }, list.map((n) => h("option", { value: n })))
  let input
  if (type === "textarea") input = h("textarea", { ...given, value, spellcheck: "false" })
  else if (options) input = h("select", given, options.map(([v, text]) => h("option", { value: v }, text)))
  else if (type === "checkbox") input = h("input", { ...given, type, checked: value === true })
  else input = h("input", { type: type === "number" ? "text" : type, inputmode: type === "number" ? "numeric" : null,
                            autocomplete: "off", spellcheck: "false", list: list && `${id}-list`, ...given, value })
  if (options) input.value = value

  const echo = unit && h("span", { "aria-hidden": "true" })
  const words = () => {
    const n = input.value.trim()
    echo.textContent = !/^\d+$/.test(n) ? "" : unit === "bytes" ? bytes(Number(n)) : duration(Number(n))
  }
  if (unit) {
    input.addEventListener("input", words)
    words()
  }

  const box = type === "checkbox"
    ? h("label", { for: id }, input, label)
    : [h("label", { for: id }, unit ? `${label} (${unit})` : label), unit ? h("div", { class: "unit" }, input, echo) : input]
  const node = h("div", { class: `field${type === "checkbox" ? " check" : ""}${wide ? " wide" : ""}` },
    box, names, told, wrong)

  node.field = {
    name,
    hidden: () => node.closest("[hidden]") !== null,
    focus: () => input.focus(),
    wrong(text) {
      wrong.textContent = text
      wrong.hidden = text === ""
      if (text) input.setAttribute("aria-invalid", "true")
      else input.removeAttribute("aria-invalid")
    },
  }

  return {
    node, input,
    get text() { return input.value.trim() },

    // undefined where nothing is written; what is no number is told here
    get number() {
      const text = input.value.trim()
      if (text === "") return undefined
      if (!/^\d{1,15}$/.test(text)) throw new Refused(400, "invalid_argument", "Write a whole number.", { field: name })
      return Number(text)
    },
  }
}

// Names and values, a row each: attributes, labels. pairs() is what was written, or
// undefined where nothing was.

function pairsField(name, one, hint, given = {}) {
  const rows = h("div", {})
  const wrong = h("p", { class: "error", hidden: true })
  const add = button(`Add ${one.toLowerCase()}`, () => addRow("", "").focus(), "plain")
  const node = h("fieldset", { class: "field" }, h("legend", {}, `${one}s`), rows,
    h("p", { class: "hint" }, hint), wrong, add)

  function addRow(...texts) {
    const [key, value] = ["name", "value"].map((what, i) => h("input", {
      "aria-label": `${one} ${what}`, placeholder: what, autocomplete: "off", spellcheck: "false", value: texts[i],
    }))
    const row = h("div", { class: "pair" }, key, value, button("Remove", () => {
      row.remove()
      add.focus()
    }, "plain"))
    rows.append(row)
    return key
  }

  node.field = {
    name, hidden: () => false, focus: () => (rows.querySelector("input") ?? add).focus(),
    wrong(words) {
      wrong.textContent = words
      wrong.hidden = words === ""
    },
  }
  for (const pair of Object.entries(given)) addRow(...pair)

  return {
    node,
    pairs() {
      const all = [...rows.children].map((row) => [...row.querySelectorAll("input")].map((input) => input.value)).filter(([key, value]) => key || value)
      if (new Set(all.map(([key]) => key)).size < all.length) {
        throw new Refused(400, "invalid_argument", `Two ${one.toLowerCase()}s have one name.`, { field: name })
      }
      return all.length ? Object.fromEntries(all) : undefined
    },
  }
}

// "Delete orders?": the button works once the name is written

function confirmByName({ title, name, warning, action, submit }) {
  const typed = field("typed", `Type ${name} to confirm`)
  typed.input.addEventListener("input", () => { asked.go.disabled = typed.input.value !== name })
  const asked = confirmIn({ title, inside: [h("p", {}, warning), typed.node], action, submit, ready: false, focus: true })
  typed.input.focus()
}

// shown once

function showSecret(secret) {
  const shown = field("secret", "Signing secret", {
    value: secret, readonly: true, class: "secret", onfocus: (event) => event.target.select(),
    hint: "Keep it where your endpoint can read it: with it the endpoint verifies that deliveries are genuine.",
  })
  askIn({
    title: "Keep this secret now",
    inside: [note("It is shown this once. Whoever loses it rotates it.", "warn"), shown.node,
             h("div", { class: "row" }, button("Copy the secret", () => copy(secret, "The secret")))],
    cancel: "I have kept it", escape: false,
  })
  shown.input.focus()
}
