//! Lines of a list: their cells, and the dates that headings give the lines below.

use super::above::{Above, Day, EndedExpiry};
use super::block::{Block, block_of};
use super::columns::{Cells, Column, ListBots, NamedColumns};
use super::date::WrittenDate;
use super::heading::{comment_names_a_day, may_head_a_day, may_name_a_day};
use super::plain::plain;
use super::sense::{Sense, sense_of, struck_out};
use super::shown::{Shown, only_cell, only_expiry, recognised, shown_cells, time_in};
use super::zones::{zones_alone, zones_in};
use crate::signals::message::direction_of;
use chrono_tz::Tz;

pub(super) const MAX_ENTRIES: usize = 20_000;
/// Maximum length of a line in characters.
const LONGEST: usize = 1_000;

/// Variation selectors and joiners, which only affect rendering.
const SELECTORS: [char; 3] = ['\u{fe0e}', '\u{fe0f}', '\u{200d}'];

pub(super) struct CellLine {
    pub(super) line: u64,
    pub(super) text: String,
    pub(super) cells: Result<LineCells, String>,
    recognised: Vec<Column>,
    /// Time zones in the line; `None` for one that cannot be parsed.
    zones: Vec<Option<Tz>>,
    names_day: bool,
    sense: Option<Sense>,
    pub(super) day: Day,
    pub(super) ended_expiry: Option<EndedExpiry>,
}

pub(super) enum LineCells {
    Entry(Box<Cells>),
    Date(WrittenDate),
    Expiry,
    Zones(Vec<Tz>),
    Gale,
    Comment,
}

impl CellLine {
    fn new(line: u64, text: &str, cells: Result<LineCells, String>) -> Self {
        let (recognised, zones) = (Vec::new(), Vec::new());
        Self {
            line,
            text: shown(text),
            cells,
            recognised,
            zones,
            names_day: false,
            sense: None,
            day: Day::Own,
            ended_expiry: None,
        }
    }

    pub(super) fn date(&self) -> Option<WrittenDate> {
        match self.cells.as_ref().ok()? {
            LineCells::Entry(cells) => cells.date,
            LineCells::Date(date) => Some(*date),
            LineCells::Expiry | LineCells::Zones(_) | LineCells::Gale | LineCells::Comment => None,
        }
    }
}

/// Information in other lines that an entry may lack: date, year, zone, expiry or a heading.
///
/// An entry that lacks such information is rejected, so that it never becomes a trade that was not
/// meant.
#[derive(Default)]
pub(super) struct Elsewhere {
    date: Option<u64>,
    day: Option<u64>,
    year: Option<u64>,
    zone: Option<u64>,
    heading_zones: Vec<(u64, Option<Tz>)>,
    expiry: Option<u64>,
    no_entry: Option<u64>,
    afternoon: Option<u64>,
    changed: Option<u64>,
}

impl Elsewhere {
    pub(super) fn of(lines: &[CellLine], dates: &[(u64, WrittenDate)]) -> Self {
        let recognised = |column: Column| {
            lines.iter().find(|line| line.recognised.contains(&column)).map(|line| line.line)
        };
        let has_expiry = |line: &&CellLine| {
            matches!(line.cells, Ok(LineCells::Expiry)) || line.recognised.contains(&Column::Expiry)
        };
        // Each once, where it stands first: so many headings cost no more than they say.
        let mut heading_zones: Vec<(u64, Option<Tz>)> = Vec::new();
        for (line, zone) in lines.iter().flat_map(|line| line.zones.iter().map(|zone| (line.line, *zone))) {
            if heading_zones.iter().all(|(_, known)| *known != zone) {
                heading_zones.push((line, zone));
            }
        }
        let has_zone =
            |line: &&CellLine| matches!(&line.cells, Ok(LineCells::Entry(cells)) if cells.has_shown_zone());
        Self {
            date: dates.first().map(|(line, _)| *line).or_else(|| recognised(Column::Date)),
            day: lines.iter().find(|line| line.names_day).map(|line| line.line),
            year: dates.iter().find(|(_, date)| date.has_year()).map(|(line, _)| *line),
            zone: lines.iter().find(has_zone).map(|line| line.line),
            heading_zones,
            expiry: lines.iter().find(has_expiry).map(|line| line.line),
            no_entry: lines.iter().find(|line| line.cells.is_err()).map(|line| line.line),
            afternoon: lines.iter().find(|line| line.sense == Some(Sense::Afternoon)).map(|line| line.line),
            changed: lines.iter().find(|line| line.sense == Some(Sense::Other)).map(|line| line.line),
        }
    }

