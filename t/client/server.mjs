import { createServer } from "node:http"
import { createHmac, timingSafeEqual } from "node:crypto"

// During a rotation, list the new secret and the previous one.
const secrets = [process.env.EZGH_QUEUES_SIGNING_SECRET]

function verifySignature(header, body, secrets, now = Date.now()) {
  let t = -1
  const signatures = []
  for (const part of (header ?? "").split(",")) {
    const [key, value = ""] = part.trim().split("=")
    if (key === "t" && /^\d+$/.test(value)) t = Number(value)
    if (key === "v1" && /^[0-9a-f]{64}$/.test(value)) signatures.push(Buffer.from(value, "hex"))
  }
  if (t < 0 || signatures.length === 0) return false
  if (Math.abs(now / 1000 - t) > 300) return false // more than 5 minutes old or ahead
  return secrets.some((secret) => {
    const key = Buffer.from(secret.slice("whsec_".length), "base64url")
    const expected = createHmac("sha256", key).update(`${t}.`).update(body).digest()
    return signatures.some((signature) => timingSafeEqual(expected, signature))
  })
}

createServer(async (req, res) => {
  const chunks = []
  for await (const chunk of req) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  if (!verifySignature(req.headers["ezgh-signature"], body, secrets)) {
    res.writeHead(401).end()
    return
  }
  const delivery = JSON.parse(body.toString("utf8"))
  const failed = []
  for (const message of delivery.messages) {
    try {
      await handle(message) // your code
    } catch {
      failed.push(message.messageId)
    }
  }
  res.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ failed }))
}).listen(8080)
