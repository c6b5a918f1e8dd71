//! Lines of a signal list: their cells, and the headings that apply to the lines below.

use super::above::{
    DateSource, EndedExpiry, HeadingContext, LineModifier, comment_names_a_day, find_modifier,
    may_be_day_heading, may_name_a_day, strikeout_problem,
};
use super::columns::{Cells, Column, ListBots, NamedColumns};
use super::recognition::{
    EntryBlock, InferredLine, find_block, find_columns, infer_cells, parse_date_line, parse_expiry_line,
};
use super::split::{normalize_text, split_cells};
use super::time::{UnresolvedDate, parse_time_of_day};
use super::zones::{find_zones, parse_zone_line};
use crate::signals::message::parse_direction;
use chrono_tz::Tz;

pub(super) const MAX_ENTRIES: usize = 20_000;
const MAX_LINE_CHARS: usize = 1_000;

const EMOJI_SELECTORS: [char; 3] = ['\u{fe0e}', '\u{fe0f}', '\u{200d}'];

pub(super) struct CellLine {
    pub(super) line: u64,
    pub(super) text: String,
    pub(super) cells: Result<LineKind, String>,
    recognised: Vec<Column>,
    /// Time zones in the line. `None` stands for a zone that cannot be parsed.
    zones: Vec<Option<Tz>>,
    names_day: bool,
    modifier: Option<LineModifier>,
    pub(super) date_source: DateSource,
    pub(super) ended_expiry: Option<EndedExpiry>,
}

pub(super) enum LineKind {
    Entry(Box<Cells>),
    Date(UnresolvedDate),
    Expiry,
    Zones(Vec<Tz>),
    Gale,
    Comment,
}

impl CellLine {
    fn new(line: u64, text: &str, cells: Result<LineKind, String>) -> Self {
        let (text, recognised, zones) = (text.trim().replace(EMOJI_SELECTORS, ""), Vec::new(), Vec::new());
        let (names_day, modifier, date_source, ended_expiry) = (false, None, DateSource::Own, None);
        Self { line, text, cells, recognised, zones, names_day, modifier, date_source, ended_expiry }
    }

    pub(super) fn date(&self) -> Option<UnresolvedDate> {
        match self.cells.as_ref().ok()? {
            LineKind::Entry(cells) => cells.date,
            LineKind::Date(date) => Some(*date),
            _ => None,
        }
    }
}

/// Numbers of the first line with each detail, such as a date. Entries without this detail are then ambiguous.
pub(super) struct ListContext {
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

impl ListContext {
    pub(super) fn from_lines(lines: &[CellLine], dates: &[(u64, UnresolvedDate)]) -> Self {
        let first = |is: &dyn Fn(&CellLine) -> bool| lines.iter().find(|&line| is(line)).map(|one| one.line);
        // Each zone is stored once, so that many headings take no more time than one.
        let mut heading_zones: Vec<(u64, Option<Tz>)> = Vec::new();
        for (line, zone) in lines.iter().flat_map(|line| line.zones.iter().map(|zone| (line.line, *zone))) {
            if heading_zones.iter().all(|(_, known)| *known != zone) {
                heading_zones.push((line, zone));
            }
        }
        let has_zone = |line: &CellLine| matches!(&line.cells, Ok(LineKind::Entry(cells)) if cells.is_inferred && !cells.texts[5].is_empty());
        let dated = dates.first().map(|(line, _)| *line);
        let has_expiry = |line: &CellLine| {
            matches!(line.cells, Ok(LineKind::Expiry)) || line.recognised.contains(&Column::Expiry)
        };
        Self {
            date: dated.or_else(|| first(&|line| line.recognised.contains(&Column::Date))),
            day: first(&|line| line.names_day),
            year: dates.iter().find(|(_, date)| date.has_year()).map(|(line, _)| *line),
            zone: first(&has_zone),
            heading_zones,
            expiry: first(&has_expiry),
            no_entry: first(&|line| line.cells.is_err()),
            afternoon: first(&|line| line.modifier == Some(LineModifier::Afternoon)),
            changed: first(&|line| line.modifier == Some(LineModifier::Invalidating)),
        }
    }

    pub(super) fn heading_zones_for(&self, cells: &Cells) -> impl Iterator<Item = (u64, Option<Tz>)> {
        self.heading_zones.iter().copied().filter(|_| cells.texts[5].is_empty())
    }

