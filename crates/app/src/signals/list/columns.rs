//! What each column of a list is: as its first line names it, or, where that is an entry, as every line shows it.
//!
//! Traders write `M5;EURUSD;10:00;CALL` in any order and without names. A cell is taken for something only if it can be nothing else,
//! and all lines have the order of the first one.

use crate::signals::message::direction_of;
use candlewick_engine::BotSettings;
use candlewick_sdk::{CloseType, Millis};
use chrono::{NaiveDate, NaiveTime};

/// Columns that a first line may name, in the order of [`Cells`].
const NAMES: [&str; 8] = ["time", "bot", "symbol", "direction", "close_type", "days", "zone", "reason"];
/// Times of day.
pub(super) const TIMES: [&str; 2] = ["%H:%M", "%H:%M:%S"];

/// The cells of an entry by what they are; empty where there is none.
pub(super) type Cells = [String; 8];

/// What a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Date,
    Time,
    Bot,
    Symbol,
    Direction,
    Expiry,
}

/// How a list is read.
#[derive(Debug)]
pub(super) enum Columns {
    /// The first line names these: where each of [`NAMES`] stands, and how many columns there are.
    Named([Option<usize>; 8], usize),
    /// The first line is an entry of these.
    Shown(Vec<Column>),
}

impl Column {
    const fn words(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Time => "time",
            Self::Bot => "bot",
            Self::Symbol => "symbol",
            Self::Direction => "direction",
            Self::Expiry => "expiry",
        }
    }

    /// With its article.
    fn one(self) -> String {
        let article = if self == Self::Expiry { "an" } else { "a" };
        format!("{article} {}", self.words())
    }

    /// Whether a cell may be this.
    fn may_be(self, cell: &str, bots: &[BotSettings]) -> bool {
        match self {
            Self::Date => NaiveDate::parse_from_str(cell, "%Y-%m-%d").is_ok(),
            Self::Time => TIMES.iter().any(|form| NaiveTime::parse_from_str(cell, form).is_ok()),
            Self::Bot => bots.iter().any(|bot| bot.name == cell),
            Self::Symbol => bots.iter().any(|bot| bot.symbol.as_str() == cell),
            Self::Direction => direction_of(cell).is_ok(),
            Self::Expiry => timeframe(cell).is_some(),
        }
    }

    /// The only thing that a cell may be.
    fn of(cell: &str, bots: &[BotSettings]) -> Result<Self, String> {
        let all = [Self::Date, Self::Time, Self::Bot, Self::Symbol, Self::Direction, Self::Expiry];
        let found: Vec<Self> = all.into_iter().filter(|column| column.may_be(cell, bots)).collect();
        match found.as_slice() {
            [column] => Ok(*column),
            // A bot that is named after its symbol.
            [Self::Bot, Self::Symbol]
                if bots.iter().all(|bot| bot.name != cell || bot.symbol.as_str() == cell) =>
            {
                Ok(Self::Bot)
            }
            [] if is_other_date(cell) => Err(format!(
                "{cell:?} may be two dates, of the day or of the month first: write it as 2026-01-05"
            )),
            [] => Err(format!(
                "{cell:?} is nothing that an entry has: a time such as 10:00, a date such as 2026-01-05, CALL or PUT (BUY or SELL), an \
                 expiry such as M5 or H1, a symbol or a bot ({})",
                known(bots)
            )),
            several => {
                let all: Vec<String> = several.iter().map(|column| column.one()).collect();
                Err(format!("{cell:?} may be {}: {NAME_THEM}", all.join(" or ")))
            }
        }
    }
}

const NAME_THEM: &str = "name the columns in a first line, such as close_type;symbol;time;direction";

impl Columns {
    /// Of the first line of a list.
    ///
    /// # Errors
    /// It neither names columns nor is it an entry; what is allowed.
    pub(super) fn of(first: &csv::StringRecord, bots: &[BotSettings]) -> Result<Self, String> {
        let is = |column: Column| first.iter().any(|cell| column.may_be(cell, bots));
        if is(Column::Direction) && is(Column::Time) {
            return Self::shown_by(first, bots).map_err(|problem| format!("line 1: {problem}"));
        }
        let place = |name: &str| first.iter().position(|column| column == name);
        let is_known = first.iter().all(|column| NAMES.contains(&column));
        if place("time").is_none() || place("direction").is_none() || !is_known {
            let found = first.iter().collect::<Vec<_>>().join(",");
            return Err(format!(
                "the first line names the columns: time and direction, and bot, symbol, close_type, days, zone and reason as far as \
                 they are used; or it is an entry such as M5;EURUSD;10:00;CALL, with or without a date such as 2026-01-05. It is {found:?}"
            ));
        }
        Ok(Self::Named(NAMES.map(place), first.len()))
    }

