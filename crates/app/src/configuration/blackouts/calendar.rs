//! Blackouts from iCalendar files (RFC 5545). Each event blocks new trades on all symbols.

use super::MAX_SPANS;
use candlewick_engine::Blackout;
use candlewick_sdk::Millis;
use chrono::{LocalResult, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone};
use chrono_tz::Tz;

/// Properties of recurring events. Such events are rejected, because incomplete support could miss some dates.
const RECURRENCE_PROPERTIES: [&str; 5] = ["RRULE", "RDATE", "EXRULE", "EXDATE", "RECURRENCE-ID"];

struct ContentLine {
    number: usize,
    name: String,
    zone: Option<String>,
    value: String,
}

#[derive(Clone, Copy, PartialEq)]
enum EventTime {
    Day(NaiveDate),
    Time(NaiveDateTime, Tz),
}

/// Duration of an event. Days are stored separately, as DST changes the length of a calendar day (RFC 5545, 3.3.6).
struct EventDuration {
    days: i64,
    seconds: i64,
}

#[derive(Default)]
struct Event {
    start: Option<EventTime>,
    end: Option<EventTime>,
    duration: Option<EventDuration>,
    reason: String,
    is_cancelled: bool,
}

pub(super) fn parse_spans(bytes: &[u8]) -> Result<Vec<Blackout>, String> {
    let (mut open, mut event, mut spans) = (Vec::<(usize, String)>::new(), Event::default(), Vec::new());
    for line in parse_lines(bytes)? {
        let wrong = |problem: String| format!("line {}: {problem}", line.number);
        let place = open.last().map(|(_, name)| name.as_str());
        let value = line.value.trim().to_ascii_uppercase();
        match (line.name.as_str(), place) {
            ("BEGIN", None) if value != "VCALENDAR" => {
                return Err(wrong(format!("a calendar must start with BEGIN:VCALENDAR, not BEGIN:{value}")));
            }
            ("BEGIN", Some("VEVENT")) if value == "VEVENT" => {
                return Err(wrong("an event starts inside another event".to_owned()));
            }
            ("BEGIN", _) => {
                if value == "VEVENT" {
                    event = Event::default();
                }
                open.push((line.number, value));
            }
            ("END", Some(name)) if name == value => {
                open.pop();
                if value == "VEVENT" {
                    spans.extend(std::mem::take(&mut event).into_blackout().map_err(wrong)?);
                    if spans.len() > MAX_SPANS {
                        return Err(wrong(format!("the calendar has more than {MAX_SPANS} events")));
                    }
                }
            }
            ("END", _) => return Err(wrong(format!("END:{value} has no BEGIN"))),
            (name, None) => return Err(wrong(format!("{name} is outside BEGIN:VCALENDAR"))),
            (name, Some("VEVENT")) => event.set_property(name, &line).map_err(wrong)?,
            // Ignores other components, such as time zones, tasks and reminders.
            _ => {}
        }
    }
    match open.first() {
        Some((line, name)) => Err(format!("line {line}: BEGIN:{name} has no END; the file is incomplete")),
        None => Ok(spans),
    }
}

fn parse_lines(bytes: &[u8]) -> Result<Vec<ContentLine>, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut folded: Vec<(usize, Vec<u8>)> = Vec::new();
    for (place, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match (line.split_first(), folded.last_mut()) {
            (None, _) => {}
            (Some((b' ' | b'\t', rest)), Some((_, whole))) => whole.extend(rest),
            (Some(_), _) => folded.push((place + 1, line.to_vec())),
        }
    }
    let line = |(number, bytes): (usize, Vec<u8>)| {
        let text = String::from_utf8(bytes).map_err(|_| format!("line {number}: not UTF-8"))?;
        parse_line(number, &text).ok_or_else(|| format!("line {number}: expected NAME:VALUE, not {text:?}"))
    };
    folded.into_iter().map(line).collect()
}