    pub(super) fn zones_of(&self, cells: &Cells) -> impl Iterator<Item = (u64, Option<Tz>)> {
        self.heading_zones.iter().copied().filter(|_| cells.texts[6].is_empty())
    }

    pub(super) fn check_sense(&self, cells: &Cells, entry: u64) -> Result<(), String> {
        let held = |line: u64, what: &str| {
            Err(format!(
                "line {line}, which is no entry, may mean that {what}: put # before that line if it does not"
            ))
        };
        let hour = cells.texts[0].split(':').next().and_then(|hour| hour.trim().parse::<u8>().ok());
        match (self.changed.filter(|line| *line < entry), self.afternoon.filter(|line| *line < entry)) {
            (Some(line), _) => held(line, "it is not to be traded as it stands"),
            (None, Some(line)) if hour.is_some_and(|hour| hour < 12) => {
                held(line, "its time is of the afternoon, which is written 13:00 and later")
            }
            _ => Ok(()),
        }
    }

    pub(super) fn check(
        &self,
        cells: &Cells,
        day: Day,
        ended_expiry: Option<EndedExpiry>,
    ) -> Result<(), String> {
        let [_, bot, symbol, _, expiry, _, zone, _] = &cells.texts;
        let lacks = |what: &str, line: u64| {
            Err(format!("it has no {what}, and line {line} has one: write it in each line"))
        };
        match (cells.date, self.date, self.year, day) {
            (None, _, _, Day::Ended { heading, by }) => {
                return Err(format!(
                    "it has no date: line {by} ended that of line {heading}; write the date in each line, or once more above it"
                ));
            }
            (None, _, _, Day::Commented(line)) => {
                return Err(format!(
                    "it has no date, and line {line}, behind #, names one: write the date in each line, or alone in a line above it"
                ));
            }
            (None, Some(line), _, _) => return lacks("date", line),
            (None, None, _, _) if self.day.is_some() => {
                return Err(format!(
                    "it has no date, and line {}, which is no entry, may name one: write the date in each line, or put # before that line",
                    self.day.unwrap_or_default()
                ));
            }
            (Some(date), _, Some(line), Day::Above(heading)) if !date.has_year() => {
                return Err(format!(
                    "its date is that of line {heading}, which has no year, and line {line} has one: write the year in line {heading}"
                ));
            }
            (Some(date), _, Some(line), _) if !date.has_year() => return lacks("year", line),
            _ => {}
        }
        if let Some(line) = self.zone.filter(|_| zone.is_empty()) {
            return Err(format!(
                "it has no time zone, and line {line} has one: write the zone in each line, or in none and set signals.timezone"
            ));
        }
        if let Some(EndedExpiry { heading, by, text }) = ended_expiry.filter(|_| expiry.is_empty()) {
            return Err(format!(
                "it has no expiry: line {by} ({text:?}) ended that of line {heading}; write the expiry in each line, or once more above it"
            ));
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

pub(super) fn entry_lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    numbered(text).filter(|(_, line)| !line.starts_with('#'))
}

fn numbered(text: &str) -> impl Iterator<Item = (u64, &str)> {
    (1..).zip(text.lines()).map(|(line, text)| (line, text.trim())).filter(|(_, text)| !text.is_empty())
}

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
        let text = text.copied().unwrap_or("");
        let mut written = record.iter().filter(|cell| !cell.is_empty());
        let alone = written.next().filter(|_| written.next().is_none());
        if alone.is_some_and(may_name_a_day) {
            return Err(format!(
                "line {line}: a date alone is no entry where the first line names the columns: write it before the time of each line, such as 2026-01-05 10:30"
            ));
        }
        let cells = columns.cells(&record).map(Box::new);
        let is_entry = cells.as_ref().is_ok_and(|cells| direction_of(&cells.texts[3]).is_ok());
        let zones = if is_entry { Vec::new() } else { zones_in(&plain(text)) };
        let names_day = !is_entry && may_name_a_day(&plain(text));
        let own = CellLine::new(line, text, cells.map(LineCells::Entry));
        let sense = if is_entry { None } else { sense_of(text) };
        lines.push(CellLine { zones, names_day, sense, ..own });
        if lines.len() > MAX_ENTRIES {
            break;
        }
    }
    Ok(lines)
}

