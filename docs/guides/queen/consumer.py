# Pops events, and pushes a receipt of each to another queue, exactly once: what
# was handled is acknowledged in the transaction that pushes what comes of it.
# SIGTERM ends it when what it has in hand is done.
#
#   QUEEN_URL=http://127.0.0.1:8080 QUEEN_KEY=qk_... \
#   python3 consumer.py events billing receipts

import http.client
import json
import os
import random
import signal
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

URL, KEY = os.environ["QUEEN_URL"], os.environ["QUEEN_KEY"]
QUEUE, GROUP, RESULTS = sys.argv[1:4]
LEASE = int(os.environ.get("LEASE", 30))                               # seconds


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
def call(method, path, body=None, timeout=10):
    request = urllib.request.Request(
        URL + "/api/v1" + path, None if body is None else json.dumps(body).encode(),
        {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}, method=method)
    attempt = 0
    while True:
        pause = min(0.2 * 2 ** attempt, 10) * random.uniform(0.5, 1)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:
                return None if response.status == 204 else json.load(response)
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


def handle(event):
    charged = event["amount"]
    time.sleep(event.get("seconds", 0))                                    # your code
    return {"id": event["id"], "charged": charged}


# Work may take longer than the lease: it is extended meanwhile.
def extend(lease, ended):
    while not ended.wait(LEASE / 3):
        try:
            call("POST", f"/lease/{lease}/extend", {"seconds": LEASE})
        except Exception as error:
            print(error, file=sys.stderr)


def handle_all(lease, messages):
    ended = threading.Event()
    extender = threading.Thread(target=extend, args=(lease, ended))
    extender.start()
    items = []
    completed = {}      # the last one of each partition, which stands for all before it
    held = {}           # the first one of each that was not handled: all behind it waits
    for message in messages:
        partition = message["partitionId"]
        if partition in held:
            continue
        ack = {"type": "ack", "transactionId": message["transactionId"], "leaseId": lease,
               "partitionId": partition, "consumerGroup": GROUP}
        if stopping:
            held[partition] = {**ack, "status": "retry"}
            continue
        try:
            items.append({
                "queue": RESULTS, "partition": message["partition"],
                "payload": handle(message["data"]),
                # the same when this is asked again
                "transactionId": f"{lease}-{message['transactionId']}"})
            completed[partition] = {**ack, "status": "completed"}
        except Exception as error:
            held[partition] = {**ack, "status": "failed", "error": repr(error)}
    ended.set()
    extender.join()
    if completed:
        answer = call("POST", "/transaction", {
            "operations": [{"type": "push", "items": items}, *completed.values()],
            "requiredLeases": [lease]})
        # "duplicate": an earlier try went through, and its answer was lost. All else
        # means that nothing was done, and that the messages come again.
        if not answer["success"] and answer["reason"] != "duplicate":
            print(answer["error"], file=sys.stderr)
            return
    if held:
        call("POST", "/ack/batch", {
            "consumerGroup": GROUP, "acknowledgments": list(held.values())})


query = urllib.parse.urlencode({
    "consumerGroup": GROUP, "batch": 10, "partitions": 5, "wait": "true", "timeout": 20000,
    "leaseSeconds": LEASE})

try:
    while True:
        polling = True
        if stopping:
            break
        popped = call("GET", f"/pop/queue/{urllib.parse.quote(QUEUE, '')}?{query}", timeout=30)
        polling = False
        if popped:
            handle_all(popped["leaseId"], popped["messages"])
except Stop:
    pass
