//! Duplicate and contradictory lines for the same bot and time.

use super::DueEntry;
use super::entry::{EntryTime, LineOutcome, ListEntry, ParsedLine};
use super::time::RecurringTime;
use candlewick_engine::{BotId, BotSettings};
use candlewick_records::count_text;
use candlewick_sdk::Millis;
use chrono::{DateTime, Offset as _, TimeZone as _, Timelike as _};
use chrono_tz::Tz;
use std::collections::{BTreeMap, BTreeSet};

/// Start of 2026 and end of 2028. Recurring times are compared in this period, which includes a 29 February.
/// Contradictions in other years are only detected when the entries are due. In that case, neither entry is traded.
const COMPARISON_PERIOD: (Millis, Millis) = (Millis::new(1_767_225_600_000), Millis::new(1_861_920_000_000));
/// Years 2000 to 2036, in seconds since 1970. In this period, UTC offsets are sampled every `SAMPLE_STEP_S` seconds.
const SAMPLED_PERIOD_S: (i64, i64) = (946_684_800, 2_082_758_400);
const SAMPLE_STEP_S: usize = 10 * 86_400;
/// Maximum number of comparisons per file. Comparing two recurring times counts as `DAILY_COMPARISON_COST` comparisons.
const MAX_COMPARISONS: u32 = 1_000_000;
const DAILY_COMPARISON_COST: u32 = 500;

pub(super) fn mark_duplicates(lines: &mut [ParsedLine], bots: &[BotSettings]) {
    let mut known: BTreeMap<_, Vec<ListEntry>> = BTreeMap::new();
    let mut clocks = has_mixed_notations(lines).then(UtcTimeIndex::default);
    for line in lines {
        let LineOutcome::Entry(entry, _) = line.outcome else { continue };
        let when = match entry.time {
            EntryTime::Once(at) => (at.get(), None),
            EntryTime::Daily(daily) => (0, Some((daily.time, daily.zone.name(), daily.date))),
        };
        let name = || bots.get(entry.bot.index()).map_or("", |bot| bot.name.as_str());
        let alike = known.entry((entry.bot, when)).or_default();
        let is_same = |earlier: &&ListEntry| match (earlier.time, entry.time) {
            (EntryTime::Daily(one), EntryTime::Daily(other)) => one.days.overlaps(other.days),
            _ => true,
        };
        match alike.iter().find(is_same) {
            None => alike.push(entry),
            Some(earlier) if earlier.time == entry.time && earlier.requests_same_trade(&entry) => {
                line.outcome = LineOutcome::Repeats(earlier.line);
                continue;
            }
            Some(earlier) => {
                line.outcome = LineOutcome::Contradicts(format!(
                    "line {} asks {} for a different trade at the same time: keep only one of these lines",
                    earlier.line,
                    name()
                ));
                continue;
            }
        }
        if let Some((earlier, at)) = clocks.as_mut().and_then(|clocks| clocks.insert(entry)) {
            line.outcome = LineOutcome::Contradicts(format!(
                "line {earlier} asks {} for a different trade at {} (in another notation): keep only one of these lines",
                name(),
                super::signal_id_at(at)
            ));
        }
    }
}

fn has_mixed_notations(lines: &[ParsedLine]) -> bool {
    let way = |line: &ParsedLine| match line.outcome {
        LineOutcome::Entry(ListEntry { time: EntryTime::Daily(daily), .. }, _) => {
            Some(Some((daily.zone.name(), daily.date.is_some())))
        }
        LineOutcome::Entry(ListEntry { time: EntryTime::Once(_), .. }, _) => Some(None),
        _ => None,
    };
    lines.iter().filter_map(way).collect::<BTreeSet<_>>().len() > 1
}

#[derive(Default)]
struct UtcTimeIndex {
    entries: BTreeMap<(BotId, i64), EntriesAtTime>,
    offsets: BTreeMap<&'static str, BTreeSet<i64>>,
    compared: u32,
}

#[derive(Default)]
struct EntriesAtTime {
    once: Vec<ListEntry>,
    daily: Vec<ListEntry>,
}

