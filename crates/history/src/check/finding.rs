//! Findings of a candle check: kinds, remedies and descriptions.

use crate::choice::{ParseChoiceError, parse_choice};
use candlewick_sdk::Millis;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    Unreadable,
    NotFinite,
    Price,
    Volume,
    Range,
    Misaligned,
    Unsorted,
    /// A repeated time with the same values, or with those of an unfinished candle.
    Duplicate,
    Conflict,
    Gap,
    Closed,
    Spike,
    Jump,
    Flat,
    Revised,
    OutOfStep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Excluded or sorted unconditionally: invalid or repeated rows.
    Always,
    /// Excluded on request only: the candles may be right.
    LeaveOut,
    Choose,
    TakeLatest,
    Nothing,
}

impl FindingKind {
    pub const ALL: [Self; 16] = [
        Self::Unreadable,
        Self::NotFinite,
        Self::Price,
        Self::Volume,
        Self::Range,
        Self::Misaligned,
        Self::Unsorted,
        Self::Duplicate,
        Self::Conflict,
        Self::Gap,
        Self::Closed,
        Self::Spike,
        Self::Jump,
        Self::Flat,
        Self::Revised,
        Self::OutOfStep,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::NotFinite => "not-finite",
            Self::Price => "price",
            Self::Volume => "volume",
            Self::Range => "range",
            Self::Misaligned => "misaligned",
            Self::Unsorted => "unsorted",
            Self::Duplicate => "duplicate",
            Self::Conflict => "conflict",
            Self::Gap => "gap",
            Self::Closed => "closed",
            Self::Spike => "spike",
            Self::Jump => "jump",
            Self::Flat => "flat",
            Self::Revised => "revised",
            Self::OutOfStep => "out-of-step",
        }
    }

    pub const fn remedy(self) -> Remedy {
        match self {
            Self::Unreadable
            | Self::NotFinite
            | Self::Price
            | Self::Volume
            | Self::Range
            | Self::Misaligned
            | Self::Unsorted
            | Self::Duplicate => Remedy::Always,
            Self::Conflict => Remedy::Choose,
            Self::Closed | Self::Spike | Self::Flat => Remedy::LeaveOut,
            Self::Revised => Remedy::TakeLatest,
            Self::Gap | Self::Jump | Self::OutOfStep => Remedy::Nothing,
        }
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for FindingKind {
    type Err = ParseChoiceError;

    fn from_str(text: &str) -> Result<Self, ParseChoiceError> {
        parse_choice(text, &Self::ALL.map(|kind| (kind.as_str(), kind)))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub kind: FindingKind,
    /// Line number in the file, or 1-based row number in formats without lines.
    pub row: Option<u64>,
    pub start: Option<Millis>,
    pub end: Option<Millis>,
    pub count: u64,
    pub detail: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    list: Vec<Finding>,
    counts: BTreeMap<FindingKind, u64>,
}

const MAX_LISTED: u64 = 10_000;

impl Findings {
    pub fn list(&self) -> &[Finding] {
        &self.list
    }

    pub const fn counts(&self) -> &BTreeMap<FindingKind, u64> {
        &self.counts
    }

    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    #[must_use]
    pub fn without(mut self, kinds: &[FindingKind]) -> Self {
        self.list.retain(|finding| !kinds.contains(&finding.kind));
        self.counts.retain(|kind, _| !kinds.contains(kind));
        self
    }

    pub(super) fn note(&mut self, finding: Finding) {
        let count = self.counts.entry(finding.kind).or_insert(0);
        *count += 1;
        if *count <= MAX_LISTED {
            self.list.push(finding);
        }
    }

    pub(super) fn sort(&mut self) {
        self.list.sort_by_key(|finding| finding.kind);
    }
}
