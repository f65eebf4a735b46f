// Pulls the messages of a subscription, handles each, acknowledges it, with Google's
// client. SIGTERM ends it when what it has in hand is done.
//
//   PUBSUB_URL=http://127.0.0.1:8080 PROJECT_ID=shop API_KEY=qk_... \
//   node subscriber.mjs billing

import { appendFileSync, existsSync, readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { v1 } from "@google-cloud/pubsub"
import { GoogleAuth, OAuth2Client } from "google-auth-library"

const { PUBSUB_URL, PROJECT_ID: projectId, API_KEY, DONE = "done.txt" } = process.env
const url = new URL(PUBSUB_URL)
const authClient = new OAuth2Client()
authClient.setCredentials({ access_token: API_KEY }) // a key is to it an access token
const subscriber = new v1.SubscriberClient({
  fallback: true, // REST, not gRPC
  protocol: url.protocol.replace(":", ""),
  apiEndpoint: url.hostname,
  port: Number(url.port) || (url.protocol === "https:" ? 443 : 80),
  projectId,
  auth: new GoogleAuth({ authClient, projectId }),
})
const subscription = `projects/${projectId}/subscriptions/${process.argv[2]}`
const deadline = Number(process.env.DEADLINE ?? 30) // seconds

let stopping = false
let pulling = false
for (const signal of ["SIGTERM", "SIGINT"]) {
  process.on(signal, () => {
    stopping = true
    if (pulling) process.exit(0) // nothing is in hand: what comes now comes again
  })
}

const extend = (ackIds, ackDeadlineSeconds) =>
  ackIds.length > 0 && subscriber.modifyAckDeadline({ subscription, ackIds, ackDeadlineSeconds })

// Delivery is at least once, so an order whose id is known is done. Here a line of
// a file is both the work and the note that it was done; with a database, do both
// in one transaction, the id being a unique key.
const done = new Set(existsSync(DONE) ? readFileSync(DONE, "utf8").split("\n") : [])

async function handle(message) {
  const order = JSON.parse(message.data) // what cannot be read ends as a dead letter
  const id = message.attributes.id ?? message.messageId
  if (done.has(id)) return
  await sleep((order.seconds ?? 0) * 1000) // your code
  appendFileSync(DONE, `${id}\n`)
  done.add(id)
}

async function handleAll(received) {
  const open = new Set(received.map(({ ackId }) => ackId))
  const handled = []
  const failed = new Set() // ordering keys, of which what follows waits
  // Work may take longer than the deadline: it is moved meanwhile.
  await extend([...open], deadline)
  const timer = setInterval(
    () => extend([...open], deadline)?.catch?.(console.error), (deadline / 3) * 1000)
  try {
    for (const { ackId, message } of received) {
      try {
        if (!stopping && !failed.has(message.orderingKey || ackId)) {
          await handle(message)
          handled.push(ackId)
          continue
        }
      } catch (error) {
        console.error(message.messageId, error.message)
        if (message.orderingKey) failed.add(message.orderingKey)
      }
      open.delete(ackId)
      await extend([ackId], 0) // it comes again
    }
  } finally {
    clearInterval(timer)
    await acknowledge(handled) // also where a release failed
  }
}

const acknowledge = (ackIds) =>
  ackIds.length > 0 && subscriber.acknowledge({ subscription, ackIds })

const transient = [4, 8, 14] // DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNAVAILABLE

for (let failures = 0; !stopping; ) {
  try {
    pulling = true
    const [{ receivedMessages }] = await subscriber.pull(
      { subscription, maxMessages: 10 }, { timeout: 30_000 })
    pulling = false
    failures = 0
    await handleAll(receivedMessages)
  } catch (error) {
    if (!transient.includes(error.code)) throw error
    await sleep(Math.min(0.2 * 2 ** failures++, 10) * (0.5 + Math.random() / 2) * 1000)
  }
}
await subscriber.close()