fn parse_line(number: usize, text: &str) -> Option<ContentLine> {
    let separator = |wanted: char| {
        let mut is_quoted = false;
        move |letter: char| {
            is_quoted ^= letter == '"';
            letter == wanted && !is_quoted
        }
    };
    let (head, value) = text.split_at(text.find(separator(':'))?);
    let mut parts = head.split(separator(';'));
    let name = parts.next()?.to_ascii_uppercase();
    let zone = parts.filter_map(|one| one.split_once('=')).find(|(key, _)| key.eq_ignore_ascii_case("TZID"));
    let zone = zone.map(|(_, zone)| zone.trim_matches('"').to_owned());
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let is_named = !name.is_empty() && name.chars().all(is_name);
    is_named.then(|| ContentLine { number, name, zone, value: value[1..].to_owned() })
}

impl Event {
    fn set_property(&mut self, name: &str, line: &ContentLine) -> Result<(), String> {
        let is_duplicate = match name {
            "DTSTART" => self.start.replace(parse_event_time(line)?).is_some(),
            "DTEND" => self.end.replace(parse_event_time(line)?).is_some(),
            "DURATION" => self.duration.replace(parse_duration(line.value.trim())?).is_some(),
            "SUMMARY" => !std::mem::replace(&mut self.reason, unescape(&line.value)).is_empty(),
            "STATUS" => {
                self.is_cancelled = line.value.trim().eq_ignore_ascii_case("CANCELLED");
                false
            }
            _ if RECURRENCE_PROPERTIES.contains(&name) => {
                return Err(format!(
                    "{name}: recurring events are not supported; write each date as a separate event, or as a line of a CSV \
                     file"
                ));
            }
            _ => false,
        };
        if is_duplicate { Err(format!("the event has more than one {name}")) } else { Ok(()) }
    }

    fn into_blackout(self) -> Result<Option<Blackout>, String> {
        let Self { start, end, duration, reason, is_cancelled } = self;
        if is_cancelled {
            return Ok(None);
        }
        let start = start.ok_or("the event that ends on this line has no DTSTART")?;
        let from = start.to_timestamp()?;
        let to = match (start, end, duration) {
            (_, Some(_), Some(_)) => {
                Err("the event that ends on this line has both DTEND and DURATION".to_owned())
            }
            (EventTime::Day(_), Some(end @ EventTime::Day(_)), None)
            | (EventTime::Time(..), Some(end @ EventTime::Time(..)), None) => end.to_timestamp(),
            (_, Some(_), None) => Err("DTSTART and DTEND must both be dates or both be times".to_owned()),
            (_, None, Some(duration)) => start.plus(&duration),
            (EventTime::Day(_), None, None) => start.plus(&EventDuration { days: 1, seconds: 0 }),
            (EventTime::Time(..), None, None) => {
                Err("the event that ends on this line has no length; add DTEND or DURATION".to_owned())
            }
        }?;
        if from >= to {
            return Err("the end of the event that ends on this line must be after its start".to_owned());
        }
        Ok(Some(Blackout { from, to, symbols: Vec::new(), reason }))
    }
}

impl EventTime {
    /// Converts the time to a timestamp. A date without a time means midnight UTC.
    fn to_timestamp(self) -> Result<Millis, String> {
        match self {
            Self::Day(day) => local_to_timestamp(day.and_time(NaiveTime::MIN), Tz::UTC),
            Self::Time(local, zone) => local_to_timestamp(local, zone),
        }
    }

    fn plus(self, duration: &EventDuration) -> Result<Millis, String> {
        let (local, zone) = match self {
            Self::Day(_) if duration.seconds > 0 => {
                return Err("an all-day event needs a DURATION of days or weeks, such as P1D".to_owned());
            }
            Self::Day(day) => (day.and_time(NaiveTime::MIN), Tz::UTC),
            Self::Time(local, zone) => (local, zone),
        };
        let days = TimeDelta::try_days(duration.days).and_then(|days| local.checked_add_signed(days));
        let begin = days.ok_or("the event that ends on this line is too long")?;
        Ok(local_to_timestamp(begin, zone)? + Millis::from_seconds(duration.seconds))
    }
}

