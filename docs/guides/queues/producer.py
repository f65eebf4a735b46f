# Sends each line of its input as a message.
#
#   QUEUES_URL=http://127.0.0.1:8080 QUEUES_KEY=qk_... QUEUES_PROJECT=acme/shop \
#   python3 producer.py orders < lines

import json
import os
import random
import sys
import time
import urllib.error
import urllib.request
import uuid

URL, KEY = os.environ["QUEUES_URL"], os.environ["QUEUES_KEY"]
ORG, PROJECT = os.environ["QUEUES_PROJECT"].split("/")
QUEUE = f"/v1/organizations/{ORG}/projects/{PROJECT}/queues/{sys.argv[1]}"


# What is busy or away (429, 503, no connection) is asked again, later each time,
# but not before it says (Retry-After, where that is seconds; a minute at most).
def post(path, body):
    request = urllib.request.Request(
        URL + path, json.dumps(body).encode(),
        {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"})
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


def send(messages):
    if messages:
        post(f"{QUEUE}/messages", {"messages": messages})
    messages.clear()


batch = []
for line in sys.stdin:
    # A batch that is sent twice, as its answer was lost, has the same ids again.
    batch.append({"body": line.rstrip("\n"), "attributes": {"id": str(uuid.uuid4())}})
    if len(batch) == 10:
        send(batch)
send(batch)
