// Logs: what a person sees of them, and changes, by the dashboard alone. Only the
// consumers are somebody else. Both stories have one project: the server's.

import { VIEWS, dialog, inDialog, within } from "./browser.mjs"

// one message is popped, and what becomes of it told, when pops are not switched off

async function consume(t, queue, group, status, more = {}) {
  const query = new URLSearchParams({ consumerGroup: group, wait: "true", timeout: "2000" })
  let got = null
  for (const end = Date.now() + 30000; !got && Date.now() < end;) got = await t.queen("GET", `/pop/queue/${encodeURIComponent(queue)}?${query}`)
  const [message] = got.messages
  const ack = { transactionId: message.transactionId, partitionId: message.partitionId, leaseId: message.leaseId, consumerGroup: group }
  if (status) await t.queen("POST", "/ack", { ...ack, status, ...more })
  return message
}

export async function logs(t) {
  const page = await t.inside("#/logs")
  const row = (name) => within(page, "Consumer groups").getByRole("row", { name })

  // made by a push

  await page.getByRole("button", { name: "Push a message" }).click()
  await dialog(page).getByLabel("Payload").fill('{"order": 1,}')
  await inDialog(page, "Push").click()
  await dialog(page).getByText("Write the name of a log.").waitFor()
  await dialog(page).getByLabel("Log", { exact: true }).fill("shop.orders")
  await inDialog(page, "Push").click()
  await dialog(page).getByText("This is no JSON").waitFor()
  t.is(await page.evaluate(() => document.activeElement.labels[0].textContent), "Payload", "what is no JSON is told at its field")
  await dialog(page).getByLabel("Payload").fill('{"order": 12345678901234567890, "x": 1.50}')
  await dialog(page).getByLabel("Transaction id").fill("order-1")
  await inDialog(page, "Push").click()
  await t.said(page, /The message order-1 is stored/)
  await t.until(page, page.getByRole("link", { name: "shop.orders" }))
  await t.until(page, page.getByText("nobody consumes it"))
  t.ok(true, "a push makes a log, which nobody consumes")
  await page.getByRole("link", { name: "shop.orders" }).click()
  await page.getByRole("heading", { level: 1, name: "shop.orders" }).waitFor()
  t.is(await within(page, "Messages").locator("pre.text").allTextContents(), ['{"order": 12345678901234567890, "x": 1.50}'],
    "its payload is as it was written")
  await page.getByRole("button", { name: "Push a message" }).click()
  await dialog(page).getByLabel("Payload").fill("1")
  await dialog(page).getByLabel("Transaction id").fill("order-1")
  await inDialog(page, "Push").click()
  await t.said(page, /There is a message order-1 already: it was not stored again/)
  t.ok(true, "a duplicate is told")

  // a group consumes it

  await t.queen("POST", "/push", { items: Array.from({ length: 14 }, (_, i) => ({ queue: "shop.orders", partition: `p-${i % 2}`, payload: { i } })) })
  await consume(t, "shop.orders", "billing", "dlq", { error: "the card <b>was</b> declined \u202e" })
  await t.until(page, row("billing").getByRole("cell", { name: "14", exact: true }))
  t.ok(true, "its lag is seen")
  await consume(t, "shop.orders", "billing", null)
  await row("billing").getByRole("button", { name: "Partitions" }).click()
  await dialog(page).getByText("leased", { exact: true }).waitFor()
  await dialog(page).getByText("1 of 1 partition that it has popped, those furthest behind first. 1 leased.").or(
    dialog(page).getByText("2 of 2 partitions that it has popped, those furthest behind first. 1 leased.")).waitFor()
  t.ok(true, "so is its lease")
  await inDialog(page, "Close").click()

  // the dead letter

  const dead = within(page, "Dead letters")
  await dead.getByRole("button", { name: "Refresh" }).click()
  await dead.getByText("the card <b>was</b> declined \\u202e").waitFor()
  t.ok(await dead.getByText("of billing").isVisible(), "a dead letter, whose it is and why")
  await t.shot(page, "page")
  await dead.getByRole("button", { name: "Push again…" }).click()
  t.is(await page.evaluate(() => document.activeElement.textContent), "Cancel", "a question has the focus at the careful answer")
  await inDialog(page, "Push again").click()
  await t.said(page, /It is pushed again/)
  await dead.getByText("None. What a group").waitFor()
  t.is((await t.queen("GET", "/resources/queues/shop.orders?limit=1")).totals.total, 16, "it is pushed again, and no dead letter any more")

  // messages are looked at

  const messages = within(page, "Messages")
  await messages.locator("pre.text").nth(9).waitFor()
  await messages.getByRole("button", { name: "Older" }).click()
  await messages.locator("pre.text").nth(9).waitFor({ state: "detached" })
  t.is(await messages.locator("pre.text").count(), 6, "in pages")
  await within(page, "Partitions").getByRole("button", { name: "p-1" }).click()
  await messages.locator("pre.text").nth(6).waitFor()
  t.is([await messages.locator("pre.text").count(), await messages.getByText("in p-1").count()], [7, 7], "of one partition")
  await messages.getByLabel("Status").selectOption("completed")
  await messages.getByText("Nothing of that kind is here.").waitFor()

  // the group goes elsewhere

  const seek = async (to, more) => {
    await row("billing").getByRole("button", { name: "Seek…" }).click()
    await dialog(page).getByLabel("Go on").selectOption(to)
    await more?.()
    await inDialog(page, "Seek group").click()
  }
  const lag = (n) => t.until(page, row("billing").getByRole("cell", { name: n, exact: true }))
  await seek("end")
  await t.said(page, /billing goes on elsewhere in 3 partitions/)
  await lag("0")
  t.ok(true, "to the end")
  await seek("start")
  await lag("16")
  t.ok(true, "to the beginning")
  await seek("end")
  await lag("0")
  await seek("time", async () => {
    await inDialog(page, "Seek group").click()
    await dialog(page).getByText("Choose a date and a time.").waitFor()
    await dialog(page).getByLabel("Time").fill("2001-02-03T04:05:06")
  })
  await lag("16")
  t.ok(true, "to a time")
  await seek("end")
  await lag("0")
  const inOne = (name) => dialog(page).getByLabel("Partition").fill(name)
  await seek("start", () => inOne("p-1"))
  await t.said(page, /billing goes on elsewhere in the partition p-1/)
  await lag("7")
  await seek("end", () => inOne("nowhere"))
  await dialog(page).getByText("Partition not found").waitFor()
  await inOne("p-1")
  await t.shot(page, "seek-partition")
  await inDialog(page, "Seek group").click()
  await lag("0")
  await seek("start")
  await lag("16")
  t.ok(true, "one partition alone")

  // options: all but the changed ones stay, also those that the form has not

  await t.queen("POST", "/configure", { queue: "shop.orders", namespace: "shop", task: "orders", options: { leaseTime: 60, priority: 7 } })
  await page.getByRole("button", { name: "Change options" }).click()
  await dialog(page).getByLabel("Retries").fill("x")
  await inDialog(page, "Save").click()
  await dialog(page).getByText("Write a whole number.").waitFor()
  await dialog(page).getByLabel("Retries").fill("1")
  await dialog(page).getByLabel("Task").fill("bill")
  await dialog(page).getByLabel("Keep what failed too often").uncheck()
  await inDialog(page, "Save").click()
  await t.said(page, /The options of shop.orders are saved/)
  await within(page, "Options").getByText("is dropped").waitFor()
  const { options, ...log } = await t.queen("GET", "/resources/queues/shop.orders?limit=1")
  t.is([options.leaseTime, options.retryLimit, options.priority, options.deadLetterQueue, options.dlqAfterMaxRetries, log.namespace, log.task],
    [60, 1, 7, false, false, "shop", "bill"], "what others changed meanwhile stays")
  await page.getByRole("button", { name: "Change options" }).click()
  await dialog(page).getByLabel("Keep what failed too often").check()
  await inDialog(page, "Save").click()
  await within(page, "Options").getByText("becomes a dead letter").waitFor()

  // dead letters are deleted, purged

  for (let i = 0; i < 3; i++) await consume(t, "shop.orders", "audit", "dlq")
  await dead.getByRole("button", { name: "Refresh" }).click()
  await dead.getByText("3 dead letters").waitFor()
  await dead.getByRole("button", { name: "Delete…" }).first().click()
  await inDialog(page, "Delete dead letter").click()
  await dead.getByText("2 dead letters").waitFor()
  await dead.getByRole("button", { name: "Purge…" }).click()
  t.ok(await inDialog(page, "Purge dead letters").isDisabled(), "no purge without the name")
  await dialog(page).getByLabel("Type shop.orders to confirm").fill("shop.orders")
  await inDialog(page, "Purge dead letters").click()
  await t.said(page, /2 dead letters deleted/)
  await dead.getByText("None. What a group").waitFor()

  // maintenance

  await t.queen("POST", "/system/maintenance/pop", { enabled: true })
  await page.reload()
  await page.getByText("Pops are switched off").waitFor()
  await page.getByRole("button", { name: "Switch pops on" }).click()
  await page.getByText("Pops are switched off").waitFor({ state: "detached" })
  t.is((await t.queen("GET", "/system/maintenance")).popMaintenanceMode, false, "what is switched off is told, and switched on")

  // the end

  await row("audit").getByRole("button", { name: "Delete…" }).click()
  await dialog(page).getByLabel("Type audit to confirm").fill("audit")
  await inDialog(page, "Delete group").click()
  await t.until(page, row("billing"))
  await row("audit").waitFor({ state: "detached" })
  t.ok(true, "a group is deleted")
  await page.getByRole("group", { name: "Actions" }).getByRole("button", { name: "Delete…" }).click()
  await dialog(page).getByLabel("Type shop.orders to confirm").fill("shop.orders")
  await inDialog(page, "Delete log").click()
  await t.said(page, /The log shop.orders is deleted/)
  await page.getByRole("heading", { level: 1, name: "Logs" }).waitFor()
  t.is(await t.queen("DELETE", "/resources/queues/shop.orders").then(({ existed }) => existed), false, "the log is deleted")

  // many of them

  const names = Array.from({ length: 30 }, (_, i) => `page-${String(i).padStart(2, "0")}`)
  await t.queen("POST", "/push", { items: ["page-", ...names].map((queue) => ({ queue, payload: 1 })) })
  await page.getByLabel("Names that begin with").fill("page-")
  await page.getByRole("link", { name: "page-24" }).waitFor()
  t.is(await page.getByRole("link", { name: /^page-/ }).count(), 26, "a page of the list, with what is called so")
  await page.getByRole("button", { name: "Next" }).click()
  await page.getByRole("link", { name: "page-29" }).waitFor()
  t.is(await page.getByRole("link", { name: /^page-/ }).count(), 5, "the next page")
  await page.getByLabel("Names that begin with").fill("page-07")
  await page.getByRole("link", { name: "page-29" }).waitFor({ state: "detached" })
  t.is(await page.getByRole("link", { name: /^page-/ }).allTextContents(), ["page-07"], "one of them")
  await page.getByLabel("Names that begin with").fill("nothing")
  await page.getByText("No name begins with “nothing”.").waitFor()
  await Promise.all(names.flatMap((name) => [1, 2, 3, 4].map((i) => t.queen("GET", `/pop/queue/page-00?autoAck=true&consumerGroup=${name}.${i}`))))
  await t.visit(page, "#/logs/page-00")
  await page.getByText("50 of 120 groups, those that are furthest behind.").waitFor()
  t.is(await within(page, "Consumer groups").locator("tbody tr").count(), 50, "of many groups some are shown")
  await t.visit(page, "#/logs")
  await page.getByText("The lag is of the first 100 consumer groups").waitFor()

  // a page that cannot be shown at first

  await page.route(/resources\/queues\/page-01/, (route) => route.fulfill({ status: 200, contentType: "application/json", body: "{}" }))
  await t.visit(page, "#/logs/page-01")
  await page.getByText("is none of the Queen API: is it served at /api/v1/ ?").waitFor()
  await page.unrouteAll()
  await page.getByRole("button", { name: "Try again" }).click()
  await page.getByRole("heading", { level: 1, name: "page-01" }).waitFor()
  await t.visit(page, "#/logs/no-such")
  await page.getByText("Queue not found").waitFor()
  t.ok(true, "a log that there is not")
  await t.visit(page, "#/logs/..")
  await page.getByText("A browser cannot ask for something of this name").waitFor()
  await t.visit(page, "#/logs")
  await page.getByRole("heading", { level: 1, name: "Logs" }).waitFor()

  // who may little

  await page.getByRole("button", { name: "Log out" }).click()
  await t.login(page, { as: process.env.READER })
  await page.getByText("lacks the permission queen.read.groups").waitFor()
  await page.getByRole("button", { name: "Create log" }).click()
  await dialog(page).getByLabel("Name", { exact: true }).fill("mine")
  await inDialog(page, "Create log").click()
  await dialog(page).getByText("The credential lacks the permission queen.use.configure here.").waitFor()
  await page.keyboard.press("Escape")
  await t.visit(page, "#/logs/page-01")
  for (const needed of ["groups", "messages", "deadLetters"]) {
    await page.getByText(`This key may not do that. The credential lacks the permission queen.read.${needed} here.`).waitFor()
  }
  await within(page, "Partitions").getByRole("button", { name: "Default" }).waitFor()
  await page.getByRole("group", { name: "Actions" }).getByRole("button", { name: "Delete…" }).click()
  await dialog(page).getByLabel("Type page-01 to confirm").fill("page-01")
  await inDialog(page, "Delete log").click()
  await dialog(page).getByText("The credential lacks the permission queen.admin.deleteQueue here.").waitFor()
  t.ok(true, "each permission that is lacking is named where it belongs")
}