    fn shown_by(first: &csv::StringRecord, bots: &[BotSettings]) -> Result<Self, String> {
        let mut columns: Vec<Column> = Vec::new();
        for (place, cell) in first.iter().enumerate() {
            let column = Column::of(cell, bots)?;
            if let Some(earlier) = columns.iter().position(|known| *known == column) {
                let (one, other, what) = (earlier + 1, place + 1, column.one());
                return Err(format!("columns {one} and {other} are both {what}: leave one of them out"));
            }
            columns.push(column);
        }
        Ok(Self::Shown(columns))
    }

    /// Whether the first line is an entry.
    pub(super) const fn are_shown(&self) -> bool {
        matches!(self, Self::Shown(_))
    }

    /// The cells of a line.
    ///
    /// # Errors
    /// It has other columns than the first.
    pub(super) fn cells(&self, line: &csv::StringRecord, bots: &[BotSettings]) -> Result<Cells, String> {
        match self {
            Self::Named(_, count) if line.len() > *count => {
                Err("it has more columns than the first line: put a reason with a comma in quotes".to_owned())
            }
            Self::Named(places, _) => {
                let mut cells = places
                    .map(|place| place.and_then(|place| line.get(place)).unwrap_or_default().to_owned());
                if let Some(duration) = timeframe(&cells[4]) {
                    cells[4] = duration.to_string();
                }
                Ok(cells)
            }
            Self::Shown(columns) => Self::shown_cells(columns, line, bots),
        }
    }

    fn shown_cells(
        columns: &[Column],
        line: &csv::StringRecord,
        bots: &[BotSettings],
    ) -> Result<Cells, String> {
        if line.len() != columns.len() {
            let (found, first) = (line.len(), columns.len());
            return Err(format!("it has {found} columns, and the first line has {first}"));
        }
        let mut cells = Cells::default();
        let mut date = String::new();
        for (place, (cell, expected)) in line.iter().zip(columns).enumerate() {
            let column = Column::of(cell, bots)?;
            if column != *expected {
                let (number, column, expected) = (place + 1, column.one(), expected.one());
                return Err(format!(
                    "column {number} is {column}, {cell:?}, and {expected} in the first line: all lines have one order of columns"
                ));
            }
            match column {
                Column::Date => date = format!("{cell} "),
                Column::Time => cell.clone_into(&mut cells[0]),
                Column::Bot => cell.clone_into(&mut cells[1]),
                Column::Symbol => cell.clone_into(&mut cells[2]),
                Column::Direction => cell.clone_into(&mut cells[3]),
                Column::Expiry => cells[4] = timeframe(cell).map(|own| own.to_string()).unwrap_or_default(),
            }
        }
        cells[0].insert_str(0, &date);
        Ok(cells)
    }

    /// What each column was taken for, where nobody named them.
    pub(super) fn words(&self) -> Option<String> {
        let Self::Shown(columns) = self else { return None };
        let is_dated = columns.contains(&Column::Date);
        let words = columns.iter().map(|column| match column {
            Column::Time if !is_dated => "time (each day, since there is no date)",
            column => column.words(),
        });
        Some(words.collect::<Vec<_>>().join("; "))
    }
}

/// The duration of candles by a trader's name of them: M5 is five minutes, H1 an hour.
fn timeframe(text: &str) -> Option<CloseType> {
    let (unit, longest) = match text.get(..1)? {
        "M" | "m" => (60, 59),
        "H" | "h" => (3_600, 24),
        _ => return None,
    };
    let digits = text.get(1..).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()))?;
    let count: i64 = digits.parse().ok().filter(|count| (1..=longest).contains(count))?;
    CloseType::new(Millis::from_seconds(count * unit)).ok()
}

/// A date in another form, whose day and month cannot be told apart.
fn is_other_date(cell: &str) -> bool {
    let parts: Vec<&str> = cell.split(['/', '.', '-']).collect();
    (2..=3).contains(&parts.len())
        && parts.iter().all(|part| !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit()))
}

fn known(bots: &[BotSettings]) -> String {
    let mut all: Vec<&str> = Vec::new();
    for name in bots.iter().flat_map(|bot| [bot.symbol.as_str(), bot.name.as_str()]) {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all.join(", ")
}
