
// Charts: the last minutes from left to right, zero at the bottom.

const WIDE = 300
const HIGH = 100

function line(points, top, close) {
  const now = Date.now()
  const x = (time) => Math.max(0, WIDE * (1 - (now - time) / (MINUTES * 60000)))
  const y = (value) => HIGH - HIGH * value / top
  let path = ""
  let start = null
  let end = null
  const finish = () => {
    if (close && start !== null) path += `L${end.toFixed(1)} ${HIGH}L${start.toFixed(1)} ${HIGH}Z`
    start = null
  }
  for (const [time, value] of points) {
    if (time < now - MINUTES * 60000) continue
    if (value === null) {
      finish()
      continue
    }
    end = x(time)
    path += `${start === null ? "M" : "L"}${end.toFixed(1)} ${y(value).toFixed(1)}`
    if (start === null) start = end
  }
  finish()
  return path
}

function highest(series) {
  let top = 0
  for (const points of series) for (const [, value] of points) if (value > top) top = value
  return top
}

// a round number that is not below it: 1, 2, 5, 10, 20 …

function rounded(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)))
  for (const step of [1, 2, 5, 10]) if (step * power >= value) return step * power
  return value
}

// series: [[class, points], …], of which the first one is filled

function plot(series, top, label) {
  return svg("svg", { class: "chart", viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", role: "img",
                      "aria-label": label },
    svg("path", { class: "base", d: `M0 ${HIGH}H${WIDE}` }),
    svg("path", { class: "fill", d: line(series[0][1], top, true) }),
    series.map(([kind, points]) => svg("path", { class: kind, d: line(points, top, false) })))
}

// in a row of the list

function spark(samples) {
  const sent = rates(samples, "sent")
  const gone = rates(samples, "acknowledged")
  const [coming, going] = ["sent", "acknowledged"].map((name) => rate(recent(samples, name)))
  return h("div", { class: "spark" },
    plot([["in", sent], ["out", gone]], Math.max(highest([sent, gone]), 1),
      `The last ${MINUTES} minutes; now ${coming} in, ${going} out`),
    h("span", { class: "number", "aria-hidden": "true" }, `${coming} in`, h("br"), `${going} out`))
}

// on a queue's page; parts: [[class, name, points, text], …]

function chart(title, parts, unit) {
  const top = rounded(highest(parts.map(([, , points]) => points)))
  const now = parts.map(([, name, , text]) => `${name} ${text}`).join(", ")
  return h("figure", { class: "card" },
    h("figcaption", {}, title, h("span", { class: "legend" }, parts.map(([kind, name, , text]) =>
      h("span", {}, h("i", { class: kind }), `${name} ${text}`)))),
    h("div", { class: "axis" }, h("span", {}, unit(top))),
    plot(parts.map(([kind, , points]) => [kind, points]), top, `${title}, the last ${MINUTES} minutes; now ${now}`),
    h("div", { class: "axis" }, h("span", {}, `${MINUTES} min ago`), h("span", {}, "now")))
}

function ratesChart(samples) {
  return chart("Rates", [["in", "sent"], ["out", "acknowledged"]].map(([kind, name]) =>
    [kind, name, rates(samples, name), rate(recent(samples, name))]), rate)
}

const DEPTHS = [["in", "visible", "visible"], ["out", "in flight", "inFlight"], ["third", "delayed", "delayed"]]

function depthChart(samples, names = DEPTHS) {
  const { counts } = samples[samples.length - 1]
  return chart("Depth", names.map(([kind, text, name]) => [kind, text, levels(samples, name), count(counts[name])]), count)
}
