// Topics and subscriptions: what a person sees of them, and changes, by the dashboard
// alone.

import { VIEWS, dialog, inDialog, within } from "./browser.mjs"

const HOSTILE = "<img src=x onerror=\"window.hacked = 1\">\u202egnp"

const heading = (page, name) => page.getByRole("heading", { level: 1, name, exact: true })
const tile = (page, name) => page.locator(".tiles div", { hasText: name }).locator("dd")

async function pair(page, what, name, value) {
  await inDialog(page, `Add ${what.toLowerCase()}`).click()
  await dialog(page).getByLabel(`${what} name`).last().fill(name)
  await dialog(page).getByLabel(`${what} value`).last().fill(value)
}

// a topic, by the keyboard

async function created(t, page) {
  await page.getByRole("link", { name: "Topics", exact: true }).click()
  await heading(page, "Topics").waitFor()
  await page.getByRole("heading", { name: "No topic yet" }).waitFor()
  await page.getByRole("button", { name: "Create topic" }).focus()
  await page.keyboard.press("Enter")
  await dialog(page).waitFor()
  await page.keyboard.press("Enter")
  await dialog(page).getByText("Write a name.").waitFor()
  await page.keyboard.type("orders+%41")
  await page.keyboard.press("Tab")
  await page.keyboard.type("5")
  await page.keyboard.press("Enter")
  await page.waitForFunction(() => document.activeElement.getAttribute("aria-invalid") === "true")
  t.is(await page.evaluate(() => document.activeElement.labels[0].textContent), "Keeps messages (seconds)", "what is refused is told at its field")
  await dialog(page).getByLabel("Keeps messages").fill("86400")
  await pair(page, "Label", "team", "sales")
  await inDialog(page, "Create topic").click()
  await heading(page, "orders+%41").waitFor()
  t.is(await t.pubsub("GET", "/topics/orders%2B%2541"),
    { name: "projects/topics/topics/orders+%41", labels: { team: "sales" }, messageRetentionDuration: "86400s", state: "ACTIVE" }, "a topic, of whatever name")
  await page.getByRole("button", { name: "Edit settings" }).click()
  await dialog(page).getByLabel("Keeps messages").fill("")
  await inDialog(page, "Save").click()
  await page.getByText("no: each subscription keeps its own").waitFor()
  t.is((await t.pubsub("GET", "/topics/orders%2B%2541")).labels, { team: "sales" }, "changed, and nothing else of it")
}

async function subscribed(t, page) {
  await t.pubsub("PUT", "/topics/dead", {})
  await page.getByRole("button", { name: "Make the first subscription" }).click()
  await dialog(page).getByLabel("Name", { exact: true }).fill("billing")
  await dialog(page).getByLabel("Ack deadline").fill("9")
  await inDialog(page, "Subscribe").click()
  await page.waitForFunction(() => document.activeElement.getAttribute("aria-invalid") === "true")
  t.is(await page.evaluate(() => document.activeElement.labels[0].textContent), "Ack deadline (seconds)", "so it is of a subscription")
  await dialog(page).getByLabel("Ack deadline").fill("600")
  await dialog(page).getByLabel("Filter").fill("NOT attributes:no")
  await dialog(page).getByLabel("In order").check()
  await inDialog(page, "Subscribe").click()
  await page.getByRole("link", { name: "billing" }).waitFor()
  await t.until(page, page.getByRole("row", { name: /billing/ }).getByText("Ordered"))
  t.ok(true, "subscribed, and in the list of its topic")

  const link = page.getByRole("link", { name: "billing" })
  const other = page.getByRole("link", { name: "audit" })
  await link.focus()
  await t.pubsub("PUT", "/subscriptions/audit", { topic: "projects/topics/topics/orders+%41" })
  await t.until(page, other)
  t.ok(await link.evaluate((node) => node === document.activeElement), "another one comes, and the focus stays")
  await t.pubsub("DELETE", "/subscriptions/audit")
  await other.waitFor({ state: "detached" })
}

async function publish(t, page, data, key) {
  await page.getByRole("button", { name: "Publish message" }).click()
  await dialog(page).getByLabel("Data").fill(data)
  if (key) await dialog(page).getByLabel("Ordering key").fill(key)
  await pair(page, "Attribute", HOSTILE, HOSTILE)
  await inDialog(page, "Publish").click()
  await t.said(page, /The message \d+ is published/)
}

