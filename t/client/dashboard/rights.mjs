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

// A project of whatever name some API has: what another one cannot have is not there.

export async function names(t) {
  t.project = "example.com:names-1"
  const page = await t.open()
  const links = () => page.getByRole("navigation", { name: "What there is" }).getByRole("link").allTextContents()
  const told = async (as, project, label, text) => {
    await page.getByLabel("API key").fill(as)
    await page.getByLabel("Organization").fill("o")
    await page.getByLabel("Project").fill(project)
    await page.getByRole("button", { name: "Log in" }).click()
    await page.getByText(text).waitFor()
    await page.getByRole("button", { name: "Log in", disabled: false }).waitFor()
    if (label) t.is(await page.evaluate(() => document.activeElement.labels[0].textContent), label, `${project} is told of at ${label}`)
  }
  const asked = []
  page.on("request", (r) => asked.push(new URL(r.url()).pathname))

  await t.visit(page)
  for (const wrong of ["a b", ".a", ":a", "a".repeat(65), ".."]) await told(process.env.KEY, wrong, "Project", "One with topics alone may have")
  await told("no-such-key", t.project, "API key or token", "The server does not know this key")
  await page.route(/\/v1\/projects\//, (route) => route.fulfill({ status: 200, contentType: "application/json", body: "{}" }))
  await told(process.env.KEY, t.project, null, "The answer (200) is none of the Pub/Sub API: is it served at /v1/projects/ ?")
  await page.unrouteAll()

  await t.login(page)
  await page.getByRole("heading", { level: 1, name: "Topics" }).waitFor()
  await page.getByRole("link", { name: "Logs", exact: true }).waitFor()
  await t.shot(page, "home")
  t.is(await links(), ["Logs", "Topics"], "no queues in such a project, and its topics are its beginning")
  t.is(asked.filter((path) => path.startsWith("/v1/organizations/")), [], "nor does anybody ask for them")
  await page.getByRole("button", { name: "Create topic" }).click()
  await dialog(page).getByLabel("Name").fill("orders")
  await inDialog(page, "Create topic").click()
  await page.getByRole("heading", { level: 1, name: "orders" }).waitFor()
  await page.getByRole("button", { name: "Make the first subscription" }).click()
  await dialog(page).getByLabel("Name", { exact: true }).fill("billing")
  await inDialog(page, "Subscribe").click()
  await page.getByRole("link", { name: "billing" }).click()
  await page.getByRole("heading", { level: 1, name: "billing" }).waitFor()
  t.is((await t.pubsub("GET", "/subscriptions/billing")).topic, `projects/${t.project}/topics/orders`, "which are there as in any other")
  for (const route of ["#/", "#/queues/none"]) {
    await t.visit(page, route)
    await page.getByRole("heading", { level: 1, name: "Topics" }).waitFor()
  }
  await page.getByRole("button", { name: "Log out" }).click()

  await t.visit(page, "")
  await t.login(page, { as: process.env.LIMITED })
  await page.getByText("lacks the permission pubsub.topics.list here.").waitFor()
  await page.getByRole("button", { name: "Log out" }).click()

  asked.length = 0
  await t.visit(page, "#/topics")
  await t.login(page, { project: "_names" })
  await page.getByRole("heading", { level: 1, name: "Queues" }).waitFor()
  await page.getByRole("link", { name: "Logs", exact: true }).waitFor()
  t.is([await links(), asked.filter((path) => path.startsWith("/v1/projects/"))], [["Queues", "Logs"], []], "and no topics where only queues can be")
}
