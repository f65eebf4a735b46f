// Verifies tokens as an endpoint does that knows nothing but their issuer: by
// OpenID Connect Discovery, with the library jose, in the folder $MODULES.
// Reads JSON lines { issuer, audience, token }, and prints header and claims,
// or why not, for each.

const { createRequire } = require("node:module")
const { createInterface } = require("node:readline")

const { createRemoteJWKSet, jwtVerify } = createRequire(process.env.MODULES + "/")("jose")

async function verify({ issuer, audience, token }) {
  const found = await fetch(issuer + "/.well-known/openid-configuration")
  const { issuer: named, jwks_uri } = await found.json()
  if (named !== issuer) {
    throw new Error(`the issuer is ${named}`)
  }
  const keys = createRemoteJWKSet(new URL(jwks_uri))
  const { protectedHeader, payload } = await jwtVerify(token, keys, { issuer, audience })
  return JSON.stringify({ header: protectedHeader, claims: payload })
}

async function main() {
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(await verify(JSON.parse(line)).catch((err) => String(err)))
  }
}

main()
