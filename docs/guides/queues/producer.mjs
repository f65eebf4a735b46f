// Sends each line of its input as a message.
//
//   QUEUES_URL=http://127.0.0.1:8080 QUEUES_KEY=qk_... QUEUES_PROJECT=acme/shop \
//   node producer.mjs orders < lines

import { randomUUID } from "node:crypto"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"

const { QUEUES_URL, QUEUES_KEY, QUEUES_PROJECT } = process.env
const [org, project] = QUEUES_PROJECT.split("/")
const queue = `/v1/organizations/${org}/projects/${project}/queues/${process.argv[2]}`

// What is busy or away (429, 503, no connection) is asked again, later each time,
// but not before it says (Retry-After, where that is seconds; a minute at most).
async function post(path, body) {
  for (let attempt = 0; ; attempt++) {
    let pause = Math.min(0.2 * 2 ** attempt, 10) * (0.5 + Math.random() / 2)
    let status
    try {
      const response = await fetch(QUEUES_URL + path, {
        method: "POST",
        headers: { Authorization: `Bearer ${QUEUES_KEY}`, "Content-Type": "application/json" },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(10_000),
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
    await sleep(pause * 1000)
  }
}

let messages = []

async function send() {
  if (messages.length > 0) await post(`${queue}/messages`, { messages })
  messages = []
}

for await (const line of createInterface({ input: process.stdin })) {
  // A batch that is sent twice, as its answer was lost, has the same ids again.
  messages.push({ body: line, attributes: { id: randomUUID() } })
  if (messages.length === 10) await send()
}
await send()
