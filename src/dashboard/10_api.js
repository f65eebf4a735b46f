
// The Queues API, of the server that the page comes from.

const PREFIX = document.documentElement.dataset.api
const KEPT = "ngx_queues.session"

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

function place({ organization, project } = session) {
  return `${PREFIX}/v1/organizations/${encodeURIComponent(organization)}/projects/${encodeURIComponent(project)}`
}

const queueAt = (id) => `/queues/${encodeURIComponent(id)}`
const subscriptionAt = (id) => `/subscriptions/${encodeURIComponent(id)}`

async function call(method, path, body, { as = session, headers = {} } = {}) {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const given = { ...headers }
  if (as.key) given.Authorization = `Bearer ${as.key}`
  if (text !== undefined) given["Content-Type"] = "application/json"

  let response, answer
  try {
    response = await fetch(place(as) + path, {
      method, headers: given, body: text, cache: "no-store", credentials: "omit", redirect: "error",
      signal: AbortSignal.timeout(60000),
    })
    answer = await response.text()
  } catch {
    throw new Refused(0, "unreachable", "The server cannot be reached.")
  }

  let parsed = null
  try {
    parsed = answer === "" ? null : JSON.parse(answer)
  } catch { /* not the API's */ }

  if (response.ok && (parsed !== null || response.status === 204)) return parsed
  const retryAfter = Math.max(0, Number(response.headers.get("Retry-After")) || 0)
  if (!parsed?.error) {                   // of somebody before the server, who may be busy as well
    throw new Refused(response.status, "unknown",
      `The answer (${response.status}) is none of the Queues API: is it served at ${PREFIX}/v1/ ?`, { retryAfter })
  }
  const error = new Refused(response.status, parsed.error, parsed.message, { field: parsed.field, retryAfter })
  if (error.status === 401 && as === session) leave("The server does not accept this key any more.")
  throw error
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
      return `Too many calls. ${error.message} Try again in ${duration(error.retryAfter || 1)}.`
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
    const page = await get(`/queues?${query}`)
    found.push(...page.queues)
    token = page.nextPageToken
    if (!token) break
  }
  return { found, more: token !== null }
}
