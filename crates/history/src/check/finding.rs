//! What can be wrong with candles, and how it is described.

use candlewick_sdk::Millis;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// A kind of problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    /// A row that cannot be read.
    Unreadable,
    /// A number that is NaN or infinite.
    NotFinite,
    /// A price of zero or below.
    Price,
    /// A volume below zero.
    Volume,
    /// Open or close outside low and high.
    Range,
    /// A time that is no multiple of the interval.
    Misaligned,
    /// A row that comes after a later one.
    Unsorted,
    /// A repeated time, with the same values or with those of an unfinished candle.
    Duplicate,
    /// A repeated time with other values.
    Conflict,
    /// Missing candles while the market was open.
    Gap,
    /// Candles while the market was closed.
    Closed,
    /// A candle that reaches far beyond those beside it.
    Spike,
    /// A step of the price from one candle to the next that is far larger than usual.
    Jump,
    /// Candles without any movement, one after the other.
    Flat,
    /// A candle of which another value came later.
    Revised,
    /// Candles that contradict another series of the symbol.
    OutOfStep,
}

/// What a repair does about a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// The rows are left out, or put in order: they can be no candles, or are there twice.
    Always,
    /// The candles are left out when that is asked for: they may be right.
    LeaveOut,
    /// One of the candles of a time is retained, by a rule that the operator names.
    Choose,
    /// The value that came last takes the place of the first when that is asked for.
    TakeLatest,
    /// Nothing can be done but to bring other candles.
    Nothing,
}

/// Why a text is not a [`FindingKind`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not a kind of problem: use {}", FindingKind::names())]
pub struct ParseFindingKindError {
    text: String,
}

impl FindingKind {
    /// Every kind.
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

    /// As options and documents name it.
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

    /// What a repair does about it.
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

    fn names() -> String {
        Self::ALL.map(Self::as_str).join(", ")
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for FindingKind {
    type Err = ParseFindingKindError;

    fn from_str(text: &str) -> Result<Self, ParseFindingKindError> {
        let found = Self::ALL.into_iter().find(|kind| kind.as_str() == text);
        found.ok_or_else(|| ParseFindingKindError { text: text.chars().take(32).collect() })
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its kind.
    pub kind: FindingKind,
    /// The row of a file: its line, or its number from 1 where a file has no lines.
    pub row: Option<u64>,
    /// The open time of the first candle that it concerns, where it has one.
    pub start: Option<Millis>,
    /// The close time of the last.
    pub end: Option<Millis>,
    /// How many candles or rows it concerns.
    pub count: u64,
    /// What it is, in a sentence.
    pub detail: String,
}

/// What is wrong with a series.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    list: Vec<Finding>,
    counts: BTreeMap<FindingKind, u64>,
}

/// Of one kind, only so many are listed; all are counted.
const MAX_LISTED: u64 = 10_000;

impl Findings {
    /// The findings, by kind, then in the order of the file; of each kind the first ten thousand.
    pub fn list(&self) -> &[Finding] {
        &self.list
    }

    /// How many there are of each kind that there is.
    pub const fn counts(&self) -> &BTreeMap<FindingKind, u64> {
        &self.counts
    }

    /// How many there are.
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Without those of some kinds.
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
