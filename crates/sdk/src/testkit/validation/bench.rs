//! A strategy on a market, with the runs that checks compare against.

#![expect(clippy::unnecessary_wraps, reason = "what a check ends with is what it returns")]

use super::subject::{Answer, Manner, Stop, Subject};
use super::{Check, Checked, Finding, Market};
use crate::{Candle, LongerCandles};

pub(super) struct Bench<'a> {
    pub(super) subject: &'a Subject,
    pub(super) market: &'a Market,
    pub(super) candles: &'a [Candle],
    pub(super) warmup: usize,
    longer: LongerCandles,
    pub(super) answers: Vec<Answer>,
    pub(super) alone: Vec<Answer>,
}

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

    pub(super) fn history(&self, candles: &[Candle]) -> usize {
        self.longer.history(self.warmup, candles).unwrap_or(candles.len())
    }

    pub(super) fn signals(&self) -> usize {
        self.answers.len()
    }
}

pub(super) type Make<'m> = dyn FnMut(&Bench<'_>) -> Found + 'm;

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
