// A producer and a consumer of the Queen API, with fetch alone.
//
//   QUEEN_URL=https://host API_KEY=... node queen.mjs produce
//   QUEEN_URL=https://host API_KEY=... node queen.mjs consume

const url = process.env.QUEEN_URL + "/api/v1"
const headers = {
  Authorization: `Bearer ${process.env.API_KEY}`,
  "Content-Type": "application/json",
}

async function call(method, path, body) {
  const response = await fetch(url + path, {
    method, headers, body: body && JSON.stringify(body),
  })
  if (response.status === 204) return null // no messages, and no body
  const answer = await response.json()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${answer.error}`)
  return answer
}

// The order of one customer's events is kept: they are one partition. An id that
// is made of what happened makes it safe to push it again.
async function produce() {
  const items = []
  for (let event = 1; event <= 5; event++) {
    for (const customer of ["ann", "bob", "eve"]) {
      items.push({
        queue: "orders", partition: customer,
        transactionId: `${customer}-${event}`, payload: { customer, event },
      })
    }
  }
  for (const result of await call("POST", "/push", { items })) {
    if (result.status !== "queued" && result.status !== "duplicate") {
      throw new Error(`${result.transaction_id}: ${result.status}`)
    }
    console.log(result.status, result.transaction_id)
  }
}

let refuse = true

async function handle(message) {
  const { customer, event } = message.data // your code
  if (customer === "bob" && event === 2 && refuse) {
    refuse = false
    throw new Error("not yet")
  }
  console.log("handled", customer, event)
}

// Messages of a partition are handled in order. Behind one that failed, they come
// again after it.
async function handleAll(messages, consumerGroup) {
  const acknowledgments = []
  const failed = new Set()
  for (const message of messages) {
    const { transactionId, partitionId, leaseId } = message
    if (failed.has(partitionId)) continue
    const ack = { transactionId, partitionId, leaseId, status: "completed" }
    try {
      await handle(message)
    } catch (error) {
      ack.status = "failed"
      ack.error = error.message
      failed.add(partitionId)
    }
    acknowledgments.push(ack)
  }
  const results = await call("POST", "/ack/batch", { consumerGroup, acknowledgments })
  for (const { success, transactionId, error } of results) {
    if (!success) console.error("not acknowledged", transactionId, error)
  }
}

async function consume() {
  const consumerGroup = "billing"
  const query = new URLSearchParams({
    consumerGroup, batch: 10, partitions: 2, wait: true,
    timeout: Number(process.env.IDLE ?? 30000),
  })
  for (;;) {
    const answer = await call("GET", `/pop/queue/orders?${query}`)
    if (answer) await handleAll(answer.messages, consumerGroup)
    else if (process.env.IDLE) return
  }
}

await (process.argv[2] === "produce" ? produce() : consume())
