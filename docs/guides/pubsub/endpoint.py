# Takes the pushes of a subscription that has an oidcToken: what the server has
# signed for this audience and account, and nothing else. SIGTERM ends it when what
# it has in hand is done.
#
#   ISSUER=https://queues.example.com AUDIENCE=orders ACCOUNT=push@example.com \
#   PORT=8081 python3 endpoint.py

import base64
import hashlib
import hmac
import json
import os
import signal
import sqlite3
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ISSUER, AUDIENCE = os.environ["ISSUER"], os.environ["AUDIENCE"]
ACCOUNT, DONE = os.environ["ACCOUNT"], os.environ.get("DONE", "done.sqlite")
LIMIT = 16 << 20                                               # bytes of a request


def fetch(url):
    with urllib.request.urlopen(url, timeout=10) as response:
        return json.load(response)


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def number(text):
    return int.from_bytes(decode(text), "big")


# The issuer's keys, looked up again for one that is not known, once a minute at most.
class Keys:
    def __init__(self):
        self.lock, self.keys, self.at = threading.Lock(), {}, 0

    def get(self, kid):
        with self.lock:
            if kid not in self.keys and time.monotonic() > self.at + 60:
                discovery = fetch(f"{ISSUER}/.well-known/openid-configuration")
                self.keys = {key["kid"]: (number(key["n"]), number(key["e"]))
                             for key in fetch(discovery["jwks_uri"])["keys"]}
                self.at = time.monotonic()
            return self.keys[kid]


KEYS = Keys()


# RS256 with the standard library alone: the signature, raised to e, must be all of
# PKCS #1's block for this digest. PyJWT or google-auth do the same and more.
def verify(authorization):
    scheme, _, token = authorization.partition(" ")
    signed, _, signature = token.rpartition(".")
    header, payload = (json.loads(decode(part)) for part in signed.split("."))
    if scheme != "Bearer" or header["alg"] != "RS256":
        raise ValueError("not such a token")
    n, e = KEYS.get(header["kid"])
    length = (n.bit_length() + 7) // 8
    digest = bytes.fromhex("3031300d060960864801650304020105000420") + hashlib.sha256(
        signed.encode()).digest()
    block = b"\0\1" + b"\xff" * (length - len(digest) - 3) + b"\0" + digest
    if len(decode(signature)) != length or not hmac.compare_digest(
            pow(number(signature), e, n).to_bytes(length, "big"), block):
        raise ValueError("another signature")
    now = time.time()
    if payload["iss"] != ISSUER or payload["aud"] != AUDIENCE:
        raise ValueError("for somebody else")
    if not payload["iat"] - 60 <= now <= payload["exp"] + 60:
        raise ValueError("not now")
    if payload["email"] != ACCOUNT or payload["email_verified"] is not True:
        raise ValueError("another account")


# Delivery is at least once, so a message whose id is known is done: the work and its
# id are one transaction.
def handle(message):
    body = base64.b64decode(message.get("data", "")).decode()
    json.loads(body)                                                       # your code
    database = sqlite3.connect(DONE)
    try:
        with database:
            database.execute("INSERT OR IGNORE INTO orders VALUES (?, ?)",
                             (message["messageId"], body))
    finally:
        database.close()


class Endpoint(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers["Content-Length"])
        if not 0 <= length <= LIMIT:
            self.answer(413, "too large")
            return
        body = self.rfile.read(length)
        try:
            verify(self.headers.get("Authorization", ""))
        except Exception as error:
            self.answer(401, error)
            return
        try:
            handle(json.loads(body)["message"])
            self.answer(204, "acknowledged")
        except Exception as error:
            self.answer(503, error)                                    # it comes again

    def answer(self, status, why):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()
        self.log_message("%s", why)


database = sqlite3.connect(DONE)
database.execute("CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, body TEXT)")
database.close()

server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 8081))), Endpoint)
server.daemon_threads = False                                  # server_close() waits for them
signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
server.serve_forever()
server.server_close()
