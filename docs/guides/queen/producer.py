# Pushes each line of its input, an event such as
# {"id": "e-1", "account": "a-7", "amount": 5}: one partition for each account.
#
#   QUEEN_URL=http://127.0.0.1:8080 QUEEN_KEY=qk_... python3 producer.py events < lines

import json
import os
import random
import sys
import time
import urllib.error
import urllib.request


# What is busy or away (429, 503, no connection) is asked again, later each time,
# but not before it says (Retry-After, where that is seconds; a minute at most).
def push(items):
    request = urllib.request.Request(
        os.environ["QUEEN_URL"] + "/api/v1/push", json.dumps({"items": items}).encode(),
        {"Authorization": f"Bearer {os.environ['QUEEN_KEY']}", "Content-Type": "application/json"})
    attempt = 0
    while True:
        pause = min(0.2 * 2 ** attempt, 10) * random.uniform(0.5, 1)
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503):
                raise
            after = error.headers.get("Retry-After", "")
            if after.isdecimal():                              # else a date, of a proxy
                pause = max(pause, min(float(after), 60))
        except (OSError, ValueError):
            pass                                   # no answer, or a part of one
        time.sleep(pause)
        attempt += 1


def send(items):
    # "queued", or "duplicate" of what an earlier try, or an earlier run, has stored
    for result in push(items) if items else []:
        print(result["status"])
    items.clear()


batch = []
for line in sys.stdin:
    event = json.loads(line)
    batch.append({"queue": sys.argv[1], "partition": event["account"],
                  "transactionId": event["id"], "payload": event})
    if len(batch) == 10:
        send(batch)
send(batch)