impl UtcTimeIndex {
    fn insert(&mut self, entry: ListEntry) -> Option<(u64, Millis)> {
        let times: BTreeSet<i64> = match entry.time {
            EntryTime::Once(at) => BTreeSet::from([at.get().div_euclid(1_000).rem_euclid(86_400)]),
            EntryTime::Daily(RecurringTime { time, zone, .. }) => {
                let offsets = self.offsets.entry(zone.name()).or_insert_with(|| sample_utc_offsets(zone));
                let second = i64::from(time.num_seconds_from_midnight());
                offsets.iter().map(|offset| (second - offset).rem_euclid(86_400)).collect()
            }
        };
        for time in &times {
            let at_time = self.entries.entry((entry.bot, *time)).or_default();
            let once = at_time.once.iter().filter(|_| matches!(entry.time, EntryTime::Daily(_)));
            for earlier in at_time.daily.iter().chain(once) {
                if earlier.requests_same_trade(&entry) || !may_coincide(earlier.time, entry.time) {
                    continue;
                }
                let daily = matches!((earlier.time, entry.time), (EntryTime::Daily(_), EntryTime::Daily(_)));
                self.compared += if daily { DAILY_COMPARISON_COST } else { 1 };
                if self.compared > MAX_COMPARISONS {
                    return None;
                }
                if let Some(at) = find_common_moment(earlier.time, entry.time) {
                    return Some((earlier.line, at));
                }
            }
        }
        for time in times {
            let at_time = self.entries.entry((entry.bot, time)).or_default();
            let kind =
                if matches!(entry.time, EntryTime::Once(_)) { &mut at_time.once } else { &mut at_time.daily };
            kind.push(entry);
        }
        None
    }
}

fn sample_utc_offsets(zone: Tz) -> BTreeSet<i64> {
    let offset = |second| {
        let utc = DateTime::from_timestamp(second, 0).unwrap_or_default().naive_utc();
        i64::from(zone.offset_from_utc_datetime(&utc).fix().local_minus_utc())
    };
    (SAMPLED_PERIOD_S.0..SAMPLED_PERIOD_S.1).step_by(SAMPLE_STEP_S).map(offset).collect()
}

fn may_coincide(one: EntryTime, other: EntryTime) -> bool {
    match (one, other) {
        (EntryTime::Daily(one), EntryTime::Daily(other)) => match (one.date, other.date) {
            (Some(one), Some(other)) => one == other || one.0 != other.0 || one.1.abs_diff(other.1) == 1,
            (None, None) => one.zone != other.zone,
            _ => true,
        },
        _ => true,
    }
}

fn find_common_moment(one: EntryTime, other: EntryTime) -> Option<Millis> {
    let of = |when: EntryTime, at: Millis| when.times_between(at - Millis::new(1), at).next();
    match (one, other) {
        (EntryTime::Once(at), when) | (when, EntryTime::Once(at)) => of(when, at),
        (EntryTime::Daily(_), EntryTime::Daily(_)) => {
            one.times_between(COMPARISON_PERIOD.0, COMPARISON_PERIOD.1).find(|at| of(other, *at).is_some())
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Contradiction {
    pub(crate) at: Millis,
    pub(crate) bot: BotId,
    lines: (u64, u64),
}

impl Contradiction {
    pub(crate) fn describe(&self, bots: &[BotSettings]) -> String {
        let name = bots.get(self.bot.index()).map_or("", |bot| bot.name.as_str());
        let (one, other) = self.lines;
        format!(
            "lines {one} and {other} ask {name} for different trades at {}: neither trade is sent; keep only one line",
            super::signal_id_at(self.at)
        )
    }

    pub(super) fn describe_all(all: &[Self], bots: &[BotSettings]) -> Option<String> {
        let (first, more) = all.split_first()?;
        let more = match more.len() {
            0 => String::new(),
            count => format!(" ({})", count_text(count, "more such moment", "more such moments")),
        };
        Some(format!("signal list: {}{more}", first.describe(bots)))
    }
}

pub(super) fn take_contradictions(due: &mut Vec<DueEntry>) -> Vec<Contradiction> {
    let mut first: BTreeMap<(Millis, BotId), ListEntry> = BTreeMap::new();
    let mut found: BTreeMap<(Millis, BotId), Contradiction> = BTreeMap::new();
    for DueEntry { at, entry, .. } in due.iter() {
        let key = (*at, entry.bot);
        let earlier = *first.entry(key).or_insert(*entry);
        if !earlier.requests_same_trade(entry) {
            let lines = (earlier.line, entry.line);
            found.entry(key).or_insert(Contradiction { at: *at, bot: entry.bot, lines });
        }
    }
    due.retain(|due| !found.contains_key(&(due.at, due.entry.bot)));
    found.into_values().collect()
}
