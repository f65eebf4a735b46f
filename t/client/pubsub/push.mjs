// Pushes to an endpoint that verifies their tokens with the library jose. It is
// the page's; this file has only what it does with the messages.

import assert from "node:assert/strict"
import { endpoint } from "../pubsub_endpoint.mjs"
import { subscriber } from "../pubsub.mjs"
import {
  acknowledge, empty, make, modify, publish, pulled, run, text, texts, until,
} from "./cases.mjs"

const port = Number(process.env.ENDPOINT_PORT)
const at = (path) => `http://127.0.0.1:${port}${path}`

const account = "push@example.com"
const audience = "https://push.example.com/orders"

// all that came, and how often a path is to fail first
const requests = []
const failures = new Map()

const server = await endpoint({
  issuer: process.env.ISSUER, account, audience: [audience, at("/default")],
  handle(body, { url, method, headers }) {
    requests.push({ url, method, headers, body, at: Date.now() })
    const left = failures.get(url) ?? 0
    if (left > 0) {
      failures.set(url, left - 1)
      throw new Error("not yet")
    }
  },
})

let refusals = 0
server.on("request", (request, response) =>
  response.on("finish", () => { refusals += response.statusCode === 401 ? 1 : 0 }))

await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve))

const oidcToken = { serviceAccountEmail: account, audience }
const to = (path, more) => ({ pushConfig: { pushEndpoint: at(path), oidcToken, ...more } })

const came = (path, n, seconds = 10) => until(() => {
  const all = requests.filter(({ url }) => url === path)
  return all.length >= n && all
}, seconds)

const json = ({ body }) => JSON.parse(body)
const data = ({ body }) => Buffer.from(JSON.parse(body).message.data, "base64").toString()

await run({
  "a message, in its envelope": async () => {
    const { topic, subscription } = await make(to("/envelope"))
    const [messageId] = await publish(topic, {
      data: Buffer.from("Hello"), attributes: { key: "value" }, orderingKey: "key",
    })
    const [request] = await came("/envelope", 1)
    const { message, ...rest } = json(request)
    assert.equal(request.method, "POST")
    assert.match(request.headers["content-type"], /^application\/json(;|$)/)
    assert.deepEqual(rest, { subscription })
    const { publishTime, publish_time, ...is } = message
    assert.equal(publishTime, publish_time)
    assert.match(publishTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
    assert(Math.abs(Date.parse(publishTime) - Date.now()) < 60_000)
    assert.deepEqual(is, {
      data: "SGVsbG8=", attributes: { key: "value" }, orderingKey: "key",
      messageId, message_id: messageId,
    })
  },

  "each once, where it is acknowledged": async () => {
    const { topic } = await make(to("/once"))
    const sent = Array.from({ length: 50 }, (_, n) => `m${n}`)
    await publish(topic, ...sent)
    await came("/once", 50, 20)
    await publish(topic, "last")
    const all = await until(() => {
      const some = requests.filter(({ url }) => url === "/once")
      return some.some((r) => data(r) === "last") && some
    })
    assert.deepEqual(all.map(data).sort(), [...sent, "last"].sort())
  },

  "what fails comes again, later and later": async () => {
    failures.set("/again", 3)
    const { topic } = await make(to("/again"))
    await publish(topic, "x")
    const all = await came("/again", 4)
    assert.deepEqual(all.map(data), ["x", "x", "x", "x"])
    const pauses = all.slice(1).map(({ at }, i) => at - all[i].at)
    assert(pauses[0] >= 90 && pauses[1] >= 180 && pauses[2] >= 360, `${pauses}`)
    assert.equal(json(all[0]).deliveryAttempt, undefined)
  },

  "dead letters, and attempts are counted": async () => {
    failures.set("/dead", 5)
    const dead = await make({})
    const { topic } = await make({
      ...to("/dead"),
      deadLetterPolicy: { deadLetterTopic: dead.topic, maxDeliveryAttempts: 5 },
    })
    await publish(topic, "x")
    const [received] = await pulled(dead.subscription, 1, { seconds: 20 })
    assert.equal(text(received), "x")
    assert.equal(received.message.attributes.CloudPubSubDeadLetterSourceDeliveryCount, "5")
    const all = await came("/dead", 5)
    assert.deepEqual(all.map((r) => json(r).deliveryAttempt), [1, 2, 3, 4, 5])
  },

  "a body without its envelope": async () => {
    const { topic, subscription } = await make(
      to("/bare", { noWrapper: { writeMetadata: true } }))
    const [id] = await publish(topic, {
      data: Buffer.from([0, 255, 10]), attributes: { kind: "order", "not a header": "x",
        host: "elsewhere", authorization: "Bearer x" }, orderingKey: "k",
    })
    const [{ body, headers }] = await came("/bare", 1)
    assert.deepEqual(body, Buffer.from([0, 255, 10]))
    assert.equal(headers["x-goog-pubsub-subscription-name"], subscription)
    assert.equal(headers["x-goog-pubsub-message-id"], id)
    assert.match(headers["x-goog-pubsub-publish-time"], /^\d{4}-\d\d-\d\dT/)
    assert.equal(headers["x-goog-pubsub-ordering-key"], "k")
    assert.equal(headers.kind, "order")
    assert.match(headers.host, /^127\.0\.0\.1:/)
    assert.equal(headers["not a header"], undefined)
  },

  "a body alone": async () => {
    const { topic } = await make(to("/alone", { noWrapper: {} }))
    await publish(topic, { data: Buffer.from("x"), attributes: { kind: "order" } })
    const [{ body, headers }] = await came("/alone", 1)
    assert.equal(body.toString(), "x")
    assert.equal(headers.kind, undefined)
    assert.deepEqual(Object.keys(headers).filter((h) => h.startsWith("x-goog-")), [])
  },

  "tokens for others, and none, are refused by the endpoint": async () => {
    for (const [path, token] of Object.entries({
      "/audience": { ...oidcToken, audience: "https://other.example.com" },
      "/default-of-another": { serviceAccountEmail: account },
      "/account": { ...oidcToken, serviceAccountEmail: "other@example.com" },
      "/none": null,
    })) {
      const before = refusals
      const { topic, subscription } = await make(to(path, { oidcToken: token }))
      await publish(topic, path)
      await until(() => refusals > before)
      assert.deepEqual(requests.filter(({ url }) => url === path), [])
      await subscriber.deleteSubscription({ subscription })
    }
  },

  "the audience is the URL, where none is said": async () => {
    const { topic } = await make(to("/default", { oidcToken: { serviceAccountEmail: account } }))
    await publish(topic, "x")
    await came("/default", 1)
  },

  "from pull to push and back": async () => {
    const { topic, subscription } = await make({})
    await publish(topic, "a", "b")
    const [first, ...rest] = await pulled(subscription, 2)
    await acknowledge(subscription, [first])
    await modify(subscription, rest, 0)
    await subscriber.modifyPushConfig({ subscription, ...to("/switch") })
    const [request] = await came("/switch", 1)
    assert.equal(data(request), text(rest[0]))
    await publish(topic, "c")
    await came("/switch", 2)
    await subscriber.modifyPushConfig({ subscription, pushConfig: {} })
    await publish(topic, "d")
    assert.deepEqual(texts(await pulled(subscription, 1, { acks: true })), ["d"])
    await empty(subscription)
    assert.equal((await came("/switch", 2)).length, 2)
  },
})
