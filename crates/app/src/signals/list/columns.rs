//! Columns of a signal list, named in a header line or recognised in each line.
//!
//! A list without a header may contain only unambiguous cells.

use super::split::{fold_text, is_number, is_one_of, parse_label, split_cells};
use super::time::{UnresolvedDate, describe_invalid_date, parse_time_of_day, parse_timeframe};
use super::zones::{is_ambiguous_zone, parse_zone_cell};
use crate::candles::deduplicate;
use crate::configuration::DateOrder;
use crate::signals::message::{DIRECTION_NAMES, parse_direction};
use crate::signals::signal_bots;
use candlewick_engine::BotSettings;
use candlewick_runtime::control::SignalBots;
use candlewick_sdk::nearest_name;

/// Column names of a header line, in the order of [`Cells::texts`]. The first six match [`Column`] without `Date`.
const CELL_NAMES: [&str; 8] = ["time", "bot", "symbol", "direction", "close_type", "zone", "days", "reason"];

#[derive(Debug, Default)]
pub(super) struct Cells {
    /// Cell texts in the order of `CELL_NAMES`. The text of a missing cell is empty.
    pub(super) texts: [String; 8],
    pub(super) date: Option<UnresolvedDate>,
    pub(super) is_inferred: bool,
    pub(super) has_gale: bool,
}

pub(super) struct ListBots<'a> {
    bots: &'a [BotSettings],
    pub(super) signal_bots: SignalBots,
}

impl<'a> ListBots<'a> {
    pub(super) fn new(bots: &'a [BotSettings]) -> Self {
        Self { bots, signal_bots: signal_bots(bots) }
    }

    pub(super) fn has_name(&self, cell: &str) -> bool {
        self.bots.iter().any(|bot| bot.name == cell)
    }

    fn name_matches_symbol(&self, cell: &str) -> bool {
        let symbol = self.signal_bots.find_symbol(cell);
        self.bots.iter().all(|bot| bot.name != cell || Some(bot.symbol.as_str()) == symbol)
    }

