// Messages: published, pulled, acknowledged, and when they come again.

import assert from "node:assert/strict"
import { projectId, publisher, subscriber } from "../pubsub.mjs"
import {
  acknowledge, empty, fails, make, modify, publish, pull, pulled, run, snapshotName,
  subscriptionName, text, texts, topicName,
} from "./cases.mjs"

await run({
  "a message, as it was published": async () => {
    const { topic, subscription } = await make({})
    const data = Buffer.from([...Array(256).keys()])
    const attributes = { kind: "order", "é \"\\": "\u20b9\u{1f60a}\n", none: "" }
    const before = Date.now()
    const [id] = await publish(topic, { data, attributes, orderingKey: "k/1 é" })
    const [received] = await pulled(subscription, 1)
    const { message } = received
    assert.deepEqual(message.data, data)
    assert.deepEqual(message.attributes, attributes)
    assert.equal(message.orderingKey, "k/1 é")
    assert.equal(message.messageId, id)
    assert.match(id, /^[0-9]+$/)
    const { seconds, nanos } = message.publishTime
    const published = Number(seconds) * 1000 + nanos / 1e6
    assert(published >= before - 1000 && published <= Date.now() + 1000, `${published}`)
    assert.equal(received.deliveryAttempt, 0)
    await acknowledge(subscription, [received])
    await empty(subscription)
  },

  "attributes alone, and data alone": async () => {
    const { topic, subscription } = await make({})
    await publish(topic, { attributes: { a: "" } }, { data: Buffer.from("x") })
    const byLength = (await pulled(subscription, 2))
      .map(({ message }) => [message.data.toString(), message.attributes]).sort()
    assert.deepEqual(byLength, [["", { a: "" }], ["x", {}]])
  },

  "a hundred in one request": async () => {
    const { topic, subscription } = await make({})
    const sent = Array.from({ length: 100 }, (_, n) => `m${n}`)
    const ids = await publish(topic, ...sent)
    assert.equal(new Set(ids).size, 100)
    const first = await pull(subscription, 30)
    assert(first.length >= 1 && first.length <= 30, `${first.length}`)
    const all = [...first, ...await pulled(subscription, 100 - first.length)]
    const byId = new Map(all.map((r) => [r.message.messageId, text(r)]))
    assert.deepEqual(ids.map((id) => byId.get(id)), sent)
    await acknowledge(subscription, all)
    await empty(subscription)
  },

  "each subscription has its own copy, of what came after it": async () => {
    const { topic, subscription } = await make({})
    await publish(topic, "before")
    const other = `${subscription}-2`
    await subscriber.createSubscription({ name: other, topic })
    await publish(topic, "after")
    await acknowledge(subscription, await pulled(subscription, 2))
    await empty(subscription)
    assert.deepEqual(texts(await pulled(other, 1)), ["after"])
    await empty(other)
  },

  "a topic without subscriptions takes messages": async () => {
    const { topic } = await make(null)
    assert.equal((await publish(topic, "x", "y")).length, 2)
  },

  "a pull waits for a message": async () => {
    const { topic, subscription } = await make({})
    const waiting = subscriber.pull({ subscription, maxMessages: 1 })
    await new Promise((resolve) => setTimeout(resolve, 200))
    const begin = Date.now()
    await publish(topic, "x")
    const [{ receivedMessages }] = await waiting
    assert.deepEqual(texts(receivedMessages), ["x"])
    assert(Date.now() - begin < 3000, "at once")
  },

  "in order, for each key": async () => {
    const { topic, subscription } = await make({ enableMessageOrdering: true })
    for (let n = 1; n <= 4; n++) {
      await publish(topic, ...["a", "b"].map((key) => (
        { data: Buffer.from(`${key}${n}`), orderingKey: key })))
    }
    await publish(topic, "no key")
    const all = texts(await pulled(subscription, 9, { acks: true }))
    for (const key of ["a", "b"]) {
      assert.deepEqual(all.filter((s) => s.startsWith(key)), [1, 2, 3, 4].map((n) => key + n))
    }
    assert(all.includes("no key"))
  },

  "behind one that was not acknowledged, its key waits": async () => {
    const { topic, subscription } = await make({ enableMessageOrdering: true })
    for (const data of ["1", "2", "3"]) {
      await publish(topic, { data: Buffer.from(data), orderingKey: "k" })
    }
    const [first, ...rest] = await pulled(subscription, 1)
    assert.equal(text(first), "1")
    await modify(subscription, [first, ...rest], 0)
    assert.deepEqual(texts(await pulled(subscription, 3, { acks: true })), ["1", "2", "3"])
  },

  "a deadline of 0: it comes again at once": async () => {
    const { topic, subscription } = await make({})
    const [id] = await publish(topic, "x")
    const first = await pulled(subscription, 1)
    await empty(subscription)
    await modify(subscription, first, 0)
    const [again] = await pulled(subscription, 1, { seconds: 3 })
    assert.equal(again.message.messageId, id)
    assert.notEqual(again.ackId, first[0].ackId)
    await acknowledge(subscription, [again])
    await empty(subscription)
  },

  "a deadline that ends, and one that was extended": async () => {
    const { topic, subscription } = await make({ ackDeadlineSeconds: 10 })
    await publish(topic, "short", "long")
    const all = await pulled(subscription, 2)
    const [short, long] = ["short", "long"].map((s) => all.find((r) => text(r) === s))
    await modify(subscription, [long], 60)
    await modify(subscription, [short], 1)
    const [again] = await pulled(subscription, 1)
    assert.equal(text(again), "short")
    await acknowledge(subscription, [again, long])
    await empty(subscription)
  },

  "what is over is not acknowledged, and no error": async () => {
    const { topic, subscription } = await make({})
    await publish(topic, "x")
    const first = await pulled(subscription, 1)
    await modify(subscription, first, 0)
    const second = await pulled(subscription, 1)
    await acknowledge(subscription, first)
    await modify(subscription, second, 0)
    assert.equal((await pulled(subscription, 1)).length, 1)
  },

  "a retry policy: not before the backoff": async () => {
    const { topic, subscription } = await make({
      retryPolicy: { minimumBackoff: { seconds: 1 }, maximumBackoff: { seconds: 1 } },
    })
    await publish(topic, "x")
    const first = await pulled(subscription, 1)
    const begin = Date.now()
    await modify(subscription, first, 0)
    await pulled(subscription, 1)
    const ms = Date.now() - begin
    assert(ms >= 900 && ms < 5000, `after ${ms} ms`)
  },

  "dead letters, after five attempts": async () => {
    const dead = await make({})
    const { id, topic, subscription } = await make({
      deadLetterPolicy: { deadLetterTopic: dead.topic, maxDeliveryAttempts: 5 },
    })
    const sent = { data: Buffer.from("x"), attributes: { a: "b" }, orderingKey: "k" }
    const [messageId] = await publish(topic, sent)
    for (let attempt = 1; attempt <= 5; attempt++) {
      const received = await pulled(subscription, 1)
      assert.equal(received[0].deliveryAttempt, attempt)
      await modify(subscription, received, 0)
    }
    const [{ message, deliveryAttempt }] = await pulled(dead.subscription, 1)
    assert.equal(deliveryAttempt, 0)
    assert.notEqual(message.messageId, messageId)
    assert.equal(message.data.toString(), "x")
    assert.equal(message.orderingKey, "k")
    const { CloudPubSubDeadLetterSourceTopicPublishTime: time, ...rest } = message.attributes
    assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/)
    assert.deepEqual(rest, {
      a: "b",
      CloudPubSubDeadLetterSourceDeliveryCount: "5",
      CloudPubSubDeadLetterSourceSubscription: id,
      CloudPubSubDeadLetterSourceSubscriptionProject: projectId,
    })
    await empty(subscription)
  },

  "a filter": async () => {
    const { topic, subscription } = await make({
      filter: 'attributes:kind AND NOT hasPrefix(attributes.kind, "test")',
    })
    await publish(topic,
      { data: Buffer.from("a"), attributes: { kind: "order" } },
      { data: Buffer.from("b"), attributes: { kind: "test-1" } },
      { data: Buffer.from("c") })
    assert.deepEqual(texts(await pulled(subscription, 1)), ["a"])
    await empty(subscription)
  },

  "exactly once: who comes too late is told": async () => {
    const { topic, subscription } = await make({ enableExactlyOnceDelivery: true })
    await publish(topic, "x")
    const [received] = await pulled(subscription, 1)
    const { ackId } = received
    await acknowledge(subscription, [received])
    for (const late of [acknowledge, (s, r) => modify(s, r, 10)]) {
      const error = await fails(late(subscription, [received]), "FAILED_PRECONDITION")
      assert.equal(error.errorInfoMetadata?.[ackId], "PERMANENT_FAILURE_INVALID_ACK_ID",
                   JSON.stringify(error.statusDetails))
    }
  },

  "back to a moment": async () => {
    const { topic, subscription } = await make({ retainAckedMessages: true })
    await publish(topic, "a", "b")
    const all = await pulled(subscription, 2)
    await acknowledge(subscription, all)
    const { seconds } = all[0].message.publishTime
    await subscriber.seek({ subscription, time: { seconds: Number(seconds) - 5 } })
    assert.deepEqual(texts(await pulled(subscription, 2)).sort(), ["a", "b"])
    const now = Date.now()
    await subscriber.seek({ subscription, time: {
      seconds: Math.floor(now / 1000), nanos: now % 1000 * 1e6,
    } })
    await empty(subscription)
    await publish(topic, "c")
    assert.deepEqual(texts(await pulled(subscription, 1)), ["c"])
  },

  "back to a snapshot": async () => {
    const { id, topic, subscription } = await make({})
    await publish(topic, "done", "open")
    const all = await pulled(subscription, 2)
    await acknowledge(subscription, all.filter((r) => text(r) === "done"))
    const snapshot = snapshotName(id)
    const [is] = await subscriber.createSnapshot({ name: snapshot, subscription })
    assert.equal(is.topic, topic)
    await acknowledge(subscription, all.filter((r) => text(r) === "open"))
    await publish(topic, "later")
    await acknowledge(subscription, await pulled(subscription, 1))
    await empty(subscription)
    await subscriber.seek({ subscription, snapshot })
    assert.deepEqual(texts(await pulled(subscription, 2)).sort(), ["later", "open"])
  },

  "detached: nothing is left, and nothing comes": async () => {
    const { topic, subscription } = await make({})
    await publish(topic, "x")
    await publisher.detachSubscription({ subscription })
    await fails(pull(subscription), "FAILED_PRECONDITION")
    await publish(topic, "y")
    const [is] = await subscriber.getSubscription({ subscription })
    assert.equal(is.detached, true)
    const [names] = await publisher.listTopicSubscriptions({ topic })
    assert.deepEqual(names, [])
  },

  "the topic is deleted: what came before stays": async () => {
    const { topic, subscription } = await make({})
    await publish(topic, "x")
    await publisher.deleteTopic({ topic })
    const [is] = await subscriber.getSubscription({ subscription })
    assert.equal(is.topic, "_deleted-topic_")
    assert.deepEqual(texts(await pulled(subscription, 1)), ["x"])
    await publisher.createTopic({ name: topic })
    await publish(topic, "y")
    await empty(subscription)
  },

  "names with signs": async () => {
    for (const id of ["a~b+c%41d", "p%2Fq", "x+y", "dots.and-all_~"]) {
      const { topic, subscription } = await make({}, { id })
      await publish(topic, id)
      const all = await pulled(subscription, 1)
      assert.deepEqual(texts(all), [id])
      await acknowledge(subscription, all)
      assert.equal((await publisher.getTopic({ topic }))[0].name, topicName(id))
      const [is] = await subscriber.getSubscription({ subscription })
      assert.equal(is.name, subscriptionName(id))
      assert.equal(is.topic, topicName(id))
    }
    await fails(publisher.getTopic({ topic: topicName("a~b+cAd") }), "NOT_FOUND")
    await fails(publisher.getTopic({ topic: topicName("x y") }), "INVALID_ARGUMENT")
  },
})
