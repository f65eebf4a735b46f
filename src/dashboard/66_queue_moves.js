
// Purge and redrive.

function purge(page) {
  const { queue } = page
  const { visible, inFlight, delayed } = queue.counts
  confirmByName({
    title: `Purge ${queue.name}?`, name: queue.name, action: "Purge queue",
    warning: `All its messages are deleted, ${count(visible + inFlight + delayed)} at the last look: visible, in flight and delayed ones. `
             + "There is no way back.",
    async submit() {
      await post(`${queueAt(queue.queue)}/purge`)
      say(`The queue ${queue.name} is purged.`)
      page.again()
    },
  })
}

// A call moves up to 1,000. It ends when what was there at the beginning is moved:
// what fails again comes back, and would be moved for ever.

function redrive(page) {
  const { queue } = page
  const to = field("destinationQueueId", "Destination", {
    hint: "Empty: each goes back to the queue that it came from. What was sent here directly, or whose queue is gone, "
          + "stays unless a queue of the same kind is named.",
  })
  const bar = h("progress", { "aria-label": "Moved", value: 0 })
  const told = h("p", { role: "status" })
  const progress = h("div", { class: "stack", hidden: true }, bar, told)
  let stopped = false

  const asked = confirmIn({
    title: `Redrive ${queue.name}?`, action: "Redrive", kind: "first",
    inside: [h("p", {}, queue.counts.visible
      ? `${plural(queue.counts.visible, "visible message")} at the last look. They keep their ids, bodies and attributes; their receives are counted anew.`
      : "At the last look it had no visible messages."), to.node, progress],
    async submit() {
      const body = to.text ? { destinationQueueId: to.text } : {}
      const { counts } = await get(queueAt(queue.queue))
      let moved = 0
      let answer
      progress.hidden = false
      bar.max = Math.max(counts.visible, 1)
      asked.back.textContent = "Stop"
      try {
        do {
          answer = await withPatience(() => post(`${queueAt(queue.queue)}/redrive`, body), () => stopped)
          moved += answer.moved
          bar.value = moved
          told.textContent = `${count(moved)} moved, ${count(answer.remaining)} left`
        } while (!stopped && answer.moved && answer.remaining && moved < counts.visible)
      } finally {
        asked.back.textContent = "Close"
        progress.hidden = moved === 0 && !answer
        page.again()
      }
      if (answer.remaining && !stopped) {
        told.textContent += answer.moved && moved >= counts.visible
          ? ": they came while these were moved." : ": they have no queue to go back to. Name a destination to move them."
        asked.back.focus()
        return false
      }
      say(`${plural(moved, "message")} moved.`)
    },
  })
  asked.dialog.addEventListener("close", () => { stopped = true })
}

// what comes of a full minute of calls, or of a store that is away, passes

async function withPatience(act, stopped) {
  for (let tries = 0; ; tries++) {
    try {
      return await act()
    } catch (error) {
      if (!error.passing || error.status === 0 || tries === 5 || stopped()) throw error
      await new Promise((done) => { setTimeout(done, 1000 * Math.max(error.retryAfter || 1, tries)) })
    }
  }
}
