//! The file: an entry a line, behind a first line that names the columns or without one.

use super::clock_time::{ClockTime, WeekDays};
use super::columns::{Cells, Columns, TIMES};
use crate::signals::message::direction_of;
use crate::signals::signal_bots;
use candlewick_engine::{BotId, BotSettings, SignalReason};
use candlewick_runtime::control::SignalBots;
use candlewick_sandbox::parse_time;
use candlewick_sdk::{CloseType, Direction, Millis};
use chrono::{DateTime, NaiveDateTime, NaiveTime, TimeZone as _};
use chrono_tz::Tz;

/// More is no list.
pub(super) const MAX_BYTES: u64 = 4_000_000;
const MAX_ENTRIES: usize = 20_000;
/// Local times with a date.
const LOCAL: [&str; 4] = ["%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"];

/// A trade that the list asks for, once or again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListEntry {
    pub(crate) when: When,
    pub(crate) bot: BotId,
    pub(crate) direction: Direction,
    pub(crate) close_type: Option<CloseType>,
    pub(crate) reason: SignalReason,
    /// Counted from 1.
    pub(crate) line: u64,
}

/// When an entry is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Once(Millis),
    Daily(ClockTime),
}

impl When {
    /// The moments after `from` and not after `to`, ascending.
    pub(crate) fn between(self, from: Millis, to: Millis) -> impl Iterator<Item = Millis> {
        let (once, daily) = match self {
            Self::Once(at) => (Some(at), None),
            Self::Daily(time) => (None, Some(time)),
        };
        let once = once.into_iter().filter(move |at| from < *at && *at <= to);
        once.chain(daily.into_iter().flat_map(move |time| time.between(from, to)))
    }

    /// The first moment after `from`.
    pub(crate) fn next_after(self, from: Millis) -> Option<Millis> {
        match self {
            Self::Once(at) => (at > from).then_some(at),
            Self::Daily(time) => time.next_after(from),
        }
    }

    /// Whether both may mean one moment, written the same way.
    fn is_same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Once(one), Self::Once(other)) => one == other,
            (Self::Daily(one), Self::Daily(other)) => {
                (one.time, one.zone) == (other.time, other.zone) && one.days.meet(other.days)
            }
            _ => false,
        }
    }
}

