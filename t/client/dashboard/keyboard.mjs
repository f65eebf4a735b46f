// By the keyboard alone, and what is read aloud.

const focused = (page) => page.evaluate(() => {
  const is = document.activeElement
  return is.labels?.[0]?.textContent ?? is.getAttribute("aria-label") ?? is.textContent
})

// what has the focus, once it is that, or in the end

async function focusIn(page, name) {
  for (let i = 0; i < 100 && await focused(page) !== name; i++) await page.waitForTimeout(50)
  return focused(page)
}

export async function keyboard(t) {
  const page = await t.open()
  const key = (...keys) => keys.reduce((before, one) => before.then(() => page.keyboard.press(one)), Promise.resolve())
  const tabTo = async (name, back) => {
    for (let i = 0; i < 60; i++) {
      if (await focused(page) === name) return true
      await key(back ? "Shift+Tab" : "Tab")
    }
    throw new Error(`Tab does not come to ${name}, but to ${await focused(page)}`)
  }

  await t.visit(page)
  t.is(await focusIn(page, "API key or token"), "API key or token", "the first field has the focus")
  await page.keyboard.type(process.env.KEY)
  await key("Tab")
  await page.keyboard.type("o")
  await key("Tab")
  await page.keyboard.type("keyboard")
  await key("Enter")
  await page.getByRole("button", { name: "Create the first queue" }).waitFor()
  t.is(await focusIn(page, "Queues"), "Queues", "a new page has the focus at its title")

  await tabTo("Create queue")
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle)
  t.is(outline, "solid", "the focus is seen")
  await key("Enter")
  await page.getByRole("dialog").waitFor()
  t.is(await focusIn(page, "Name"), "Name", "a dialog has it in its first field")
  await key("Escape")
  t.is(await focusIn(page, "Create queue"), "Create queue", "and gives it back")
  await key("Enter")
  await page.getByRole("dialog").waitFor()
  await key("Shift+Tab", "Shift+Tab")
  t.is(await page.evaluate(() => document.activeElement === document.body || document.activeElement.closest("dialog") !== null), true,
    "it does not get out of a dialog")
  await tabTo("Name")
  await page.keyboard.type("by-key")
  await key("Enter")
  await page.getByRole("heading", { level: 1, name: "by-key" }).waitFor()
  await page.waitForFunction(() => document.activeElement.tagName === "H1")
  t.is(await t.said(page, /by-key/), "The queue by-key is there.", "what was done is told")
  t.is(await page.locator("#says").getAttribute("role"), "status", "and read aloud")

  await tabTo("Send message")
  await key("Enter")
  await tabTo("Body")
  await page.keyboard.type("typed")
  await tabTo("Send")
  await key("Enter")
  await page.locator("pre.text", { hasText: "typed" }).waitFor()
  t.is(await focusIn(page, "Send message"), "Send message", "the focus is back where it was")

  await tabTo("Visible")
  await key("ArrowRight")
  await page.getByText("No message is with a receiver").waitFor()
  t.ok(true, "the states are turned by arrows")

  await tabTo("Purge…", true)
  await key("Enter")
  t.is(await focusIn(page, "Type by-key to confirm"), "Type by-key to confirm", "a purge asks for the name")
  await key("Enter")
  t.ok(await page.getByRole("dialog").isVisible(), "and does nothing without it")
  await page.keyboard.type("by-key")
  await key("Enter")
  await t.said(page, /The queue by-key is purged\./)
  await tabTo("Redrive…", true)
  await key("Enter")
  await page.getByRole("dialog").waitFor()
  t.is(await focusIn(page, "Cancel"), "Cancel", "a question has the focus at the careful answer")
  await key("Escape")
  await tabTo("Skip to the content", true)
  await key("Enter")
  t.is(await page.evaluate(() => [document.activeElement.id, location.hash.startsWith("#/queues/")]), ["main", true], "the skip link skips, and stays on the page")
  await tabTo("Log out", true)
  await key("Enter")
  await page.getByText("You are logged out.").waitFor()
  t.is(await focusIn(page, "API key or token"), "API key or token", "logged out")
}
