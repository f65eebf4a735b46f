// What the cases of the Pub/Sub API share. Each runs by itself, on resources of
// its own; for t/pubsub_client.t a line "ok - NAME" or "not ok - NAME" is printed
// for each, and the number of all of them last.

import assert from "node:assert/strict"
import { basename } from "node:path"
import { subscriber, publisher, projectId } from "../pubsub.mjs"

export const project = `projects/${projectId}`
export const topicName = (id) => `${project}/topics/${id}`
export const subscriptionName = (id) => `${project}/subscriptions/${id}`
export const snapshotName = (id) => `${project}/snapshots/${id}`

export const code = {
  INVALID_ARGUMENT: 3, NOT_FOUND: 5, ALREADY_EXISTS: 6, PERMISSION_DENIED: 7,
  FAILED_PRECONDITION: 9, UNIMPLEMENTED: 12, UNAVAILABLE: 14, UNAUTHENTICATED: 16,
}

export async function run(cases) {
  let n = 0
  for (const [name, test] of Object.entries(cases)) {
    try {
      await test()
      console.log(`ok - ${name}`)
    } catch (error) {
      console.log(`not ok - ${name}\n${error.stack}`)
    }
    n++
  }
  console.log(`1..${n}`)
  process.exit()
}

// The call fails, with this status, and says so.
export async function fails(call, status, message) {
  const error = await call.then(
    (answer) => assert.fail(`not refused: ${JSON.stringify(answer[0])}`),
    (error) => error)
  if (error instanceof assert.AssertionError) throw error
  assert.equal(error.code, code[status], `${error.code} ${error.message}`)
  if (message) assert.match(error.message, message)
  return error
}

const group = basename(process.argv[1], ".mjs")
let last = 0

// A topic, and a subscription of it where settings are given.
export async function make(settings, { id = `${group}-${++last}`, ofTopic } = {}) {
  const topic = topicName(id)
  const subscription = subscriptionName(id)
  await publisher.createTopic({ name: topic, ...ofTopic })
  if (settings) {
    await subscriber.createSubscription({ name: subscription, topic, ...settings })
  }
  return { id, topic, subscription }
}

export async function publish(topic, ...messages) {
  const [{ messageIds }] = await publisher.publish({
    topic,
    messages: messages.map((m) => (typeof m === "string" ? { data: Buffer.from(m) } : m)),
  })
  return messageIds
}

export const text = (received) => received.message.data.toString()
export const texts = (received) => received.map(text)

export async function pull(subscription, maxMessages = 100) {
  const [{ receivedMessages }] = await subscriber.pull({
    subscription, maxMessages, returnImmediately: true,
  })
  return receivedMessages
}

// At least n messages, within so many seconds; what comes is acknowledged, where
// that is asked for, so that an ordered subscription goes on.
export async function pulled(subscription, n, { seconds = 10, acks = false } = {}) {
  const deadline = Date.now() + seconds * 1000
  const all = []
  while (all.length < n) {
    const some = await pull(subscription)
    if (acks && some.length > 0) await acknowledge(subscription, some)
    all.push(...some)
    if (all.length >= n) break
    assert(Date.now() < deadline, `${all.length} of ${n}: ${texts(all)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return all
}

export const acknowledge = (subscription, received) => subscriber.acknowledge({
  subscription, ackIds: received.map(({ ackId }) => ackId),
})

export const modify = (subscription, received, ackDeadlineSeconds) =>
  subscriber.modifyAckDeadline({
    subscription, ackIds: received.map(({ ackId }) => ackId), ackDeadlineSeconds,
  })

// Nothing is there, and there is nothing to wait for.
export async function empty(subscription) {
  assert.deepEqual(texts(await pull(subscription)), [])
}

// A condition that becomes true.
export async function until(condition, seconds = 10) {
  const deadline = Date.now() + seconds * 1000
  for (;;) {
    const value = await condition()
    if (value) return value
    assert(Date.now() < deadline, `${condition}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
