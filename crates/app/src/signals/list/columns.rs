//! Columns of a list, named by its first line or recognised in every line.
//!
//! Traders write `M5;EURUSD;10:00;CALL` in any order and without names, between semicolons, commas
//! or spaces. A cell is recognised only if it can be nothing else.

use super::split::{folded, is_one_of, label_of, split};
use super::time::{WrittenDate, fault_of, time_of_day, timeframe};
use super::zones::{is_doubtful, zone_cell};
use crate::configuration::DateOrder;
use crate::signals::message::{DIRECTIONS, direction_of};
use crate::signals::signal_bots;
use candlewick_engine::BotSettings;
use candlewick_runtime::control::SignalBots;
use candlewick_sdk::nearest;

/// Columns that a header line may name, in the order of [`Cells`].
const NAMES: [&str; 8] = ["time", "bot", "symbol", "direction", "close_type", "days", "zone", "reason"];

#[derive(Debug, Default)]
pub(super) struct Cells {
    /// In the order of the column names; empty if missing.
    pub(super) texts: [String; 8],
    pub(super) date: Option<WrittenDate>,
    pub(super) is_shown: bool,
    /// Whether the line mentions martingale steps, which are ignored.
    pub(super) has_gale: bool,
}

pub(super) struct ListBots<'a> {
    pub(super) bots: &'a [BotSettings],
    pub(super) signals: SignalBots,
}

impl<'a> ListBots<'a> {
    pub(super) fn new(bots: &'a [BotSettings]) -> Self {
        Self { bots, signals: signal_bots(bots) }
    }

    pub(super) fn has_name(&self, cell: &str) -> bool {
        self.bots.iter().any(|bot| bot.name == cell)
    }

    fn is_named_after_symbol(&self, cell: &str) -> bool {
        let symbol = self.signals.symbol_of(cell);
        self.bots.iter().all(|bot| bot.name != cell || Some(bot.symbol.as_str()) == symbol)
    }

    fn names(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for name in self.bots.iter().flat_map(|bot| [bot.symbol.as_str(), bot.name.as_str()]) {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        all
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Date,
    Time,
    Bot,
    Symbol,
    Direction,
    Expiry,
    Zone,
}

#[derive(Debug)]
pub(super) struct NamedColumns {
    places: [Option<usize>; 8],
    count: usize,
    pub(super) delimiter: u8,
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
            Self::Zone => "time zone",
        }
    }

    pub(super) fn one(self) -> String {
        let article = if self == Self::Expiry { "an" } else { "a" };
        format!("{article} {}", self.words())
    }

    fn may_be(self, cell: &str, bots: &ListBots<'_>) -> bool {
        match self {
            Self::Date => WrittenDate::parse(cell).is_some(),
            Self::Time => time_of_day(cell).is_some(),
            Self::Bot => bots.has_name(cell),
            Self::Symbol => bots.signals.symbol_of(cell).is_some(),
            Self::Direction => direction_of(cell).is_ok(),
            Self::Expiry => timeframe(cell).is_some(),
            Self::Zone => zone_cell(cell).is_some(),
        }
    }

    pub(super) fn of(cell: &str, bots: &ListBots<'_>) -> Result<Self, String> {
        let all =
            [Self::Date, Self::Time, Self::Bot, Self::Symbol, Self::Direction, Self::Expiry, Self::Zone];
        let found: Vec<Self> = all.into_iter().filter(|column| column.may_be(cell, bots)).collect();
        match found.as_slice() {
            [column] => Ok(*column),
            // A bot that is named after its symbol.
            [Self::Bot, Self::Symbol] if bots.is_named_after_symbol(cell) => Ok(Self::Bot),
            [] => Err(nothing(cell, bots)),
            several => {
                let all: Vec<String> = several.iter().map(|column| column.one()).collect();
                Err(format!("{cell:?} may be {}: {NAME_THEM}", all.join(" or ")))
            }
        }
    }
}

