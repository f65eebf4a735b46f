// What is refused, and the code that Google's client makes of it.

import assert from "node:assert/strict"
import { v1 } from "@google-cloud/pubsub"
import { GoogleAuth, OAuth2Client, PassThroughClient } from "google-auth-library"
import { options, projectId, publisher, subscriber } from "../pubsub.mjs"
import {
  acknowledge, fails, make, modify, project, publish, pull, pulled, run, snapshotName,
  subscriptionName, topicName,
} from "./cases.mjs"

const there = await make({})
const push = await make({ pushConfig: { pushEndpoint: "https://push.example.com/" } })
const absent = {
  topic: topicName("absent"), subscription: subscriptionName("absent"),
  snapshot: snapshotName("absent"),
}

const seconds = (n, nanos = 0) => ({ seconds: n, nanos })

const client = (authClient, Client = v1.PublisherClient, more = {}) =>
  new Client({ ...options, ...more, auth: new GoogleAuth({ authClient, projectId }) })

function withKey(key, Client) {
  const authClient = new OAuth2Client()
  authClient.setCredentials({ access_token: key })
  return client(authClient, Client)
}

let last = 0

const create = (settings) => subscriber.createSubscription({
  name: subscriptionName(`refused-${++last}`), topic: there.topic, ...settings,
})

const update = (paths, settings, name = there.subscription) =>
  subscriber.updateSubscription({
    subscription: { name, ...settings }, updateMask: { paths },
  })

const updateTopic = (paths, settings, name = there.topic) =>
  publisher.updateTopic({ topic: { name, ...settings }, updateMask: { paths } })

const missing = /^Resource not found \(resource=absent\)\.$/

const attributes = (n) =>
  Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, "v"]))

// a case for each
const each = (status, calls) => Object.fromEntries(
  Object.entries(calls).map(([name, call]) => [`${status}: ${name}`, async () => {
    await fails(call(), status, status === "NOT_FOUND" ? missing : undefined)
  }]))

