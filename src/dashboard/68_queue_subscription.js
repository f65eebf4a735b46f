
// The subscription of a queue: one at most.

function subscriptionCard(page) {
  const box = h("div", {}, card("Subscription", { "aria-busy": "true" }, h("p", { class: "muted" }, "…")))
  let is
  let drawn = ""

  // only what has changed is drawn anew: somebody may have the focus in it

  function draw(now, force) {
    const text = JSON.stringify(now)
    is = now
    if (text === drawn && !force) return
    const inside = box.contains(document.activeElement) ? document.activeElement.textContent : null
    drawn = text
    box.replaceChildren(card("Subscription", { head: now ? badges(now) : [] },
      now ? described(now) : unsubscribed(), now && actions(now)))
    if (inside) [...box.querySelectorAll("button")].find((b) => b.textContent === inside)?.focus()
  }

  async function load() {
    const query = new URLSearchParams({ queue: page.queue.queue })
    draw((await get(`/subscriptions?${query}`)).subscriptions[0] ?? null)
  }

  const unsubscribed = () => h("div", { class: "empty" },
    h("p", {}, "No endpoint receives these messages. A subscription POSTs them to yours, in signed batches, and tries again what it refuses."),
    button("Subscribe an endpoint", () => subscribe(page, draw), "first"))

  const badges = (s) => h("span", { class: "row" },
    h("span", { class: `badge ${s.state === "active" ? "ok" : "warn"}` }, s.state === "active" ? "Active" : "Paused"),
    h("span", { class: `badge ${s.status.health === "healthy" ? "ok" : "bad"}` }, s.status.health === "healthy" ? "Healthy" : "Failing"))

  const turn = (s, to) => async () => {
    try {
      draw(await post(`${subscriptionAt(s.subscription)}/${to}`))
      say(to === "pause" ? "Deliveries are paused." : "Deliveries go on.")
      const next = [...box.querySelectorAll("button")].find((b) => /^(Pause|Resume)$/.test(b.textContent))
      next?.focus()
      page.again()
    } catch (error) {
      say(inWords(error))
    }
  }

  const actions = (s) => h("div", { class: "row" },
    s.state === "active" ? button("Pause", turn(s, "pause"), "plain") : button("Resume", turn(s, "resume"), "first plain"),
    button("Edit…", () => editSubscription(is, draw), "plain"),
    button("Rotate secret…", () => rotate(is), "plain"),
    button("Delete…", () => unsubscribe(page, is, () => draw(null)), "danger plain"))

  watch(box, load, (error) => {
    if (error.passing && drawn !== "") return
    drawn = ""
    box.replaceChildren(card("Subscription", {}, note(inWords(error))))
  })
  return box
}

function described(s) {
  const error = s.status.lastError
  return [
    error && h("div", { class: `note ${s.status.health === "failing" ? "bad" : ""}` },
      h("h3", {}, s.status.health === "failing" ? "Last delivery failed" : "Last failure, before it recovered"),
      h("p", {}, visibleText(error.message)),
      h("p", { class: "muted small" }, `${error.class} · `, moment(error.at))),
    pairs(
      ["Endpoint", h("span", { class: "mono" }, s.target.url)],
      ["Last success", moment(s.status.lastSuccessAt)],
      ["Timeout", duration(s.target.timeoutSeconds)],
      ["Batch size", `${count(s.batchSize)} at most`],
      ["Deliveries at once", `${count(s.maxConcurrency)} at most`],
      ["Id", h("code", {}, s.subscription)]),
  ]
}

function subscriptionFields(s) {
  const url = field("target.url", "Endpoint", {
    wide: true, type: "url", value: s?.target.url ?? "", placeholder: "https://hooks.example.com/queues/orders",
    hint: "https, a public name with a certificate that is trusted.",
  })
  const timeout = field("target.timeoutSeconds", "Timeout", {
    type: "number", unit: "seconds", value: String(s?.target.timeoutSeconds ?? 30), hint: "1 to 60, for the whole of a delivery.",
  })
  const batch = field("batchSize", "Batch size", {
    type: "number", value: String(s?.batchSize ?? 10), hint: "1 to 10 messages of a delivery, at most.",
  })
  const open = field("maxConcurrency", "Deliveries at once", {
    type: "number", value: String(s?.maxConcurrency ?? 10), hint: "1 to 100, at most.",
  })
  const paused = !s && field("state", "Create it paused", {
    type: "checkbox", wide: true, hint: "No delivery starts until you resume it: time to give the endpoint its secret.",
  })
  return {
    node: h("div", { class: "fields" }, url.node, timeout.node, batch.node, open.node, paused && paused.node),
    values: () => ({
      target: { url: url.text, timeoutSeconds: timeout.number }, batchSize: batch.number, maxConcurrency: open.number,
      ...(paused && paused.input.checked && { state: "paused" }),
    }),
  }
}

function subscribe(page, draw) {
  const fields = subscriptionFields(null)
  const once = onceOnly()
  let secret
  const { dialog } = askIn({
    title: `Subscribe an endpoint to ${page.queue.name}`, action: "Subscribe", inside: fields.node,
    async submit() {
      const values = { queueId: page.queue.queue, ...fields.values() }
      const { signingSecret, ...created } = await post("/subscriptions", values, once(values))
      secret = signingSecret
      draw(created)
      say(secret ? "The endpoint is subscribed." : "It is subscribed; its secret was shown before. Rotate it if it is lost.")
    },
  })
  dialog.addEventListener("close", () => { if (secret) showSecret(secret) })
}

function editSubscription(s, draw) {
  const fields = subscriptionFields(s)
  askIn({
    title: "Change the subscription", action: "Save", inside: fields.node,
    async submit() {
      draw(await call("PATCH", subscriptionAt(s.subscription), fields.values()))
      say("The subscription is changed, from the next delivery on.")
    },
  })
}

function rotate(s) {
  let secret
  const { dialog } = confirmIn({
    title: "Rotate the signing secret?", action: "Rotate secret", kind: "first",
    inside: h("p", {}, "There will be a new secret, which is shown once. For 24 hours deliveries are signed with the new one and the one before: "
                       + "give the endpoint the new one beside the old within that time."),
    async submit() {
      secret = (await post(`${subscriptionAt(s.subscription)}/rotate-secret`)).signingSecret
    },
  })
  dialog.addEventListener("close", () => { if (secret) showSecret(secret) })
}

function unsubscribe(page, s, gone) {
  confirmIn({
    title: "Delete the subscription?", action: "Delete subscription",
    inside: h("p", {}, "No delivery starts any more. The queue and its messages stay as they are."),
    async submit() {
      await call("DELETE", subscriptionAt(s.subscription))
      gone()
      say("The subscription is deleted.")
      page.again()
    },
  })
}
