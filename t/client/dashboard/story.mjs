// A new user creates a queue, subscribes an endpoint, watches it fail and recover, and
// redrives dead letters, by the dashboard alone.

import { createHmac } from "node:crypto"
import { dialog, inDialog } from "./browser.mjs"

export async function story(t) {
  const endpoint = await t.endpoint()
  const page = await t.open()
  const heading = (name) => page.getByRole("heading", { level: 1, name })

  // log in

  await t.visit(page)
  await page.getByLabel("API key").fill("qk_wrong")
  await page.getByLabel("Organization").fill("o")
  await page.getByLabel("Project").fill("story")
  await page.getByRole("button", { name: "Log in" }).click()
  await page.getByText("The server does not know this key").waitFor()
  t.is(await page.getByLabel("API key").getAttribute("aria-invalid"), "true", "a wrong key is told at its field")
  t.is(await page.evaluate(() => sessionStorage.length), 0, "and not kept")
  await page.getByLabel("Project").fill("a b")
  await page.getByRole("button", { name: "Log in" }).click()
  t.is(await page.getByLabel("Project").getAttribute("aria-invalid"), "true", "so is a project that can be none")
  await t.login(page)
  await page.getByRole("heading", { name: "No queue yet" }).waitFor()
  t.ok(true, "logged in, and told what to do first")

  // two queues

  await page.getByRole("button", { name: "Create the first queue" }).click()
  await dialog(page).getByLabel("Name", { exact: true }).fill("orders-dead")
  await inDialog(page, "Create queue").click()
  await heading("orders-dead").waitFor()
  await page.getByRole("link", { name: "← Queues" }).click()
  await page.getByRole("button", { name: "Create queue" }).click()
  await dialog(page).getByLabel("Name", { exact: true }).fill("orders-dead")
  await inDialog(page, "Create queue").click()
  await dialog(page).getByText("The project has a queue of this name.").waitFor()
  t.ok(true, "a name that is taken is told")
  await dialog(page).getByLabel("Name", { exact: true }).fill("orders")
  await dialog(page).getByLabel("Visibility timeout").fill("x")
  await inDialog(page, "Create queue").click()
  await dialog(page).getByText("Write a whole number.").waitFor()
  await dialog(page).getByLabel("Visibility timeout").fill("1")
  await dialog(page).getByLabel("Dead-letter queue").fill("no-such")
  await inDialog(page, "Create queue").click()
  await page.waitForFunction(() => document.activeElement.getAttribute("aria-invalid") === "true")
  t.is(await page.evaluate(() => document.activeElement.labels[0].textContent), "Dead-letter queue", "the API's error is at its field, and has the focus")
  await dialog(page).getByLabel("Dead-letter queue").fill("orders-dead")
  await dialog(page).getByLabel("Receives before that").fill("2")
  await inDialog(page, "Create queue").click()
  await heading("orders").waitFor()
  await page.getByText("orders-dead", { exact: true }).waitFor()
  t.ok(true, "created, with its dead-letter queue")

  // an endpoint that fails

  endpoint.status = 500
  await page.getByRole("button", { name: "Subscribe an endpoint" }).click()
  await dialog(page).getByLabel("Endpoint").fill("http://hooks.example.com/")
  await inDialog(page, "Subscribe").click()
  await page.waitForFunction(() => document.activeElement.getAttribute("aria-invalid") === "true")
  t.is(await page.evaluate(() => document.activeElement.labels[0].textContent), "Endpoint", "an address that is not allowed is told at its field")
  await dialog(page).getByLabel("Endpoint").fill(endpoint.url)
  await inDialog(page, "Subscribe").click()
  const secret = await dialog(page).getByLabel("Signing secret").inputValue()
  t.ok(/^whsec_/.test(secret), "the secret is shown", secret)
  await page.keyboard.press("Escape")
  await page.keyboard.press("Escape")
  t.ok(await dialog(page).isVisible(), "and not lost by a key")
  await inDialog(page, "I have kept it").click()
  await page.getByText("Active", { exact: true }).waitFor()

  await page.getByRole("button", { name: "Send message" }).click()
  await dialog(page).getByLabel("Body").fill('{"order": 12345678901234567890}')
  await inDialog(page, "Add attribute").click()
  await dialog(page).getByLabel("Attribute name").fill("source")
  await dialog(page).getByLabel("Attribute value").fill("checkout")
  await inDialog(page, "Send").click()
  await t.said(page, /The message .* is stored/)
  await t.until(page, page.getByText("Failing", { exact: true }))
  t.ok(await page.getByText("The endpoint answered 500.").isVisible(), "it is seen to fail, and how")
  await t.shot(page, "failing")

  // its dead letter

  const dead = page.getByRole("link", { name: "orders-dead" })
  await dead.click()
  await heading("orders-dead").waitFor()
  await t.until(page, page.locator(".tiles dd").first().getByText("1", { exact: true }))
  await page.locator("section", { hasText: "Messages" }).getByRole("button", { name: "Refresh" }).last().click()
  await page.getByText("ezgh.deadLetterSourceQueue").waitFor()
  t.is(await page.locator("pre.text").textContent(), '{"order": 12345678901234567890}', "the dead letter is as it was sent")
  t.is(await page.locator(".attributes").innerText().then((text) => /source\s*:?\s*checkout/.test(text)), true, "with its attributes")
  t.ok(await page.getByText("Dead-letter queue of").isVisible(), "and knows where it comes from")
  await t.shot(page, "dead")

  // it recovers, and the dead letter goes back

  endpoint.status = 200
  await page.getByRole("button", { name: "Redrive…" }).click()
  await inDialog(page, "Redrive").click()
  await t.said(page, /^1 message moved\.$/)
  await page.getByRole("link", { name: "orders", exact: true }).click()
  await heading("orders").waitFor()
  await t.until(page, page.getByText("Healthy", { exact: true }))
  t.ok(await page.getByText("Last failure, before it recovered").isVisible(), "it has recovered")
  const last = endpoint.got.find((got) => got.status === 200)
  t.is(JSON.parse(last.text).messages.map((m) => m.body), ['{"order": 12345678901234567890}'], "it was delivered")
  const stamp = last.headers["ezgh-signature"].match(/^t=(\d+),v1=(\w+)$/)
  t.is(createHmac("sha256", Buffer.from(secret.slice(6), "base64url")).update(`${stamp[1]}.${last.text}`).digest("hex"), stamp[2],
    "signed with the secret that was shown")

  // pause, resume, change, rotate

  const before = endpoint.got.length
  await page.getByRole("button", { name: "Pause" }).click()
  await page.getByText("Paused", { exact: true }).waitFor()
  t.is(await page.evaluate(() => document.activeElement.textContent), "Resume", "the focus stays")
  await page.getByRole("button", { name: "Send message" }).click()
  await dialog(page).getByLabel("Body").fill("while it is paused")
  await inDialog(page, "Send").click()
  await page.locator("pre.text", { hasText: "while it is paused" }).waitFor()
  t.is(endpoint.got.length, before, "paused: nothing is delivered")
  await page.getByRole("button", { name: "Resume" }).click()
  await t.until(page, page.locator(".tiles dd").first().getByText("0", { exact: true }))
  await page.getByRole("button", { name: "Edit…" }).click()
  await dialog(page).getByLabel("Batch size").fill("11")
  await inDialog(page, "Save").click()
  await dialog(page).locator(".error", { hasText: /10/ }).waitFor()
  await dialog(page).getByLabel("Batch size").fill("3")
  await inDialog(page, "Save").click()
  await page.getByText("3 at most").waitFor()
  await page.getByRole("button", { name: "Rotate secret…" }).click()
  await inDialog(page, "Rotate secret").click()
  const next = await dialog(page).getByLabel("Signing secret").inputValue()
  t.ok(/^whsec_/.test(next) && next !== secret, "another secret")
  await inDialog(page, "I have kept it").click()

  // settings

  await page.getByRole("button", { name: "Edit settings" }).click()
  t.is(await dialog(page).getByLabel("Dead-letter queue").inputValue(), "orders-dead", "settings are those of now")
  await dialog(page).getByLabel("Retention").fill("120")
  await dialog(page).getByLabel("Dead-letter queue").fill("")
  await inDialog(page, "Save").click()
  await page.getByText("none: a message is tried until it expires").waitFor()
  t.is(await page.locator("dd", { hasText: /^2 min$/ }).count(), 1, "changed")
  await page.getByRole("button", { name: "Edit settings" }).click()
  await dialog(page).getByLabel("Dead-letter queue").fill("orders-dead")
  await inDialog(page, "Save").click()
  await page.getByRole("link", { name: "orders-dead" }).waitFor()

  // the end of all that

  await page.getByRole("button", { name: "Delete…" }).last().click()
  await inDialog(page, "Delete subscription").click()
  await page.getByRole("button", { name: "Subscribe an endpoint" }).waitFor()
  await t.api("POST", "/queues/orders/messages", { body: "to be purged" })
  await page.getByRole("button", { name: "Purge…" }).click()
  t.ok(await inDialog(page, "Purge queue").isDisabled(), "no purge without the name")
  await dialog(page).getByLabel("Type orders to confirm").fill("orders")
  await inDialog(page, "Purge queue").click()
  await t.said(page, /The queue orders is purged\./)
  t.is((await t.api("GET", "/queues/orders")).counts.visible, 0, "purged")
  await page.getByRole("link", { name: "orders-dead" }).click()
  await heading("orders-dead").waitFor()
  await page.getByRole("button", { name: "Delete…" }).click()
  await dialog(page).getByLabel("Type orders-dead to confirm").fill("orders-dead")
  await inDialog(page, "Delete queue").click()
  await dialog(page).getByText("Another queue has this one as its dead-letter queue.").waitFor()
  t.ok(true, "what is needed is not deleted, and why")
  await inDialog(page, "Cancel").click()
  await page.getByRole("link", { name: "orders", exact: true }).click()
  await heading("orders").waitFor()
  await page.getByRole("button", { name: "Delete…" }).click()
  await dialog(page).getByLabel("Type orders to confirm").fill("orders")
  await inDialog(page, "Delete queue").click()
  await heading("Queues").waitFor()
  await page.getByRole("link", { name: "orders-dead" }).waitFor()
  t.is(await page.getByRole("link", { name: "orders", exact: true }).count(), 0, "deleted")

  // out

  await page.reload()
  await page.getByRole("link", { name: "orders-dead" }).waitFor()
  t.ok(true, "a reload keeps the session")
  await page.getByRole("button", { name: "Log out" }).click()
  await page.getByText("You are logged out.").waitFor()
  t.is(await page.evaluate(() => [sessionStorage.length, localStorage.length, document.cookie]), [0, 0, ""], "nothing is kept")
  await page.goto("about:blank")
  await page.goBack()
  t.ok(await page.getByLabel("API key").isVisible(), "and no way back")
}

// the store is silent for a while

export async function away(t) {
  const redis = Number(process.env.REDIS_PID)
  await t.api("POST", "/queues", { name: "here" })
  const page = await t.inside()
  await page.getByRole("link", { name: "here" }).waitFor()
  await page.getByText("live", { exact: true }).waitFor()
  process.kill(redis, "SIGSTOP")
  try {
    await t.until(page, page.getByText(/no answer, next try in \d+ s/))
    t.ok(true, "the store is away: told, and when it is asked again")
    t.is(await page.getByText("The server gives no data at the moment.").count(), 1, "and read aloud")
    await page.getByRole("button", { name: "Refresh" }).click()
    await page.getByText("The store cannot be reached at the moment.").waitFor()
    t.ok(true, "in words, where it belongs")
  } finally {
    process.kill(redis, "SIGCONT")
  }
  await page.getByRole("button", { name: "Try again" }).click()
  await page.getByRole("link", { name: "here" }).waitFor()
  await page.locator("td", { hasText: /^0$/ }).first().waitFor()
  await page.getByText("live", { exact: true }).waitFor()
  t.ok(true, "and back")
}
