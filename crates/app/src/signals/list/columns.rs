//! What each column of a list is: as its first line names it, or, where that is an entry, as every line shows by itself.
//!
//! Traders write `M5;EURUSD;10:00;CALL` in any order and without names, between semicolons, commas or spaces. A cell is taken for
//! something only if it can be nothing else.

use super::cell::{arrow_of, arrow_words, offset_zone, timeframe};
use super::clock_time::time_of_day;
use super::date::WrittenDate;
use crate::configuration::DateOrder;
use crate::signals::message::{DIRECTIONS, direction_of};
use crate::signals::signal_bots;
use crate::suggestion::nearest;
use candlewick_engine::BotSettings;
use candlewick_runtime::control::SignalBots;

/// Columns that a first line may name, in the order of [`Cells`].
const NAMES: [&str; 8] = ["time", "bot", "symbol", "direction", "close_type", "days", "zone", "reason"];

/// The cells of an entry.
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// By what they are; empty where there is none.
    pub(super) texts: [String; 8],
    /// The date, where it has a column of its own.
    pub(super) date: Option<WrittenDate>,
    /// Whether the line shows by itself what they are.
    is_shown: bool,
}

/// The bots that a list may be for.
pub(super) struct ListBots<'a> {
    pub(super) bots: &'a [BotSettings],
    pub(super) signals: SignalBots,
}

impl Cells {
    /// Whether a zone stands in it that nobody named a column for.
    pub(super) fn has_shown_zone(&self) -> bool {
        self.is_shown && !self.texts[6].is_empty()
    }
}

impl<'a> ListBots<'a> {
    pub(super) fn new(bots: &'a [BotSettings]) -> Self {
        Self { bots, signals: signal_bots(bots) }
    }

    fn has_name(&self, cell: &str) -> bool {
        self.bots.iter().any(|bot| bot.name == cell)
    }

    /// Whether a bot of this name trades what is written so, and no other bot does.
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

/// What a column is.
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

/// The columns that a first line names: where each of [`NAMES`] stands, how many there are, and what stands between them.
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

    /// With its article.
    fn one(self) -> String {
        let article = if self == Self::Expiry { "an" } else { "a" };
        format!("{article} {}", self.words())
    }

    /// Whether a cell may be this.
    fn may_be(self, cell: &str, bots: &ListBots<'_>) -> bool {
        match self {
            Self::Date => WrittenDate::parse(cell).is_some(),
            Self::Time => time_of_day(cell).is_some(),
            Self::Bot => bots.has_name(cell),
            Self::Symbol => bots.signals.symbol_of(cell).is_some(),
            Self::Direction => direction_of(cell).is_ok(),
            Self::Expiry => timeframe(cell).is_some(),
            Self::Zone => offset_zone(cell).is_some(),
        }
    }

    /// The only thing that a cell may be.
    fn of(cell: &str, bots: &ListBots<'_>) -> Result<Self, String> {
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

/// What is said of a cell that is nothing.
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

/// What is said of a cell that is nothing but nearly something.
fn meant(cell: &str, bots: &ListBots<'_>) -> Option<String> {
    let upper = cell.to_ascii_uppercase();
    if let Some(symbol) = upper.strip_suffix("OTC").and_then(|plain| bots.signals.symbol_of(plain)) {
        return Some(format!(
            "{cell:?} is another market than {symbol}, with prices that the broker makes: no bot trades it. Write {symbol} if that is meant"
        ));
    }
    let colon = cell.replacen('.', ":", 1);
    if cell.contains('.') && time_of_day(&colon).is_some() {
        return Some(format!("{cell:?} is no time: did you mean {colon}?"));
    }
    let hours = upper.strip_suffix('H').filter(|hours| timeframe(&format!("H{hours}")).is_some())?;
    Some(format!("{cell:?} is no expiry and no time: did you mean H{hours}, or {hours:0>2}:00?"))
}

/// The cells of a line that no first line names: between semicolons, commas, upright strokes or spaces. Ornaments, such as dashes
/// and pictures, are no cells; AM and PM belong to the time before them.
fn split(line: &str, bots: &ListBots<'_>) -> Vec<String> {
    let mut cells: Vec<String> = Vec::new();
    for cell in line.split([';', ',', '|', '\t']).map(str::trim) {
        if bots.has_name(cell) {
            cells.push(cell.to_owned());
            continue;
        }
        let is_ornament = |sign: char| sign == '*' || !(sign.is_ascii() || sign.is_alphanumeric());
        for word in cell.split(|sign: char| sign.is_whitespace() || is_ornament(sign)) {
            let is_half = ["AM", "PM"].iter().any(|half| word.eq_ignore_ascii_case(half));
            match cells.last_mut() {
                Some(time) if is_half && time_of_day(time).is_some() => time.extend([" ", word]),
                _ if word.chars().all(|sign| "-_=~.".contains(sign)) => {}
                _ => cells.push(word.to_owned()),
            }
        }
    }
    cells
}

const NAME_THEM: &str = "name the columns in a first line, such as close_type;symbol;time;direction";

impl NamedColumns {
    /// Of the first line of a list; none where it is no line of names.
    ///
    /// # Errors
    /// It names some that there are not, or not all that are needed; what is allowed.
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
            return Err(format!(
                "the first line names the columns: time and direction, and bot, symbol, close_type, days, zone and reason as far as \
                 they are used; or it is an entry such as M5;EURUSD;10:00;CALL, with or without a date such as 2026-01-05. It is {:?}",
                first.trim()
            ));
        }
        Ok(Some(Self { places: NAMES.map(place), count: named().count(), delimiter }))
    }

