//! The lines of a list: what stands in each, and which date a heading gives those below it.

use super::columns::{
    Cells, Column, ListBots, NamedColumns, is_zone_alone, only_cell, recognised, shown_cells, zone_in,
};
use super::date::WrittenDate;
use chrono_tz::Tz;

/// Signs that only say how the one before them is drawn.
const SELECTORS: [char; 3] = ['\u{fe0e}', '\u{fe0f}', '\u{200d}'];

/// A line, and its cells or why it has none.
pub(super) struct CellLine {
    pub(super) line: u64,
    pub(super) text: String,
    pub(super) cells: Result<LineCells, String>,
    /// Of a line that is no entry, what could be recognised in it: it may be meant for the lines below.
    recognised: Vec<Column>,
    /// And the time zone in it.
    zone: Option<Tz>,
}

/// What a line has.
pub(super) enum LineCells {
    /// An entry.
    Entry(Box<Cells>),
    /// A date alone: that of the lines below.
    Date(WrittenDate),
}

impl CellLine {
    /// The date that stands in it.
    pub(super) fn date(&self) -> Option<WrittenDate> {
        match self.cells.as_ref().ok()? {
            LineCells::Entry(cells) => cells.date,
            LineCells::Date(date) => Some(*date),
        }
    }
}

/// What lines say that others lack: a date, a year, a zone, or, in a line that is no entry, an expiry or whatever a heading may say. An
/// entry that lacks what a line like that may have meant for it is none, so that it is never another trade than was meant.
#[derive(Default)]
pub(super) struct Elsewhere {
    date: Option<u64>,
    year: Option<u64>,
    zone: Option<u64>,
    heading_zone: Option<(u64, Tz)>,
    expiry: Option<u64>,
    no_entry: Option<u64>,
}

impl Elsewhere {
    pub(super) fn of(lines: &[CellLine], dates: &[(u64, WrittenDate)]) -> Self {
        let recognised = |column: Column| {
            lines.iter().find(|line| line.recognised.contains(&column)).map(|line| line.line)
        };
        let has_zone =
            |line: &&CellLine| matches!(&line.cells, Ok(LineCells::Entry(cells)) if cells.has_shown_zone());
        Self {
            date: dates.first().map(|(line, _)| *line).or_else(|| recognised(Column::Date)),
            year: dates.iter().find(|(_, date)| date.has_year()).map(|(line, _)| *line),
            zone: lines.iter().find(has_zone).map(|line| line.line),
            heading_zone: lines.iter().find_map(|line| Some((line.line, line.zone?))),
            expiry: recognised(Column::Expiry),
            no_entry: lines.iter().find(|line| line.cells.is_err()).map(|line| line.line),
        }
    }

    /// The time zone that a line that is no entry may mean for one that names none, and that line.
    pub(super) fn zone_of(&self, cells: &Cells) -> Option<(u64, Tz)> {
        self.heading_zone.filter(|_| cells.texts[6].is_empty())
    }

    pub(super) fn check(&self, cells: &Cells) -> Result<(), String> {
        let [_, bot, symbol, _, expiry, _, zone, _] = &cells.texts;
        let lacks = |what: &str, line: u64| {
            Err(format!("it has no {what}, and line {line} has one: write it in each line"))
        };
        match (cells.date, self.date, self.year) {
            (None, Some(line), _) => return lacks("date", line),
            (Some(date), _, Some(line)) if !date.has_year() => return lacks("year", line),
            _ => {}
        }
        if let Some(line) = self.zone.filter(|_| zone.is_empty()) {
            return lacks("time zone", line);
        }
        match (self.expiry, self.no_entry) {
            (Some(line), _) if expiry.is_empty() => lacks("expiry", line),
            (_, Some(line)) if bot.is_empty() && symbol.is_empty() => Err(format!(
                "it names neither a symbol nor a bot, and line {line}, which is no entry, may: write it in each line"
            )),
            _ => Ok(()),
        }
    }
}

/// The lines that are neither blank nor begin with #, counted from 1.
pub(super) fn entry_lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    numbered(text).filter(|(_, line)| !line.starts_with('#'))
}

/// The lines that are not blank, counted from 1.
fn numbered(text: &str) -> impl Iterator<Item = (u64, &str)> {
    (1..).zip(text.lines()).map(|(line, text)| (line, text.trim())).filter(|(_, text)| !text.is_empty())
}

/// The lines behind a first one that names their columns.
pub(super) fn named_lines(text: &str, columns: &NamedColumns) -> Result<Vec<CellLine>, String> {
    let mut builder = csv::ReaderBuilder::new();
    let builder = builder.has_headers(false).trim(csv::Trim::All).flexible(true);
    let builder = builder.delimiter(columns.delimiter).comment(Some(b'#'));
    let all: Vec<&str> = text.lines().collect();
    let mut lines = Vec::new();
    for record in builder.from_reader(text.as_bytes()).records().skip(1) {
        let record = record.map_err(|error: csv::Error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let text = usize::try_from(line).ok().and_then(|line| all.get(line.checked_sub(1)?));
        let text = shown(text.map_or("", |text| text));
        let cells = columns.cells(&record).map(Box::new).map(LineCells::Entry);
        lines.push(CellLine { line, text, cells, recognised: Vec::new(), zone: None });
    }
    Ok(lines)
}

/// The lines of which each is an entry or the date of those below it, and what the cells of the entries are.
pub(super) fn shown_lines(text: &str, bots: &ListBots<'_>) -> (Vec<CellLine>, Vec<Vec<Column>>) {
    let (mut lines, mut columns) = (Vec::new(), Vec::new());
    let mut heading: Option<WrittenDate> = None;
    for (line, text) in numbered(text) {
        if let Some(left_out) = text.strip_prefix('#') {
            // The lines below it were those of that date.
            heading = heading.filter(|_| heading_of(left_out, bots).is_none());
            continue;
        }
        if let Some(date) = heading_of(text, bots) {
            heading = Some(date);
            let cells = Ok(LineCells::Date(date));
            lines.push(CellLine { line, text: shown(text), cells, recognised: Vec::new(), zone: None });
            continue;
        }
        let cells = match shown_cells(text, bots) {
            Ok(None) => continue,
            Ok(Some((mut cells, mut own))) => {
                if let Some(date) = heading.filter(|_| cells.date.is_none()) {
                    cells.date = Some(date);
                    own.insert(0, Column::Date);
                }
                columns.push(own);
                Ok(LineCells::Entry(Box::new(cells)))
            }
            Err(problem) => Err(problem),
        };
        let recognised = if cells.is_err() { recognised(text, bots) } else { Vec::new() };
        let has = |column: Column| recognised.contains(&column);
        // A line that is no entry may be the heading of another day, unless it has a time and a direction as entries have, or names
        // a time zone alone.
        let is_like_entry = !has(Column::Date) && has(Column::Time) && has(Column::Direction);
        if cells.is_err() && !is_like_entry && !is_zone_alone(text, bots) {
            heading = None;
        }
        let zone = cells.as_ref().err().and_then(|_| zone_in(text, bots));
        lines.push(CellLine { line, text: shown(text), cells, recognised, zone });
    }
    (lines, columns)
}

/// The date of a line that has nothing else.
fn heading_of(text: &str, bots: &ListBots<'_>) -> Option<WrittenDate> {
    only_cell(text, bots).and_then(|cell| WrittenDate::parse(cell.trim_end_matches(':')))
}

/// A line as it can be shown.
fn shown(text: &str) -> String {
    text.trim().replace(SELECTORS, "")
}
