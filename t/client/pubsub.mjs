// A publisher and a consumer of the Pub/Sub API, with Google's own client.
//
//   export PUBSUB_URL=https://host PROJECT_ID=shop API_KEY=...
//   node pubsub.mjs publish
//   node pubsub.mjs consume
//   ENDPOINT=https://here/orders SERVICE_ACCOUNT=push@example.com node pubsub.mjs push

import { v1 } from "@google-cloud/pubsub"
import { GoogleAuth, OAuth2Client } from "google-auth-library"

const url = new URL(process.env.PUBSUB_URL)
const projectId = process.env.PROJECT_ID

// A key, or an identity provider's JWT, is to Google's client an access token.
const authClient = new OAuth2Client()
authClient.setCredentials({ access_token: process.env.API_KEY })

const options = {
  fallback: true, // REST, not gRPC
  protocol: url.protocol.replace(":", ""),
  apiEndpoint: url.hostname,
  port: Number(url.port) || (url.protocol === "https:" ? 443 : 80),
  projectId,
  auth: new GoogleAuth({ authClient, projectId }),
}

const publisher = new v1.PublisherClient(options)
const subscriber = new v1.SubscriberClient(options)

const topic = `projects/${projectId}/topics/orders`
const subscription = `projects/${projectId}/subscriptions/billing`

// gRPC's code of ALREADY_EXISTS, or before version 6 of the client HTTP's
const there = [6, 409]

async function unlessThere(creation) {
  try {
    await creation
  } catch (error) {
    if (!there.includes(error.code)) throw error
  }
}

// The order of one customer's events is kept: they have the same key.
async function publish() {
  await unlessThere(publisher.createTopic({ name: topic }))
  await unlessThere(subscriber.createSubscription({
    name: subscription, topic, ackDeadlineSeconds: 30, enableMessageOrdering: true,
  }))
  for (let event = 1; event <= 5; event++) {
    const messages = ["ann", "bob", "eve"].map((customer) => ({
      data: Buffer.from(JSON.stringify({ customer, event })),
      attributes: { kind: "order" }, orderingKey: customer,
    }))
    const [{ messageIds }] = await publisher.publish({ topic, messages })
    console.log("published", ...messageIds)
  }
}

let refuse = true

async function handle(message) {
  const { customer, event } = JSON.parse(message.data) // your code
  if (customer === "bob" && event === 2 && refuse) {
    refuse = false
    throw new Error("not yet")
  }
  console.log("handled", customer, event)
}

// What is not acknowledged comes again; with a deadline of 0, at once. Behind one
// that failed, the messages of its key come again after it.
async function consume() {
  for (;;) {
    const [{ receivedMessages }] = await subscriber.pull({
      subscription, maxMessages: 100, returnImmediately: Boolean(process.env.ONCE),
    })
    if (process.env.ONCE && receivedMessages.length === 0) return
    const done = []
    const failed = []
    const keys = new Set()
    for (const { ackId, message } of receivedMessages) {
      try {
        if (keys.has(message.orderingKey)) throw new Error("out of order")
        await handle(message)
        done.push(ackId)
      } catch (error) {
        keys.add(message.orderingKey)
        failed.push(ackId)
      }
    }
    if (done.length > 0) await subscriber.acknowledge({ subscription, ackIds: done })
    if (failed.length > 0) {
      await subscriber.modifyAckDeadline({
        subscription, ackIds: failed, ackDeadlineSeconds: 0,
      })
    }
  }
}

// From now on messages go to an endpoint as well, with tokens for it.
async function push() {
  await unlessThere(publisher.createTopic({ name: topic }))
  await unlessThere(subscriber.createSubscription({
    name: `projects/${projectId}/subscriptions/shipping`, topic,
    pushConfig: {
      pushEndpoint: process.env.ENDPOINT,
      oidcToken: { serviceAccountEmail: process.env.SERVICE_ACCOUNT },
    },
  }))
}

export { options, projectId, publisher, subscriber }

if (process.argv[2] === "push") await push()
if (process.argv[2] === "publish") await publish()
if (process.argv[2] === "consume") await consume()
