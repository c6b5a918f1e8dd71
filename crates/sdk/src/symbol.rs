//! Trading pairs and the trading hours of their markets.

use crate::{Millis, Text, is_hidden};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// Name of a trading pair, exactly as the venue writes it.
///
/// A symbol has 1 to 31 bytes, no invisible characters ([`is_hidden`]), and no white space at its start or end. Venues
/// use irregular names, so the format is not restricted further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Symbol(Text<31>);

/// Parse error of a [`Symbol`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{text}\" is not a symbol: use 1 to 31 bytes, no invisible characters, and no white space at the start or end"
)]
pub struct SymbolError {
    text: String,
}

impl Symbol {
    /// Validates a name and creates the symbol.
    /// Fails with [`SymbolError`] if the name is empty, too long or padded, or contains invisible characters.
    pub fn new(text: &str) -> Result<Self, SymbolError> {
        let sound = !text.is_empty() && text.trim() == text && !text.chars().any(is_hidden);
        let error = || SymbolError { text: text.chars().take(64).collect() };
        if sound { Text::new(text).map(Self).ok_or_else(error) } else { Err(error()) }
    }

    /// Returns the name of the trading pair.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Symbol {
    type Err = SymbolError;
    fn from_str(text: &str) -> Result<Self, SymbolError> {
        Self::new(text)
    }
}

impl TryFrom<String> for Symbol {
    type Error = SymbolError;
    fn try_from(text: String) -> Result<Self, SymbolError> {
        Self::new(&text)
    }
}

impl From<Symbol> for String {
    fn from(symbol: Symbol) -> Self {
        symbol.as_str().to_owned()
    }
}

/// Symbol suffixes of over-the-counter (OTC) pairs, which are traded all week.
pub const OTC_SUFFIXES: [&str; 3] = [".OTC", "-OTC", "_OTC"];
/// Currencies whose pairs are closed at the weekend. Journal replays depend on this list, so never change it.
pub const CURRENCIES: [&str; 10] = ["USD", "EUR", "GBP", "JPY", "CHF", "AUD", "CAD", "NZD", "SEK", "NOK"];

/// Weekly trading hours of a market.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TradingWeek {
    /// Open all week.
    #[default]
    Always,
    /// Currency hours: Sunday 17:00 to Friday 17:00 in New York, ignoring holidays.
    Currencies,
}

impl TradingWeek {
    /// Returns the trading week of a symbol.
    /// Pairs of [`CURRENCIES`] are closed at the weekend, except over-the-counter (OTC) pairs.
    pub fn for_symbol(symbol: Symbol) -> Self {
        let name = symbol.as_str();
        let pair = name.split_at_checked(3).filter(|(base, _)| CURRENCIES.contains(base));
        let is_pair = pair.is_some_and(|(_, quote)| CURRENCIES.contains(&quote));
        if is_pair { Self::Currencies } else { Self::Always }
    }

    /// Returns how long the market is open within a time range.
    ///
    /// ```
    /// use candlewick_sdk::{Millis, TradingWeek};
    ///
    /// // Friday 2026-01-09, in winter: open until 22:00 UTC.
    /// let friday = Millis::new(1_767_916_800_000);
    /// assert_eq!(TradingWeek::Currencies.open_duration(&(friday..friday + Millis::DAY)), Millis::HOUR * 22);
    /// assert_eq!(TradingWeek::Always.open_duration(&(friday..friday + Millis::DAY)), Millis::DAY);
    /// ```
    pub fn open_duration(self, range: &Range<Millis>) -> Millis {
        let length = range.end - range.start;
        if self == Self::Always || range.is_empty() {
            return length;
        }
        let day = |moment: Millis| moment.get().div_euclid(Millis::DAY.get());
        // Start with the previous Friday, because its weekend may extend into the range.
        let first = day(range.start) - (day(range.start) - FIRST_FRIDAY_EPOCH_DAY).rem_euclid(7);
        let weekends = (first..=day(range.end)).step_by(7);
        weekends.fold(length, |open, friday| {
            let start = five_pm_in_new_york(friday).max(range.start);
            let end = five_pm_in_new_york(friday + 2).min(range.end);
            if start < end { open - (end - start) } else { open }
        })
    }
}

