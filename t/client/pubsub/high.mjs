// The class PubSub, which all of Google's examples begin with: over REST it does
// everything but to wait for messages by itself, for which v1.SubscriberClient is.

import assert from "node:assert/strict"
import { PubSub } from "@google-cloud/pubsub"
import { options, projectId } from "../pubsub.mjs"
import { acknowledge, empty, fails, pulled, run, snapshotName, texts } from "./cases.mjs"

const url = new URL(process.env.PUBSUB_URL)
const pubsub = new PubSub({ ...options, apiEndpoint: url.host })

await run({
  "a topic, a subscription, and messages in batches": async () => {
    const [topic] = await pubsub.createTopic("high")
    const [subscription] = await topic.createSubscription("high", { ackDeadlineSeconds: 20 })
    const sent = Array.from({ length: 20 }, (_, n) => `m${n}`)
    const ids = await Promise.all(sent.map((s) => topic.publishMessage({ data: Buffer.from(s) })))
    assert.equal(new Set(ids).size, 20)
    const all = await pulled(subscription.name, 20)
    assert.deepEqual(texts(all).sort(), [...sent].sort())
    await acknowledge(subscription.name, all)
    await empty(subscription.name)
  },

  "in the order of a key": async () => {
    const [topic] = await pubsub.createTopic("high-ordered")
    const [{ name }] = await topic.createSubscription("high-ordered", {
      enableMessageOrdering: true,
    })
    const ordered = pubsub.topic("high-ordered", { messageOrdering: true })
    for (let n = 0; n < 5; n++) ordered.publishMessage({ json: { n }, orderingKey: "k" })
    await ordered.flush()
    assert.deepEqual(texts(await pulled(name, 5, { acks: true })),
                     Array.from({ length: 5 }, (_, n) => `{"n":${n}}`))
  },

  "what there is, and what it is": async () => {
    const topic = pubsub.topic("high")
    const subscription = topic.subscription("high")
    assert.deepEqual([await topic.exists(), await pubsub.topic("high-none").exists()],
                     [[true], [false]])
    assert((await pubsub.getTopics())[0].some(({ name }) => name === topic.name))
    assert.deepEqual((await topic.getSubscriptions())[0].map(({ name }) => name),
                     [subscription.name])
    await subscription.setMetadata({ ackDeadlineSeconds: 30 })
    assert.equal((await subscription.getMetadata())[0].ackDeadlineSeconds, 30)
    await subscription.modifyPushConfig({ pushEndpoint: "https://push.example.com/" })
    await subscription.modifyPushConfig({ pushEndpoint: "" })
    await topic.setMetadata({ labels: { a: "b" } })
    assert.deepEqual((await topic.getMetadata())[0].labels, { a: "b" })
  },

  "snapshots, and back to them": async () => {
    const topic = pubsub.topic("high")
    const subscription = topic.subscription("high")
    await topic.publishMessage({ data: Buffer.from("again") })
    const [snapshot] = await subscription.createSnapshot("high")
    assert.equal(snapshot.name, snapshotName("high"))
    await acknowledge(subscription.name, await pulled(subscription.name, 1))
    await snapshot.seek()
    assert.deepEqual(texts(await pulled(subscription.name, 1)), ["again"])
    await subscription.seek(new Date(Date.now() + 3600_000))
    await empty(subscription.name)
    await snapshot.delete()
  },

  "deleted": async () => {
    await pubsub.detachSubscription("high")
    assert.deepEqual(await pubsub.subscription("high").detached(), [true])
    await pubsub.subscription("high").delete()
    await pubsub.topic("high").delete()
    await fails(pubsub.topic("high").getMetadata(), "NOT_FOUND")
    await fails(pubsub.topic("high").iam.getPolicy(), "UNIMPLEMENTED")
    assert.equal(pubsub.projectId, projectId)
  },
})
