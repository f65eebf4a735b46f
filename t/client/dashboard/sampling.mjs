// Only what is seen is asked for, nothing in a hidden tab, and later where the server
// says so. The page's clock is turned by hand.

export async function sampling(t) {
  for (let i = 0; i < 30; i++) await t.api("POST", "/queues", { name: `q-${String(i).padStart(2, "0")}` })

  const page = await t.open({ viewport: { width: 1000, height: 420 } })
  const asked = []
  let open = 0
  let refuse = null
  page.on("request", (r) => {
    const [, id] = r.url().match(/\/queues\/([^/?]+)$/) ?? []
    if (id && r.method() === "GET") asked.push(id)
    open++
  })
  for (const end of ["requestfinished", "requestfailed"]) page.on(end, () => { open-- })
  await page.route(/\/queues\/que_[^/?]+$/, (route) => (refuse
    ? route.fulfill({ status: 429, headers: { "Retry-After": "30" }, ...refuse })
    : route.continue()))
  await page.clock.install()
  await t.visit(page)
  await t.login(page)
  await page.getByRole("link", { name: "q-24" }).waitFor()
  t.is(await page.getByRole("link", { name: /^q-/ }).count(), 25, "a page of the list")
  await page.clock.pauseAt(Date.now() + 3600000)

  // half a second of the page's, in which what is asked for is answered

  const step = async () => {
    await page.clock.runFor(500)
    await page.waitForTimeout(20)
    while (open > 0) await page.waitForTimeout(5)
  }
  const turn = async (seconds) => {
    for (let i = 0; i < seconds * 2; i++) await step()
  }
  const turnUntil = async (what, enough) => {
    for (const end = Date.now() + 60000; Date.now() < end;) {
      if (await enough()) return t.ok(true, what)
      await step()
    }
    t.ok(false, what, "not within a minute")
  }
  const shown = (text) => async () => await page.getByText(text, { exact: true }).count() === 1

  await turnUntil("rows are asked for", () => new Set(asked).size >= 5)
  await turn(6)
  const seen = new Set(asked)
  t.ok(seen.size <= 15, "but only those that are seen", seen.size)
  await page.getByRole("link", { name: "q-24" }).scrollIntoViewIfNeeded()
  await turnUntil("and those that are scrolled to", () => new Set(asked).size > seen.size + 3)

  // hidden

  const hide = (is) => page.evaluate((hidden) => {
    Object.defineProperty(document, "hidden", { value: hidden, configurable: true })
    document.dispatchEvent(new Event("visibilitychange"))
  }, is)
  await hide(true)
  await turn(1)
  asked.length = 0
  await turn(20)
  t.is(asked, [], "nothing in a hidden tab")
  await hide(false)
  await turn(0.5)
  for (const end = Date.now() + 20000; asked.length === 0 && Date.now() < end;) await page.waitForTimeout(20)
  t.ok(asked.length > 0, "at once when it is looked at again")

  // refused

  for (const [who, answer] of [
    ["the API", { contentType: "application/json", body: '{"error":"rate_limited","message":"Slowly."}' }],
    ["a proxy", { contentType: "text/html", body: "<h1>Slowly." }],
  ]) {
    refuse = answer
    await turnUntil(`refused by ${who}, and told so`, async () =>
      await page.getByText(/no answer, next try in \d+ s/).count() === 1)
    asked.length = 0
    await turn(20)
    t.is(asked, [], "Retry-After is honoured")
    refuse = null
    await turnUntil("and then it is asked again", () => asked.length > 0)
  }
  await turnUntil("live again", shown("live"))
  const row = page.getByRole("row", { name: /q-24/ })
  await turnUntil("the last row has its first sample", async () => await row.locator("svg").count() === 1)
  for (let i = 0; i < 3; i++) await t.api("POST", "/queues/q-24/messages", { messages: Array(10).fill({ body: "x" }) })
  await turnUntil("what is sent is seen as a rate", async () =>
    /now (?!0\/s)[\d.]+\/s in, 0\/s out$/.test(await row.locator("svg").getAttribute("aria-label")))
  t.is(await row.getByRole("cell").first().textContent(), "30", "and in the counts")
  await page.clock.resume()

  // the next page, a prefix

  await page.getByRole("button", { name: "Next" }).click()
  await page.getByRole("link", { name: "q-29" }).waitFor()
  t.is(await page.getByRole("link", { name: /^q-/ }).count(), 5, "the next page")
  await page.getByRole("button", { name: "Previous" }).click()
  await page.getByRole("link", { name: "q-00" }).waitFor()
  await page.getByLabel("Names that begin with").fill("q-1")
  await page.getByRole("link", { name: "q-09" }).waitFor({ state: "detached" })
  t.is(await page.getByRole("link", { name: /^q-1/ }).count(), 10, "those that begin so")
  await page.getByLabel("Names that begin with").fill("<b>")
  await page.getByText("No name begins with “<b>”").or(page.locator(".note")).waitFor()
  t.ok(true, "none that begins so")

  // another project has pages of its own

  await page.getByLabel("Names that begin with").fill("")
  await page.getByRole("button", { name: "Next" }).click()
  await page.getByRole("link", { name: "q-29" }).waitFor()
  await page.getByRole("button", { name: "Log out" }).click()
  await t.login(page, { project: "another" })
  await page.getByText("No queue yet").waitFor()
  t.ok(true, "the list begins anew for another project")
}
