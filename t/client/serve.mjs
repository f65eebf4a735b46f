// Runs server.mjs, the page's Node.js endpoint as it is, on $PORT instead of
// 8080, with a handler that fails each body that begins with "fail" the first
// time. What it handled is printed, a JSON line for each message.

import { Server } from "node:net"

const listen = Server.prototype.listen
const failed = new Set()

Server.prototype.listen = function () {
  return listen.call(this, Number(process.env.PORT), "127.0.0.1")
}

globalThis.handle = async (message) => {
  if (message.body.startsWith("fail") && !failed.has(message.messageId)) {
    failed.add(message.messageId)
    throw new Error("told to")
  }
  console.log(JSON.stringify([message.messageId, message.body]))
}

await import("./server.mjs")
