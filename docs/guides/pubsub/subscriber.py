# Pulls the messages of a subscription, handles each, acknowledges it. SIGTERM ends
# it when what it has in hand is done.
#
#   PUBSUB_URL=http://127.0.0.1:8080 PROJECT_ID=shop API_KEY=qk_... \
#   python3 subscriber.py billing

import base64
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

SUBSCRIPTION = f"projects/{os.environ['PROJECT_ID']}/subscriptions/{sys.argv[1]}"
DEADLINE = int(os.environ.get("DEADLINE", 30))                         # seconds


class Stop(Exception):
    pass


stopping = pulling = False


def stop(*_):
    global stopping
    stopping = True
    if pulling:                         # nothing is in hand: what comes now comes again
        raise Stop


signal.signal(signal.SIGTERM, stop)
signal.signal(signal.SIGINT, stop)


# What is busy or away (429, 503, no connection) is asked again, later each time,
# but not before it says (Retry-After, where that is seconds; a minute at most);
# three times more when it is to stop.
def post(verb, body, timeout=10):
    request = urllib.request.Request(
        f"{os.environ['PUBSUB_URL']}/v1/{SUBSCRIPTION}:{verb}", json.dumps(body).encode(),
        {"Authorization": f"Bearer {os.environ['API_KEY']}", "Content-Type": "application/json"})
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


def extend(ack_ids, seconds):
    if ack_ids:
        post("modifyAckDeadline", {"ackIds": list(ack_ids), "ackDeadlineSeconds": seconds})


# Delivery is at least once, so an order whose id is known is done. The work and the
# note that it was done are one transaction, the id being a unique key.
database = sqlite3.connect(os.environ.get("DONE", "done.sqlite"))
database.execute("CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, body TEXT)")


def handle(message):
    body = base64.b64decode(message.get("data", "")).decode()
    order = json.loads(body)                   # what cannot be read ends as a dead letter
    with database:
        time.sleep(order.get("seconds", 0))                                # your code
        database.execute("INSERT OR IGNORE INTO orders VALUES (?, ?)", (
            message.get("attributes", {}).get("id", message["messageId"]), body))


# Work may take longer than the deadline: it is moved meanwhile.
def keep(unfinished, ended):
    while not ended.wait(DEADLINE / 3):
        try:
            extend(list(unfinished), DEADLINE)
        except Exception as error:
            print(error, file=sys.stderr)


def handle_all(received):
    unfinished = {one["ackId"]: True for one in received}
    extend(unfinished, DEADLINE)
    ended = threading.Event()
    keeper = threading.Thread(target=keep, args=(unfinished, ended), daemon=True)
    keeper.start()
    handled, failed = [], set()                # ordering keys, of which what follows waits
    try:
        for one in received:
            message, key = one["message"], one["message"].get("orderingKey", one["ackId"])
            if not stopping and key not in failed:
                try:
                    handle(message)
                    handled.append(one["ackId"])
                    continue
                except Exception as error:
                    print(message["messageId"], error, file=sys.stderr)
                    failed.add(key)
            del unfinished[one["ackId"]]
            extend([one["ackId"]], 0)                                  # it comes again
    finally:
        ended.set()
        keeper.join()
        if handled:
            post("acknowledge", {"ackIds": handled})           # also where a release failed


try:
    while True:
        pulling = True
        if stopping:
            break
        received = post("pull", {"maxMessages": 10}, 30).get("receivedMessages", [])
        pulling = False
        handle_all(received)
except Stop:
    pass
