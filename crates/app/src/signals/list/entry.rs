//! Parsing of list files: one entry per line, with or without a header line.

use super::columns::{Cells, ListBots, NamedColumns, describe_columns, suggest_header};
use super::duplicates::mark_duplicates;
use super::lines::{CellLine, LineKind, ListContext, MAX_ENTRIES, infer_lines, numbered_lines, parse_lines};
use super::time::{
    ListDate, RecurringTime, UnresolvedDate, WeekDays, from_unix_millis, infer_date_order, is_leap_second,
    parse_time_of_day,
};
use super::zones::{parse_zone, zone_label};
use crate::configuration::{DateOrder, SignalSettings};
use crate::signals::message::parse_direction;
use candlewick_engine::{BotId, BotSettings, SignalReason, invalid_time_zone_hint};
use candlewick_runtime::control::SignalBots;
use candlewick_sandbox::{has_time_zone, parse_time};
use candlewick_sdk::{CloseType, Direction, Millis};
use chrono::{DateTime, NaiveDateTime, TimeZone as _};
use chrono_tz::Tz;

const MAX_QUOTED_CHARS: usize = 60;
const DATE_TIME_FORMATS: [&str; 4] =
    ["%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListEntry {
    pub(crate) time: EntryTime,
    pub(crate) bot: BotId,
    pub(crate) direction: Direction,
    pub(crate) close_type: Option<CloseType>,
    pub(crate) reason: SignalReason,
    pub(crate) line: u64,
}

