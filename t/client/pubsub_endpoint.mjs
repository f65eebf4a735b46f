// An endpoint of push subscriptions that have an oidcToken: it takes what the
// server of the Pub/Sub API has signed for it, and for nobody else.
//
//   ISSUER=https://host AUDIENCE=https://here/orders \
//   SERVICE_ACCOUNT=push@example.com node pubsub_endpoint.mjs

import { createServer } from "node:http"
import { pathToFileURL } from "node:url"
import { createRemoteJWKSet, jwtVerify } from "jose"

// What looks at a request's Authorization, and throws unless it is a token that the
// issuer, the server's queues_oidc_issuer, has signed for this audience, the
// token's or else the URL of the endpoint, and of this serviceAccountEmail.
async function verifier(issuer, audience, serviceAccountEmail) {
  const discovery = await fetch(`${issuer}/.well-known/openid-configuration`)
  const keys = createRemoteJWKSet(new URL((await discovery.json()).jwks_uri))
  return async (authorization) => {
    const [, token] = /^Bearer (\S+)$/.exec(authorization) ?? []
    if (!token) throw new Error("no token")
    const { payload } = await jwtVerify(token, keys, {
      issuer, audience, algorithms: ["RS256"],
    })
    if (payload.email !== serviceAccountEmail || !payload.email_verified) {
      throw new Error(`a token of ${payload.email}`)
    }
  }
}

export async function endpoint({ issuer, audience, account, handle }) {
  const verify = await verifier(issuer, audience, account)
  return createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    try {
      await verify(request.headers.authorization)
    } catch (error) {
      response.writeHead(401).end(error.message)
      return
    }
    try {
      await handle(Buffer.concat(chunks), request)
      response.writeHead(204).end() // acknowledged
    } catch (error) {
      response.writeHead(503).end(error.message) // it comes again
    }
  })
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const server = await endpoint({
    issuer: process.env.ISSUER,
    audience: process.env.AUDIENCE,
    account: process.env.SERVICE_ACCOUNT,
    handle(body) {
      const { message, subscription } = JSON.parse(body)
      const data = Buffer.from(message.data ?? "", "base64").toString()
      console.log(subscription, message.messageId, data) // your code
    },
  })
  server.listen(Number(process.env.PORT ?? 8080))
}