    /// The cells of a line.
    ///
    /// # Errors
    /// It has more columns than the first.
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
        Ok(Cells { texts, date: None, is_shown: false })
    }
}

/// The cells of a line that shows by itself what they are, and what each was taken for; none where it has nothing but ornaments.
///
/// # Errors
/// A cell is nothing or may be several things, or there is no time or no direction.
pub(super) fn shown_cells(text: &str, bots: &ListBots<'_>) -> Result<Option<(Cells, Vec<Column>)>, String> {
    let line = split(text, bots);
    if line.is_empty() {
        return Ok(None);
    }
    let (mut cells, mut columns) = (Cells { is_shown: true, ..Cells::default() }, Vec::new());
    for (place, cell) in line.iter().enumerate() {
        let column = Column::of(cell, bots)?;
        if let Some(earlier) = columns.iter().position(|known| *known == column) {
            let (one, other, what) = (earlier + 1, place + 1, column.one());
            return Err(format!("columns {one} and {other} are both {what}: leave one of them out"));
        }
        columns.push(column);
        let place = match column {
            Column::Date => {
                cells.date = WrittenDate::parse(cell);
                continue;
            }
            Column::Time => 0,
            Column::Bot => 1,
            Column::Symbol => 2,
            Column::Direction => 3,
            Column::Expiry => 4,
            Column::Zone => 6,
        };
        cells.texts[place] = match column {
            Column::Expiry => timeframe(cell).map(|own| own.to_string()).unwrap_or_default(),
            _ => cell.clone(),
        };
    }
    if let Some(arrow) = arrow_of(text)? {
        let written = columns.contains(&Column::Direction).then(|| direction_of(&cells.texts[3]));
        match written {
            Some(Ok(written)) if written != arrow => {
                return Err(format!(
                    "its arrow points {}, and it says {}: write one of them",
                    arrow_words(arrow),
                    cells.texts[3]
                ));
            }
            Some(_) => {}
            None => {
                cells.texts[3] = arrow.to_string();
                columns.push(Column::Direction);
            }
        }
    }
    match [Column::Time, Column::Direction].map(|column| columns.contains(&column)) {
        [true, true] => Ok(Some((cells, columns))),
        [false, true] => Err("it has no time such as 10:00".to_owned()),
        [true, false] => Err("it has no direction, CALL or PUT".to_owned()),
        [false, false] => Err("it has no time and no direction".to_owned()),
    }
}

/// The only cell of a line that has no other.
pub(super) fn only_cell(line: &str, bots: &ListBots<'_>) -> Option<String> {
    let mut cells = split(line, bots);
    cells.pop().filter(|_| cells.is_empty())
}

/// What could be recognised in a line that is no entry.
pub(super) fn recognised(line: &str, bots: &ListBots<'_>) -> Vec<Column> {
    let mut columns: Vec<Column> =
        split(line, bots).iter().filter_map(|cell| Column::of(cell, bots).ok()).collect();
    columns.extend(arrow_of(line).ok().flatten().map(|_| Column::Direction));
    columns
}

/// Whether a line says a time zone and no more, such as `Timezone: UTC+1`.
pub(super) fn is_zone_alone(line: &str, bots: &ListBots<'_>) -> bool {
    let (zones, words): (Vec<String>, Vec<String>) =
        split(line, bots).into_iter().partition(|cell| offset_zone(cell).is_some());
    zones.len() == 1 && words.len() <= 2 && !words.concat().contains(|sign: char| sign.is_ascii_digit())
}

/// What the columns of lines that nobody named were taken for, in the order in which they first stand there.
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

/// What stands between the columns of a list that names them.
pub(super) fn delimiter_of(first: &str) -> u8 {
    if first.contains(';') { b';' } else { b',' }
}
