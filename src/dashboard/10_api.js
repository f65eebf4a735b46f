
// The APIs of the server that the page comes from.

const PREFIX = document.documentElement.dataset.api
const KEPT = "ngx_queues.session"

// What a call goes to, unless it says another one: root is what its paths stand behind,
// project what it takes for the name of one.

const QUEUES = {
  name: "Queues API", at: `${PREFIX}/v1/`, project: /^[A-Za-z0-9_-]{1,64}$/,
  root: (as) => `${PREFIX}/v1/organizations/${encodeURIComponent(as.organization)}/projects/${encodeURIComponent(as.project)}`,
}
const PUBSUB = {                          // the organization is its location's
  name: "Pub/Sub API", at: `${PREFIX}/v1/projects/`, project: /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/,
  root: (as) => `${PREFIX}/v1/projects/${encodeURIComponent(as.project)}`,
}
const QUEEN = {                           // so is the project
  name: "Queen API", at: `${PREFIX}/api/v1/`, project: /^/, root: () => `${PREFIX}/api/v1`,
}

let session = null                        // { key, organization, project }

class Refused extends Error {
  constructor(status, code, message, more = {}) {
    super(message)
    Object.assign(this, { status, code, ...more })
  }

  // worth another try later on, by itself
  get passing() { return this.status === 0 || this.status === 429 || this.status >= 500 }
}

function keptSession() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT))
  } catch {
    return null
  }
}

function keep(value) {
  session = value
  if (value) sessionStorage.setItem(KEPT, JSON.stringify(value))
  else sessionStorage.removeItem(KEPT)
}

const queueAt = (id) => `/queues/${encodeURIComponent(id)}`
const subscriptionAt = (id) => `/subscriptions/${encodeURIComponent(id)}`

// body: what becomes JSON, or a text that is; has: what every answer of that kind has,
// if some other server answers as well; needs: the permission, where the API does not
// name it when it is lacking; read: makes something of the answer's text

async function call(method, path, body, { as = session, headers = {}, api = QUEUES, has, needs, read = JSON.parse } = {}) {
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body)
  const given = { ...headers }
  if (as.key) given.Authorization = `Bearer ${as.key}`
  if (text !== undefined) given["Content-Type"] = "application/json"

  let response, answer
  try {
    response = await fetch(api.root(as) + path, {
      method, headers: given, body: text, cache: "no-store", credentials: "omit", redirect: "error",
      signal: AbortSignal.timeout(60000),
    })
    answer = await response.text()
  } catch {
    throw new Refused(0, "unreachable", "The server cannot be reached.")
  }

  let parsed = null
  try {
    parsed = answer === "" ? null : read(answer)
  } catch { /* not the API's */ }

  const right = parsed === null ? response.status === 204 && !has : !has || parsed[has] !== undefined
  if (response.ok && right) return parsed
  const retryAfter = Math.max(0, Number(response.headers.get("Retry-After")) || 0)
  const told = refusal(response.status, parsed ?? {}, needs)
  if (response.ok || !told) {             // of somebody before the server, who may be busy as well
    throw new Refused(response.status, "unknown",
      `The answer (${response.status}) is none of the ${api.name}: is it served at ${api.at} ?`, { retryAfter })
  }
  const error = new Refused(response.status, told.code, told.message, { field: told.field, retryAfter })
  if (error.status === 401 && as === session) leave("The server does not accept this key any more.")
  throw error
}

const CODES = { 403: "permission_denied", 429: "rate_limited", 503: "unavailable" }

// What an error says: { error: code, message, field } is the Queues API's,
// { error: text } the Queen API's, { error: { status, message, details } } the Pub/Sub
// API's.

function refusal(status, { error, message, field }, needs) {
  if (typeof error === "string" && typeof message === "string") return { code: error, message, field }
  const code = CODES[status] ?? "refused"
  if (error && needs && status === 403) return { code, message: `The credential lacks the permission ${needs} here.` }
  if (typeof error === "string") return { code, message: error }
  return typeof error?.message === "string" ? { code, message: error.message, field: violated(error.details) } : null
}

// the field, of what is sent: a patch has the resource in a member of its name

function violated(details) {
  const [first] = details ?? []
  const field = first?.fieldViolations?.[0]?.field ?? first?.violations?.[0]?.subject
  return field?.replace(/^(topic|subscription)\./, "")
}

const get = (path, options) => call("GET", path, undefined, options)
const post = (path, body = {}, options) => call("POST", path, body, options)

function inWords(error) {
  if (!(error instanceof Refused)) return `Something went wrong on this page: ${error.message}`
  switch (error.code) {
    case "permission_denied":
      return `This key may not do that. ${error.message}`
    case "unavailable":
      return `The store cannot be reached at the moment. ${error.message}`
    case "rate_limited":
      return error.retryAfter ? `Too many calls. ${error.message} Try again in ${duration(error.retryAfter)}.` : error.message
    default:
      return error.message
  }
}

// A repeated create is answered as the first one was, as long as it is the same.

function onceOnly() {
  let last, key
  return (body) => {
    const text = JSON.stringify(body)
    if (text !== last) {
      last = text
      key = Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("")
    }
    return { headers: { "Idempotency-Key": key } }
  }
}

// the names of the first queues, as suggestions

async function someQueues(pages = 1) {
  const found = []
  let token = null
  for (let i = 0; i < pages; i++) {
    const query = new URLSearchParams({ pageSize: 100, ...(token && { pageToken: token }) })
    const page = await get(`/queues?${query}`, { has: "queues" })
    found.push(...page.queues)
    token = page.nextPageToken
    if (!token) break
  }
  return { found, more: token !== null }
}
