// The latest trades, contiguous and bounded in number.

/** Maximum number of trades. */
const MOST = 1000;
/** Number of trades per request: first a few, then more if they do not suffice. */
const FIRST = 60;
const PAGE = 200;
/** States of trades that may still change. */
const UNFINISHED = ["open", "in_doubt"];

class KnownTrades {
  /** @param {(path: string) => Promise<{ trades: object[], before: number | null }>} ask */
  constructor(ask) {
    this.ask = ask;
    this.queue = Promise.resolve();
    this.of(null);
  }

  /** Selects the trades of one bot or of all, and drops the others. @param {string | null} bot */
  of(bot) {
    this.bot = bot;
    this.trades = new Map();
    this.before = null;
  }

  /** Newest first. */
  list() {
    return [...this.trades.values()].sort((a, b) => b.intent_id - a.intent_id);
  }

  /** Whether earlier trades can be loaded. */
  hasEarlier() {
    return this.before !== null && this.trades.size < MOST;
  }

  /** Loads all new trades. @param {object[]} open unfinished trades */
  refresh(open) {
    this.open = open;
    // A waiting refresh also covers trades that arrive before it runs.
    this.waiting ??= this.inTurn(() => {
      this.waiting = undefined;
      return this.takeNew(new Map(this.open.map((trade) => [trade.intent_id, trade])));
    });
    return this.waiting;
  }

  /** Loads a page of earlier trades. */
  earlier() {
    return this.inTurn(async () => {
      const { trades } = this;
      if (!this.hasEarlier()) return;
      const told = await this.page(PAGE, this.before);
      if (trades !== this.trades) return;
      this.before = told.before;
      this.keep(told.trades);
    });
  }

  // Runs requests one at a time, so that an older response never overtakes a newer one.
  inTurn(act) {
    const turn = this.queue.then(act);
    this.queue = turn.catch(() => {});
    return turn;
  }

  async takeNew(open) {
    const { trades } = this;
    const newest = Math.max(0, ...trades.keys());
    const ended = [...trades.values()].filter((trade) => UNFINISHED.includes(trade.state) && !open.has(trade.intent_id));
    // Pages back to the newest known trade, and to known trades that have ended since.
    const until = Math.min(newest, ...ended.map((trade) => trade.intent_id));
    const told = [];
    let before = null;
    do {
      const page = await this.page(before === null ? FIRST : PAGE, before);
      if (trades !== this.trades) return;
      told.push(...page.trades);
      ({ before } = page);
    } while (newest > 0 && before !== null && before > until && told.length < MOST);
    // The known trades are too old. Keeping them would leave a gap.
    const isApart = before !== null && before > newest;
    if (isApart) trades.clear();
    if (isApart || newest === 0) this.before = before;
    this.keep([...told, ...[...open.values()].filter((trade) => trades.has(trade.intent_id))]);
  }

  page(limit, before) {
    const whose = this.bot === null ? "" : `&bot=${encodeURIComponent(this.bot)}`;
    return this.ask(`/api/trades?limit=${limit}${before === null ? "" : `&before=${before}`}${whose}`);
  }

  keep(told) {
    for (const trade of told) this.trades.set(trade.intent_id, trade);
    const surplus = [...this.trades.keys()].sort((a, b) => b - a).slice(MOST);
    for (const intent of surplus) this.trades.delete(intent);
    if (surplus.length > 0) this.before = Math.min(...this.trades.keys());
  }
}

export { KnownTrades };
