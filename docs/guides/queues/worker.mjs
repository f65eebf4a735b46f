// Receives the messages of a queue, handles each, acknowledges it. SIGTERM ends it
// when what it has in hand is done.
//
//   QUEUES_URL=http://127.0.0.1:8080 QUEUES_KEY=qk_... QUEUES_PROJECT=acme/shop \
//   node worker.mjs orders

import { appendFileSync, existsSync, readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"

const { QUEUES_URL, QUEUES_KEY, QUEUES_PROJECT, DONE = "done.txt" } = process.env
const [org, project] = QUEUES_PROJECT.split("/")
const queue = `/v1/organizations/${org}/projects/${project}/queues/${process.argv[2]}`
const visibility = Number(process.env.VISIBILITY ?? 30) // seconds
const maxMessages = Number(process.env.MAX_MESSAGES ?? 10)

const stop = new AbortController()
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => stop.abort())

// What is busy or away (429, 503, no connection) is asked again, later each time,
// but not before it says (Retry-After, where that is seconds; a minute at most);
// three times more when it is to stop.
async function post(path, body, timeout = 10, signals = []) {
  for (let attempt = 0; ; attempt++) {
    let pause = Math.min(0.2 * 2 ** attempt, 10) * (0.5 + Math.random() / 2)
    let status
    try {
      const response = await fetch(QUEUES_URL + path, {
        method: "POST",
        headers: { Authorization: `Bearer ${QUEUES_KEY}`, "Content-Type": "application/json" },
        body: JSON.stringify(body),
        signal: AbortSignal.any([AbortSignal.timeout(timeout * 1000), ...signals]),
      })
      status = response.status
      if (response.ok) return await response.json()
      const after = response.headers.get("retry-after") // a date, of some proxies
      if (/^\d+$/.test(after)) pause = Math.max(pause, Math.min(Number(after), 60))
    } catch (error) {
      status = undefined // no answer, or a part of one
    }
    if (status !== undefined && status !== 429 && status !== 503) {
      throw new Error(`${path}: ${status}`)
    }
    if (stop.signal.aborted && (signals.length > 0 || attempt >= 3)) {
      throw new Error(`${path}: stopped`)
    }
    await sleep(pause * 1000)
  }
}

const setVisibility = (receiptHandles, visibilityTimeoutSeconds) =>
  post("/v1/receipts/visibility", {
    entries: receiptHandles.map((receiptHandle) => ({ receiptHandle, visibilityTimeoutSeconds })),
  })

// Delivery is at least once, so an order whose id is known is done. Here a line of
// a file is both the work and the note that it was done; with a database, do both
// in one transaction, the id being a unique key.
const done = new Set(existsSync(DONE) ? readFileSync(DONE, "utf8").split("\n") : [])

async function handle(message) {
  const order = JSON.parse(message.body) // what cannot be read ends as a dead letter
  const id = message.attributes.id ?? message.messageId
  if (done.has(id)) return
  await sleep((order.seconds ?? 0) * 1000) // your code
  appendFileSync(DONE, `${id}\n`)
  done.add(id)
}

async function handleAll(messages) {
  const open = new Set(messages.map((message) => message.receiptHandle))
  // Work may take longer than the visibility timeout: it is extended meanwhile.
  const timer = setInterval(
    () => setVisibility([...open], visibility).catch(console.error), (visibility / 3) * 1000)
  const handled = []
  const failed = new Set() // groups of a FIFO queue, which wait behind what failed
  try {
    for (const { receiptHandle, groupId, receiveCount, ...message } of messages) {
      let pause = 0
      try {
        if (stop.signal.aborted || failed.has(groupId)) throw new Error("not now")
        await handle(message)
        handled.push(receiptHandle)
        continue
      } catch (error) {
        if (error.message !== "not now") {
          console.error(message.messageId, error.message)
          pause = Math.min(2 ** receiveCount, visibility)
          if (groupId !== undefined) failed.add(groupId)
        }
      }
      open.delete(receiptHandle)
      await setVisibility([receiptHandle], pause) // it comes again then
    }
  } finally {
    clearInterval(timer)
    await acknowledge(handled) // also where a release failed
  }
}

async function acknowledge(handled) {
  if (handled.length === 0) return
  const { results } = await post("/v1/receipts/ack", { receiptHandles: handled })
  for (const { error } of results) if (error) console.error(error) // it comes again
}

while (!stop.signal.aborted) {
  const limits = { maxMessages, waitSeconds: 20, visibilityTimeoutSeconds: visibility }
  let messages = []
  try {
    ({ messages } = await post(`${queue}/messages/receive`, limits, 30, [stop.signal]))
  } catch (error) {
    if (!stop.signal.aborted) throw error
  }
  if (messages.length > 0) await handleAll(messages)
}
