// Pops events, and pushes a receipt of each to another queue, exactly once: what
// was handled is acknowledged in the transaction that pushes what comes of it.
// SIGTERM ends it when what it has in hand is done.
//
//   QUEEN_URL=http://127.0.0.1:8080 QUEEN_KEY=qk_... \
//   node consumer.mjs events billing receipts

import { setTimeout as sleep } from "node:timers/promises"

const { QUEEN_URL, QUEEN_KEY } = process.env
const [queue, consumerGroup, results] = process.argv.slice(2)
const lease = Number(process.env.LEASE ?? 30) // seconds

const stop = new AbortController()
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => stop.abort())

// What is busy or away (429, 503, no connection) is asked again, later each time,
// but not before it says (Retry-After, where that is seconds; a minute at most);
// three times more when it is to stop.
async function call(method, path, body, timeout = 10, signals = []) {
  for (let attempt = 0; ; attempt++) {
    let pause = Math.min(0.2 * 2 ** attempt, 10) * (0.5 + Math.random() / 2)
    let status
    try {
      const response = await fetch(`${QUEEN_URL}/api/v1${path}`, {
        method,
        headers: { Authorization: `Bearer ${QUEEN_KEY}`, "Content-Type": "application/json" },
        body: body && JSON.stringify(body),
        signal: AbortSignal.any([AbortSignal.timeout(timeout * 1000), ...signals]),
      })
      status = response.status
      if (status === 204) return null // nothing there, and no body
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

async function handle(event) {
  if (typeof event.amount !== "number") throw new Error("no amount")
  await sleep((event.seconds ?? 0) * 1000) // your code
  return { id: event.id, charged: event.amount }
}

async function handleAll({ leaseId, messages }) {
  // Work may take longer than the lease: it is extended meanwhile.
  const timer = setInterval(
    () => call("POST", `/lease/${leaseId}/extend`, { seconds: lease }).catch(console.error),
    (lease / 3) * 1000)
  const items = []
  const completed = new Map() // the last one of each partition, which stands for all before it
  const held = new Map() // the first one of each that was not handled: all behind it waits
  for (const { partitionId, partition, transactionId, data } of messages) {
    if (held.has(partitionId)) continue
    const ack = { type: "ack", transactionId, partitionId, leaseId, consumerGroup }
    try {
      if (stop.signal.aborted) {
        held.set(partitionId, { ...ack, status: "retry" })
        continue
      }
      items.push({
        queue: results, partition, payload: await handle(data),
        transactionId: `${leaseId}-${transactionId}`, // the same when this is asked again
      })
      completed.set(partitionId, { ...ack, status: "completed" })
    } catch (error) {
      held.set(partitionId, { ...ack, status: "failed", error: error.message })
    }
  }
  clearInterval(timer)
  if (completed.size > 0) {
    const { success, reason, error } = await call("POST", "/transaction", {
      operations: [{ type: "push", items }, ...completed.values()], requiredLeases: [leaseId],
    })
    // "duplicate": an earlier try went through, and its answer was lost. All else
    // means that nothing was done, and that the messages come again.
    if (!success && reason !== "duplicate") return console.error(error)
  }
  if (held.size > 0) {
    await call("POST", "/ack/batch", { consumerGroup, acknowledgments: [...held.values()] })
  }
}

const query = new URLSearchParams({
  consumerGroup, batch: 10, partitions: 5, wait: true, timeout: 20_000, leaseSeconds: lease,
})

while (!stop.signal.aborted) {
  try {
    const popped = await call(
      "GET", `/pop/queue/${encodeURIComponent(queue)}?${query}`, undefined, 30, [stop.signal])
    if (popped) await handleAll(popped)
  } catch (error) {
    if (!stop.signal.aborted) throw error
  }
}