/// Converts a local time. If DST repeats it, the first occurrence counts; if DST skips it, the old offset applies.
fn local_to_timestamp(local: NaiveDateTime, zone: Tz) -> Result<Millis, String> {
    let at = match zone.from_local_datetime(&local) {
        LocalResult::Single(at) | LocalResult::Ambiguous(at, _) => Some(at.timestamp_millis()),
        LocalResult::None => (1..=24).find_map(|hours| {
            let span = TimeDelta::hours(hours);
            let before = zone.from_local_datetime(&local.checked_sub_signed(span)?).latest()?;
            Some((before + span).timestamp_millis())
        }),
    };
    at.map(Millis::new).ok_or_else(|| format!("a clock change in {zone} skips {local}; use another time"))
}

fn parse_event_time(line: &ContentLine) -> Result<EventTime, String> {
    let text = line.value.trim();
    let is_local = |text: &str| text.len() == 15 && text.is_ascii();
    let wrong = || {
        format!(
            "{text:?} is not a date or time; use 20260105, 20260105T132500Z (UTC), or a TZID and 20260105T132500"
        )
    };
    let local = |text: &str| NaiveDateTime::parse_from_str(text, "%Y%m%dT%H%M%S").map_err(|_| wrong());
    if text.len() == 8 {
        return match (NaiveDate::parse_from_str(text, "%Y%m%d"), &line.zone) {
            (Ok(day), None) => Ok(EventTime::Day(day)),
            (Ok(_), Some(_)) => Err("a date cannot have a TZID; dates are in UTC".to_owned()),
            (Err(_), _) => Err(wrong()),
        };
    }
    match (text.strip_suffix(['Z', 'z']).filter(|text| is_local(text)), &line.zone) {
        (Some(text), None) => Ok(EventTime::Time(local(text)?, Tz::UTC)),
        (Some(_), Some(_)) => Err(format!("{text} has both Z (UTC) and a TZID; remove one of them")),
        (None, _) if !is_local(text) => Err(wrong()),
        (None, None) => {
            Err(format!("{text} has no time zone; append Z (UTC), or add a TZID such as Europe/Berlin"))
        }
        (None, Some(name)) => {
            let zone = name.parse::<Tz>().map_err(|_| {
                format!("TZID {name:?} is not an IANA time zone such as Europe/Berlin; for UTC, omit TZID and write 20260105T132500Z")
            })?;
            Ok(EventTime::Time(local(text)?, zone))
        }
    }
}

fn parse_duration(text: &str) -> Result<EventDuration, String> {
    let wrong = || format!("{text:?} is not a duration such as PT30M, PT1H30M, P1D or P2W");
    let rest = text.strip_prefix('+').unwrap_or(text).strip_prefix('P').ok_or_else(wrong)?;
    let (days, times) = rest.split_once('T').map_or((rest, None), |(days, times)| (days, Some(times)));
    let days = sum_units(days, &[('W', 7), ('D', 1)]).ok_or_else(wrong)?;
    let seconds = times.map_or(Some(0), |times| {
        sum_units(times, &[('H', 3_600), ('M', 60), ('S', 1)]).filter(|_| !times.is_empty())
    });
    let seconds = seconds.ok_or_else(wrong)?;
    if days + seconds == 0 { Err(wrong()) } else { Ok(EventDuration { days, seconds }) }
}

fn sum_units(mut text: &str, units: &[(char, i64)]) -> Option<i64> {
    let mut sum = 0;
    for (unit, each) in units {
        if let Some((count, rest)) = text.split_once(*unit) {
            let is_count = (1..=7).contains(&count.len()) && count.bytes().all(|byte| byte.is_ascii_digit());
            sum += count.parse::<i64>().ok().filter(|_| is_count)? * each;
            text = rest;
        }
    }
    text.is_empty().then_some(sum)
}

fn unescape(text: &str) -> String {
    let (mut plain, mut letters) = (String::with_capacity(text.len()), text.trim().chars());
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => plain.push(
                letters.next().map_or('\\', |letter| if matches!(letter, 'n' | 'N') { ' ' } else { letter }),
            ),
            letter => plain.push(letter),
        }
    }
    plain
}

#[cfg(test)]
mod tests;
