// On a telephone and on a desk, in light and dark: nothing runs off the side, and axe
// (names, roles, contrast) has nothing to say.

import { VIEWS, dialog } from "./browser.mjs"

const toSubscription = async (page) => {
  await page.locator(".halves").waitFor()
  await page.evaluate(() => document.querySelector(".halves > .stack").scrollIntoView())
}

export async function readable(t) {
  const long = "a-queue-with-a-name-as-long-as-they-come-0123456789012345678901234567890123456"
  await t.api("POST", "/queues", { name: "orders-dead" })
  await t.api("POST", "/queues", { name: long, redrivePolicy: { deadLetterQueueId: "orders-dead", maxReceiveCount: 3 } })
  await t.api("POST", "/queues", { name: "ledger", kind: "fifo" })
  await t.api("POST", `/queues/${long}/messages`, { messages: [
    { body: "x".repeat(5000), attributes: { trace: "y".repeat(1024) } }, { body: '{"a":[1,2,{"b":"\\u202e"}]}' }, { body: "\u202e\u0000" },
    { body: " \n" },
  ] })
  await t.api("POST", "/queues", { name: "failing" })
  await t.api("POST", "/subscriptions", { queueId: "failing", target: { url: `https://hooks.example.com:1024/${"p".repeat(200)}` } })
  await t.api("POST", "/queues/failing/messages", { body: "x" })

  for (const [view, options] of VIEWS) {
    const page = await t.open(options)
    const check = (what) => t.check(page, view, what)

    await t.visit(page)
    await page.getByLabel("API key").waitFor()
    await check("login")
    await page.getByLabel("Organization").fill("o")
    await page.getByLabel("Project").fill(".a")
    await page.keyboard.press("Enter")
    await page.getByText("One with topics alone may have").waitFor()
    await check("login-wrong")
    await t.login(page)
    await page.locator(".spark").nth(2).waitFor()
    await check("list")
    await page.getByRole("button", { name: "Create queue" }).click()
    await dialog(page).waitFor()
    await check("create")
    await page.keyboard.press("Escape")
    await page.getByRole("link", { name: long }).click()
    await page.locator("pre.text").nth(3).waitFor()
    await toSubscription(page)
    await page.getByRole("button", { name: "Subscribe an endpoint" }).waitFor()
    await check("queue")
    for (const name of ["Send message", "Redrive…", "Purge…", "Edit settings", "Subscribe an endpoint"]) {
      await page.getByRole("button", { name, exact: true }).click()
      await dialog(page).waitFor()
      if (name === "Send message") await dialog(page).getByRole("button", { name: "Add attribute" }).click()
      if (view === "phone" || name === "Purge…") await check(name.replace(/\W/g, ""))
      await page.keyboard.press("Escape")
      await dialog(page).waitFor({ state: "detached" })
    }
    await t.visit(page, "#/queues/failing")
    await toSubscription(page)
    await t.until(page, page.getByText("Failing", { exact: true }))
    await check("failing")
    if (view === "light") {
      t.is(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(244, 246, 248)", "light, as the system")
      await page.getByLabel("Colours").selectOption("dark")
      t.is(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(17, 21, 27)", "dark, by the switch")
      await page.reload()
      await page.getByRole("heading", { level: 1, name: "failing" }).waitFor()
      t.is(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(17, 21, 27)", "which is remembered")
    }
  }
}
