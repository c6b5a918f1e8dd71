//! Decisions of a run as JSON log lines: signals, trades, and suspended opens.

use super::stream::PrintedEvents;
use crate::log_writer::LogWriter;
use candlewick_runtime::events::EventFeed;
use serde::Deserialize;

/// Skipped events: candles and wallet updates, and warnings and alarms, which are log lines
/// already.
const LEFT_OUT: [&str; 5] = ["candle", "updated", "wallet", "alarm", "warning"];

#[derive(Deserialize)]
struct Named {
    event: String,
}

pub(super) fn log(feed: &EventFeed, log: &LogWriter) -> PrintedEvents {
    let log = log.clone();
    PrintedEvents::begin_with_end(feed, move |line| {
        if let Ok(Named { event }) = serde_json::from_str(line)
            && !LEFT_OUT.contains(&event.as_str())
        {
            log.print_event(&event, line);
        }
        Ok(())
    })
}
