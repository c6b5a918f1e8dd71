/* global make */
// Tables that are updated in place, so that rows keep their focus.

/**
 * @typedef {{ text?: string, className?: string, press?: () => void, label?: string, parts?: Node[] }} Cell
 * @typedef {{ key: string | number, cells: (string | Cell)[] }} Row
 */

class Table {
  /** @param {HTMLElement} place @param {string} label @param {{ name: string, className?: string }[]} columns @param {string} empty */
  constructor(place, label, columns, empty) {
    this.columns = columns;
    this.rows = new Map();
    this.text = new Map();
    place.classList.add("cards");
    this.table = make(place, "table");
    this.table.setAttribute("aria-label", label);
    const head = make(this.table.createTHead(), "tr");
    for (const { name, className } of columns) make(head, "th", name, className).scope = "col";
    this.body = this.table.createTBody();
    this.empty = make(place, "p", empty, "empty");
  }

  /** @param {Row[]} rows in the order in which they are shown */
  show(rows) {
    this.table.hidden = rows.length === 0;
    this.empty.hidden = rows.length > 0;
    const keys = new Set(rows.map(({ key }) => key));
    for (const [key, row] of this.rows) {
      if (keys.has(key)) continue;
      row.remove();
      this.rows.delete(key);
      this.text.delete(key);
    }
    rows.forEach(({ key, cells }, place) => {
      let row = this.rows.get(key);
      if (!row) {
        row = document.createElement("tr");
        for (const { name, className } of this.columns) make(row, "td", undefined, className).dataset.name = name;
        this.rows.set(key, row);
      }
      if (this.body.rows[place] !== row) this.body.insertBefore(row, this.body.rows[place] ?? null);
      const text = JSON.stringify(cells.map((cell) => (typeof cell === "string" ? cell : [cell.text, cell.className, cell.label])));
      if (this.text.get(key) === text) return;
      this.text.set(key, text);
      cells.forEach((cell, number) => this.fill(row.cells[number], cell, this.columns[number]));
    });
  }

  fill(place, cell, { className = "" }) {
    const { text = "", className: own = "", press, label, parts } = typeof cell === "string" ? { text: cell } : cell;
    place.className = `${className} ${own}`.trim();
    if (parts) {
      if (place.childElementCount === 0) place.replaceChildren(...parts);
    } else if (press) {
      const button = place.querySelector("button") ?? make(place, "button");
      button.type = "button";
      button.textContent = text;
      if (label) button.setAttribute("aria-label", label);
      button.onclick = press;
    } else if (place.textContent !== text) place.textContent = text;
  }
}

export { Table };