// Names and payloads that want to be something else; by the keyboard; and how it looks.

const NAMES = ["a/b %2F?#", "<img src=x onerror=\"window.hacked = 1\">\u202e", "__proto__"]
const PAYLOADS = ['"<script>window.hacked = 1</script>\\u202e"', '{"id":12345678901234567890,"data":{"data":[1.50]},"\\"":"}, {"}']
const LARGE = [1 << 20, 3000, 3000]

export async function logsReadable(t) {
  for (const [i, queue] of NAMES.entries()) {
    for (const payload of [...PAYLOADS, `"${"x".repeat(LARGE[i])}"`]) {
      const item = JSON.stringify({ queue, partition: `${queue} partition`, producerSub: "x" })
      await t.queen("POST", "/push", `{"items":[${item.slice(0, -1)},"payload":${payload}}]}`)
    }
    await consume(t, queue, queue, "dlq", { error: `${queue} ${"e".repeat(400)}` })
  }

  for (const [i, [view, options]] of VIEWS.entries()) {
    const page = await t.open(options)
    const check = (what) => t.check(page, view, what)
    const shown = NAMES[i].replace("\u202e", "\\u202e")

    await t.visit(page, "#/logs")
    await t.login(page, { project: "logs" })
    const link = page.getByRole("link", { name: shown, exact: true })
    await link.waitFor()
    await check("logs")
    await link.press("Enter")
    await page.getByRole("heading", { level: 1, name: shown }).waitFor()
    await page.locator("pre.text").nth(3).waitFor()
    const group = within(page, "Consumer groups").getByRole("row", { name: shown })
    await group.getByRole("button", { name: "Seek…" }).waitFor()
    t.is((await within(page, "Messages").locator("pre.text").allTextContents()).slice(1), [PAYLOADS[1], PAYLOADS[0]],
      `${view}: payloads are as they were pushed`)
    t.ok(await within(page, "Messages").getByRole("button", { name: /^Show all (1 MiB|2.9 KiB)$/ }).isVisible(), `${view}: also large ones`)
    t.is(await page.locator("main img, main script, main b").count(), 0, `${view}: names and errors are text`)
    await check("log")

    // what is drawn anew leaves the focus where it is

    const seek = group.getByRole("button", { name: "Seek…" })
    await seek.focus()
    await t.queen("POST", "/push", { items: [{ queue: NAMES[i], partition: "more", payload: i }] })
    await t.until(page, group.locator("td", { hasText: /^3$/ }))
    t.ok(await seek.evaluate((node) => node === document.activeElement), `${view}: the focus stays`)
    await page.keyboard.press("Enter")
    await dialog(page).waitFor()
    await page.keyboard.press("Escape")
    t.ok(await seek.evaluate((node) => node === document.activeElement), `${view}: and comes back`)

    for (const [where, name, what] of [
      [group, "Seek…", "seek"], [group, "Partitions", "partitions"], [group, "Delete…", "forget"], [page, "Push a message", "push"],
      [page, "Change options", "options"], [page, "Purge…", "purge"], [page, "Push again…", "again"],
    ]) {
      await where.getByRole("button", { name }).first().click()
      await dialog(page).waitFor()
      if (name === "Partitions") await dialog(page).locator("tbody tr").waitFor()
      if (view === "phone" || name === "Partitions") await check(what)
      await page.keyboard.press("Escape")
      await dialog(page).waitFor({ state: "detached" })
    }
    t.is(await page.evaluate(() => window.hacked), undefined, `${view}: nothing ran`)
  }
}