async function pulled(t, page) {
  await t.until(page, tile(page, "Visible").getByText("2", { exact: true }))
  t.ok(true, "what was published is counted")
  await page.getByRole("button", { name: "Pull and give back" }).click()
  const texts = within(page, "Messages").locator("pre.text")
  await texts.nth(1).waitFor()
  t.is(await texts.allTextContents(), ["{\"n\": 1} \u00e9\u{1f600}", "<b>bold</b>\\u202e"], "pulled, as text, in order")
  t.is(await within(page, "Messages").locator(".attributes dt").first().textContent(), "<img src=x onerror=\"window.hacked = 1\">\\u202egnp", "so are attributes")
  t.is(await page.locator("main img, main b").count(), 0, "nothing became an element")
  t.is(await page.evaluate(() => window.hacked), undefined, "nothing ran")
  await page.getByText(/^2 messages, as of .*; they are given back$/).waitFor()
  const { visible, inFlight } = (await t.pubsub("GET", "/subscriptions/billing:counts")).counts
  t.is([visible, inFlight], [2, 0], "and given back")
}

async function changed(t, page) {
  await page.getByRole("button", { name: "Edit settings" }).click()
  await dialog(page).getByLabel("Dead-letter topic").fill("no-such")
  await inDialog(page, "Save").click()
  await dialog(page).getByText("Resource not found (resource=no-such).").waitFor()
  await dialog(page).getByLabel("Dead-letter topic").fill("dead")
  await dialog(page).getByLabel("Shortest backoff").fill("0.5")
  await dialog(page).getByLabel("Keep what was acknowledged").check()
  await dialog(page).getByLabel("Expires after").fill("86399")
  await inDialog(page, "Save").click()
  await page.waitForFunction(() => document.activeElement.getAttribute("aria-invalid") === "true")
  await dialog(page).getByLabel("Expires after").fill("864000")
  await t.shot(page, "subscription-form")
  await inDialog(page, "Save").click()
  await within(page, "Settings").getByRole("link", { name: "dead" }).waitFor()
  const sub = await t.pubsub("GET", "/subscriptions/billing")
  t.is([sub.expirationPolicy, sub.ackDeadlineSeconds, sub.deadLetterPolicy, sub.retryPolicy, sub.retainAckedMessages, sub.filter],
    [{ ttl: "864000s" }, 600, { deadLetterTopic: "projects/topics/topics/dead", maxDeliveryAttempts: 5 }, { minimumBackoff: "0.500s", maximumBackoff: "600s" }, true, "NOT attributes:no"],
    "changed, and nothing else of it")
  await page.getByRole("button", { name: "Edit settings" }).click()
  await dialog(page).getByLabel("Expires after").fill("")
  await inDialog(page, "Save").click()
  await within(page, "Settings").getByText("stays", { exact: true }).waitFor()
  t.is((await t.pubsub("GET", "/subscriptions/billing")).expirationPolicy, {}, "and it never expires")
  await page.getByRole("button", { name: "Pull and give back" }).click()
  await dialog(page).getByText("This look is a delivery attempt").waitFor()
  t.is(await page.evaluate(() => document.activeElement.textContent), "Cancel", "a pull that may make dead letters is asked for before")
  await inDialog(page, "Pull").click()
  await page.getByText("attempt 2").first().waitFor()
  t.ok(true, "and tells how often each was tried")
}

async function sought(t, page) {
  await page.getByRole("button", { name: "Make a snapshot" }).click()
  await dialog(page).getByLabel("Name").fill("before")
  await inDialog(page, "Make snapshot").click()
  await within(page, "Snapshots").getByText("expires").waitFor()
  await page.getByRole("button", { name: "Seek…" }).click()
  await inDialog(page, "Seek").click()
  await dialog(page).getByText("Choose a time.").waitFor()
  await dialog(page).getByLabel("What comes again").selectOption("none")
  await inDialog(page, "Seek").click()
  await t.said(page, /It has sought there/)
  await t.until(page, tile(page, "Visible").getByText("0", { exact: true }))
  t.ok(true, "a seek past all")
  await page.getByRole("button", { name: "Seek to it…" }).click()
  await inDialog(page, "Seek").click()
  await t.said(page, /It has sought to before/)
  await t.until(page, tile(page, "Visible").getByText("2", { exact: true }))
  t.ok(true, "and back to a snapshot")
  await within(page, "Snapshots").getByRole("button", { name: "Delete…" }).click()
  await inDialog(page, "Delete snapshot").click()
  await page.getByText("The topic has none.").waitFor()
  await page.getByRole("button", { name: "Seek…" }).click()
  await dialog(page).getByLabel("Time, of").fill("2020-01-01T00:00:01")
  await inDialog(page, "Seek").click()
  await t.said(page, /It has sought there/)
  await t.until(page, tile(page, "Visible").getByText("2", { exact: true }))
  t.ok(true, "to a time")
}

