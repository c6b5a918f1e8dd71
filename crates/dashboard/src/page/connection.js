// Connection to the dashboard: signs in once, receives events, and reconnects.

/** Silence after which the page counts as outdated; clock events come every two seconds. */
const SILENT_MS = 7000;
const RETRY_MS = 1500;

/** Requests JSON. Error responses throw with the message of the dashboard. @param {string} path @param {RequestInit} [options] */
const ask = async (path, options) => {
  const answer = await fetch(path, { credentials: "same-origin", ...options });
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw Object.assign(new Error(told.problem ?? `HTTP ${answer.status} from the dashboard`), { status: answer.status });
  return told;
};

/** Sends an order, with the header that other sites cannot send. @param {string} path @param {object} body */
const order = (path, body) => ask(path, {
  method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json", "x-candlewick": "1" },
});

/** Exchanges the token in the address, if there is one, for a cookie. */
const signIn = async () => {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) return;
  history.replaceState(null, "", location.pathname);
  await order("/api/session", { token });
};

/** Follows the events; reopens the source if it gives up. */
class Connection {
  /** @param {{ state: Function, lines: Function, clock: Function, lost: Function }} on */
  constructor(on) {
    this.on = on;
    this.heard = performance.now();
    this.isSignedIn = true;
    this.open();
    addEventListener("hashchange", () => signIn().then(() => this.open()).catch((error) => this.on.lost(error.message)));
  }

  open() {
    this.source?.close();
    clearTimeout(this.retry);
    const source = new EventSource("/api/events");
    this.source = source;
    for (const kind of ["state", "lines", "clock"]) {
      source.addEventListener(kind, (event) => {
        this.heard = performance.now();
        this.isSignedIn = true;
        this.on[kind](JSON.parse(event.data));
      });
    }
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED && source === this.source) this.again();
    });
  }

  // An EventSource does not retry after an error response. Checks the sign-in and reopens it.
  async again() {
    try {
      await ask("/api/state");
      this.isSignedIn = true;
    } catch (error) {
      if (error.status === 401) this.isSignedIn = false;
    }
    this.retry = setTimeout(() => this.open(), RETRY_MS);
  }

  /** Reason why the page is outdated, null if it is not. */
  trouble() {
    const silent = performance.now() - this.heard;
    if (!this.isSignedIn) return "Not signed in: open the link that the dashboard shows in its terminal.";
    if (silent > SILENT_MS) return `The dashboard does not respond: this page is ${Math.floor(silent / 1000)} s old. Trading is not affected.`;
    return null;
  }
}

export { Connection, ask, order, signIn };
