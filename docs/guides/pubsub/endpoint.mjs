// Takes the pushes of a subscription that has an oidcToken: what the server has
// signed for this audience and account, and nothing else. SIGTERM ends it when what
// it has in hand is done.
//
//   ISSUER=https://queues.example.com AUDIENCE=orders ACCOUNT=push@example.com \
//   PORT=8081 node endpoint.mjs

import { appendFileSync, existsSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import { createRemoteJWKSet, jwtVerify } from "jose"

const { ISSUER: issuer, AUDIENCE: audience, ACCOUNT, PORT = "8081", DONE = "done.txt" } = process.env
const discovery = await fetch(`${issuer}/.well-known/openid-configuration`)
const keys = createRemoteJWKSet(new URL((await discovery.json()).jwks_uri))

async function verify(authorization) {
  const [, token] = /^Bearer (\S+)$/.exec(authorization) ?? []
  if (!token) throw new Error("no token")
  const { payload } = await jwtVerify(token, keys, { issuer, audience, algorithms: ["RS256"] })
  if (payload.email !== ACCOUNT || !payload.email_verified) throw new Error("another account")
}

// Delivery is at least once, so a message whose id is known is done; with a
// database, do the work and keep the id in one transaction.
const done = new Set(existsSync(DONE) ? readFileSync(DONE, "utf8").split("\n") : [])

async function handle({ messageId, data = "" }) {
  JSON.parse(Buffer.from(data, "base64")) // your code
  if (done.has(messageId)) return
  appendFileSync(DONE, `${messageId}\n`)
  done.add(messageId)
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
  try {
    await verify(request.headers.authorization)
  } catch (error) {
    response.writeHead(401).end(error.message)
    return
  }
  try {
    await handle(JSON.parse(Buffer.concat(chunks)).message)
    response.writeHead(204).end() // acknowledged
  } catch (error) {
    response.writeHead(503).end(error.message) // it comes again
  }
})

server.listen(Number(PORT), "127.0.0.1")
process.on("SIGTERM", () => {
  server.close()
  server.closeIdleConnections()
})