pub(super) fn shown_lines(text: &str, bots: &ListBots<'_>) -> (Vec<CellLine>, Vec<Vec<Column>>) {
    let (mut lines, mut columns) = (Vec::new(), Vec::new());
    let mut above = Above::default();
    let all: Vec<(u64, &str)> = numbered(text).collect();
    let mut block_ends = 0;
    for (place, (line, written)) in all.iter().copied().enumerate() {
        if lines.len() > MAX_ENTRIES {
            break;
        }
        if place < block_ends {
            continue;
        }
        let begins = place == 0 || all[place - 1].0 + 1 < line;
        if let Some(Block { text, mut cells, columns: mut own, count }) =
            Some(&all[place..]).filter(|_| begins).and_then(|lines| block_of(lines, bots))
        {
            block_ends = place + count;
            let day = above.date(&mut cells, &mut own, line);
            let ended_expiry = above.expiry(&mut cells, &mut own, (line, &text));
            columns.push(own);
            let entry = CellLine::new(line, &text, day.clone().map(|_| LineCells::Entry(cells)));
            lines.push(CellLine { day: day.unwrap_or_default(), ended_expiry, ..entry });
            continue;
        }
        if written.chars().nth(LONGEST).is_some() {
            above.end(line);
            above.end_expiry((line, written));
            let problem = format!("it has more than {LONGEST} letters, which no line of a list has");
            lines.push(CellLine::new(line, written, Err(problem)));
            continue;
        }
        let text = &plain(written);
        let new = |cells| CellLine::new(line, written, cells);
        if let Some(left_out) = text.strip_prefix('#') {
            // The lines below it may have been those of another day.
            if comment_names_a_day(left_out) {
                above.comment(line);
            } else if may_name_a_day(left_out) {
                above.end(line);
            }
            let recognised = recognised(left_out, bots);
            if recognised.contains(&Column::Expiry) {
                above.end_expiry((line, written));
            }
            if is_like_entry(&recognised) {
                lines.push(new(Ok(LineCells::Comment)));
            }
            continue;
        }
        if let Some(problem) = struck_out(written) {
            let text = text.replace('~', " ");
            let line = no_entry(&text, bots, new(Err(problem)), &mut above);
            lines.push(CellLine { sense: None, ..line });
            continue;
        }
        if let Some(date) = heading_of(text, bots) {
            above.begin(date, (line, written));
            lines.push(new(Ok(LineCells::Date(date))));
            continue;
        }
        if let Some(expiry) = only_expiry(text, bots) {
            above.begin_expiry(expiry, line);
            lines.push(new(Ok(LineCells::Expiry)));
            continue;
        }
        match shown_cells(text, bots) {
            Ok(Shown::Nothing) => {}
            Ok(Shown::Gale) => lines.push(new(Ok(LineCells::Gale))),
            Ok(Shown::Entry(mut cells, mut own)) => {
                let day = above.date(&mut cells, &mut own, line);
                let ended_expiry = above.expiry(&mut cells, &mut own, (line, written));
                columns.push(own);
                let entry = new(day.clone().map(|_| LineCells::Entry(cells)));
                lines.push(CellLine { day: day.unwrap_or_default(), ended_expiry, ..entry });
            }
            Err(problem) => lines.push(no_entry(text, bots, new(Err(problem)), &mut above)),
        }
    }
    (lines, columns)
}

pub(super) fn is_like_entry(recognised: &[Column]) -> bool {
    [Column::Time, Column::Direction].iter().all(|column| recognised.contains(column))
}

fn no_entry(text: &str, bots: &ListBots<'_>, line: CellLine, above: &mut Above) -> CellLine {
    let recognised = recognised(text, bots);
    let is_like_entry = is_like_entry(&recognised);
    let may_be_named = may_name_a_day(text);
    let alone = if may_be_named { Vec::new() } else { zones_alone(text) };
    let names_day = may_be_named || (!is_like_entry && alone.is_empty() && may_head_a_day(text));
    if names_day || (!is_like_entry && alone.is_empty()) {
        above.end(line.line);
    } else {
        above.pass(time_in(text, bots), line.line);
    }
    if recognised.contains(&Column::Expiry) || (!is_like_entry && alone.is_empty()) {
        above.end_expiry((line.line, &line.text));
    }
    let cells = if alone.is_empty() { line.cells } else { Ok(LineCells::Zones(alone)) };
    let sense = if is_like_entry { None } else { sense_of(text) };
    CellLine { cells, recognised, zones: zones_in(text), names_day, sense, ..line }
}

fn heading_of(text: &str, bots: &ListBots<'_>) -> Option<WrittenDate> {
    only_cell(text, bots).and_then(|cell| WrittenDate::parse(cell.trim_end_matches(':')))
}

fn shown(text: &str) -> String {
    text.trim().replace(SELECTORS, "")
}
