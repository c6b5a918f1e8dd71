//! Dimensions by which results are broken down.

use candlewick_engine::{BotSettings, IntentRow};
use candlewick_sdk::{Direction, Expiry, Millis, Symbol};
use serde::Serialize;
use std::fmt::Write as _;

/// A dimension of a breakdown. Hours and weekdays are those of the decision, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    Hour,
    Weekday,
    Symbol,
    Direction,
    Expiry,
    PayoutBand,
    EntryDelay,
}

/// Upper bounds of the entry delay cells, exclusive.
const DELAYS_MS: [i64; 6] = [1_000, 2_000, 3_000, 5_000, 10_000, 60_000];
/// In percent.
const BAND: usize = 5;
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// Cells of one dimension. A trade that lacks the dimension's value, such as an open time, has no
/// cell.
pub(super) struct Ruler {
    pub(super) dimension: Dimension,
    /// Indexed by bot.
    symbols: Vec<Symbol>,
    seen_symbols: Vec<Symbol>,
    seen_expiries: Vec<Expiry>,
}

impl Dimension {
    pub const ALL: [Self; 7] = [
        Self::Hour,
        Self::Weekday,
        Self::Symbol,
        Self::Direction,
        Self::Expiry,
        Self::PayoutBand,
        Self::EntryDelay,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hour => "hour (UTC)",
            Self::Weekday => "weekday (UTC)",
            Self::Symbol => "symbol",
            Self::Direction => "direction",
            Self::Expiry => "expiry",
            Self::PayoutBand => "payout",
            Self::EntryDelay => "entry delay",
        }
    }
}

impl Ruler {
    pub(super) fn new(dimension: Dimension, bots: &[BotSettings]) -> Self {
        let symbols = bots.iter().map(|bot| bot.symbol).collect();
        Self { dimension, symbols, seen_symbols: Vec::new(), seen_expiries: Vec::new() }
    }

    pub(super) fn place(&mut self, row: &IntentRow) -> Option<usize> {
        let trade = &row.approved;
        let decided = trade.decision_time().get();
        match self.dimension {
            Dimension::Hour => whole(decided.rem_euclid(Millis::DAY.get()) / Millis::HOUR.get()),
            // The epoch was a Thursday.
            Dimension::Weekday => whole((decided.div_euclid(Millis::DAY.get()) + 3).rem_euclid(7)),
            Dimension::Symbol => {
                let symbol = *self.symbols.get(trade.bot().index())?;
                Some(place_among(&mut self.seen_symbols, symbol))
            }
            Dimension::Direction => Some(match trade.direction() {
                Direction::Buy => 0,
                Direction::Sell => 1,
            }),
            Dimension::Expiry => Some(place_among(&mut self.seen_expiries, trade.expiry())),
            Dimension::PayoutBand => {
                let percent = row.payout?.to_fraction() * 100.0;
                // A payout of 80 % must not become 79.99999.
                Some((percent + 1e-9) as usize / BAND)
            }
            Dimension::EntryDelay => {
                let delay = row.open_time?.get() - decided;
                Some(DELAYS_MS.iter().position(|bound| delay < *bound).unwrap_or(DELAYS_MS.len()))
            }
        }
    }

    pub(super) fn label(&self, place: usize) -> String {
        match self.dimension {
            Dimension::Hour => format!("{place:02}:00"),
            Dimension::Weekday => WEEKDAYS[place].to_owned(),
            Dimension::Symbol => self.seen_symbols[place].to_string(),
            Dimension::Direction => [Direction::Buy, Direction::Sell][place].to_string(),
            Dimension::Expiry => {
                let Expiry { close_type, expiration_type } = self.seen_expiries[place];
                format!("{close_type} {expiration_type}")
            }
            Dimension::PayoutBand => format!("{} to {} %", place * BAND, (place + 1) * BAND),
            Dimension::EntryDelay => delay_label(place),
        }
    }
}

fn delay_label(place: usize) -> String {
    let seconds = |place: usize| DELAYS_MS.get(place).map(|bound| bound / 1_000);
    let mut label = String::new();
    if let Some(from) = place.checked_sub(1).and_then(seconds) {
        let _ = write!(label, "from {from} s");
    }
    if let Some(below) = seconds(place) {
        let space = if label.is_empty() { "" } else { " " };
        let _ = write!(label, "{space}below {below} s");
    }
    label
}

fn whole(number: i64) -> Option<usize> {
    usize::try_from(number).ok()
}

fn place_among<T: PartialEq>(seen: &mut Vec<T>, one: T) -> usize {
    seen.iter().position(|known| *known == one).unwrap_or_else(|| {
        seen.push(one);
        seen.len() - 1
    })
}