    fn check_modifiers(&self, cells: &Cells, entry: u64) -> Result<(), String> {
        let hour = cells.texts[0].split(':').next().and_then(|hour| hour.trim().parse::<u8>().ok());
        let above = |line: Option<u64>| line.filter(|line| *line < entry);
        let (line, meaning) = match (above(self.changed), above(self.afternoon)) {
            (Some(line), _) => (line, "this entry must not be traded as written"),
            (None, Some(line)) if hour.is_some_and(|hour| hour < 12) => {
                (line, "the time is in the afternoon (13:00 or later)")
            }
            _ => return Ok(()),
        };
        Err(format!("line {line} may mean that {meaning}: if not, put # before line {line}"))
    }

    pub(super) fn check_entry(
        &self,
        cells: &Cells,
        entry: u64,
        source: DateSource,
        ended_expiry: Option<EndedExpiry>,
    ) -> Result<(), String> {
        let [_, bot, symbol, _, expiry, zone, ..] = &cells.texts;
        let lacks = |detail, line: u64| {
            format!("no {detail} given, but line {line} has one: write the {detail} in each line")
        };
        let has_year = cells.date.is_none_or(UnresolvedDate::has_year);
        let why = if let (None, DateSource::Ended { heading, by }) = (cells.date, source) {
            format!(
                "no date given: the date of line {heading} applies only before line {by}; write the date in each line, or again above this line"
            )
        } else if let (None, DateSource::Comment(line)) = (cells.date, source) {
            format!(
                "no date given, but the comment in line {line} names a date: write the date in each line, or on a separate line above"
            )
        } else if let Some(line) = self.date.filter(|_| cells.date.is_none()) {
            lacks("date", line)
        } else if let Some(line) = self.day.filter(|_| cells.date.is_none()) {
            format!(
                "no date given, but line {line} may name a date: write the date in each line, or put # before line {line}"
            )
        } else if let (DateSource::Heading(heading), Some(line)) = (source, self.year.filter(|_| !has_year)) {
            format!(
                "the date of line {heading} has no year, but line {line} has a year: write the year in line {heading}"
            )
        } else if let Some(line) = self.year.filter(|_| !has_year) {
            lacks("year", line)
        } else if let Some(line) = self.zone.filter(|_| zone.is_empty()) {
            format!(
                "no time zone given, but line {line} has one: write a zone in each line, or remove all zones and set signals.timezone"
            )
        } else if let Some(ended) = ended_expiry.filter(|_| expiry.is_empty()) {
            let EndedExpiry { heading_line, ended_by_line, ended_by_text } = ended;
            format!(
                "no expiry given: the expiry of line {heading_line} applies only before line {ended_by_line} ({ended_by_text:?}); write the expiry in each line, or again above this line"
            )
        } else if let Some(line) = self.expiry.filter(|_| expiry.is_empty()) {
            lacks("expiry", line)
        } else if let Some(line) = self.no_entry.filter(|_| bot.is_empty() && symbol.is_empty()) {
            format!("no symbol or bot given, but line {line} may name one: write the name in each line")
        } else {
            return self.check_modifiers(cells, entry);
        };
        Err(why)
    }
}

pub(super) fn numbered_lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    (1..).zip(text.lines()).map(|(line, text)| (line, text.trim())).filter(|(_, text)| !text.is_empty())
}

pub(super) fn parse_lines(text: &str, columns: &NamedColumns) -> Result<Vec<CellLine>, String> {
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
                "line {line}: when the first line is a header, a line with only a date does not apply to the lines below; write the date before each time, as in 2026-01-05 10:30"
            ));
        }
        let cells = columns.parse_cells(&record).map(Box::new);
        let is_entry = cells.as_ref().is_ok_and(|cells| parse_direction(&cells.texts[3]).is_ok());
        let mut own = CellLine::new(line, text, cells.map(LineKind::Entry));
        if !is_entry {
            let plain = normalize_text(text);
            (own.zones, own.names_day) = (find_zones(&plain), may_name_a_day(&plain));
            own.modifier = find_modifier(text);
        }
        lines.push(own);
        if lines.len() > MAX_ENTRIES {
            break;
        }
    }
    Ok(lines)
}

pub(super) fn infer_lines(text: &str, bots: &ListBots<'_>) -> (Vec<CellLine>, Vec<Vec<Column>>) {
    let all: Vec<(u64, &str)> = numbered_lines(text).collect();
    let mut reader =
        LineReader { bots, context: HeadingContext::default(), lines: Vec::new(), columns: Vec::new() };
    let mut block_ends = 0;
    for (place, (line, written)) in all.iter().copied().enumerate() {
        if reader.lines.len() > MAX_ENTRIES {
            break;
        }
        if place < block_ends {
            continue;
        }
        let begins = place == 0 || all[place - 1].0 + 1 < line;
        match Some(&all[place..]).filter(|_| begins).and_then(|lines| find_block(lines, bots)) {
            Some(EntryBlock { text, cells, columns, line_count }) => {
                block_ends = place + line_count;
                reader.push_entry((line, &text), cells, columns);
            }
            None => reader.read(line, written),
        }
    }
    (reader.lines, reader.columns)
}

