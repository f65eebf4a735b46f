
// Who asks: a key of the tab, until it is closed or logged out.

// The key is asked of an API that takes the project's name.

const known = (as) => QUEUES.project.test(as.project) ? get("/queues?pageSize=1", { as, has: "queues" }) : lookForTopics(as)

function misnamed(organization, project) {
  if (!QUEUES.project.test(organization.text)) return [organization, "1 to 64 letters, digits, “_” or “-”."]
  if ([QUEUES, PUBSUB].some((api) => api.project.test(project.text))) return null
  return [project, "1 to 64 letters, digits, “_” or “-”. One with topics alone may have “.” and “:” as well, after a letter or digit."]
}

function loginPage(message) {
  const before = session ?? {}
  const key = field("key", "API key or token", {
    type: "password", autocomplete: "off", hint: "Kept in this tab until you log out. Leave it empty where the server asks for none.",
  })
  const organization = field("organization", "Organization", { value: before.organization ?? "" })
  const project = field("project", "Project", { value: before.project ?? "" })
  const problem = h("div", { "aria-live": "assertive" })
  if (message) problem.append(note(message, "warn"))
  const go = h("button", { type: "submit", class: "first" }, "Log in")

  async function onsubmit(event) {
    event.preventDefault()
    problem.replaceChildren()
    for (const f of [key, organization, project]) f.node.field.wrong("")
    const wrong = misnamed(organization, project)
    if (wrong) {
      const [f, why] = wrong
      f.node.field.wrong(why)
      f.input.focus()
      return
    }
    const as = { key: key.text, organization: organization.text, project: project.text }
    go.disabled = true
    try {
      if (/[^\x21-\x7e]/.test(as.key)) throw new Refused(401, "unauthenticated", "A key has no blanks and no letters like these.")
      await known(as)
    } catch (error) {
      go.disabled = false
      if (error.status === 401) {
        key.node.field.wrong("The server does not know this key, or it has expired.")
        key.input.focus()
        return
      }
      if (error.code !== "permission_denied") {          // else the key is known, and may do other things
        problem.replaceChildren(note(inWords(error)))
        return
      }
    }
    keep(as)
    route()
  }

  show("Log in", h("section", { class: "card login stack", "aria-labelledby": "login-title" },
    h("h1", { id: "login-title", tabindex: "-1" }, "Queues"),
    h("p", { class: "muted" }, "See and change what a project has, with the permissions of your key."),
    h("form", { class: "stack", novalidate: true, onsubmit }, key.node,
      h("div", { class: "fields" }, organization.node, project.node), problem, go)))
  key.input.focus()
}

function leave(message) {
  keep(null)
  forget()
  past.clear()
  kinds.clear()
  resting = wait = 0
  for (const dialog of document.querySelectorAll("dialog")) dialog.close()
  bar()
  loginPage(message)
}