fn nothing(cell: &str, bots: &ListBots<'_>) -> String {
    if let Some(meant) = meant(cell, bots) {
        return meant;
    }
    let names = bots.names();
    let is_word = cell.len() >= 3 && cell.chars().all(char::is_alphabetic);
    let near = nearest(cell, names.iter().copied().chain(DIRECTIONS)).filter(|_| is_word);
    if let Some(direction) = near.filter(|near| DIRECTIONS.contains(near)) {
        return format!("{cell:?} is no direction: did you mean {direction}?");
    }
    let is_name = cell.len() >= 4 && cell.starts_with(|first: char| first.is_alphabetic());
    if is_name {
        let near = nearest(cell, names.iter().copied());
        let near =
            near.map_or_else(|| "there are".to_owned(), |near| format!("did you mean {near}? There are"));
        return format!("{cell:?} is no symbol and no name of a bot: {near} {}", names.join(", "));
    }
    format!(
        "{cell:?} is nothing that an entry has: a time such as 10:00, a date such as 2026-01-05, CALL or PUT (BUY or SELL, UP or DOWN), \
         an expiry such as M5 or H1, a symbol or a bot ({})",
        names.join(", ")
    )
}

fn meant(cell: &str, bots: &ListBots<'_>) -> Option<String> {
    let upper = cell.to_ascii_uppercase();
    if let Some(symbol) = upper.strip_suffix("OTC").and_then(|plain| bots.signals.symbol_of(plain)) {
        return Some(format!(
            "{cell:?} is another market than {symbol}, with prices that the broker makes: no bot trades it. Write {symbol} if that is meant"
        ));
    }
    if is_doubtful(&folded(cell)) {
        return Some(format!(
            "{cell:?} may be several time zones: write that of a city, such as America/New_York, or its hours, such as UTC-5"
        ));
    }
    if let Some((_, label)) = cell.split_once(' ').filter(|(count, _)| count.parse() == Ok(1)) {
        return Some(format!(
            "{cell:?} before a time may be an hour, or one minute and the time: write H1 or M1, and {label}: before the time"
        ));
    }
    if let Some((time, _)) =
        cell.split_once('-').filter(|(from, to)| time_of_day(from).is_some() && time_of_day(to).is_some())
    {
        return Some(format!(
            "{cell:?} may be a span of time or a time and its zone: write {time} alone, or {time} UTC-3"
        ));
    }
    if let Some(symbol) = symbol_called(&upper, bots) {
        return Some(format!("{cell:?} is no symbol: did you mean {symbol}?"));
    }
    if ["UTC", "GMT"].iter().any(|name| upper.starts_with(name)) {
        return Some(format!(
            "{cell:?} is no time zone that is known: write UTC-3, UTC+5:30 or a city's such as America/Sao_Paulo"
        ));
    }
    if let Some(clock) = ["AM", "PM"].iter().find_map(|half| upper.strip_suffix(half)).map(str::trim)
        && time_of_day(clock).is_some()
    {
        return Some(format!("{cell:?} is no time: hours with AM or PM are 1 to 12; did you mean {clock}?"));
    }
    if let Some(rest) = cell.strip_prefix("24:").filter(|rest| time_of_day(&format!("00:{rest}")).is_some()) {
        return Some(format!(
            "{cell:?} is no time: a day ends before 24:00; write 00:{rest}, and where a date stands that of the next day"
        ));
    }
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    if upper.strip_prefix(['M', 'H', 'S']).is_some_and(is_number) {
        return Some(format!("{cell:?} is no expiry: write M1 to M59 for minutes, H1 to H24 for hours"));
    }
    if let Some(fault) = fault_of(cell) {
        return Some(format!("{cell:?} is no date: {fault}"));
    }
    if let Some(colon) = cell.split_at_checked(2).map(|(hours, minutes)| format!("{hours}:{minutes}"))
        && cell.len() == 4
        && is_number(cell)
        && time_of_day(&colon).is_some()
    {
        return Some(format!("{cell:?} is nothing by itself: did you mean the time {colon}?"));
    }
    let colon = cell.replacen('.', ":", 1);
    if cell.contains('.') && time_of_day(&colon).is_some() {
        return Some(format!("{cell:?} is no time: did you mean {colon}?"));
    }
    let hours = upper.strip_suffix('H').filter(|hours| timeframe(&format!("H{hours}")).is_some())?;
    Some(format!("{cell:?} is no expiry and no time: did you mean H{hours}, or {hours:0>2}:00?"))
}

/// Common names of metals and coins, with the prefix of their symbols.
const CALLED: [(&str, &str); 4] = [
    (" GOLD OURO ORO ", "XAU"),
    (" SILVER PRATA PLATA ", "XAG"),
    (" BITCOIN BTC ", "BTC"),
    (" ETHEREUM ETH ", "ETH"),
];

