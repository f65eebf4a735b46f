// The dashboard in a real Chromium: the stories of t/client/dashboard, all at once but
// for the last one, which takes the store away. Environment: URL, CHROMIUM, MODULES,
// KEY (may all), LIMITED (may little), READER (may look at logs alone),
// ENDPOINT_CERTIFICATE, ENDPOINT_KEY, REDIS_PID, SHOTS (a folder for pictures, to be looked at; may be missing), ONLY (names
// of stories, with commas; all where it is missing).
// Lines "ok - what" and "not ok - what" tell how it went.

import { createRequire } from "node:module"

import { Browser } from "./dashboard/browser.mjs"
import { readable } from "./dashboard/readable.mjs"
import { reading } from "./dashboard/hostile.mjs"
import { keyboard } from "./dashboard/keyboard.mjs"
import { late } from "./dashboard/late.mjs"
import { logs, logsReadable } from "./dashboard/logs.mjs"
import { moves } from "./dashboard/moves.mjs"
import { pushes } from "./dashboard/pushes.mjs"
import { kinds, names, prefix, rights } from "./dashboard/rights.mjs"
import { sampling } from "./dashboard/sampling.mjs"
import { topics, topicsReadable } from "./dashboard/topics.mjs"
import { away, story } from "./dashboard/story.mjs"

const require = createRequire(`${process.env.MODULES}/package.json`)
const browser = new Browser(require("playwright-core").chromium, require("axe-core").source)

await browser.start()
try {
  const only = process.env.ONLY?.split(",")
  const all = Object.entries({ story, reading, keyboard, moves, rights, prefix, kinds, names, late, logs, logsReadable, topics, topicsReadable, pushes, sampling, readable })
  const wanted = all.filter(([name]) => !only || only.includes(name))
  await Promise.all(wanted.map(([name, play]) => browser.play(name, play)))
  if (!only || only.includes("away")) await browser.play("away", away)
} finally {
  await browser.stop()
}
console.log("done")
