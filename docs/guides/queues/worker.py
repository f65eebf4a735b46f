# Receives the messages of a queue, handles each, acknowledges it. SIGTERM ends it
# when what it has in hand is done.
#
#   QUEUES_URL=http://127.0.0.1:8080 QUEUES_KEY=qk_... QUEUES_PROJECT=acme/shop \
#   python3 worker.py orders

import http.client
import json
import os
import random
import signal
import sqlite3
import sys
import threading
import time
import urllib.error
import urllib.request

URL, KEY = os.environ["QUEUES_URL"], os.environ["QUEUES_KEY"]
ORG, PROJECT = os.environ["QUEUES_PROJECT"].split("/")
QUEUE = f"/v1/organizations/{ORG}/projects/{PROJECT}/queues/{sys.argv[1]}"
VISIBILITY = int(os.environ.get("VISIBILITY", 30))                     # seconds
MAX_MESSAGES = int(os.environ.get("MAX_MESSAGES", 10))


class Stop(Exception):
    pass


stopping = polling = False


def stop(*_):
    global stopping
    stopping = True
    if polling:                         # nothing is in hand: what comes now comes again
        raise Stop


signal.signal(signal.SIGTERM, stop)
signal.signal(signal.SIGINT, stop)


# What is busy or away (429, 503, no connection) is asked again, later each time,
# but not before it says (Retry-After, where that is seconds; a minute at most);
# three times more when it is to stop.
def post(path, body, timeout=10):
    request = urllib.request.Request(
        URL + path, json.dumps(body).encode(),
        {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"})
    attempt = 0
    while True:
        pause = min(0.2 * 2 ** attempt, 10) * random.uniform(0.5, 1)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503):
                raise
            after = error.headers.get("Retry-After", "")
            if after.isdecimal():                              # else a date, of a proxy
                pause = max(pause, min(float(after), 60))
        except (OSError, ValueError, http.client.HTTPException):
            pass                                   # no answer, or a part of one
        if stopping and attempt >= 3:
            raise Stop
        time.sleep(pause)
        attempt += 1


def set_visibility(handles, seconds):
    post("/v1/receipts/visibility", {"entries": [
        {"receiptHandle": handle, "visibilityTimeoutSeconds": seconds} for handle in handles]})


# Delivery is at least once, so an order whose id is known is done. The work and the
# note that it was done are one transaction, the id being a unique key.
database = sqlite3.connect(os.environ.get("DONE", "done.sqlite"))
database.execute("CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, body TEXT)")


def handle(message):
    order = json.loads(message["body"])        # what cannot be read ends as a dead letter
    with database:
        time.sleep(order.get("seconds", 0))                                # your code
        database.execute("INSERT OR IGNORE INTO orders VALUES (?, ?)", (
            message["attributes"].get("id", message["messageId"]), message["body"]))


# Work may take longer than the visibility timeout: it is extended meanwhile.
def extend(unfinished, ended):
    while not ended.wait(VISIBILITY / 3):
        try:
            if unfinished:
                set_visibility(list(unfinished), VISIBILITY)
        except Exception as error:
            print(error, file=sys.stderr)


def acknowledge(handled):
    if handled:
        for result in post("/v1/receipts/ack", {"receiptHandles": handled})["results"]:
            if "error" in result:
                print(result["error"], file=sys.stderr)                # it comes again


def handle_all(messages):
    unfinished = {message["receiptHandle"]: True for message in messages}
    ended = threading.Event()
    extender = threading.Thread(target=extend, args=(unfinished, ended), daemon=True)
    extender.start()
    handled, failed = [], set()         # groups of a FIFO queue wait behind what failed
    try:
        for message in messages:
            pause = 0
            if not stopping and message.get("groupId") not in failed:
                try:
                    handle(message)
                    handled.append(message["receiptHandle"])
                    continue
                except Exception as error:
                    print(message["messageId"], error, file=sys.stderr)
                    pause = min(2 ** message["receiveCount"], VISIBILITY)
                    failed.update([message["groupId"]] if "groupId" in message else [])
            del unfinished[message["receiptHandle"]]
            set_visibility([message["receiptHandle"]], pause)      # it comes again then
    finally:
        ended.set()
        extender.join()
        acknowledge(handled)                                   # also where a release failed


try:
    while True:
        polling = True
        if stopping:
            break
        received = post(f"{QUEUE}/messages/receive", {
            "maxMessages": MAX_MESSAGES, "waitSeconds": 20,
            "visibilityTimeoutSeconds": VISIBILITY}, 30)
        polling = False
        if received["messages"]:
            handle_all(received["messages"])
except Stop:
    pass