fn symbol_called(name: &str, bots: &ListBots<'_>) -> Option<String> {
    let (_, begins) = CALLED.iter().find(|(called, _)| is_one_of(name, called))?;
    let mut symbols: Vec<&str> = bots.bots.iter().map(|bot| bot.symbol.as_str()).collect();
    symbols.retain(|symbol| symbol.starts_with(begins));
    symbols.dedup();
    if let [only] = symbols.as_slice() { Some((*only).to_owned()) } else { None }
}

pub(super) fn names_meant(first: &str) -> Option<String> {
    let delimiter = char::from(delimiter_of(first));
    let name_of = |cell: &str| {
        let cell = cell.trim().trim_matches('"');
        let known = NAMES.iter().find(|name| name.eq_ignore_ascii_case(cell)).copied();
        known.or_else(|| match label_of(&format!("{cell}:"))?.first()? {
            Column::Date | Column::Time => Some("time"),
            Column::Symbol | Column::Bot => Some("symbol"),
            Column::Direction => Some("direction"),
            Column::Expiry => Some("close_type"),
            Column::Zone => Some("zone"),
        })
    };
    let names: Vec<&str> = first.split(delimiter).map(name_of).collect::<Option<_>>()?;
    let is_whole = names.len() >= 3 && ["time", "direction"].iter().all(|name| names.contains(name));
    is_whole.then(|| {
        let more = if names.iter().filter(|name| **name == "time").count() > 1 {
            ", with the date before the time in one column, such as 2026-01-05 10:30"
        } else {
            ""
        };
        let mut once = names.clone();
        once.dedup();
        format!(
            "it seems to name the columns: write {} in its place{more}",
            once.join(&delimiter.to_string())
        )
    })
}

const NAME_THEM: &str = "name the columns in a first line, such as close_type;symbol;time;direction";

impl NamedColumns {
    pub(super) fn of(first: &str, bots: &ListBots<'_>) -> Result<Option<Self>, String> {
        let cells = split(first, bots);
        let is = |column: Column| cells.iter().any(|cell| column.may_be(cell, bots));
        let delimiter = delimiter_of(first);
        let named = || first.split(char::from(delimiter)).map(|cell| cell.trim().trim_matches('"'));
        let has_names = first.trim().is_empty() || named().any(|column| NAMES.contains(&column));
        if !has_names || (is(Column::Direction) && is(Column::Time)) {
            return Ok(None);
        }
        let place = |name: &str| named().position(|column| column == name);
        let is_known = named().all(|column| NAMES.contains(&column));
        if place("time").is_none() || place("direction").is_none() || !is_known {
            if let Some(meant) = names_meant(first) {
                return Err(format!("line 1: {meant}"));
            }
            return Err(format!(
                "the first line names the columns: time and direction, and bot, symbol, close_type, days, zone and reason as far as \
                 they are used; or it is an entry such as M5;EURUSD;10:00;CALL, with or without a date such as 2026-01-05. It is {:?}",
                first.trim()
            ));
        }
        Ok(Some(Self { places: NAMES.map(place), count: named().count(), delimiter }))
    }

    pub(super) fn cells(&self, line: &csv::StringRecord) -> Result<Cells, String> {
        if line.len() > self.count {
            return Err(
                "it has more columns than the first line: put a reason with a comma in quotes".to_owned()
            );
        }
        let mut texts =
            self.places.map(|place| place.and_then(|place| line.get(place)).unwrap_or_default().to_owned());
        if let Some(duration) = timeframe(&texts[4]) {
            texts[4] = duration.to_string();
        }
        Ok(Cells { texts, ..Cells::default() })
    }
}

pub(super) fn words(lines: &[Vec<Column>], order: Option<DateOrder>, has_year: bool) -> String {
    let mut columns: Vec<Column> = Vec::new();
    for column in lines.iter().flatten() {
        if !columns.contains(column) {
            columns.push(*column);
        }
    }
    let is_dated = columns.contains(&Column::Date);
    let order = order.map(|order| format!(", {}", order.words())).unwrap_or_default();
    let words = columns.iter().map(|column| {
        let words = match column {
            Column::Time if !is_dated => "time (each day, since there is no date)".to_owned(),
            Column::Date if !has_year => format!("date (each year, since there is no year{order})"),
            Column::Date if !order.is_empty() => format!("date ({})", &order[2..]),
            column => column.words().to_owned(),
        };
        let is_everywhere = lines.iter().all(|line| line.contains(column));
        if is_everywhere { words } else { words + " (in some lines)" }
    });
    words.collect::<Vec<_>>().join("; ")
}

pub(super) fn delimiter_of(first: &str) -> u8 {
    if first.contains(';') { b';' } else { b',' }
}
