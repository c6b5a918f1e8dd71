//! Recorders for tests: one counts entries, the other renders each as a short line.

use crate::stage::START;
use candlewick_engine::{Action, Entry, EventKind, Recorder};
use candlewick_sdk::Millis;
use std::io;

/// Counts entries and asserts that their times never decrease.
#[derive(Default)]
pub(crate) struct Counter {
    pub(crate) entries: usize,
    now: Millis,
}

impl Recorder for Counter {
    fn record(&mut self, entry: Entry<'_>) -> io::Result<()> {
        if let Entry::Event(event) = entry {
            assert!(event.at >= self.now, "time went back from {} to {}", self.now, event.at);
            self.now = event.at;
        }
        self.entries += 1;
        Ok(())
    }
}

/// Renders each entry as a short line with the seconds since the start.
#[derive(Default)]
pub(crate) struct Words(pub(crate) Vec<String>);

impl Recorder for Words {
    fn record(&mut self, entry: Entry<'_>) -> io::Result<()> {
        let words = match entry {
            Entry::Header(_) | Entry::Action(Action::DayOpened { .. }) => return Ok(()),
            Entry::Action(Action::Open(approved)) => {
                format!("  open #{} bot {}", approved.intent(), approved.bot().index())
            }
            Entry::Action(Action::Refuse(refused)) => {
                format!("  refuse bot {} {}", refused.bot.index(), refused.rule)
            }
            Entry::Action(Action::Verdict(judgement)) => {
                format!("  verdict bot {} {:?}", judgement.bot.index(), judgement.edge)
            }
            Entry::Event(event) => {
                let second = (event.at - START).get() / 1_000;
                match &event.kind {
                    EventKind::Candle { series, .. } => {
                        format!("{second} candle of series {}", series.index())
                    }
                    EventKind::Price { price, .. } => format!("{second} price {}", price.value),
                    EventKind::Opened(opened) => format!("{second} opened #{}", opened.intent),
                    EventKind::Settled(settled) => format!("{second} settled #{}", settled.intent),
                    other => format!("{second} {other:?}"),
                }
            }
        };
        self.0.push(words);
        Ok(())
    }
}

pub(crate) struct Full(pub(crate) usize);

impl Recorder for Full {
    fn record(&mut self, _: Entry<'_>) -> io::Result<()> {
        self.0 = self.0.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
        Ok(())
    }
}
