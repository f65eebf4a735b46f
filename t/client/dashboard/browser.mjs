// A browser, and what the stories ask of it.

import { createServer } from "node:https"
import { readFileSync } from "node:fs"

const { URL: url, CHROMIUM: executablePath, KEY: key, SHOTS: shots } = process.env

export class Browser {
  constructor(chromium, axe) {
    Object.assign(this, { chromium, axe })
  }

  async start() {
    this.browser = await this.chromium.launch({
      executablePath, args: ["--disable-gpu", "--disable-dev-shm-usage", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])],
    })
  }

  stop() { return this.browser.close() }

  async play(name, story) {
    const stage = new Stage(this, name)
    try {
      await story(stage)
    } catch (error) {
      stage.ok(false, "it comes to its end", error.stack)
      await stage.page?.screenshot({ path: `${shots ?? "/tmp"}/failed-${name}.png` }).catch(() => {})
    }
    await stage.end()
  }
}

// one story: a context of its own, a project of its own

class Stage {
  constructor(browser, name) {
    Object.assign(this, { browser, name, contexts: [], servers: [], bad: [], project: name })
  }

  ok(right, what, why) {
    console.log(`${right ? "ok" : "not ok"} - ${this.name}: ${what}`)
    if (!right && why !== undefined) console.log(String(why).replace(/^/gm, "# "))
  }

  is(got, wanted, what) {
    const [a, b] = [got, wanted].map((value) => JSON.stringify(value))
    this.ok(a === b, what, `got ${a?.slice(0, 2000)}\nnot ${b?.slice(0, 2000)}`)
  }

  async open(options = {}) {
    const context = await this.browser.browser.newContext({
      viewport: { width: 1280, height: 900 }, reducedMotion: "reduce", ...options,
    })
    context.setDefaultTimeout(60000)
    this.contexts.push(context)
    await context.addInitScript(() => {              // what was told, if only for a while
      window.said = []
      addEventListener("DOMContentLoaded", () => {
        const says = document.getElementById("says")
        if (says) new MutationObserver(() => says.textContent && window.said.push(says.textContent)).observe(says, { childList: true })
      })
    })
    const page = await context.newPage()
    page.on("console", (m) => {
      if (/Content Security Policy|violates|TrustedHTML|Refused to/.test(m.text())) this.bad.push(m.text())
    })
    page.on("pageerror", (error) => this.bad.push(error.stack))
    page.on("request", (r) => {
      if (!r.url().startsWith(`${url}/`) && !r.url().startsWith("data:")) this.bad.push(`asked ${r.url()}`)
      if (r.url().includes(key)) this.bad.push(`the key is in ${r.url()}`)
    })
    this.page = page
    return page
  }

  async visit(page, route = "") {
    await page.goto(`${url}/dashboard/${route}`)
  }

  async login(page, { as = key, project = this.project } = {}) {
    await page.getByLabel("API key").fill(as)
    await page.getByLabel("Organization").fill("o")
    await page.getByLabel("Project").fill(project)
    await page.getByRole("button", { name: "Log in" }).click()
    await page.getByRole("button", { name: "Log out" }).waitFor()
  }

  async inside(route = "", options = {}) {
    const page = await this.open(options)
    await this.visit(page, route)
    await this.login(page, options)
    return page
  }

  // what was told last, once it is there

  async said(page, pattern) {
    await page.waitForFunction((source) => window.said.some((text) => new RegExp(source).test(text)), pattern.source)
    return page.evaluate(() => window.said.pop())
  }

  // what is watched is asked for now, as when the tab is looked at again

  look(page) {
    return page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")))
  }

  async until(page, locator, timeout = 60000) {
    const end = Date.now() + timeout
    while (Date.now() < end) {
      await this.look(page)
      try {
        await locator.first().waitFor({ timeout: 700 })
        return true
      } catch { /* once more */ }
    }
    await locator.first().waitFor({ timeout: 1 })
  }

  api(method, path, body) {
    return this.ask(method, `/v1/organizations/o/projects/${this.project}${path}`, body)
  }

  queen(method, path, body) {
    return this.ask(method, `/api/v1${path}`, body)
  }

  pubsub(method, path, body) {
    return this.ask(method, `/v1/projects/${encodeURIComponent(this.project)}${path}`, body)
  }

  async ask(method, path, body) {
    const response = await fetch(url + path, {
      method, headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body: body === undefined || typeof body === "string" ? body : JSON.stringify(body),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === "" ? null : JSON.parse(text)
  }

  // an endpoint of this story: endpoint.status is what it answers, .got what came

  async endpoint() {
    const endpoint = { status: 200, got: [] }
    const server = createServer({
      cert: readFileSync(process.env.ENDPOINT_CERTIFICATE), key: readFileSync(process.env.ENDPOINT_KEY),
    }, (request, response) => {
      let text = ""
      request.on("data", (data) => { text += data })
      request.on("end", () => {
        endpoint.got.push({ text, headers: request.headers, status: endpoint.status })
        response.writeHead(endpoint.status)
        response.end()
      })
    })
    await new Promise((done) => { server.listen(0, "127.0.0.1", done) })
    this.servers.push(server)
    endpoint.url = `https://hooks.example.com:${server.address().port}/in`
    return endpoint
  }

  async axe(page, what) {
    await page.evaluate(this.browser.axe)
    const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }))
    this.is(found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 160) + " " + n.failureSummary).join(" | ")}`), [],
      `${what}: axe has nothing to say`)
  }

  // nothing runs off the side, and axe has nothing to say

  async check(page, view, what) {
    const wide = await page.evaluate(() => document.documentElement.scrollWidth)
    this.ok(wide <= page.viewportSize().width, `${view}: ${what} is as wide as the page`, wide)
    await this.shot(page, `${view}-${what}`)
    await this.axe(page, `${view}, ${what}`)
  }

  async shot(page, what) {
    if (shots) await page.screenshot({ path: `${shots}/${this.name}-${what}.png`, fullPage: true })
  }

  async end() {
    this.is(this.bad, [], "no violation of the policy, no error, no request elsewhere")
    for (const context of this.contexts) await context.close()
    for (const server of this.servers) {
      server.closeAllConnections()
      server.close()
    }
  }
}

// on a desk and a telephone, in light and dark

const DARK = { colorScheme: "dark" }

export const VIEWS = [
  ["light", { colorScheme: "light" }], ["dark", DARK],
  ["phone", { ...DARK, viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }],
]

export const within = (page, name) => page.getByRole("region", { name, exact: true })
export const dialog = (page) => page.getByRole("dialog")
export const inDialog = (page, name) => dialog(page).getByRole("button", { name })
