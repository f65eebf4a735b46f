// A key that may little is told so, in words, where it belongs.

import { dialog, inDialog } from "./browser.mjs"

export async function rights(t) {
  await t.api("POST", "/queues", { name: "seen" })
  await t.api("POST", "/queues", { name: "unseen" })
  await t.api("POST", "/queues/seen/messages", { body: "hello" })

  const page = await t.inside("", { as: process.env.LIMITED })
  await page.getByText("The credential lacks the permission queues.list here.").waitFor()
  t.ok(true, "a list that is not allowed")
  await page.getByLabel("Open a queue by its name").fill("seen")
  await page.getByRole("button", { name: "Open" }).click()
  await page.locator("pre.text", { hasText: "hello" }).waitFor()
  await page.getByText("The credential lacks the permission queues.subscriptions.list here.").waitFor()
  t.ok(true, "its queue is shown, and its subscription is not")
  await page.getByRole("button", { name: "Purge…" }).click()
  await dialog(page).getByLabel("Type seen to confirm").fill("seen")
  await inDialog(page, "Purge queue").click()
  await dialog(page).getByText("This key may not do that. The credential lacks the permission queues.purge here.").waitFor()
  t.ok(true, "a purge that is not allowed")
  await page.keyboard.press("Escape")
  await page.getByRole("button", { name: "Send message" }).click()
  await dialog(page).getByLabel("Body").fill("x")
  await inDialog(page, "Send").click()
  await dialog(page).getByText("lacks the permission queues.messages.send").waitFor()
  t.is(await dialog(page).getByLabel("Body").inputValue(), "x", "what was typed is still there")
  await page.keyboard.press("Escape")
  await t.visit(page, "#/queues/unseen")
  await page.getByText("The credential lacks the permission queues.get here.").waitFor()
  t.ok(true, "another queue")
  await page.getByRole("link", { name: "← Queues" }).click()
  await page.getByText("lacks the permission queues.list").waitFor()

  // a key that is not known any more

  await page.evaluate(() => {
    const kept = JSON.parse(sessionStorage.getItem("ngx_queues.session"))
    sessionStorage.setItem("ngx_queues.session", JSON.stringify({ ...kept, key: "gone" }))
  })
  await page.reload()
  await page.getByText("The server does not accept this key any more.").waitFor()
  t.is(await page.evaluate(() => sessionStorage.length), 0, "an old key is forgotten")
}

// The API by another path, as behind a proxy that takes its beginning away.

export async function prefix(t) {
  await t.api("POST", "/queues", { name: "behind" })
  const page = await t.open()
  const paths = new Set()
  page.on("request", (r) => paths.add(new URL(r.url()).pathname.split("/")[1]))
  await page.goto(`${process.env.URL}/page`)
  await t.login(page)
  await page.getByRole("link", { name: "behind" }).waitFor()
  t.is([...paths].join(), "page,proxied", "a prefix")
}