    fn names(&self) -> Vec<&str> {
        deduplicate(self.bots.iter().flat_map(|bot| [bot.symbol.as_str(), bot.name.as_str()]))
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

type CellTest = fn(&str, &ListBots<'_>) -> bool;

/// Each column with its label, its name in a header line, and a test for its cells, in the order of [`Column`].
const COLUMNS: [(Column, &str, &str, CellTest); 7] = [
    (Column::Date, "date", "time", |cell, _| UnresolvedDate::parse(cell).is_some()),
    (Column::Time, "time", "time", |cell, _| parse_time_of_day(cell).is_some()),
    (Column::Bot, "bot", "symbol", |cell, bots| bots.has_name(cell)),
    (Column::Symbol, "symbol", "symbol", |cell, bots| bots.signal_bots.find_symbol(cell).is_some()),
    (Column::Direction, "direction", "direction", |cell, _| parse_direction(cell).is_ok()),
    (Column::Expiry, "expiry", "close_type", |cell, _| parse_timeframe(cell).is_some()),
    (Column::Zone, "time zone", "zone", |cell, _| parse_zone_cell(cell).is_some()),
];

#[derive(Debug)]
pub(super) struct NamedColumns {
    places: [Option<usize>; 8],
    count: usize,
    pub(super) delimiter: u8,
}

impl Column {
    pub(super) fn label_with_article(self) -> String {
        let article = if self == Self::Expiry { "an" } else { "a" };
        format!("{article} {}", COLUMNS[self as usize].1)
    }

    pub(super) fn classify(cell: &str, bots: &ListBots<'_>) -> Result<Self, String> {
        let found: Vec<Self> =
            COLUMNS.iter().filter(|(.., is_cell)| is_cell(cell, bots)).map(|(column, ..)| *column).collect();
        match found.as_slice() {
            [column] => Ok(*column),
            [Self::Bot, Self::Symbol] if bots.name_matches_symbol(cell) => Ok(Self::Bot),
            [] => Err(describe_unknown_cell(cell, bots)),
            several => {
                let all: Vec<String> = several.iter().map(|column| column.label_with_article()).collect();
                Err(format!("{cell:?} may be {}: {HEADER_HINT}", all.join(" or ")))
            }
        }
    }
}

fn describe_unknown_cell(cell: &str, bots: &ListBots<'_>) -> String {
    if let Some(problem) = suggest_meaning(cell, bots) {
        return problem;
    }
    let names = bots.names();
    let is_word = cell.len() >= 3 && cell.chars().all(char::is_alphabetic);
    let near = nearest_name(cell, names.iter().copied().chain(DIRECTION_NAMES)).filter(|_| is_word);
    if let Some(direction) = near.filter(|near| DIRECTION_NAMES.contains(near)) {
        return format!("{cell:?} is not a direction: did you mean {direction}?");
    }
    let all = names.join(", ");
    if cell.len() >= 4 && cell.starts_with(char::is_alphabetic) {
        let unknown = format!("{cell:?} is neither a symbol nor a bot");
        return match nearest_name(cell, names.iter().copied()) {
            Some(near) => format!("{unknown}: did you mean {near}? The names are {all}"),
            None => format!("{unknown}: the names are {all}"),
        };
    }
    format!(
        "{cell:?} is not part of an entry: use a time such as 10:00, a date such as 2026-01-05, CALL or PUT (BUY or SELL, UP or DOWN), \
         an expiry such as M5 or H1, a symbol or a bot ({all})"
    )
}

fn suggest_meaning(cell: &str, bots: &ListBots<'_>) -> Option<String> {
    let upper = cell.to_ascii_uppercase();
    let is_time = |text: &str| parse_time_of_day(text).is_some();
    let found = if let Some(symbol) =
        upper.strip_suffix("OTC").and_then(|plain| bots.signal_bots.find_symbol(plain))
    {
        format!(
            "is a different market from {symbol}: the broker makes the prices, and no bot trades this market. Did you mean {symbol}?"
        )
    } else if is_ambiguous_zone(&fold_text(cell)) {
        "may mean several time zones: write a city such as America/New_York, or an offset (UTC-5)".to_owned()
    } else if let Some((_, label)) = cell.split_once(' ').filter(|(count, _)| count.parse() == Ok(1)) {
        format!(
            "may be one hour, or one minute and a time label: write H1 or M1, then \"{label}:\" and the time"
        )
    } else if let Some((time, _)) = cell.split_once('-').filter(|(from, to)| is_time(from) && is_time(to)) {
        format!("may be a time range or a time with a zone: write only {time}, or {time} UTC-3")
    } else if let Some(symbol) = find_symbol_by_name(&upper, bots) {
        format!("is not a symbol: did you mean {symbol}?")
    } else if upper.starts_with("UTC") || upper.starts_with("GMT") {
        "is not a known time zone: write UTC-3, UTC+5:30 or a city such as America/Sao_Paulo".to_owned()
    } else if let Some(clock) = ["AM", "PM"].iter().find_map(|half| upper.strip_suffix(half)).map(str::trim)
        && is_time(clock)
    {
        format!("is not a time: hours with AM or PM are 1 to 12; did you mean {clock}?")
    } else if let Some(rest) = cell.strip_prefix("24:").filter(|rest| is_time(&format!("00:{rest}"))) {
        format!("is not a time: a day ends before 24:00; write 00:{rest} (and the next day's date)")
    } else if upper.strip_prefix(['M', 'H', 'S']).is_some_and(is_number) {
        "is not an expiry: write M1 to M59 for minutes, H1 to H24 for hours".to_owned()
    } else if let Some(fault) = describe_invalid_date(cell) {
        format!("is not a date: {fault}")
    } else if let Some(colon) = cell.split_at_checked(2).map(|(hours, minutes)| format!("{hours}:{minutes}"))
        && cell.len() == 4
        && is_number(cell)
        && is_time(&colon)
    {
        format!("is not a time: did you mean {colon}?")
    } else if cell.contains('.') && is_time(&cell.replacen('.', ":", 1)) {
        format!("is not a time: did you mean {}?", cell.replacen('.', ":", 1))
    } else {
        let hours =
            upper.strip_suffix('H').filter(|hours| parse_timeframe(&format!("H{hours}")).is_some())?;
        format!("is neither an expiry nor a time: did you mean H{hours}, or {hours:0>2}:00?")
    };
    Some(format!("{cell:?} {found}"))
}

const COMMON_ASSET_NAMES: [(&str, &str); 4] = [
    (" GOLD OURO ORO ", "XAU"),
    (" SILVER PRATA PLATA ", "XAG"),
    (" BITCOIN BTC ", "BTC"),
    (" ETHEREUM ETH ", "ETH"),
];

fn find_symbol_by_name(name: &str, bots: &ListBots<'_>) -> Option<String> {
    let (_, begins) = COMMON_ASSET_NAMES.iter().find(|(called, _)| is_one_of(name, called))?;
    let mut symbols: Vec<&str> =
        bots.signal_bots.symbols().filter(|symbol| symbol.starts_with(begins)).collect();
    symbols.dedup();
    if let [only] = symbols[..] { Some(only.to_owned()) } else { None }
}

pub(super) fn suggest_header(first: &str) -> Option<String> {
    let delimiter = char::from(detect_delimiter(first));
    let name_of = |cell: &str| {
        let cell = cell.trim().trim_matches('"');
        let known = CELL_NAMES.iter().find(|name| name.eq_ignore_ascii_case(cell)).copied();
        known.or_else(|| Some(COLUMNS[*parse_label(&format!("{cell}:"))?.first()? as usize].2))
    };
    let names: Vec<&str> = first.split(delimiter).map(name_of).collect::<Option<_>>()?;
    if names.len() < 3 || !names.contains(&"time") || !names.contains(&"direction") {
        return None;
    }
    let has_date = names.iter().filter(|name| **name == "time").count() > 1;
    let more = if has_date { ", with date and time in one column, such as 2026-01-05 10:30" } else { "" };
    let mut header = names;
    header.dedup();
    let header = header.join(&delimiter.to_string());
    Some(format!("this line seems to name the columns: use {header} instead{more}"))
}

const HEADER_HINT: &str = "name the columns in a header line, such as close_type;symbol;time;direction";

impl NamedColumns {
    pub(super) fn parse(first: &str, bots: &ListBots<'_>) -> Result<Option<Self>, String> {
        let cells = split_cells(first, bots);
        let is = |column: Column| cells.iter().any(|cell| COLUMNS[column as usize].3(cell, bots));
        let delimiter = detect_delimiter(first);
        let named = || first.split(char::from(delimiter)).map(|cell| cell.trim().trim_matches('"'));
        let has_names = first.trim().is_empty() || named().any(|column| CELL_NAMES.contains(&column));
        if !has_names || (is(Column::Direction) && is(Column::Time)) {
            return Ok(None);
        }
        let place = |name: &str| named().position(|column| column == name);
        let is_known = named().all(|column| CELL_NAMES.contains(&column));
        if place("time").is_none() || place("direction").is_none() || !is_known {
            if let Some(meant) = suggest_header(first) {
                return Err(format!("line 1: {meant}"));
            }
            return Err(format!(
                "the first line must name the columns (time and direction; optionally bot, symbol, close_type, days, zone and reason) \
                 or be an entry such as M5;EURUSD;10:00;CALL or 2026-01-05;M5;EURUSD;10:00;CALL. The first line is {:?}",
                first.trim()
            ));
        }
        Ok(Some(Self { places: CELL_NAMES.map(place), count: named().count(), delimiter }))
    }

    pub(super) fn parse_cells(&self, line: &csv::StringRecord) -> Result<Cells, String> {
        if line.len() > self.count {
            return Err("more columns than in the header: put quotes around a reason with commas".to_owned());
        }
        let mut texts =
            self.places.map(|place| place.and_then(|place| line.get(place)).unwrap_or_default().to_owned());
        if let Some(duration) = parse_timeframe(&texts[4]) {
            texts[4] = duration.to_string();
        }
        Ok(Cells { texts, ..Cells::default() })
    }
}

pub(super) fn describe_columns(lines: &[Vec<Column>], order: Option<DateOrder>, has_year: bool) -> String {
    let columns = deduplicate(lines.iter().flatten().copied());
    let is_dated = columns.contains(&Column::Date);
    let order = order.map(|order| format!(", {}", order.describe())).unwrap_or_default();
    let words = columns.iter().map(|column| {
        let words = match column {
            Column::Time if !is_dated => "time (daily: no date given)".to_owned(),
            Column::Date if !has_year => format!("date (yearly: no year given{order})"),
            Column::Date if !order.is_empty() => format!("date ({})", &order[2..]),
            column => COLUMNS[*column as usize].1.to_owned(),
        };
        let is_everywhere = lines.iter().all(|line| line.contains(column));
        if is_everywhere { words } else { words + " (in some lines)" }
    });
    words.collect::<Vec<_>>().join("; ")
}

pub(super) fn detect_delimiter(first: &str) -> u8 {
    if first.contains(';') { b';' } else { b',' }
}
