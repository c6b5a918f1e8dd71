//! Repairs: removes certain errors, and doubtful candles only on request. Never invents a candle.

use super::finding::{FindingKind, Remedy};
use super::{Checked, check_series};
use crate::choice::{ParseChoiceError, parse_choice};
use candlewick_sdk::{Candle, CandleSeries, Millis};
use std::ops::Range;
use std::str::FromStr;

#[derive(Clone, Debug)]
pub struct Fixed {
    pub candles: Option<CandleSeries>,
    pub removed: u64,
    pub replaced: u64,
    pub sorted: bool,
}

impl Fixed {
    pub const fn is_change(&self) -> bool {
        self.removed > 0 || self.replaced > 0 || self.sorted
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictChoice {
    First,
    Last,
    /// Larger volume, then larger range, then first in the file.
    Larger,
}

impl FromStr for ConflictChoice {
    type Err = ParseChoiceError;

    fn from_str(text: &str) -> Result<Self, ParseChoiceError> {
        parse_choice(text, &[("first", Self::First), ("last", Self::Last), ("larger", Self::Larger)])
    }
}

impl ConflictChoice {
    fn choose(self, candles: &[Candle]) -> Option<Candle> {
        let size = |candle: &Candle| (candle.volume(), candle.high() - candle.low());
        let larger = |largest: Candle, candle: &Candle| {
            if size(candle) > size(&largest) { *candle } else { largest }
        };
        let first = candles.first().copied();
        match self {
            Self::First => first,
            Self::Last => candles.last().copied(),
            Self::Larger => first.map(|first| candles.iter().fold(first, larger)),
        }
    }
}

impl Checked {
    pub const fn conflicts(&self) -> usize {
        self.conflicts.len()
    }

    #[must_use]
    pub fn choose(&self, choice: ConflictChoice) -> Self {
        let mut resolved = self.clone();
        let chosen =
            std::mem::take(&mut resolved.conflicts).into_iter().filter_map(|all| choice.choose(&all));
        let mut candles = self.candles.as_ref().map(|series| series.candles().to_vec()).unwrap_or_default();
        for candle in chosen {
            if let Ok(place) = candles.binary_search_by_key(&candle.time(), Candle::time) {
                candles[place] = candle;
            }
        }
        resolved.candles = CandleSeries::new(self.series, candles).ok();
        resolved
    }

    /// Removes certain errors, and the doubtful kinds listed in `also`.
    ///
    /// Spikes, flat stretches and candles in closed hours are removed, revised candles get their
    /// latest value. Gaps and jumps cannot be repaired.
    pub fn fix(&self, also: &[FindingKind]) -> Fixed {
        let unsound = self.rows - self.candles.as_ref().map_or(0, |candles| candles.candles().len() as u64);
        let sorted = self.findings.counts().contains_key(&FindingKind::Unsorted);
        let Some(candles) = &self.candles else {
            return Fixed { candles: None, removed: unsound, replaced: 0, sorted };
        };
        let mut doubtful: Vec<Range<Millis>> = Vec::new();
        self.look(&mut |finding| {
            if finding.kind.remedy() == Remedy::LeaveOut && also.contains(&finding.kind) {
                doubtful.extend(finding.start.zip(finding.end).map(|(start, end)| start..end));
            }
        });
        doubtful.sort_by_key(|stretch| stretch.start);
        let mut kept: Vec<Candle> = Vec::with_capacity(candles.candles().len());
        let mut rest = doubtful.as_slice();
        for candle in candles.candles() {
            while rest.first().is_some_and(|stretch| stretch.end <= candle.time()) {
                rest = &rest[1..];
            }
            if rest.first().is_none_or(|stretch| candle.time() < stretch.start) {
                kept.push(*candle);
            }
        }
        let doubtful = (candles.candles().len() - kept.len()) as u64;
        let replaced = if also.contains(&FindingKind::Revised) { self.take_latest(&mut kept) } else { 0 };
        let candles = CandleSeries::new(self.series, kept).ok();
        Fixed { candles, removed: unsound + doubtful, replaced, sorted }
    }

    fn take_latest(&self, candles: &mut [Candle]) -> u64 {
        let mut replaced: Vec<usize> = Vec::new();
        for revision in &self.revisions {
            if let Ok(place) = candles.binary_search_by_key(&revision.candle.time(), Candle::time)
                && candles[place] != revision.candle
            {
                candles[place] = revision.candle;
                replaced.push(place);
            }
        }
        replaced.sort_unstable();
        replaced.dedup();
        replaced.len() as u64
    }

    pub fn check_again(&self, fixed: &Fixed, also: &[FindingKind]) -> Option<Checked> {
        let revisions = if also.contains(&FindingKind::Revised) { &[] } else { self.revisions.as_slice() };
        let mut again = check_series(fixed.candles.as_ref()?, revisions, &self.settings);
        // A repair of one series does not put it in step with another.
        let out_of_step =
            self.findings.list().iter().filter(|finding| finding.kind == FindingKind::OutOfStep);
        out_of_step.for_each(|finding| again.findings.note(finding.clone()));
        Some(again)
    }
}
