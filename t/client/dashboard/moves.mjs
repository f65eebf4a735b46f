// A redrive of more than a call moves, and of what has no queue to go back to.

import { dialog, inDialog } from "./browser.mjs"

export async function moves(t) {
  for (const name of ["from", "to"]) await t.api("POST", "/queues", { name })
  for (let i = 0; i < 120; i++) await t.api("POST", "/queues/from/messages", { messages: Array(10).fill({ body: "x" }) })

  const page = await t.inside("#/queues/from")
  await page.locator("pre.text").nth(9).waitFor()
  await page.getByRole("button", { name: "Redrive…" }).click()
  await dialog(page).getByText("1,200 visible messages at the last look.").waitFor()
  await inDialog(page, "Redrive").click()
  await dialog(page).getByText("0 moved, 1,200 left: they have no queue to go back to. Name a destination to move them.").waitFor()
  t.ok(true, "what was sent here directly stays, and why")
  await dialog(page).getByLabel("Destination").fill("no-such")
  await inDialog(page, "Redrive").click()
  await page.waitForFunction(() => document.activeElement.getAttribute("aria-invalid") === "true")
  t.is(await page.evaluate(() => document.activeElement.labels[0].textContent), "Destination", "a destination that is not there")
  await dialog(page).getByLabel("Destination").fill("to")
  await inDialog(page, "Redrive").click()
  t.is(await t.said(page, /moved/), "1,200 messages moved.", "all is moved, in several calls")
  t.is([(await t.api("GET", "/queues/from")).counts.visible, (await t.api("GET", "/queues/to")).counts.visible], [0, 1200], "to where it was named")
  await dialog(page).waitFor({ state: "detached" })
  await page.getByText("Nothing waits to be received.").waitFor()
  t.ok(true, "and the page shows it")

  await t.visit(page, "#/queues/to")
  await page.getByRole("heading", { level: 1, name: "to" }).waitFor()
  await page.getByRole("combobox", { name: "How many" }).selectOption("100")
  await page.locator("pre.text").nth(99).waitFor()
  t.is(await page.locator("pre.text").count(), 100, "so many are looked at")
}
