import base64
import hashlib
import hmac
import json
import os
import time

from fastapi import FastAPI, Request, Response


def verify_signature(header, body, secrets, now=None):
    t, signatures = None, []
    for part in (header or "").split(","):
        key, _, value = part.strip().partition("=")
        if key == "t" and value.isascii() and value.isdigit():
            t = int(value)
        elif key == "v1" and len(value) == 64 and value.isascii():
            signatures.append(value)
    if t is None or not signatures:
        return False
    if abs((time.time() if now is None else now) - t) > 300:  # more than 5 minutes old or ahead
        return False
    for secret in secrets:
        encoded = secret.removeprefix("whsec_")
        key = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
        expected = hmac.new(key, f"{t}.".encode() + body, hashlib.sha256).hexdigest()
        if any(hmac.compare_digest(expected, s) for s in signatures):
            return True
    return False


app = FastAPI()
# During a rotation, list the new secret and the previous one.
SECRETS = [os.environ["EZGH_QUEUES_SIGNING_SECRET"]]


@app.post("/queues/orders")
async def deliveries(request: Request):
    body = await request.body()
    if not verify_signature(request.headers.get("EZGH-Signature"), body, SECRETS):
        return Response(status_code=401)
    failed = []
    for message in json.loads(body)["messages"]:
        try:
            await handle(message)  # your code
        except Exception:
            failed.append(message["messageId"])
    return {"failed": failed}
