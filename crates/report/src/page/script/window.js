// Visible time range and cursor, shared by all time charts.
class TimeWindow {
  constructor(from, to) {
    this.least = 1000;
    this.cursor = null;
    this.listeners = [];
    this.limit(from, to, 1000);
  }

  limit(min, max, least) {
    this.min = min;
    this.max = Math.max(max, min + least);
    this.least = least;
    this.all();
  }

  get isAll() {
    return this.from <= this.min && this.to >= this.max;
  }

  show(from, to) {
    const span = Math.min(Math.max(to - from, this.least), this.max - this.min);
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(middle - span / 2, this.min), this.max - span);
    this.to = this.from + span;
    this.changed();
  }

  all() {
    this.show(this.min, this.max);
  }

  // Zooms around a fixed time.
  scale(factor, at = (this.from + this.to) / 2) {
    this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  // Pans by a share of the visible range.
  move(share) {
    const way = (this.to - this.from) * share;
    const [from, to] = [this.from + way, this.to + way];
    if (from < this.min) this.show(this.min, this.min + to - from);
    else if (to > this.max) this.show(this.max - (to - from), this.max);
    else this.show(from, to);
  }

  point(at) {
    this.cursor = at;
    this.changed();
  }

  changed() {
    for (const listener of this.listeners) listener();
  }
}
