// Topics, subscriptions and snapshots: created, read, listed, changed, deleted.

import assert from "node:assert/strict"
import { publisher, subscriber } from "../pubsub.mjs"
import {
  acknowledge, fails, make, project, publish, pulled, run, snapshotName,
  subscriptionName, topicName,
} from "./cases.mjs"

const seconds = (n) => ({ seconds: String(n), nanos: 0 })
const week = seconds(7 * 86400)

// what an answer has of these fields
const pick = (is, ...names) => Object.fromEntries(names.map((name) => [name, is[name]]))

const change = (paths, subscription) =>
  subscriber.updateSubscription({ subscription, updateMask: { paths } })

await run({
  "a topic": async () => {
    const name = topicName("topic")
    const [created] = await publisher.createTopic({
      name, labels: { team: "a" }, messageRetentionDuration: { seconds: 600 },
    })
    const is = { name, labels: { team: "a" }, messageRetentionDuration: seconds(600) }
    assert.deepEqual(pick(created, ...Object.keys(is)), is)
    const [found] = await publisher.getTopic({ topic: name })
    assert.deepEqual(found, created)
    const [changed] = await publisher.updateTopic({
      topic: { name, labels: { team: "b", x: "" } },
      updateMask: { paths: ["labels", "message_retention_duration"] },
    })
    const now = { name, labels: { team: "b", x: "" }, messageRetentionDuration: null }
    assert.deepEqual(pick(changed, ...Object.keys(now)), now)
    assert.deepEqual((await publisher.getTopic({ topic: name }))[0], changed)
    await publisher.deleteTopic({ topic: name })
    await fails(publisher.getTopic({ topic: name }), "NOT_FOUND")
    await fails(publisher.deleteTopic({ topic: name }), "NOT_FOUND")
  },

  "a subscription, with what is usual": async () => {
    const { topic, subscription } = await make({})
    const [is] = await subscriber.getSubscription({ subscription })
    assert.deepEqual(
      pick(is, "name", "topic", "ackDeadlineSeconds", "messageRetentionDuration",
           "expirationPolicy", "retryPolicy", "deadLetterPolicy", "filter", "labels",
           "retainAckedMessages", "enableMessageOrdering", "detached", "state",
           "enableExactlyOnceDelivery", "topicMessageRetentionDuration"),
      {
        name: subscription, topic, ackDeadlineSeconds: 10, messageRetentionDuration: week,
        expirationPolicy: { ttl: seconds(31 * 86400) }, retryPolicy: null,
        deadLetterPolicy: null, filter: "", labels: {}, retainAckedMessages: false,
        enableMessageOrdering: false, detached: false, state: "ACTIVE",
        enableExactlyOnceDelivery: false, topicMessageRetentionDuration: null,
      })
    assert.equal(is.pushConfig?.pushEndpoint ?? "", "")
  },

  "a subscription, with all there is": async () => {
    const dead = await make(null)
    const settings = {
      ackDeadlineSeconds: 600, retainAckedMessages: true,
      messageRetentionDuration: seconds(700), labels: { a: "b" },
      enableMessageOrdering: true, expirationPolicy: { ttl: seconds(86400) },
      filter: 'attributes.a = "1"',
      deadLetterPolicy: { deadLetterTopic: dead.topic, maxDeliveryAttempts: 100 },
      retryPolicy: {
        minimumBackoff: { seconds: "1", nanos: 500_000_000 }, maximumBackoff: seconds(600),
      },
      enableExactlyOnceDelivery: true,
    }
    const { topic, subscription } = await make(settings,
      { ofTopic: { messageRetentionDuration: seconds(900) } })
    const is = {
      ...settings, name: subscription, topic, topicMessageRetentionDuration: seconds(900),
    }
    const [found] = await subscriber.getSubscription({ subscription })
    assert.deepEqual(pick(found, ...Object.keys(is)), is)
  },

  "policies that are empty": async () => {
    const dead = await make(null)
    const { subscription } = await make({
      expirationPolicy: {}, retryPolicy: {},
      deadLetterPolicy: { deadLetterTopic: dead.topic },
    })
    const [is] = await subscriber.getSubscription({ subscription })
    assert.deepEqual(pick(is, "expirationPolicy", "retryPolicy", "deadLetterPolicy"), {
      expirationPolicy: { ttl: null },
      retryPolicy: { minimumBackoff: seconds(10), maximumBackoff: seconds(600) },
      deadLetterPolicy: { deadLetterTopic: dead.topic, maxDeliveryAttempts: 5 },
    })
  },

  "a subscription is changed where the mask says": async () => {
    const dead = await make(null)
    const { subscription: name } = await make({
      labels: { a: "b" }, retryPolicy: {}, filter: "attributes:a",
    })
    const [one] = await change(["ack_deadline_seconds", "labels"],
      { name, ackDeadlineSeconds: 20, retainAckedMessages: true })
    assert.deepEqual(
      pick(one, "ackDeadlineSeconds", "labels", "retainAckedMessages", "filter"),
      { ackDeadlineSeconds: 20, labels: {}, retainAckedMessages: false, filter: "attributes:a" })
    assert.notEqual(one.retryPolicy, null)
    const [two] = await change(
      ["retryPolicy", "deadLetterPolicy", "messageRetentionDuration", "expirationPolicy",
       "ackDeadlineSeconds", "enableExactlyOnceDelivery"],
      { name, deadLetterPolicy: { deadLetterTopic: dead.topic },
        messageRetentionDuration: { seconds: 600 }, expirationPolicy: {},
        enableExactlyOnceDelivery: true })
    assert.deepEqual(
      pick(two, "retryPolicy", "deadLetterPolicy", "messageRetentionDuration",
           "expirationPolicy", "ackDeadlineSeconds", "enableExactlyOnceDelivery"),
      { retryPolicy: null,
        deadLetterPolicy: { deadLetterTopic: dead.topic, maxDeliveryAttempts: 5 },
        messageRetentionDuration: seconds(600), expirationPolicy: { ttl: null },
        ackDeadlineSeconds: 10, enableExactlyOnceDelivery: true })
    const [three] = await change(["dead_letter_policy.max_delivery_attempts"],
      { name, deadLetterPolicy: { maxDeliveryAttempts: 7 } })
    assert.deepEqual(three.deadLetterPolicy,
      { deadLetterTopic: dead.topic, maxDeliveryAttempts: 7 })
    assert.deepEqual((await subscriber.getSubscription({ subscription: name }))[0], three)
  },

  "a push config, and none": async () => {
    const { subscription } = await make({})
    const pushEndpoint = "https://push.example.com/a?b=c"
    const config = async () =>
      (await subscriber.getSubscription({ subscription }))[0].pushConfig
    await subscriber.modifyPushConfig({ subscription, pushConfig: {
      pushEndpoint, attributes: { "x-goog-version": "v1" },
      noWrapper: { writeMetadata: true },
      oidcToken: { serviceAccountEmail: "push@example.com", audience: "a" },
    } })
    const is = await config()
    assert.equal(is.pushEndpoint, pushEndpoint)
    assert.deepEqual(is.noWrapper, { writeMetadata: true })
    assert.deepEqual(is.oidcToken, { serviceAccountEmail: "push@example.com", audience: "a" })
    await change(["push_config"], { name: subscription, pushConfig: { pushEndpoint } })
    const then = await config()
    assert.equal(then.pushEndpoint, pushEndpoint)
    assert(!then.oidcToken && !then.noWrapper)
    await subscriber.modifyPushConfig({ subscription, pushConfig: {} })
    assert.equal((await config())?.pushEndpoint ?? "", "")
  },

  "a snapshot": async () => {
    const { id, topic, subscription } = await make({})
    const name = snapshotName(id)
    await publish(topic, "x")
    const [created] = await subscriber.createSnapshot({ name, subscription, labels: { a: "b" } })
    assert.deepEqual(pick(created, "name", "topic", "labels"), { name, topic, labels: { a: "b" } })
    const days = (Number(created.expireTime.seconds) - Date.now() / 1000) / 86400
    assert(days > 6.9 && days <= 7.01, `${days}`)
    assert.deepEqual((await subscriber.getSnapshot({ snapshot: name }))[0], created)
    const [changed] = await subscriber.updateSnapshot({
      snapshot: { name, labels: { c: "d" } }, updateMask: { paths: ["labels"] },
    })
    assert.deepEqual(changed.labels, { c: "d" })
    assert.deepEqual((await publisher.listTopicSnapshots({ topic }))[0], [name])
    assert((await subscriber.listSnapshots({ project }))[0].some((s) => s.name === name))
    await subscriber.deleteSnapshot({ snapshot: name })
    await fails(subscriber.deleteSnapshot({ snapshot: name }), "NOT_FOUND")
    assert.deepEqual((await publisher.listTopicSnapshots({ topic }))[0], [])
  },

  "lists, page by page and by the client's iterators": async () => {
    const { topic } = await make(null)
    const ids = Array.from({ length: 105 }, (_, n) => `page-${String(n).padStart(3, "0")}`)
    await Promise.all(ids.map((id) => publisher.createTopic({ name: topicName(id) })))
    await Promise.all(ids.map((id) =>
      subscriber.createSubscription({ name: subscriptionName(id), topic })))
    const ours = (all) => all.map((r) => r.name ?? r).filter((name) => /\/page-\d+$/.test(name))
    const topics = ids.map(topicName)
    const subscriptions = ids.map(subscriptionName)

    assert.deepEqual(ours((await publisher.listTopics({ project }))[0]), topics)
    assert.deepEqual(ours((await subscriber.listSubscriptions({ project }))[0]), subscriptions)
    assert.deepEqual((await publisher.listTopicSubscriptions({ topic }))[0], subscriptions)

    const found = []
    for await (const r of publisher.listTopicsAsync({ project, pageSize: 10 })) found.push(r)
    assert.deepEqual(ours(found), topics)

    const pages = []
    let request = { project, pageSize: 50 }
    while (request) {
      const [page, next] = await subscriber.listSubscriptions(request, { autoPaginate: false })
      assert(page.length <= 50, `${page.length}`)
      pages.push(...page)
      request = next
    }
    assert.deepEqual(ours(pages), subscriptions)
    await fails(publisher.listTopics({ project, pageToken: "x/=+" }, { autoPaginate: false }),
                "INVALID_ARGUMENT")
    await fails(publisher.listTopics({ project, pageSize: -1 }, { autoPaginate: false }),
                "INVALID_ARGUMENT")
  },

  "projects are apart": async () => {
    const { id, topic } = await make({})
    const other = (kind) => `projects/another/${kind}/${id}`
    await fails(publisher.getTopic({ topic: other("topics") }), "NOT_FOUND")
    await publisher.createTopic({ name: other("topics") })
    await fails(subscriber.getSubscription({ subscription: other("subscriptions") }), "NOT_FOUND")
    await subscriber.createSubscription({
      name: other("subscriptions"), topic: other("topics"),
    })
    await publish(topic, "x")
    assert.deepEqual(await subscriber.pull({
      subscription: other("subscriptions"), maxMessages: 1, returnImmediately: true,
    }).then(([{ receivedMessages }]) => receivedMessages), [])
    await fails(subscriber.createSubscription({
      name: subscriptionName("across"), topic: other("topics"),
    }), "INVALID_ARGUMENT")
    const [all] = await publisher.listTopics({ project: "projects/another" })
    assert.deepEqual(all.map((t) => t.name), [other("topics")])
  },

  "a subscription is deleted, and made again without its messages": async () => {
    const { topic, subscription } = await make({})
    await publish(topic, "x")
    await subscriber.deleteSubscription({ subscription })
    await fails(subscriber.deleteSubscription({ subscription }), "NOT_FOUND")
    await subscriber.createSubscription({ name: subscription, topic })
    await publish(topic, "y")
    const all = await pulled(subscription, 1)
    assert.deepEqual(all.map((r) => r.message.data.toString()), ["y"])
    await acknowledge(subscription, all)
  },
})