impl ListEntry {
    pub(super) fn requests_same_trade(&self, other: &Self) -> bool {
        (self.direction, self.close_type) == (other.direction, other.close_type)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryTime {
    Once(Millis),
    Daily(RecurringTime),
}

impl EntryTime {
    pub(crate) fn times_between(self, from: Millis, to: Millis) -> impl Iterator<Item = Millis> {
        let (once, daily) = match self {
            Self::Once(at) => (Some(at), None),
            Self::Daily(time) => (None, Some(time)),
        };
        let once = once.into_iter().filter(move |at| from < *at && *at <= to);
        once.chain(daily.into_iter().flat_map(move |time| time.times_between(from, to)))
    }

    pub(crate) const fn fixed_time(self) -> Option<Millis> {
        match self {
            Self::Once(at) => Some(at),
            Self::Daily(_) => None,
        }
    }

    pub(crate) fn next_after(self, from: Millis) -> Option<Millis> {
        match self {
            Self::Once(at) => (at > from).then_some(at),
            Self::Daily(time) => time.next_after(from),
        }
    }

    pub(crate) fn describe(self) -> String {
        match self {
            Self::Once(at) => super::signal_id_at(at).to_string(),
            Self::Daily(time) => time.describe(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListOptions {
    pub(crate) zone: Tz,
    /// Day and month order of ambiguous dates. If `None`, the order is inferred from the list.
    pub(crate) date_order: Option<DateOrder>,
    pub(crate) skip_unknown: bool,
}

impl ListOptions {
    pub(crate) fn from_settings(signals: &SignalSettings) -> Self {
        Self { zone: signals.zone(), date_order: signals.dates, skip_unknown: signals.skip_unknown }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct ParsedLine {
    pub(crate) line: u64,
    pub(crate) text: String,
    pub(crate) has_gale: bool,
    pub(crate) outcome: LineOutcome,
}

#[derive(Clone, Debug)]
pub(crate) enum LineOutcome {
    Entry(ListEntry, Tz),
    Date,
    Expiry,
    Zones(Vec<Tz>),
    Gale,
    Comment,
    Repeats(u64),
    Contradicts(String),
    Unknown(String),
}

impl ParsedLine {
    pub(super) fn rejection_message(&self, problem: &str) -> String {
        let text: String = self.text.chars().take(MAX_QUOTED_CHARS).collect();
        format!(
            "line {}: {problem} ({text:?}). Put # before the line to skip this line, or set signals.skip_unknown = true to skip all unknown lines",
            self.line
        )
    }
}

pub(super) fn read_lines(
    text: &str,
    bots: &[BotSettings],
    terms: ListOptions,
) -> Result<(Vec<ParsedLine>, Option<String>), String> {
    let text = text.trim_start_matches('\u{feff}');
    let known = ListBots::new(bots);
    let Some((_, first)) = numbered_lines(text).find(|(_, line)| !line.starts_with('#')) else {
        let is_empty = text.trim().is_empty();
        let problem = if is_empty { "the list is empty" } else { "all lines are comments" };
        return Err(format!("{problem}: an entry looks like M5;EURUSD;10:00;CALL"));
    };
    let named = NamedColumns::parse(first, &known)?;
    let (mut lines, columns) = match &named {
        Some(named) => (parse_lines(text, named)?, Vec::new()),
        None => infer_lines(text, &known),
    };
    if let (None, Some(CellLine { cells: cells @ Err(_), .. }), Some(meant)) =
        (&named, lines.first_mut(), suggest_header(first))
    {
        *cells = Err(meant);
    }
    let is_not_entry = |line: &CellLine| !matches!(line.cells, Ok(LineKind::Entry(_)) | Err(_));
    if named.is_none() && lines.iter().all(is_not_entry) {
        return Err("the list has no entries: an entry looks like M5;EURUSD;10:00;CALL".to_owned());
    }
    if let Some(line) = lines.get(MAX_ENTRIES) {
        return Err(format!("line {}: the list has more than {MAX_ENTRIES} entries", line.line));
    }
    let dates: Vec<(u64, UnresolvedDate)> =
        lines.iter().filter_map(|line| Some((line.line, line.date()?))).collect();
    let order = infer_date_order(&dates, terms.date_order)?;
    let context = ListContext::from_lines(&lines, &dates);
    let terms = (&known.signal_bots, terms.zone);
    let read = |CellLine { line, text, cells, date_source, ended_expiry, .. }: CellLine| {
        let has_gale = matches!(&cells, Ok(LineKind::Entry(cells)) if cells.has_gale);
        let outcome = match cells {
            Ok(LineKind::Date(_)) => LineOutcome::Date,
            Ok(LineKind::Expiry) => LineOutcome::Expiry,
            Ok(LineKind::Zones(zones)) => LineOutcome::Zones(zones),
            Ok(LineKind::Gale) => LineOutcome::Gale,
            Ok(LineKind::Comment) => LineOutcome::Comment,
            Ok(LineKind::Entry(cells)) => {
                let date = cells.date.and_then(|date| date.resolve(order.unwrap_or(DateOrder::DayFirst)));
                let checked = context.check_entry(&cells, line, date_source, ended_expiry);
                let entry = checked.and_then(|()| {
                    let entry = build_entry(&cells, line, terms, date)?;
                    for (heading, zone) in context.heading_zones_for(&cells) {
                        let zone = zone.ok_or_else(|| ambiguous_zone_problem(heading))?;
                        // A time zone in a heading is accepted if it yields the same time as the configured zone.
                        if build_entry(&cells, line, (terms.0, zone), date)?.0.time != entry.0.time {
                            return Err(zone_mismatch_problem(heading, zone));
                        }
                    }
                    Ok(entry)
                });
                entry.map_or_else(LineOutcome::Unknown, |(entry, zone)| LineOutcome::Entry(entry, zone))
            }
            Err(problem) => LineOutcome::Unknown(problem),
        };
        ParsedLine { line, text, has_gale, outcome }
    };
    let mut read: Vec<ParsedLine> = lines.into_iter().map(read).collect();
    mark_duplicates(&mut read, bots);
    let has_year = dates.iter().all(|(_, date)| date.has_year());
    let labels =
        named.is_none().then(|| describe_columns(&columns, order, has_year)).filter(|all| !all.is_empty());
    Ok((read, labels))
}

fn build_entry(
    cells: &Cells,
    line: u64,
    (bots, zone): (&SignalBots, Tz),
    date: Option<ListDate>,
) -> Result<(ListEntry, Tz), String> {
    let [time, bot, symbol, direction, close_type, own_zone, days, reason] =
        cells.texts.each_ref().map(String::as_str);
    let zone = match own_zone {
        "" => zone,
        name => parse_zone(name)
            .ok_or_else(|| format!("unknown time zone {name:?}: {}", invalid_time_zone_hint(name)))?,
    };
    let close_type = match close_type {
        "" => None,
        code => Some(code.parse::<CloseType>().map_err(|error| format!("{error}, or M5, H1"))?),
    };
    let when = match date {
        Some(ListDate { year, month, day }) => {
            let time = parse_time_of_day(time).ok_or_else(|| format!("{time:?} is not a time of day"))?;
            let (days, date) = (WeekDays::parse("")?, Some((month, day)));
            match year {
                None => EntryTime::Daily(RecurringTime { time, zone, days, date }),
                Some(year) => parse_entry_time(&format!("{year:04}-{month:02}-{day:02} {time}"), "", zone)?,
            }
        }
        None => parse_entry_time(time, days, zone)?,
    };
    // An entry that names neither bot nor symbol belongs to the only bot.
    let is_only = bot.is_empty() && symbol.is_empty() && bots.symbols().count() == 1;
    let written = |text| Some(text).filter(|text: &&str| !text.is_empty());
    let place = if is_only { 0 } else { bots.find(written(bot), written(symbol))? };
    let entry = ListEntry {
        time: when,
        bot: BotId::new(place).ok_or("the list names too many bots")?,
        direction: parse_direction(direction)?,
        close_type,
        reason: SignalReason::new(reason).ok_or("the reason is too long: at most 47 bytes")?,
        line,
    };
    Ok((entry, zone))
}

fn ambiguous_zone_problem(heading: u64) -> String {
    format!(
        "line {heading} seems to name an ambiguous time zone: write a zone such as UTC-3 in each line, or put # before line {heading} if signals.timezone is right"
    )
}

fn zone_mismatch_problem(heading: u64, zone: Tz) -> String {
    let zone = zone_label(zone);
    format!(
        "line {heading} names the zone {zone}, but signals.timezone gives a different time: write {zone} in each line, or put # before line {heading}"
    )
}

fn parse_entry_time(text: &str, days: &str, zone: Tz) -> Result<EntryTime, String> {
    if let Some(time) = parse_time_of_day(text) {
        return Ok(EntryTime::Daily(RecurringTime { time, zone, days: WeekDays::parse(days)?, date: None }));
    }
    if !days.is_empty() {
        return Err(format!("days apply to a time of day such as 10:30, not to {text:?}"));
    }
    if let Ok(ms) = text.parse::<i64>() {
        let wrong =
            || format!("{text} is not a time: numbers are milliseconds since 1970, such as 1767616200000");
        return from_unix_millis(ms).map(EntryTime::Once).ok_or_else(wrong);
    }
    let local = DATE_TIME_FORMATS.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok());
    if let Some(local) = local.filter(|local| !is_leap_second(local)) {
        let skipped = || format!("{text} does not exist in {zone}: daylight saving time skips this time");
        let moment = zone.from_local_datetime(&local).earliest().ok_or_else(skipped)?;
        return Ok(EntryTime::Once(Millis::new(moment.timestamp_millis())));
    }
    let zoned = || match DateTime::parse_from_rfc3339(text) {
        Ok(time) => !is_leap_second(&time),
        Err(_) => has_time_zone(text),
    };
    parse_time(text).filter(|_| zoned()).map(EntryTime::Once).ok_or_else(|| {
        format!(
            "{text:?} is not a time: use 10:30 (each day), 2026-01-05 10:30 (in the zone), 2026-01-05T10:30:00Z, or milliseconds since 1970"
        )
    })
}
