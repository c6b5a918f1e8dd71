//! The venue's clock: that of this machine.
#![allow(clippy::disallowed_methods, reason = "the venue is another program, with a clock of its own")]

use chrono::{DateTime, Utc};

pub(crate) fn now() -> DateTime<Utc> {
    Utc::now()
}

/// Milliseconds since the epoch.
pub(crate) fn now_ms() -> i64 {
    now().timestamp_millis()
}

/// A moment in ISO 8601.
pub(crate) fn iso(ms: i64) -> String {
    let moment = DateTime::from_timestamp_millis(ms).unwrap_or_default();
    moment.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// A monotonic moment, for time limits.
pub(crate) fn instant() -> std::time::Instant {
    std::time::Instant::now()
}
