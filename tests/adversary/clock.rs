//! Clock of the venue: that of this machine.
#![allow(clippy::disallowed_methods, reason = "the venue is another process with its own clock")]

use chrono::{DateTime, Utc};

pub(crate) fn now() -> DateTime<Utc> {
    Utc::now()
}

pub(crate) fn now_ms() -> i64 {
    now().timestamp_millis()
}

pub(crate) fn iso(ms: i64) -> String {
    let moment = DateTime::from_timestamp_millis(ms).unwrap_or_default();
    moment.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

pub(crate) fn instant() -> std::time::Instant {
    std::time::Instant::now()
}
