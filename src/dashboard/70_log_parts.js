
// What the pages of logs share: calls of the Queen API, whose location has a project of
// its own, and names.

// needs: the permission, which a refusal does not name

const queen = (method, path, needs, { body, ...more } = {}) =>
  call(method, path, body, { api: QUEEN, needs, ...more })

// A name in a path. Browsers take dots away, and other ones have no place there.

function inPath(name) {
  if (name === "" || name === "." || name === ".." || !whole(name)) {
    throw new Refused(400, "invalid_argument", "A browser cannot ask for something of this name: it stands in a path.")
  }
  return encodeURIComponent(name)
}

const logAt = (name) => `/resources/queues/${inPath(name)}`

// names are any text, also none

const named = (name) => h("bdi", {}, name === "" ? "(no name)" : visibleText(name))
const logHref = (name) => `#/logs/${encodeURIComponent(name)}`
const logLink = (name) => (whole(name) && name !== "" ? h("a", { href: logHref(name) }, named(name)) : named(name))
const labels = (log) => [log.namespace, log.task].filter((label) => label && label !== log.name).join(" / ")

const QUEUE_MODE = "__QUEUE_MODE__"
const groupName = (name) => (name === QUEUE_MODE ? "no group" : named(name))

const GROUPS = 100                        // of one answer