/// The entries of a file, in its order, and what its columns were taken for where it does not name them.
///
/// # Errors
/// What is wrong, in which line, and what is allowed.
pub(super) fn parse(
    text: &str,
    bots: &[BotSettings],
    zone: Tz,
) -> Result<(Vec<ListEntry>, Option<String>), String> {
    let text = text.trim_start_matches('\u{feff}');
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let delimiter = if first.contains(';') { b';' } else { b',' };
    // Only a reason needs quotes, and it has a column with a name. One that is left open would make one entry of two lines.
    let is_named = first.split(char::from(delimiter)).any(|cell| cell.trim().trim_matches('"') == "time");
    let mut builder = csv::ReaderBuilder::new();
    let builder =
        builder.has_headers(false).trim(csv::Trim::All).flexible(true).delimiter(delimiter).quoting(is_named);
    let mut reader = builder.from_reader(text.as_bytes());
    let mut records = reader.records();
    let first = records.next().transpose().map_err(|error| error.to_string())?.unwrap_or_default();
    let columns = Columns::of(&first, bots)?;
    let first = columns.are_shown().then_some(Ok(first));
    let known = signal_bots(bots);
    let mut entries: Vec<ListEntry> = Vec::new();
    for record in first.into_iter().chain(records) {
        let record = record.map_err(|error: csv::Error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let wrong = |problem: String| format!("line {line}: {problem}");
        let cells = columns.cells(&record, bots).map_err(wrong)?;
        entries.push(entry_of(&cells, line, (&known, zone)).map_err(wrong)?);
        if entries.len() > MAX_ENTRIES {
            return Err(wrong(format!("at most {MAX_ENTRIES} entries are possible")));
        }
    }
    check_twins(&entries, bots)?;
    Ok((entries, columns.words()))
}

fn entry_of(cells: &Cells, line: u64, (bots, zone): (&SignalBots, Tz)) -> Result<ListEntry, String> {
    let [time, bot, symbol, direction, close_type, days, own_zone, reason] =
        cells.each_ref().map(String::as_str);
    let own_zone = match own_zone {
        "" => None,
        name => Some(name.parse::<Tz>().map_err(|_| {
            format!("{name:?} is no time zone: use an IANA name such as America/Sao_Paulo or UTC")
        })?),
    };
    let close_type = match close_type {
        "" => None,
        code => Some(code.parse::<CloseType>().map_err(|error| format!("{error}, or M5, H1"))?),
    };
    Ok(ListEntry {
        when: when_of(time, days, own_zone.unwrap_or(zone))?,
        bot: bot_of(bot, symbol, bots)?,
        direction: direction_of(direction)?,
        close_type,
        reason: SignalReason::new(reason).ok_or("the reason is too long: at most 47 bytes")?,
        line,
    })
}

fn when_of(text: &str, days: &str, zone: Tz) -> Result<When, String> {
    if let Some(time) = TIMES.iter().find_map(|form| NaiveTime::parse_from_str(text, form).ok()) {
        return Ok(When::Daily(ClockTime { time, zone, days: WeekDays::parse(days)? }));
    }
    if !days.is_empty() {
        return Err(format!("days belong to a time of day such as 10:30, and {text:?} is a single moment"));
    }
    if let Ok(ms) = text.parse::<i64>() {
        // The years 2001 to 2286, so that seconds are not taken for milliseconds.
        let is_ms = (1_000_000_000_000..10_000_000_000_000).contains(&ms);
        return if is_ms {
            Ok(When::Once(Millis::new(ms)))
        } else {
            Err(format!("{text} is no time: a number is milliseconds since 1970, such as 1767616200000"))
        };
    }
    if let Some(local) = LOCAL.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok()) {
        let moment = zone.from_local_datetime(&local).earliest().ok_or_else(|| {
            format!("there is no {text} in {zone}: the clock is put forward over it that night")
        })?;
        return Ok(When::Once(Millis::new(moment.timestamp_millis())));
    }
    let zoned = || DateTime::parse_from_rfc3339(text).is_ok() || text.ends_with(['Z', 'z']);
    parse_time(text).filter(|_| zoned()).map(When::Once).ok_or_else(|| {
        format!(
            "{text:?} is no time: use 10:30 (each day), 2026-01-05 10:30 (in the zone), 2026-01-05T10:30:00Z, or milliseconds since 1970"
        )
    })
}

/// The bot of an entry; one that names none is of the only one.
fn bot_of(name: &str, symbol: &str, bots: &SignalBots) -> Result<BotId, String> {
    let is_only = name.is_empty() && symbol.is_empty() && bots.symbols().count() == 1;
    let written = |text| Some(text).filter(|text: &&str| !text.is_empty());
    let place = if is_only { 0 } else { bots.find(written(name), written(symbol))? };
    BotId::new(place).ok_or_else(|| "there are too many bots".to_owned())
}

/// Two entries of one bot for one moment, written the same way, are a slip of whoever wrote them.
fn check_twins(entries: &[ListEntry], bots: &[BotSettings]) -> Result<(), String> {
    let mut sorted: Vec<&ListEntry> = entries.iter().collect();
    let key = |entry: &&ListEntry| {
        let when = match entry.when {
            When::Once(at) => (at.get(), None),
            When::Daily(daily) => (0, Some((daily.time, daily.zone.name()))),
        };
        (entry.bot, when)
    };
    sorted.sort_by_key(key);
    for group in sorted.chunk_by(|one, other| key(one) == key(other)) {
        for (index, entry) in group.iter().enumerate() {
            if let Some(earlier) = group[..index].iter().find(|earlier| earlier.when.is_same(entry.when)) {
                let name = bots.get(entry.bot.index()).map_or("", |bot| bot.name.as_str());
                let (line, first) = (entry.line.max(earlier.line), entry.line.min(earlier.line));
                return Err(format!(
                    "line {line}: line {first} asks {name} for a trade at that time already: keep one of them"
                ));
            }
        }
    }
    Ok(())
}
