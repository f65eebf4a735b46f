# Runs app.py, the page's Python endpoint as it is, on $PORT, with a handler that
# fails each body that begins with "fail" the first time. What it handled is
# printed, a JSON line for each message.

import json
import os

import uvicorn

import app

failed = set()


async def handle(message):
    if message["body"].startswith("fail") and message["messageId"] not in failed:
        failed.add(message["messageId"])
        raise Exception("told to")
    print(json.dumps([message["messageId"], message["body"]]), flush=True)


app.handle = handle
uvicorn.run(app.app, host="127.0.0.1", port=int(os.environ["PORT"]),
            log_level="warning")
