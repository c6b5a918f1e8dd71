// The way to the dashboard: a token is exchanged once, events come as they happen, and a lost connection is taken up again.

/** How long nothing may come before what is shown counts as old; the clock is told every two seconds. */
const SILENT_MS = 7000;
const RETRY_MS = 1500;

/** Asks for a part. Answers that say no become errors with the problem in words. @param {string} path @param {RequestInit} [options] */
const ask = async (path, options) => {
  const answer = await fetch(path, { credentials: "same-origin", ...options });
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw Object.assign(new Error(told.problem ?? `the dashboard answers ${answer.status}`), { status: answer.status });
  return told;
};

/** Orders something: with the header that no page elsewhere can send. @param {string} path @param {object} body */
const order = (path, body) => ask(path, {
  method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json", "x-candlewick": "1" },
});

/** Takes the token out of the address, where it came with one, for a cookie. */
const signIn = async () => {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) return;
  history.replaceState(null, "", location.pathname);
  await order("/api/session", { token });
};

/** Follows the events for ever; a source that has given up is made anew. */
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

  // The source does not come back by itself from an answer that is none: asks why, and tries again.
  async again() {
    try {
      await ask("/api/state");
      this.isSignedIn = true;
    } catch (error) {
      if (error.status === 401) this.isSignedIn = false;
    }
    this.retry = setTimeout(() => this.open(), RETRY_MS);
  }

  /** What keeps what is shown from being new, in words; null where nothing does. */
  trouble() {
    const silent = performance.now() - this.heard;
    if (!this.isSignedIn) return "Not signed in: open the link that the dashboard shows in its terminal.";
    if (silent > SILENT_MS) return `The dashboard does not answer: what is shown is ${Math.floor(silent / 1000)} s old. Trading goes on without it.`;
    return null;
  }
}

export { Connection, ask, order, signIn };
