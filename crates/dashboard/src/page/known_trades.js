// The trades that the page knows: neighbours from the newest on, without a hole and in bounded number.

/** Trades that are kept. */
const MOST = 1000;
/** Trades that are asked for at once: those that most often suffice, and more where they do not. */
const FIRST = 60;
const PAGE = 200;
/** What of a trade may still change. */
const UNFINISHED = ["open", "in_doubt"];

class KnownTrades {
  /** @param {(path: string) => Promise<{ trades: object[], before: number | null }>} ask */
  constructor(ask) {
    this.ask = ask;
    this.queue = Promise.resolve();
    this.of(null);
  }

  /** Those of one bot from now on, or of all: others are forgotten. @param {string | null} bot */
  of(bot) {
    this.bot = bot;
    this.trades = new Map();
    this.before = null;
  }

  /** Newest first. */
  list() {
    return [...this.trades.values()].sort((a, b) => b.intent_id - a.intent_id);
  }

  /** Whether earlier ones can be asked for. */
  hasEarlier() {
    return this.before !== null && this.trades.size < MOST;
  }

  /** Takes what is new, however much it is. @param {object[]} open the trades that are not over */
  refresh(open) {
    this.open = open;
    // One that waits for its turn asks for all that is new then.
    this.waiting ??= this.inTurn(() => {
      this.waiting = undefined;
      return this.takeNew(new Map(this.open.map((trade) => [trade.intent_id, trade])));
    });
    return this.waiting;
  }

  /** Takes a page of earlier ones. */
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

  // One at a time: an older answer never comes after a newer one.
  inTurn(act) {
    const turn = this.queue.then(act);
    this.queue = turn.catch(() => {});
    return turn;
  }

  async takeNew(open) {
    const { trades } = this;
    const newest = Math.max(0, ...trades.keys());
    const ended = [...trades.values()].filter((trade) => UNFINISHED.includes(trade.state) && !open.has(trade.intent_id));
    // Down to the newest that is known, and to those that have ended since.
    const until = Math.min(newest, ...ended.map((trade) => trade.intent_id));
    const told = [];
    let before = null;
    do {
      const page = await this.page(before === null ? FIRST : PAGE, before);
      if (trades !== this.trades) return;
      told.push(...page.trades);
      ({ before } = page);
    } while (newest > 0 && before !== null && before > until && told.length < MOST);
    // What is known lies too far back to be reached: it would stand behind a hole.
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