/// First Friday of the Unix epoch (1970-01-02), in days since 1970-01-01.
const FIRST_FRIDAY_EPOCH_DAY: i64 = 1;

fn five_pm_in_new_york(day: i64) -> Millis {
    let hour = if is_dst_in_new_york(day) { 21 } else { 22 };
    Millis::DAY * day + Millis::HOUR * hour
}

/// Returns whether New York is on daylight saving time in the afternoon of `day`, counted in days since 1970-01-01.
/// Applies the rules that have been in force since 1987, including the change in 2007.
fn is_dst_in_new_york(day: i64) -> bool {
    let (year, month, date) = date_from_days(day);
    // Date of the last Sunday, including today. The date is below 1 if that Sunday was in the previous month.
    let sunday = date - (day + 4).rem_euclid(7);
    match (year, month) {
        (2007.., 3) => sunday >= 8,
        (2007.., 11) => sunday < 1,
        (..2007, 4) => sunday >= 1,
        (..2007, 10) => sunday < 25,
        (2007.., 4..=10) | (..2007, 5..=9) => true,
        _ => false,
    }
}

/// Converts days since 1970-01-01 to year, month and day of the month.
/// Source: "`civil_from_days`", Howard Hinnant, chrono-compatible low-level date algorithms.
const fn date_from_days(day: i64) -> (i64, i64, i64) {
    let shifted = day + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let date = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (year + era * 400 + next, month, date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_irregular_and_rejects_invalid_names() {
        for name in ["BTCUSDT", "EURUSD.OTC", "1000PEPE/USDT", "Gold & Co"] {
            assert_eq!(Symbol::new(name).map(|s| s.to_string()), Ok(name.to_owned()));
        }
        for name in
            ["", " BTC", "A\nB", "BTC\u{202e}USDT", "BTC\u{200b}", "THIS-NAME-IS-LONGER-THAN-31-BYTES"]
        {
            assert!(Symbol::new(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn finds_daylight_saving_time_of_new_york() {
        for (day, date, is_summer) in [
            (0, (1970, 1, 1), false),
            (20_461, (2026, 1, 8), false),
            (20_519, (2026, 3, 7), false),
            (20_520, (2026, 3, 8), true),
            (20_757, (2026, 10, 31), true),
            (20_758, (2026, 11, 1), false),
            (13_239, (2006, 4, 1), false),
            (13_240, (2006, 4, 2), true),
            (13_450, (2006, 10, 29), false),
            (-1, (1969, 12, 31), false),
            (11_016, (2000, 2, 29), false),
        ] {
            assert_eq!((date_from_days(day), is_dst_in_new_york(day)), (date, is_summer), "{day}");
        }
    }

    #[test]
    fn currency_pairs_are_closed_at_the_weekend() {
        let week = |name: &str| TradingWeek::for_symbol(name.parse().unwrap());
        for name in ["EURUSD", "NZDCHF"] {
            assert_eq!(week(name), TradingWeek::Currencies, "{name}");
        }
        for name in ["EURUSD.OTC", "BTCUSDT", "XAUUSD", "USDMXN", "EUR", "é€"] {
            assert_eq!(week(name), TradingWeek::Always, "{name}");
        }
    }

    #[test]
    fn open_time_excludes_weekends() {
        // Friday 2026-07-10, in summer.
        let friday = Millis::DAY * 20_644;
        let hours = |from: i64, until: i64| {
            let range = friday + Millis::HOUR * from..friday + Millis::HOUR * until;
            TradingWeek::Currencies.open_duration(&range).get() / Millis::HOUR.get()
        };
        // Closed from 21:00 on Friday to 21:00 on Sunday.
        assert_eq!([hours(0, 24), hours(20, 24), hours(24, 48), hours(48, 72)], [21, 1, 0, 3]);
        let expected = [0, 120, 24, 31 * 24 - 5 * 48];
        assert_eq!([hours(30, 31), hours(0, 168), hours(-24, 0), hours(0, 31 * 24)], expected);
        assert_eq!(hours(5, 5), 0);
    }
}