struct LineReader<'a> {
    bots: &'a ListBots<'a>,
    context: HeadingContext,
    lines: Vec<CellLine>,
    columns: Vec<Vec<Column>>,
}

impl LineReader<'_> {
    fn read(&mut self, line: u64, written: &str) {
        let new = |cells| CellLine::new(line, written, cells);
        if written.chars().nth(MAX_LINE_CHARS).is_some() {
            self.context.clear_date(line);
            self.context.clear_expiry((line, written));
            let problem = format!("the line has more than {MAX_LINE_CHARS} characters");
            self.lines.push(new(Err(problem)));
            return;
        }
        let text = &normalize_text(written);
        if let Some(left_out) = text.strip_prefix('#') {
            self.read_comment(left_out, new(Ok(LineKind::Comment)), written);
        } else if let Some(problem) = strikeout_problem(written) {
            self.push_non_entry(&text.replace('~', " "), new(Err(problem)), true);
        } else if let Some(date) = parse_date_line(text, self.bots) {
            self.context.set_date(date, (line, written));
            self.lines.push(new(Ok(LineKind::Date(date))));
        } else if let Some(expiry) = parse_expiry_line(text, self.bots) {
            self.context.set_expiry(expiry, line);
            self.lines.push(new(Ok(LineKind::Expiry)));
        } else {
            match infer_cells(text, self.bots) {
                Ok(InferredLine::Nothing) => {}
                Ok(InferredLine::Gale) => self.lines.push(new(Ok(LineKind::Gale))),
                Ok(InferredLine::Entry(cells, columns)) => self.push_entry((line, written), cells, columns),
                Err(problem) => self.push_non_entry(text, new(Err(problem)), false),
            }
        }
    }

    fn read_comment(&mut self, text: &str, comment: CellLine, written: &str) {
        if comment_names_a_day(text) {
            self.context.record_day_comment(comment.line);
        } else if may_name_a_day(text) {
            self.context.clear_date(comment.line);
        }
        let recognised = find_columns(text, self.bots);
        if recognised.contains(&Column::Expiry) {
            self.context.clear_expiry((comment.line, written));
        }
        if has_entry_columns(&recognised) {
            self.lines.push(comment);
        }
    }

    fn push_entry(&mut self, (line, text): (u64, &str), mut cells: Box<Cells>, mut columns: Vec<Column>) {
        let date_source = self.context.apply_date(&mut cells, &mut columns, line);
        let ended_expiry = self.context.apply_expiry(&mut cells, &mut columns, (line, text));
        self.columns.push(columns);
        let entry = CellLine::new(line, text, date_source.clone().map(|_| LineKind::Entry(cells)));
        self.lines.push(CellLine { date_source: date_source.unwrap_or_default(), ended_expiry, ..entry });
    }

    fn push_non_entry(&mut self, text: &str, line: CellLine, is_struck_out: bool) {
        let recognised = find_columns(text, self.bots);
        let is_like_entry = has_entry_columns(&recognised);
        let may_be_named = may_name_a_day(text);
        let alone = if may_be_named { Vec::new() } else { parse_zone_line(text) };
        let is_other = !is_like_entry && alone.is_empty();
        let names_day = may_be_named || (is_other && may_be_day_heading(text));
        if names_day || is_other {
            self.context.clear_date(line.line);
        } else {
            let time = split_cells(text, self.bots).iter().find_map(|cell| parse_time_of_day(cell));
            self.context.record_untraded_time(time, line.line);
        }
        if recognised.contains(&Column::Expiry) || is_other {
            self.context.clear_expiry((line.line, &line.text));
        }
        let cells = if alone.is_empty() { line.cells } else { Ok(LineKind::Zones(alone)) };
        let modifier = if is_like_entry || is_struck_out { None } else { find_modifier(text) };
        self.lines.push(CellLine { cells, recognised, zones: find_zones(text), names_day, modifier, ..line });
    }
}

pub(super) fn has_entry_columns(recognised: &[Column]) -> bool {
    [Column::Time, Column::Direction].iter().all(|column| recognised.contains(column))
}
