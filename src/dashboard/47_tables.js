
// A table that is shown again and again. Its rows stay the same elements as long as
// what they are of is there: somebody may have the focus in one.

// columns: [[label, class], …], the first one of which heads the row with title(item);
// put(item, cells) fills the others

function liveTable({ caption, columns, key, title, put }) {
  const body = h("tbody", { role: "rowgroup" })
  let rows = new Map()

  const make = (item) => {
    const cells = columns.slice(1).map(([label, kind]) => h("td", { class: kind, role: "cell", "data-label": label }))
    return { cells, row: h("tr", { role: "row" }, h("th", { scope: "row", role: "rowheader" }, title(item)), cells) }
  }

  function show(items) {
    const now = new Map(items.map((item) => [key(item), rows.get(key(item)) ?? make(item)]))
    for (const item of items) put(item, now.get(key(item)).cells)
    rows = now
    const nodes = [...now.values()].map(({ row }) => row)
    if (nodes.length === body.children.length && nodes.every((row, i) => row === body.children[i])) return
    const inside = document.activeElement
    body.replaceChildren(...nodes)
    if (inside.isConnected) inside.focus()
  }

  return {
    show, node: h("table", { role: "table" }, h("caption", { class: "hidden" }, caption),
      h("thead", {}, h("tr", {}, columns.map(([label, kind]) =>
        h("th", { scope: "col", class: kind === "n" && kind }, kind === "acts" ? h("span", { class: "hidden" }, label) : label)))), body),
  }
}

function putNumber(cell, n, text = count(n)) {
  cell.textContent = text
  cell.classList.toggle("zero", !n)
}