async function ended(t, page) {
  await page.getByRole("button", { name: "Detach…" }).click()
  t.ok(await inDialog(page, "Detach subscription").isDisabled(), "no detach without the name")
  await dialog(page).getByLabel("Type billing to confirm").fill("billing")
  await inDialog(page, "Detach subscription").click()
  await page.getByText("It is detached: it has none").waitFor()
  await page.getByText("Detached", { exact: true }).waitFor()
  await page.getByRole("button", { name: "Delete…" }).click()
  await dialog(page).getByLabel("Type billing to confirm").fill("billing")
  await inDialog(page, "Delete subscription").click()
  await heading(page, "orders+%41").waitFor()
  await page.getByRole("heading", { name: "No subscription" }).waitFor()
  await page.getByRole("button", { name: "Delete…" }).click()
  await dialog(page).getByLabel("Type orders+%41 to confirm").fill("orders+%41")
  await inDialog(page, "Delete topic").click()
  await heading(page, "Topics").waitFor()
  await page.getByRole("link", { name: "dead" }).waitFor()
  t.is(await page.getByRole("link", { name: "orders+%41" }).count(), 0, "deleted")
}

// a key that may none of it

async function refused(t) {
  const page = await t.inside("#/topics", { as: process.env.LIMITED })
  await page.getByText("This key may not do that. The credential lacks the permission pubsub.topics.list here.").waitFor()
  await page.getByRole("link", { name: "Topics", exact: true }).first().waitFor()
  await page.getByLabel("Open a topic by its name").fill("some")
  await page.keyboard.press("Enter")
  await page.getByText("lacks the permission pubsub.topics.get here.").waitFor()
  await page.getByRole("button", { name: "Try again" }).waitFor()
  t.ok(true, "a key without a permission is told which")

  await page.route(/\/v1\/projects\//, (route) => route.fulfill({ status: 404, contentType: "text/html", body: "<h1>None" }))
  await t.visit(page, "#/")
  await page.reload()
  await page.getByRole("link", { name: "Logs", exact: true }).waitFor()
  t.is(await page.getByRole("link", { name: "Topics", exact: true }).count(), 0, "no link where there is no such API")
}

export async function topics(t) {
  const page = await t.inside()
  await created(t, page)
  await subscribed(t, page)
  await publish(t, page, "{\"n\": 1} \u00e9\u{1f600}", "k")
  await publish(t, page, "<b>bold</b>\u202e", "k")
  await page.getByRole("link", { name: "billing" }).click()
  await heading(page, "billing").waitFor()
  await pulled(t, page)
  await changed(t, page)
  await sought(t, page)
  await ended(t, page)
  await refused(t)
}

// pushed, and pulled again

async function turned(t, page) {
  for (const [url, what] of [["https://hooks.example.com/in", page.getByText("They are pushed to the endpoint.")],
                             ["", page.getByRole("button", { name: "Pull and give back" })]]) {
    await page.getByRole("button", { name: "Edit settings" }).click()
    await dialog(page).getByLabel("Endpoint").fill(url)
    await inDialog(page, "Save").click()
    await what.waitFor()
    t.is((await t.pubsub("GET", "/subscriptions/orphan")).pushConfig, url ? { pushEndpoint: url } : {}, url ? "made one of push" : "and of pull again")
  }
}

// Light and dark, on a desk and a telephone; many topics; a push; what is gone.

export async function topicsReadable(t) {
  const long = `t${"opic-with-a-long-name.".repeat(11)}`
  const push = { topic: `projects/${t.project}/topics/orders`, pushConfig: { pushEndpoint: `https://hooks.example.com:1024/${"p".repeat(200)}`,
    oidcToken: { serviceAccountEmail: `${"pusher".repeat(30)}@example.com`, audience: "a".repeat(300) }, noWrapper: { writeMetadata: true } } }
  for (const name of ["orders", "gone", long]) await t.pubsub("PUT", `/topics/${name}`, { labels: { team: "x".repeat(63), [`k${"y".repeat(62)}`]: "" } })
  await Promise.all(Array.from({ length: 27 }, (_, i) => t.pubsub("PUT", `/topics/a${i}-more`, {})))
  const sub = (name, more = {}) => t.pubsub("PUT", `/subscriptions/${name}`, { topic: push.topic, ...more })
  await sub("pushed", push)
  await sub("pulled", { retryPolicy: {}, labels: { team: "sales" }, filter: 'attributes.a = "\u202e"', enableExactlyOnceDelivery: true })
  await sub("plain", { enableMessageOrdering: true })
  await sub("orphan", { topic: `projects/${t.project}/topics/gone` })
  await t.pubsub("DELETE", "/topics/gone")
  await t.pubsub("POST", "/topics/orders:publish", { messages: [
    { data: Buffer.from("x".repeat(5000)).toString("base64"), attributes: { trace: "y".repeat(1024) }, orderingKey: "k".repeat(300) },
    { data: "/w==" }, { attributes: { only: "attributes" } }] })
  await t.pubsub("PUT", "/snapshots/kept", { subscription: `projects/${t.project}/subscriptions/plain` })

  for (const [view, options] of VIEWS.filter(([name]) => name !== "dark")) {        // where the light one is turned dark
    const page = await t.open(options)
    const check = (what) => t.check(page, view, what)
    await t.visit(page, "#/topics")
    await t.login(page)
    await page.getByRole("link", { name: "a26-more" }).waitFor()
    await page.getByRole("button", { name: "Next" }).click()
    await page.getByRole("link", { name: long }).waitFor()
    await page.getByRole("link", { name: "orders" }).scrollIntoViewIfNeeded()
    await t.until(page, page.getByRole("row", { name: "orders" }).locator("td", { hasText: /^3$/ }))
    await check("topics")
    await page.getByLabel("Names with").fill("25-mo")
    await page.getByRole("link", { name: "a25-more" }).waitFor()
    t.is(await page.locator("tbody tr").count(), 1, `${view}: what has it in its name is found`)
    await page.getByRole("navigation", { name: "Topics and subscriptions" }).getByRole("link", { name: "Subscriptions" }).click()
    await page.locator(".spark").nth(2).waitFor()
    await page.getByText("No topic").waitFor()
    await check("subscriptions")
    await t.visit(page, "#/topics/orders")
    await page.getByRole("button", { name: "Subscribe…" }).click()
    await dialog(page).waitFor()
    await check("subscribe")
    await dialog(page).getByLabel("Endpoint").fill("https://hooks.example.com/in")
    await dialog(page).getByLabel("Audience of its token").scrollIntoViewIfNeeded()
    await check("subscribe-push")
    await page.keyboard.press("Escape")
    await page.getByRole("button", { name: "Publish message" }).click()
    await inDialog(page, "Add attribute").click()
    await check("publish")
    await page.keyboard.press("Escape")
    await page.locator(".spark").nth(2).waitFor()
    await check("topic")
    await t.visit(page, "#/subs/pushed")
    await page.getByText("They are pushed to the endpoint.").waitFor()
    await check("pushed")
    await t.visit(page, "#/subs/plain")
    await page.getByRole("button", { name: "Pull and give back" }).click()
    await page.getByText("no text, here in base64").waitFor()
    await page.getByText("expires").waitFor()
    await check("subscription")
    await page.getByRole("button", { name: "Seek…" }).click()
    await check("seek")
    await page.keyboard.press("Escape")
    if (view === "light") {
      await page.getByLabel("Colours").selectOption("dark")
      await check("subscription-dark")
      await t.visit(page, "#/subs/pushed")
      await page.getByRole("button", { name: "Edit settings" }).click()
      await dialog(page).getByLabel("Account of its token").fill("")
      await inDialog(page, "Save").click()
      await dialog(page).getByText("must be there").waitFor()
      await check("pushed-form-dark")
      await page.keyboard.press("Escape")
      await t.visit(page, "#/subs/orphan")
      await page.getByText("a topic that was deleted").waitFor()
      await turned(t, page)
      await t.visit(page, "#/topics/%3Cimg%20src=x%3E")
      await page.getByText(/Invalid resource name|is no|not found/i).first().waitFor()
      t.is(await page.locator("main img").count(), 0, "what the fragment says is text as well")
    }
  }
}