await run({
  ...each("NOT_FOUND", {
    "getTopic": () => publisher.getTopic({ topic: absent.topic }),
    "updateTopic": () => updateTopic(["labels"], {}, absent.topic),
    "deleteTopic": () => publisher.deleteTopic({ topic: absent.topic }),
    "publish": () => publish(absent.topic, "x"),
    "listTopicSubscriptions": () =>
      publisher.listTopicSubscriptions({ topic: absent.topic }),
    "listTopicSnapshots": () => publisher.listTopicSnapshots({ topic: absent.topic }),
    "createSubscription of a topic": () => create({ topic: absent.topic }),
    "createSubscription with dead letters": () =>
      create({ deadLetterPolicy: { deadLetterTopic: absent.topic } }),
    "updateSubscription with dead letters": () =>
      update(["dead_letter_policy"], { deadLetterPolicy: { deadLetterTopic: absent.topic } }),
    "getSubscription": () => subscriber.getSubscription({ subscription: absent.subscription }),
    "updateSubscription": () =>
      update(["ack_deadline_seconds"], { ackDeadlineSeconds: 20 }, absent.subscription),
    "deleteSubscription": () =>
      subscriber.deleteSubscription({ subscription: absent.subscription }),
    "pull": () => pull(absent.subscription),
    "detachSubscription": () =>
      publisher.detachSubscription({ subscription: absent.subscription }),
    "modifyPushConfig": () =>
      subscriber.modifyPushConfig({ subscription: absent.subscription, pushConfig: {} }),
    "seek": () => subscriber.seek({ subscription: absent.subscription, time: seconds(1) }),
    "seek to a snapshot": () =>
      subscriber.seek({ subscription: there.subscription, snapshot: absent.snapshot }),
    "createSnapshot": () => subscriber.createSnapshot({
      name: snapshotName("of-absent"), subscription: absent.subscription,
    }),
    "getSnapshot": () => subscriber.getSnapshot({ snapshot: absent.snapshot }),
    "deleteSnapshot": () => subscriber.deleteSnapshot({ snapshot: absent.snapshot }),
  }),

  "NOT_FOUND: acknowledge and modifyAckDeadline": async () => {
    const { topic, subscription } = await make({})
    await publish(topic, "x")
    const received = await pulled(subscription, 1)
    await fails(acknowledge(absent.subscription, received), "NOT_FOUND", missing)
    await fails(modify(absent.subscription, received, 0), "NOT_FOUND", missing)
  },

  "ALREADY_EXISTS": async () => {
    const { id, topic, subscription } = await make({})
    const name = snapshotName(id)
    const said = new RegExp(`^Resource already exists in the project \\(resource=${id}\\)\\.$`)
    await subscriber.createSnapshot({ name, subscription })
    await fails(publisher.createTopic({ name: topic }), "ALREADY_EXISTS", said)
    await fails(subscriber.createSubscription({ name: subscription, topic }),
                "ALREADY_EXISTS", said)
    await fails(subscriber.createSnapshot({ name, subscription }), "ALREADY_EXISTS", said)
  },

  ...each("INVALID_ARGUMENT", {
    ...Object.fromEntries(
      ["ab", "1st", "goog-x", "a".repeat(256), "a b", "é".repeat(3), "a:b"]
        .map((id) => [`the name ${id.slice(0, 9)}`, () =>
          publisher.createTopic({ name: topicName(id) })])),
    "a topic's retention": () =>
      publisher.createTopic({ name: topicName("odd"), messageRetentionDuration: seconds(599) }),
    "a label": () => publisher.createTopic({ name: topicName("odd"), labels: { "A b": "c" } }),
    "no topic": () => create({ topic: "" }),
    "a deadline of 9 s": () => create({ ackDeadlineSeconds: 9 }),
    "a deadline of 601 s": () => create({ ackDeadlineSeconds: 601 }),
    "a retention of 599 s": () => create({ messageRetentionDuration: seconds(599) }),
    "a retention of more than 31 days": () =>
      create({ messageRetentionDuration: seconds(2678401) }),
    "a retention that is longer than it lives": () => create({
      messageRetentionDuration: seconds(86401), expirationPolicy: { ttl: seconds(86400) },
    }),
    "a ttl of less than a day": () => create({ expirationPolicy: { ttl: seconds(86399) } }),
    "4 attempts": () => create({
      deadLetterPolicy: { deadLetterTopic: there.topic, maxDeliveryAttempts: 4 },
    }),
    "101 attempts": () => create({
      deadLetterPolicy: { deadLetterTopic: there.topic, maxDeliveryAttempts: 101 },
    }),
    "a backoff of 601 s": () => create({ retryPolicy: { maximumBackoff: seconds(601) } }),
    "a minimum over the maximum": () => create({
      retryPolicy: { minimumBackoff: seconds(20), maximumBackoff: seconds(10) },
    }),
    "a filter": () => create({ filter: "attributes.a = 1" }),
    "a filter of mixed operators": () =>
      create({ filter: "attributes:a AND attributes:b OR attributes:c" }),
    "a filter of 257 bytes": () =>
      create({ filter: `attributes.a = "${"x".repeat(257 - 17 + 1)}"` }),
    "bigqueryConfig": () => create({ bigqueryConfig: { table: "a.b.c" } }),
    "http to elsewhere": () =>
      create({ pushConfig: { pushEndpoint: "http://push.example.com/" } }),
    "no URL": () => create({ pushConfig: { pushEndpoint: "push" } }),
    "modifyPushConfig to http": () => subscriber.modifyPushConfig({
      subscription: there.subscription,
      pushConfig: { pushEndpoint: "http://push.example.com/" },
    }),
    "exactly once with pushes": () => create({
      enableExactlyOnceDelivery: true,
      pushConfig: { pushEndpoint: "https://push.example.com/" },
    }),
    "an empty mask": () => update([], { ackDeadlineSeconds: 20 }),
    "an unknown mask": () => update(["nothing"], {}),
    "a mask of what never changes": () => update(["filter"], { filter: "attributes:a" }),
    "a topic's mask": () => updateTopic(["name"], {}),
    "an update out of range": () => update(["ack_deadline_seconds"], { ackDeadlineSeconds: 5 }),
    "publishing nothing": () => publisher.publish({ topic: there.topic, messages: [] }),
    "an empty message": () => publish(there.topic, {}),
    "a thousand and one": () => publish(there.topic, ...Array(1001).fill("x")),
    "101 attributes": () => publish(there.topic, { attributes: attributes(101) }),
    "an attribute goog…": () => publish(there.topic, { attributes: { googa: "b" } }),
    "a long attribute": () => publish(there.topic, { attributes: { a: "x".repeat(1025) } }),
    "a long name of an attribute": () =>
      publish(there.topic, { attributes: { ["x".repeat(257)]: "a" } }),
    "a long ordering key": () => publish(there.topic, {
      data: Buffer.from("x"), orderingKey: "x".repeat(1025),
    }),
    "ten million bytes": () =>
      publish(there.topic, { data: Buffer.alloc(10_000_001) }),
    "maxMessages": () => pull(there.subscription, 0),
    "no ackIds": () => acknowledge(there.subscription, []),
    "an ackId": () => acknowledge(there.subscription, [{ ackId: "x" }]),
    "601 seconds": () => modify(there.subscription, [{ ackId: "x" }], 601),
    "-1 seconds": () => modify(there.subscription, [{ ackId: "x" }], -1),
    "seek to nothing": () => subscriber.seek({ subscription: there.subscription }),
  }),

  "INVALID_ARGUMENT: a batch is taken as a whole": async () => {
    const { topic, subscription } = await make({})
    await fails(publish(topic, "x", {}), "INVALID_ARGUMENT")
    assert.deepEqual(await pull(subscription), [])
  },

  "INVALID_ARGUMENT: an ackId of another subscription": async () => {
    const { topic, subscription } = await make({})
    await publish(topic, "x")
    const received = await pulled(subscription, 1)
    await fails(acknowledge(there.subscription, received), "INVALID_ARGUMENT")
    await fails(modify(there.subscription, received, 0), "INVALID_ARGUMENT")
    await acknowledge(subscription, received)
  },

  "INVALID_ARGUMENT: what was refused has changed nothing": async () => {
    const before = await subscriber.getSubscription({ subscription: there.subscription })
    await fails(update(["ack_deadline_seconds", "retry_policy"], {
      ackDeadlineSeconds: 30,
      retryPolicy: { minimumBackoff: seconds(20), maximumBackoff: seconds(10) },
    }), "INVALID_ARGUMENT")
    assert.deepEqual(
      (await subscriber.getSubscription({ subscription: there.subscription }))[0], before[0])
  },

  "INVALID_ARGUMENT: where a filter is wrong": async () => {
    const error = await fails(create({ filter: "attributes:a AND OR" }), "INVALID_ARGUMENT")
    assert.equal(error.reason, "FILTER_EXPRESSION_FAILED_TO_PARSE")
    assert.deepEqual(Object.keys(error.errorInfoMetadata).sort(), ["column", "line", "token"])
  },

  ...each("FAILED_PRECONDITION", {
    "a pull of a push subscription": () => pull(push.subscription),
  }),

  "FAILED_PRECONDITION: of what is detached": async () => {
    const { id, subscription } = await make({})
    await publisher.detachSubscription({ subscription })
    await fails(pull(subscription), "FAILED_PRECONDITION")
    await fails(subscriber.createSnapshot({ name: snapshotName(id), subscription }),
                "FAILED_PRECONDITION")
  },

  "INVALID_ARGUMENT: a snapshot of another topic": async () => {
    const { id, subscription } = await make({})
    const snapshot = snapshotName(id)
    await subscriber.createSnapshot({ name: snapshot, subscription })
    await fails(subscriber.seek({ subscription: there.subscription, snapshot }),
                "INVALID_ARGUMENT")
  },

  ...each("UNIMPLEMENTED", {
    "getIamPolicy": () => publisher.getIamPolicy({ resource: there.topic }),
    "testIamPermissions": () =>
      publisher.testIamPermissions({ resource: there.topic, permissions: ["a"] }),
  }),

  "UNAUTHENTICATED": async () => {
    await fails(withKey("unknown").getTopic({ topic: there.topic }), "UNAUTHENTICATED")
    await fails(client(new PassThroughClient()).getTopic({ topic: there.topic }),
                "UNAUTHENTICATED")
  },

  "no credentials, where none are asked for": async () => {
    const open = { port: Number(process.env.OPEN_PORT) }
    const anybody = (Client) => client(new PassThroughClient(), Client, open)
    const { topic, subscription } = await make({})
    await anybody(v1.PublisherClient).publish({
      topic, messages: [{ data: Buffer.from("x") }],
    })
    const anyone = anybody(v1.SubscriberClient)
    const [{ receivedMessages }] = await anyone.pull({ subscription, maxMessages: 1 })
    assert.equal(receivedMessages[0].message.data.toString(), "x")
    await anyone.acknowledge({ subscription, ackIds: [receivedMessages[0].ackId] })
    assert.deepEqual(await pull(subscription), [])
  },

  "PERMISSION_DENIED": async () => {
    const key = process.env.PUBLISHER_KEY                  // it may publish, to topics in-…
    const topic = topicName("in-orders")
    await publisher.createTopic({ name: topic })
    const limited = withKey(key)
    const message = { data: Buffer.from("x") }
    const [{ messageIds }] = await limited.publish({ topic, messages: [message] })
    assert.equal(messageIds.length, 1)
    await fails(limited.getTopic({ topic }), "PERMISSION_DENIED")
    await fails(limited.publish({ topic: there.topic, messages: [message] }),
                "PERMISSION_DENIED")
    await fails(limited.publish({ topic: absent.topic, messages: [message] }),
                "PERMISSION_DENIED")
    await fails(limited.listTopics({ project }), "PERMISSION_DENIED")
    await fails(withKey(key, v1.SubscriberClient).pull({
      subscription: there.subscription, maxMessages: 1,
    }), "PERMISSION_DENIED")
  },
})
