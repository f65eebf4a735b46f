// While the server's Redis is away, and when it is back.

import { publisher } from "../pubsub.mjs"
import { fails, publish, pulled, run, subscriptionName, topicName } from "./cases.mjs"

const topic = topicName("orders")

await run({
  "UNAVAILABLE, where it is not to be tried again": async () => {
    await fails(publisher.getTopic({ topic }, { retry: null }), "UNAVAILABLE")
    await fails(publisher.publish({ topic, messages: [{ data: Buffer.from("no") }] },
                                  { retry: null }), "UNAVAILABLE")
  },

  "a publish is tried again until it is done": async () => {
    const publishing = publish(topic, "after")
    console.log("# it tries")
    const [id] = await publishing
    const received = await pulled(subscriptionName("billing"), 1)
    if (!received.some(({ message }) => message.messageId === id)) throw new Error(`no ${id}`)
  },
})
