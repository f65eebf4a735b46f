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

// What is there is found by what answers: another kind's link is not shown where its
// API is not, and a server that answers anything is none of them.

export async function kinds(t) {
  await t.api("POST", "/queues", { name: "one" })
  const page = await t.open()
  const links = () => page.getByRole("navigation", { name: "What there is" }).getByRole("link").allTextContents()

  await t.visit(page)
  t.is(await links(), [], "nobody is told before who he is")
  await t.login(page)
  const logs = page.getByRole("link", { name: "Logs", exact: true })
  await logs.waitFor()
  t.is(await page.locator("[aria-current]").allTextContents(), ["Queues"], "the current one is marked")
  await logs.click()
  await page.getByRole("heading", { level: 1, name: "Logs" }).waitFor()
  t.is(await page.locator("[aria-current]").allTextContents(), ["Logs"], "so is another one")
  await t.visit(page, "#/queues/one")
  await page.getByRole("heading", { level: 1, name: "one" }).waitFor()
  t.is(await page.locator("[aria-current=true]").allTextContents(), ["Queues"], "and that of a page below")
  await page.getByRole("button", { name: "Log out" }).click()
  t.is(await links(), [], "none is left when nobody is logged in")
  await t.visit(page)

  // a link that is to come may come some time after the answer

  const answers = async (wanted, status, body, title = "Logs", api = /\/api\/v1\//, last = api) => {
    await page.unrouteAll()
    await page.route(api, (route) => route.fulfill({ status, contentType: "application/json", body }))
    const asked = page.waitForResponse(last)
    await t.login(page)
    await asked
    await page.getByRole("link", { name: "one" }).waitFor()
    if (wanted) await page.getByRole("link", { name: title, exact: true }).waitFor()
    const shown = (await links()).includes(title)
    await page.getByRole("button", { name: "Log out" }).click()
    return shown
  }
  t.is(await answers(false, 404, '{"error":"not_found","message":"no"}'), false, "no link where there is no such API")
  t.is(await answers(false, 200, "{}"), false, "nor where somebody else answers")
  t.is(await answers(true, 403, '{"error":"Insufficient permissions"}'), true, "but where this key may not")
  t.is(await answers(false, 200, "{}", "Topics", /\/v1\/projects\//, /:counts$/), false, "nor for topics, of which an empty list looks so")

  // one that was away comes by itself

  await page.unrouteAll()
  const away = [/\/api\/v1\//, /\/v1\/projects\//]
  await page.route(away[0], (route) => route.abort())
  await page.route(away[1], (route) => route.fulfill({ status: 502, contentType: "text/html", body: "<h1>Bad gateway" }))
  const asked = Promise.all([page.waitForEvent("requestfailed", (r) => away[0].test(r.url())), page.waitForResponse(away[1])])
  await t.login(page)
  await asked
  await page.getByRole("link", { name: "one" }).waitFor()
  t.is(await links(), ["Queues"], "no link where there is no answer")
  await page.unrouteAll()
  await t.until(page, logs)
  await t.until(page, page.getByRole("link", { name: "Topics", exact: true }))
  t.ok(true, "until there is one")
  await page.getByRole("button", { name: "Log out" }).click()

  // the page's own API: somebody else answers

  await page.unrouteAll()
  await page.route(/\/v1\/organizations\//, (route) => route.fulfill({ status: 200, contentType: "application/json", body: "{}" }))
  for (const name of ["API key", "Organization", "Project"]) await page.getByLabel(name).fill("x")
  await page.getByRole("button", { name: "Log in" }).click()
  await page.getByText("The answer (200) is none of the Queues API: is it served at /v1/ ?").waitFor()
  t.ok(true, "a login at some other server")
  await page.unrouteAll()
  await t.login(page)
  await page.getByRole("link", { name: "one" }).waitFor()
  await page.route(/\/queues\//, (route) => route.fulfill({ status: 200, contentType: "application/json", body: "{}" }))
  await page.getByRole("link", { name: "one" }).click()
  await page.getByText("is none of the Queues API").waitFor()
  await page.unrouteAll()
  await page.getByRole("button", { name: "Try again" }).click()
  await page.getByRole("heading", { level: 1, name: "one" }).waitFor()
  t.ok(true, "a queue's page that could not be shown is asked for again")
}
