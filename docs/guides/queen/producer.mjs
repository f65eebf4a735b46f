// Pushes each line of its input, an event such as
// {"id": "e-1", "account": "a-7", "amount": 5}: one partition for each account.
//
//   QUEEN_URL=http://127.0.0.1:8080 QUEEN_KEY=qk_... node producer.mjs events < lines

import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"

const { QUEEN_URL, QUEEN_KEY } = process.env
const queue = process.argv[2]

// What is busy or away (429, 503, no connection) is asked again, later each time,
// but not before it says (Retry-After, where that is seconds; a minute at most).
async function push(items) {
  for (let attempt = 0; ; attempt++) {
    let pause = Math.min(0.2 * 2 ** attempt, 10) * (0.5 + Math.random() / 2)
    let status
    try {
      const response = await fetch(`${QUEEN_URL}/api/v1/push`, {
        method: "POST",
        headers: { Authorization: `Bearer ${QUEEN_KEY}`, "Content-Type": "application/json" },
        body: JSON.stringify({ items }),
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
      throw new Error(`push: ${status}`)
    }
    await sleep(pause * 1000)
  }
}

let items = []

async function send() {
  // "queued", or "duplicate" of what an earlier try, or an earlier run, has stored
  if (items.length > 0) for (const { status } of await push(items)) console.log(status)
  items = []
}

for await (const line of createInterface({ input: process.stdin })) {
  const event = JSON.parse(line)
  items.push({ queue, partition: event.account, transactionId: event.id, payload: event })
  if (items.length === 10) await send()
}
await send()
