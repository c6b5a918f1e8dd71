// Venue time in the browser, extrapolated from the last report of the dashboard.
const clock = {
  /** @type {number | null} */ now: null,
  speed: 1,
  /** @type {number | null} */ heard: null,
  read: 0,

  /** @param {{ now: number | null, speed: number, heard: number | null }} told */
  set(told) {
    Object.assign(clock, { now: told.now, speed: told.speed, heard: told.heard, read: performance.now() });
  },

  /** Venue time, or null while no bot responds. @returns {number | null} */
  venue() {
    return clock.now === null ? null : clock.now + (performance.now() - clock.read) * clock.speed;
  },
};

/** Short text of a duration. @param {number} ms */
const span = (ms) => {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86400)} d ${Math.floor((seconds % 86400) / 3600)} h`;
};

/** Remaining time as h:mm:ss. @param {number} ms */
const left = (ms) => {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  return `${hours > 0 ? `${hours}:` : ""}${hours > 0 ? two(Math.floor((seconds % 3600) / 60)) : Math.floor(seconds / 60)}:${two(seconds % 60)}`;
};

export { clock, left, span };
