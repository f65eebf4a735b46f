// Publishes each line of its input, with Google's client.
//
//   PUBSUB_URL=http://127.0.0.1:8080 PROJECT_ID=shop API_KEY=qk_... \
//   node publisher.mjs orders < lines

import { randomUUID } from "node:crypto"
import { createInterface } from "node:readline"
import { v1 } from "@google-cloud/pubsub"
import { GoogleAuth, OAuth2Client } from "google-auth-library"

const { PUBSUB_URL, PROJECT_ID: projectId, API_KEY } = process.env
const url = new URL(PUBSUB_URL)
const authClient = new OAuth2Client()
authClient.setCredentials({ access_token: API_KEY }) // a key is to it an access token
const publisher = new v1.PublisherClient({
  fallback: true, // REST, not gRPC
  protocol: url.protocol.replace(":", ""),
  apiEndpoint: url.hostname,
  port: Number(url.port) || (url.protocol === "https:" ? 443 : 80),
  projectId,
  auth: new GoogleAuth({ authClient, projectId }),
})
const topic = `projects/${projectId}/topics/${process.argv[2]}`

let messages = []

async function publish() {
  // The client asks again what was UNAVAILABLE (503), for a minute; a message may be
  // there twice then, with the same id of ours.
  if (messages.length > 0) await publisher.publish({ topic, messages })
  messages = []
}

for await (const line of createInterface({ input: process.stdin })) {
  messages.push({ data: Buffer.from(line), attributes: { id: randomUUID() } })
  if (messages.length === 10) await publish()
}
await publish()
await publisher.close()
