//! A run's decisions in a log that is JSON: what became of each signal and each trade, and whether trades are opened at all.

use super::stream::PrintedEvents;
use crate::log_writer::LogWriter;
use candlewick_runtime::events::EventFeed;
use serde::Deserialize;

/// What is left out: what the market and the wallet say, and warnings and alarms, which are lines of the log already.
const LEFT_OUT: [&str; 5] = ["candle", "updated", "wallet", "alarm", "warning"];

/// An event, as far as it is looked at here.
#[derive(Deserialize)]
struct Named {
    event: String,
}

/// Begins to log. Lines are those of `watch`, with the time, the level and the message that every line of the log has.
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
