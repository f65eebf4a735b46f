# Takes the deliveries of a push subscription, behind a server that has the
# certificate. SIGTERM ends it when what it has in hand is done.
#
#   SIGNING_SECRETS=whsec_... PORT=8081 python3 endpoint.py

import base64
import hashlib
import hmac
import json
import os
import signal
import sqlite3
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRETS = os.environ["SIGNING_SECRETS"].split()       # during a rotation both, new and old
DONE = os.environ.get("DONE", "done.sqlite")
LIMIT = 16 << 20                                               # bytes of a request


# EZGH-Signature: t=1791997360,v1=5f0c...: of these bytes, within five minutes
def genuine(header, body):
    parts = [part.strip().partition("=") for part in header.split(",")]
    times = [value for name, _, value in parts if name == "t"]
    if len(times) != 1 or not times[0].isdecimal() or abs(time.time() - int(times[0])) > 300:
        return False
    for secret in SECRETS:
        key = base64.urlsafe_b64decode(secret.removeprefix("whsec_") + "=")
        mac = hmac.new(key, times[0].encode() + b"." + body, hashlib.sha256).hexdigest()
        if any(name == "v1" and hmac.compare_digest(mac.encode(), value.encode())
               for name, _, value in parts):
            return True
    return False


# Delivery is at least once, so an order whose id is known is done: the work and its
# id are one transaction.
def handle(database, message):
    json.loads(message["body"])                                            # your code
    with database:
        database.execute("INSERT OR IGNORE INTO orders VALUES (?, ?)",
                         (message["messageId"], message["body"]))


class Endpoint(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers["Content-Length"])
        if not 0 <= length <= LIMIT:
            self.send_error(413)
            return
        body = self.rfile.read(length)
        if not genuine(self.headers.get("EZGH-Signature", ""), body):
            self.send_error(401)
            return
        database = sqlite3.connect(DONE)
        failed = []                          # these come again, all others are acknowledged
        for message in json.loads(body)["messages"]:
            try:
                handle(database, message)
            except Exception as error:
                print(message["messageId"], error, file=sys.stderr)
                failed.append(message["messageId"])
        database.close()
        answer = json.dumps({"failed": failed}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


database = sqlite3.connect(DONE)
database.execute("CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, body TEXT)")
database.close()

server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 8081))), Endpoint)
server.daemon_threads = False                                  # server_close() waits for them
signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
server.serve_forever()
server.server_close()
