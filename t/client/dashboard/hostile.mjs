// What others have written is shown as the text that it is.

import { dialog, inDialog } from "./browser.mjs"

const BODIES = {
  markup: "<img src=x onerror=\"window.hacked = 1\"><script>window.hacked = 1</script>",
  turned: "\u202egnp.exe\u202c \u2066x\u2069 a\u0000b\u001b[31m\u007f",
  surrogates: "\ud800 and \udfff",
  emoji: "\u{1f468}\u200d\u{1f469}\u200d\u{1f467} \u00e9\u0301",
  lines: "one\n\ttwo\r\nthree",
  numbers: '{"id":12345678901234567890,"s":"a\\u0041 , : {\\"","list":[],"o":{},"n":[1.0e5,null,{"x":true}]}',
}

export async function reading(t) {
  await t.api("POST", "/queues", { name: "hostile", maxMessageBytes: 1048576 })
  for (const body of Object.values(BODIES)) {
    await t.api("POST", "/queues/hostile/messages", { body, attributes: { source: "<b>\u202ebold</b>", "a.b-c_d": "x".repeat(1024) } })
  }
  await t.api("POST", "/queues/hostile/messages", { body: "\u00e9".repeat(524288) })
  await t.api("POST", "/queues", { name: "__proto__" })

  const page = await t.inside("#/queues/hostile")
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"])
  const texts = page.locator("pre.text")
  await texts.nth(6).waitFor()

  const text = (i) => texts.nth(i).textContent()
  t.is(await text(0), BODIES.markup, "markup is text")
  t.is(await text(1), "\\u202egnp.exe\\u202c \\u2066x\\u2069 a\\u0000b\\u001b[31m\\u007f", "what cannot be seen is written out")
  t.is(await text(2), "\\ud800 and \\udfff", "so are halves of characters")
  t.is(await text(3), BODIES.emoji, "people stay together")
  t.is(await text(4), "one\n\ttwo\\u000d\nthree", "lines are lines")
  t.is(await page.locator("main img, main script, main b").count(), 0, "nothing became an element")
  t.is(await page.evaluate(() => window.hacked), undefined, "nothing ran")
  t.is(await page.locator(".attributes dd").first().textContent(), "<b>\\u202ebold</b>", "nor did an attribute")

  const copied = async (i) => {
    await page.getByRole("button", { name: "Copy body" }).nth(i).click()
    await t.said(page, /copied/)
    return page.evaluate(() => navigator.clipboard.readText())
  }
  t.is(await copied(1), BODIES.turned, "copied as it was sent")
  t.is(await copied(5), BODIES.numbers, "JSON, too")
  t.is(JSON.parse(await copied(2)), BODIES.surrogates, "what is no valid text is copied as a JSON string")

  const indent = page.getByRole("button", { name: "Indent JSON" })
  t.is(await indent.count(), 1, "only JSON can be indented")
  await indent.click()
  t.is(await text(5), `{
  "id": 12345678901234567890,
  "s": "a\\u0041 , : {\\"",
  "list": [],
  "o": {},
  "n": [
    1.0e5,
    null,
    {
      "x": true
    }
  ]
}`, "each token stays as it is")
  t.is(await copied(5), BODIES.numbers, "and copying does not see that")

  t.ok((await text(6)).length < 10000, "of a large body there is the beginning")
  await page.getByRole("button", { name: "Show all 1 MiB" }).click()
  t.is(await text(6), "\u00e9".repeat(524288), "or all of it")
  t.is((await copied(6)).length, 524288, "all of it is copied")

  // sent as it is written

  await page.getByRole("button", { name: "Send message" }).click()
  await dialog(page).getByLabel("Body").fill(' {"a" : 1.0}\n<b>\u{1f600}')
  for (const [name, value] of [["__proto__", "p"], ["x", "1"]]) {
    await inDialog(page, "Add attribute").click()
    await dialog(page).getByLabel("Attribute name").last().fill(name)
    await dialog(page).getByLabel("Attribute value").last().fill(value)
  }
  await dialog(page).getByLabel("Delay").fill("900")
  await inDialog(page, "Send").click()
  await t.said(page, /The message .* is stored/)
  const [sent] = (await t.api("GET", "/queues/hostile/messages?state=delayed")).messages
  t.is(sent.body, ' {"a" : 1.0}\n<b>\u{1f600}', "sent as it was typed")
  t.is(Object.entries(sent.attributes).join(), "__proto__,p,x,1", "with any attributes")
  await page.getByText("Delayed", { exact: true }).nth(1).click()
  await texts.getByText("<b>").waitFor()

  // a wrong route, and one to nothing

  await t.visit(page, "#/queues/%3Cimg%20src=x%20onerror=alert(1)%3E")
  await page.getByText("There is no queue").or(page.getByText(/no queue/i)).first().waitFor()
  t.is(await page.locator("main img").count(), 0, "what the fragment says is text as well")
  await t.visit(page, "#/queues/%E0%A4%A")
  await page.getByRole("heading", { level: 1, name: "Queues" }).waitFor()
  await page.getByRole("link", { name: "__proto__" }).click()
  await page.getByRole("heading", { level: 1, name: "__proto__" }).waitFor()
  t.ok(true, "any name of a queue")

  // a queue with order

  await t.api("POST", "/queues", { name: "ordered", kind: "fifo" })
  await t.visit(page, "#/queues/ordered")
  await page.getByRole("heading", { level: 1, name: "ordered" }).waitFor()
  await page.getByRole("button", { name: "Send message" }).click()
  await dialog(page).getByLabel("Body").fill("first")
  await inDialog(page, "Send").click()
  await dialog(page).locator(".error", { hasText: /./ }).first().waitFor()
  t.is(await page.evaluate(() => document.activeElement.labels[0].textContent), "Group", "what is missing is told at its field")
  await dialog(page).getByLabel("Group").fill("g-1")
  await dialog(page).getByLabel("Deduplication id").fill("d-1")
  await inDialog(page, "Send").click()
  await page.getByText("group g-1 · 1").waitFor()
  await page.getByRole("button", { name: "Send message" }).click()
  await dialog(page).getByLabel("Body").fill("first again")
  await dialog(page).getByLabel("Group").fill("g-1")
  await dialog(page).getByLabel("Deduplication id").fill("d-1")
  await inDialog(page, "Send").click()
  t.ok(/not stored again/.test(await t.said(page, /It is a duplicate of/)), "a duplicate is told")
}
