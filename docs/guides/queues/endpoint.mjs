// Takes the deliveries of a push subscription, behind a server that has the
// certificate. SIGTERM ends it when what it has in hand is done.
//
//   SIGNING_SECRETS=whsec_... PORT=8081 node endpoint.mjs

import { createHmac, timingSafeEqual } from "node:crypto"
import { appendFileSync, existsSync, readFileSync } from "node:fs"
import { createServer } from "node:http"

const { SIGNING_SECRETS, PORT = "8081", DONE = "done.txt" } = process.env
const secrets = SIGNING_SECRETS.split(" ") // during a rotation both, new and old

// EZGH-Signature: t=1791997360,v1=5f0c...: of these bytes, within five minutes
function genuine(header, body) {
  const parts = (header ?? "").split(",").map((part) => part.trim().split("="))
  const time = parts.filter(([name]) => name === "t").map(([, value]) => value)
  if (time.length !== 1 || !/^\d+$/.test(time[0])) return false
  if (Math.abs(Date.now() / 1000 - Number(time[0])) > 300) return false
  return secrets.some((secret) => {
    const key = Buffer.from(secret.replace("whsec_", ""), "base64url")
    const mac = createHmac("sha256", key).update(`${time[0]}.`).update(body).digest()
    return parts.some(([name, value]) => {
      const signature = Buffer.from(value ?? "", "hex")
      return name === "v1" && signature.length === mac.length && timingSafeEqual(signature, mac)
    })
  })
}

// Delivery is at least once, so an order whose id is known is done; with a
// database, do the work and keep the id in one transaction.
const done = new Set(existsSync(DONE) ? readFileSync(DONE, "utf8").split("\n") : [])

async function handle(message) {
  JSON.parse(message.body) // your code
  if (done.has(message.messageId)) return
  appendFileSync(DONE, `${message.messageId}\n`)
  done.add(message.messageId)
}

const limit = 16 << 20 // bytes of a request

const server = createServer(async (request, response) => {
  const chunks = []
  let length = 0
  try {
    for await (const chunk of request) {
      length += chunk.length
      if (length <= limit) chunks.push(chunk)
    }
  } catch (error) {
    return // whoever sent it has gone in the middle
  }
  if (length > limit) {
    response.writeHead(413).end()
    return
  }
  const body = Buffer.concat(chunks)
  if (!genuine(request.headers["ezgh-signature"], body)) {
    response.writeHead(401).end()
    return
  }
  const failed = [] // these come again, all others are acknowledged
  for (const message of JSON.parse(body).messages) {
    try {
      await handle(message)
    } catch (error) {
      console.error(message.messageId, error.message)
      failed.push(message.messageId)
    }
  }
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ failed }))
})

server.listen(Number(PORT), "127.0.0.1")
process.on("SIGTERM", () => {
  server.close()
  server.closeIdleConnections()
})
