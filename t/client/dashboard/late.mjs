// Who has gone on stays there, whatever comes late of the page before.

const ONE = /\/queues\/[^/?]+$/            // of the API

const heading = (page, name) => page.getByRole("heading", { level: 1, name, exact: true })

export async function late(t) {
  await t.api("POST", "/queues", { name: "slow" })
  const page = await t.inside()
  const row = page.getByRole("row", { name: "slow" })
  await row.getByText("0").first().waitFor()

  // a queue that is told once its page was left

  let release
  const released = new Promise((done) => { release = done })
  await page.route(ONE, (route) => released.then(() => route.continue()))
  await page.getByRole("link", { name: "slow" }).click()
  await heading(page, "Queue").waitFor()
  await page.getByRole("link", { name: "← Queues" }).click()
  await heading(page, "Queues").waitFor()
  release()
  await t.api("POST", "/queues/slow/messages", { body: "x" })
  await t.until(page, row.locator("td", { hasText: /^1$/ }))
  t.ok(await heading(page, "Queues").isVisible(), "a page that was left does not come back")

  // what was typed in a list, and is looked for a moment later

  await t.visit(page, "#/logs")
  await heading(page, "Logs").waitFor()
  await page.getByLabel("Names that begin with").evaluate((input) => {
    input.value = "x"
    input.dispatchEvent(new Event("input", { bubbles: true }))
    location.hash = "#/queues/slow"
  })
  await heading(page, "slow").waitFor()
  await t.api("POST", "/queues/slow/messages", { body: "x" })
  await t.until(page, page.locator(".tiles div", { hasText: "Visible" }).getByText("2", { exact: true }))
  t.ok(true, "nor does a search that is too late end what the next page watches")
}
