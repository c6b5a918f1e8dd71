// The list of trades: sortable, filterable, with only the visible rows in the document.
const ON_PAPER = 100;

class TradeList {
  constructor({ contents, trades, window, look }) {
    this.contents = contents;
    this.trades = trades;
    this.window = window;
    this.look = look;
    this.order = "decided";
    this.way = 1;
    this.found = trades;
    this.isOnPaper = false;
    this.place = byId("rows");
    const { bots, series, money } = contents;
    const decimals = (trade) => series[bots[trade.bot].series]?.decimals ?? 5;
    const price = (name) => (trade) => (trade[name] === null ? "" : format.price(trade[name], decimals(trade)));
    this.columns = [
      { key: "decided", name: "decided, UTC", text: (trade) => format.second(trade.decided) },
      { key: "bot", name: "bot", text: (trade) => bots[trade.bot].name, of: (trade) => bots[trade.bot].name },
      { key: "side", name: "direction", text: (trade) => (trade.side === "BUY" ? "▲ BUY" : "▼ SELL") },
      { key: "amount", name: "stake", isNumber: true, text: (trade) => format.fixed(trade.amount, money) },
      { key: "open", name: "open", isNumber: true, text: price("open") },
      { key: "close", name: "close", isNumber: true, text: price("close") },
      { key: "payout", name: "payout", isNumber: true, text: (trade) => (trade.payout === null ? "" : `${trade.payout} %`) },
      { key: "outcome", name: "result", text: (trade) => trade.result?.toLowerCase() ?? "not settled" },
      { key: "pnl", name: "profit", isNumber: true, text: (trade) => (trade.pnl === null ? "" : format.signed(trade.pnl, money)) },
      { key: "reason", name: "reason", text: (trade) => trade.reason },
    ].filter(({ key }) => key !== "bot" || bots.length > 1);
    this.table = make(this.place, "table");
    this.table.setAttribute("aria-label", "Trades");
    this.head();
    this.body = this.table.createTBody();
    this.place.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(this.place);
    for (const filter of byId("filters").querySelectorAll("input, select")) filter.addEventListener("input", () => this.filter());
    window.listeners.push(() => byId("filter-sight").checked && this.filter());
    this.filter();
  }

  head() {
    const line = make(this.table.createTHead(), "tr");
    for (const { key, name, isNumber } of this.columns) {
      const cell = make(line, "th", undefined, `${key}${isNumber ? " number" : ""}`);
      cell.scope = "col";
      cell.dataset.key = key;
      const button = make(cell, "button", name);
      button.type = "button";
      button.addEventListener("click", () => {
        [this.order, this.way] = [key, this.order === key ? -this.way : 1];
        this.sort();
      });
    }
  }

  filter() {
    const value = (id) => byId(id)?.value ?? "";
    const words = value("filter-text").toLowerCase().split(/\s+/).filter(Boolean);
    const [result, side, bot] = ["filter-result", "filter-side", "filter-bot"].map(value);
    const isInSight = byId("filter-sight").checked;
    const { bots, series } = this.contents;
    const textOf = (trade) => `${bots[trade.bot].name} ${series[bots[trade.bot].series]?.name ?? ""} ${trade.reason}`.toLowerCase();
    this.found = this.trades.filter((trade) => {
      if (result && trade.outcome !== result) return false;
      if (side && trade.side !== side) return false;
      if (bot && trade.bot !== Number(bot)) return false;
      if (isInSight && (trade.at < this.window.from || trade.at > this.window.to)) return false;
      return words.length === 0 || words.every((word) => textOf(trade).includes(word));
    });
    const all = format.plural(this.trades.length, "trade");
    byId("found").textContent = this.found.length === this.trades.length ? all : `${format.many(this.found.length)} of ${all}`;
    this.sort();
  }

  sort() {
    const { of = (trade) => trade[this.order] } = this.columns.find(({ key }) => key === this.order);
    const compare = (a, b) => {
      const [one, two] = [of(a), of(b)];
      if (one === two) return a.decided - b.decided;
      if (one === null || two === null) return one === null ? 1 : -1; // unknown values come last
      return (one < two ? -1 : 1) * this.way;
    };
    this.found = [...this.found].sort(compare);
    for (const cell of this.table.tHead.rows[0].cells) {
      if (cell.dataset.key === this.order) cell.setAttribute("aria-sort", this.way > 0 ? "ascending" : "descending");
      else cell.removeAttribute("aria-sort");
    }
    this.table.setAttribute("aria-rowcount", this.found.length + 1);
    this.place.scrollTop = 0;
    this.drawn = null;
    this.draw();
  }

  row(trade, number) {
    const line = document.createElement("tr");
    line.setAttribute("aria-rowindex", number + 2);
    for (const { key, name, text, isNumber } of this.columns) {
      const cell = make(line, "td", undefined, `${key}${isNumber ? " number" : ""}`);
      if (key === "decided") {
        const button = make(cell, "button", text(trade));
        button.type = "button";
        button.addEventListener("click", () => this.look(trade));
        continue;
      }
      cell.textContent = text(trade);
      cell.dataset.name = name;
      if (key === "reason") cell.title = trade.reason;
      if (key === "outcome" || key === "pnl") cell.classList.add(trade.outcome);
    }
    return line;
  }

  // Draws the visible rows and some around them, with spacers for the rest. Prints only the first rows.
  draw() {
    const isAll = this.isOnPaper;
    const high = Number.parseFloat(getComputedStyle(this.place).getPropertyValue("--row")) || 30;
    const first = isAll ? 0 : Math.max(0, Math.floor(this.place.scrollTop / high) - 8);
    const end = Math.min(this.found.length, isAll ? ON_PAPER : first + Math.ceil(this.place.clientHeight / high) + 16);
    const drawn = `${first} ${end} ${high} ${isAll}`;
    if (this.drawn === drawn) return;
    this.drawn = drawn;
    const focused = this.body.contains(document.activeElement) ? document.activeElement.closest("tr").getAttribute("aria-rowindex") : null;
    const space = (rows) => {
      const line = document.createElement("tr");
      line.className = "space";
      line.setAttribute("aria-hidden", "true");
      const cell = make(line, "td");
      cell.colSpan = this.columns.length;
      cell.style.height = `${rows * high}px`;
      return rows > 0 ? [line] : [];
    };
    const rows = this.found.slice(first, end).map((trade, place) => this.row(trade, first + place));
    this.body.replaceChildren(...space(first), ...rows, ...(isAll ? [] : space(this.found.length - end)));
    const rest = this.found.length - end;
    if (isAll && rest > 0) make(make(this.body, "tr"), "td", `and ${format.many(rest)} more`, "none").colSpan = this.columns.length;
    if (this.found.length === 0) make(make(this.body, "tr"), "td", "No trade matches.", "none").colSpan = this.columns.length;
    if (focused) this.body.querySelector(`[aria-rowindex="${focused}"] button`)?.focus({ preventScroll: true });
  }
}
