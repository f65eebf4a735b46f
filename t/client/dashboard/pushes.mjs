// Where a subscription is pushed, with what token, and what is sent: as it is made and as
// it is changed.

import { dialog, inDialog, within } from "./browser.mjs"

// What is said at a field, and that the focus is there, when it is refused.

async function wrongAt(t, page, action, label, text) {
  await inDialog(page, action).click()
  await dialog(page).locator(".field .error", { hasText: text }).waitFor()
  t.is(await page.evaluate(() => document.activeElement.labels[0].textContent), label, `told at ${label}`)
  t.is(await dialog(page).locator(".note").count(), 0, "and nowhere else")
}

const pushFields = (page) => ["Account of its token", "Audience of its token", "What is sent"].map((label) => dialog(page).getByLabel(label))

// Made, and changed again and again: what somebody changes is sent, all else stays.

export async function pushes(t) {
  await t.pubsub("PUT", "/topics/orders", {})
  const page = await t.inside("#/topics/orders")
  const url = "https://hooks.example.com/in"
  const is = async (wanted, what) => t.is((await t.pubsub("GET", "/subscriptions/hook")).pushConfig, wanted, what)

  await page.getByRole("button", { name: "Make the first subscription" }).click()
  await dialog(page).getByLabel("Name", { exact: true }).fill("hook")
  const [account, audience, sent] = pushFields(page)
  t.is(await Promise.all([account, audience, sent].map((f) => f.isVisible())), [false, false, false], "a pull has no token")
  await dialog(page).getByLabel("Endpoint").fill("ftp://hooks.example.com/in")
  await audience.fill("orders")
  await wrongAt(t, page, "Subscribe", "Endpoint", "must begin with https://")
  await dialog(page).getByLabel("Endpoint").fill(url)
  await wrongAt(t, page, "Subscribe", "Account of its token", "must be there")
  await account.fill("pusher@example.com")
  await audience.fill("a".repeat(2049))
  await wrongAt(t, page, "Subscribe", "Audience of its token", "of up to 2048 bytes")
  await audience.fill("orders")
  await sent.selectOption({ label: "Its data, and the rest as headers" })
  await dialog(page).getByLabel("Exactly once").check()
  await wrongAt(t, page, "Subscribe", "Exactly once", "is not for push")
  await dialog(page).getByLabel("Exactly once").uncheck()
  await inDialog(page, "Subscribe").click()
  await page.getByRole("link", { name: "hook" }).click()
  await page.getByText("of pusher@example.com, for orders").waitFor()
  await page.getByText(", the data alone, the rest as headers").waitFor()
  const token = { serviceAccountEmail: "pusher@example.com", audience: "orders" }
  await is({ pushEndpoint: url, oidcToken: token, noWrapper: { writeMetadata: true } }, "made with a token, and bare")

  // others change what stays here as it is

  const masks = []
  page.on("request", (r) => { if (r.method() === "PATCH") masks.push(r.postDataJSON().updateMask) })
  const edited = async (change, shown, other) => {
    await page.getByRole("button", { name: "Edit settings" }).click()
    await dialog(page).waitFor()
    if (other) await t.pubsub("PATCH", "/subscriptions/hook", other)
    await change(...pushFields(page))
    await inDialog(page, "Save").click()
    await dialog(page).waitFor({ state: "detached" })
    await within(page, "Settings").getByText(shown).waitFor()
  }
  const attributes = { "x-goog-version": "v1beta1" }
  await edited((account, audience) => audience.fill(""), "of pusher@example.com",
    { subscription: { pushConfig: { attributes, noWrapper: {} } }, updateMask: "pushConfig.attributes,pushConfig.noWrapper" })
  await is({ pushEndpoint: url, attributes, oidcToken: { serviceAccountEmail: "pusher@example.com" }, noWrapper: {} }, "no audience")
  await page.getByText(/, the data alone$/).waitFor()
  await edited((account, audience, sent) => sent.selectOption("wrapped"), "of other@example.com",
    { subscription: { pushConfig: { oidcToken: { serviceAccountEmail: "other@example.com" } } }, updateMask: "pushConfig.oidcToken" })
  await is({ pushEndpoint: url, attributes, oidcToken: { serviceAccountEmail: "other@example.com" } }, "wrapped")
  await edited((account) => account.fill(""), "pushed to")
  await is({ pushEndpoint: url, attributes }, "no token")
  await edited(async (account, audience, sent) => {
    await dialog(page).getByLabel("Endpoint").fill(`${url}/2`)
    await account.fill("pusher@example.com")
    await audience.fill("\u202e<b>orders")
    await sent.selectOption("bare")
  }, "\\u202e<b>orders")
  await is({ pushEndpoint: `${url}/2`, attributes, oidcToken: { serviceAccountEmail: "pusher@example.com", audience: "\u202e<b>orders" }, noWrapper: {} }, "all of it")
  await edited(() => dialog(page).getByLabel("Endpoint").fill(""), "pulled")
  await is({}, "a pull, and nothing is left of it")
  await edited(async (account) => {
    await dialog(page).getByLabel("Endpoint").fill(url)
    t.is(await account.inputValue(), "", "nor in the form")
    await account.fill("pusher@example.com")
  }, "of pusher@example.com")
  await is({ pushEndpoint: url, oidcToken: { serviceAccountEmail: "pusher@example.com" } }, "and a push again")
  t.is(masks, ["pushConfig.oidcToken", "pushConfig.noWrapper", "pushConfig.oidcToken",
    "pushConfig.pushEndpoint,pushConfig.oidcToken,pushConfig.noWrapper", "pushConfig", "pushConfig"], "no more is sent than was changed")

  // a server without a key for tokens

  await page.route(/\/subscriptions\/hook$/, (route) => (route.request().method() !== "PATCH" ? route.fallback()
    : route.fulfill({ status: 400, contentType: "application/json", body: JSON.stringify({ error: {
      code: 400, status: "FAILED_PRECONDITION", message: "This server has no key for OIDC tokens: \"queues_oidc_key\" is not configured.",
      details: [{ "@type": "type.googleapis.com/google.rpc.PreconditionFailure", violations: [{
        type: "OIDC_KEY", subject: "pushConfig.oidcToken.serviceAccountEmail", description: "This server has no key for OIDC tokens." }] }],
    } }) })))
  await page.getByRole("button", { name: "Edit settings" }).click()
  await pushFields(page)[1].fill("orders")
  await wrongAt(t, page, "Save", "Account of its token", "This server has no key for OIDC tokens")
}
