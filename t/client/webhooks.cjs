// Verifies deliveries with the library standardwebhooks, in the folder
// $MODULES. Reads JSON lines { secret, headers, body }, and prints "ok" or why
// not for each.

const { createRequire } = require("node:module")
const { createInterface } = require("node:readline")

const { Webhook } = createRequire(process.env.MODULES + "/")("standardwebhooks")

createInterface({ input: process.stdin }).on("line", (line) => {
  const { secret, headers, body } = JSON.parse(line)
  try {
    new Webhook(secret).verify(Buffer.from(body, "base64").toString("utf8"), headers)
    console.log("ok")
  } catch (err) {
    console.log(String(err))
  }
})
