//! A strategy on a market, with the runs that the others are compared with.

#![expect(clippy::unnecessary_wraps, reason = "what a check ends with is what it returns")]

use super::subject::{Answer, Manner, Stop, Subject};
use super::{Check, Checked, Finding, Market};
use crate::{Candle, LongerCandles};

/// A strategy on a market.
pub(super) struct Bench<'a> {
    pub(super) subject: &'a Subject,
    pub(super) market: &'a Market,
    pub(super) candles: &'a [Candle],
    pub(super) warmup: usize,
    longer: LongerCandles,
    /// Its answers in its first run, as live: [`Manner::LIVE`].
    pub(super) answers: Vec<Answer>,
    /// And when it is shown nothing of its trades: [`Manner::ALONE`].
    pub(super) alone: Vec<Answer>,
}

/// What a check found on a market, or how the strategy broke down.
pub(super) type Found = Result<(Finding, String), Stop>;

impl<'a> Bench<'a> {
    pub(super) fn new(subject: &'a Subject, market: &'a Market, warmup: usize) -> Result<Self, Stop> {
        let candles = &market.candles[..];
        let strategy = subject.build().map_err(Stop::Build)?;
        let longer = LongerCandles::of_bot(&subject.bot, strategy.longer_intervals()).unwrap_or_default();
        let answers = subject.run(candles, Manner::LIVE)?;
        let alone = subject.run(candles, Manner::ALONE)?;
        Ok(Self { subject, market, candles, warmup, longer, answers, alone })
    }

    /// How many candles a live run that begins behind these shows it: its warm-up, and more where candles are missing
    /// inside longer ones; all, where these are too few.
    pub(super) fn history(&self, candles: &[Candle]) -> usize {
        self.longer.history(self.warmup, candles).unwrap_or(candles.len())
    }

    pub(super) fn signals(&self) -> usize {
        self.answers.len()
    }
}

/// A check, as it is made on a market.
pub(super) type Make<'m> = dyn FnMut(&Bench<'_>) -> Found + 'm;

/// A check on each market, until it fails. What is noted on one counts for all.
pub(super) fn on_all(check: Check, benches: &[Bench<'_>], make: &mut Make<'_>) -> Checked {
    let mut last = check.found(Finding::NotRun, "no candles");
    for bench in benches {
        let mut found = once(check, make(bench));
        if found.finding == Finding::Failed {
            found.words = format!("{}: {}", bench.market.name, found.words);
            return found;
        }
        if last.finding != Finding::Noted || found.finding == Finding::Noted {
            last = found;
        }
    }
    last
}

/// A strategy that breaks down where it did not before has failed the check.
pub(super) fn once(check: Check, found: Found) -> Checked {
    match found {
        Ok((finding, words)) => check.found(finding, words),
        Err(stop) => check.found(Finding::Failed, stop.to_string()),
    }
}

pub(super) fn passed(words: impl Into<String>) -> Found {
    Ok((Finding::Passed, words.into()))
}

pub(super) fn noted(words: impl Into<String>) -> Found {
    Ok((Finding::Noted, words.into()))
}

pub(super) fn failed(words: impl Into<String>) -> Found {
    Ok((Finding::Failed, words.into()))
}
