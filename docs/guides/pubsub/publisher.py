# Publishes each line of its input.
#
#   PUBSUB_URL=http://127.0.0.1:8080 PROJECT_ID=shop API_KEY=qk_... \
#   python3 publisher.py orders < lines

import base64
import json
import os
import random
import sys
import time
import urllib.error
import urllib.request
import uuid

TOPIC = f"projects/{os.environ['PROJECT_ID']}/topics/{sys.argv[1]}"


# What is busy or away (429, 503, no connection) is asked again, later each time,
# but not before it says (Retry-After, where that is seconds; a minute at most).
def post(path, body):
    request = urllib.request.Request(
        f"{os.environ['PUBSUB_URL']}/v1/{path}", json.dumps(body).encode(),
        {"Authorization": f"Bearer {os.environ['API_KEY']}", "Content-Type": "application/json"})
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


def publish(messages):
    # What is published twice, as its answer was lost, has the same id of ours.
    if messages:
        post(f"{TOPIC}:publish", {"messages": messages})
    messages.clear()


batch = []
for line in sys.stdin:
    batch.append({"data": base64.b64encode(line.rstrip("\n").encode()).decode(),
                  "attributes": {"id": str(uuid.uuid4())}})
    if len(batch) == 10:
        publish(batch)
publish(batch)
