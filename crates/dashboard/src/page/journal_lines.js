/* global format, make */
// Journal lines, newest first. New lines and lines loaded on request are bounded in number.

/** Maximum number of lines, without and with requested earlier ones. */
const MOST = 400;
const MOST_ASKED = 2000;

class JournalLines {
  /** @param {HTMLElement} list @param {HTMLElement} button that loads earlier lines */
  constructor(list, button) {
    /** @type {any} */
    this.list = list;
    this.button = button;
    this.shown = new Map();
    this.earliest = null;
  }

  /** Adds new lines and marks a gap if some are missing. @param {{ missed: number, lines: object[] }} news */
  take({ missed, lines }) {
    if (missed > 0) {
      const text = `${format.plural(missed, "line")} omitted here: reload the page and load earlier lines.`;
      this.put(lines[0].seq - 0.5, make(document.createElement("ol"), "li", text, "kind-note"));
    }
    this.show(lines);
  }

  /** Line number before which earlier lines are loaded, null without lines. */
  before() {
    return this.earliest ?? (this.shown.size > 0 ? Math.ceil(Math.min(...this.shown.keys())) : null);
  }

  /** Adds requested earlier lines. @param {{ lines: object[], before: number | null }} told */
  takeEarlier({ lines, before }) {
    this.earliest = before ?? 1;
    this.show(lines);
  }

  show(lines) {
    for (const { seq, kind, at, text } of lines) {
      const item = document.createElement("li");
      item.className = `kind-${kind}`;
      for (const part of [String(seq), format.second(at), kind, text]) make(item, "span", part);
      this.put(seq, item);
    }
    const most = this.earliest === null ? MOST : MOST_ASKED;
    while (this.shown.size > most) {
      this.shown.delete(Number(this.list.lastElementChild.dataset.seq));
      this.list.lastElementChild.remove();
      if (this.earliest !== null) this.earliest = Math.ceil(Math.min(...this.shown.keys()));
    }
    this.button.hidden = this.earliest === 1 || this.shown.size >= MOST_ASKED;
  }

  put(seq, item) {
    if (this.shown.has(seq)) return;
    item.dataset.seq = seq;
    this.shown.set(seq, item);
    let next = this.list.firstElementChild;
    while (next && Number(next.dataset.seq) > seq) next = next.nextElementSibling;
    this.list.insertBefore(item, next);
  }
}

export { JournalLines };
