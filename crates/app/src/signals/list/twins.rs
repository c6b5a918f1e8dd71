//! Duplicate and contradictory lines for one bot and moment.

use super::DueEntry;
use super::entry::{ListEntry, ReadLine, Taken, When};
use super::time::ClockTime;
use candlewick_engine::{BotId, BotSettings};
use candlewick_records::counted;
use candlewick_sdk::Millis;
use chrono::{DateTime, Offset as _, TimeZone as _, Timelike as _};
use chrono_tz::Tz;
use std::collections::{BTreeMap, BTreeSet};

/// The years 2026 to 2028, for which two recurring times are compared. One has a 29 February.
///
/// Contradictions of other years are found when their moment comes; then neither line trades.
const COMPARED: (Millis, Millis) = (Millis::new(1_767_225_600_000), Millis::new(1_861_920_000_000));
/// The years 2000 to 2036, for which UTC offsets are sampled at intervals of `APART`, in seconds.
const KNOWN: (i64, i64) = (946_684_800, 2_082_758_400);
const APART: usize = 10 * 86_400;
/// Comparison budget per file, and cost of comparing two recurring times.
const MOST_COMPARED: u32 = 1_000_000;
const TIMES_OF_DAY: u32 = 500;

pub(super) fn mark_twins(lines: &mut [ReadLine], bots: &[BotSettings]) {
    let mut known: BTreeMap<_, Vec<ListEntry>> = BTreeMap::new();
    let mut clocks = writes_in_several_ways(lines).then(Clocks::default);
    for line in lines {
        let Taken::Entry(entry, _) = line.taken else { continue };
        let when = match entry.when {
            When::Once(at) => (at.get(), None),
            When::Daily(daily) => (0, Some((daily.time, daily.zone.name(), daily.date))),
        };
        let name = || bots.get(entry.bot.index()).map_or("", |bot| bot.name.as_str());
        let alike = known.entry((entry.bot, when)).or_default();
        let is_same = |earlier: &&ListEntry| match (earlier.when, entry.when) {
            (When::Daily(one), When::Daily(other)) => one.days.meet(other.days),
            _ => true,
        };
        match alike.iter().find(is_same) {
            None => alike.push(entry),
            Some(earlier) if earlier.when == entry.when && earlier.asks_as(&entry) => {
                line.taken = Taken::Repeats(earlier.line);
                continue;
            }
            Some(earlier) => {
                line.taken = Taken::Contradicts(format!(
                    "line {} asks {} for another trade at that time already: keep one of them",
                    earlier.line,
                    name()
                ));
                continue;
            }
        }
        if let Some((earlier, at)) = clocks.as_mut().and_then(|clocks| clocks.take(entry)) {
            line.taken = Taken::Contradicts(format!(
                "line {earlier} asks {} for another trade at {} already, which it writes in another way: keep one of them",
                name(),
                super::id_of(at)
            ));
        }
    }
}

/// Returns whether times are single and recurring, in several zones, or daily and yearly.
fn writes_in_several_ways(lines: &[ReadLine]) -> bool {
    let way = |line: &ReadLine| match line.taken {
        Taken::Entry(ListEntry { when: When::Daily(daily), .. }, _) => {
            Some(Some((daily.zone.name(), daily.date.is_some())))
        }
        Taken::Entry(ListEntry { when: When::Once(_), .. }, _) => Some(None),
        _ => None,
    };
    lines.iter().filter_map(way).collect::<BTreeSet<_>>().len() > 1
}

#[derive(Default)]
struct Clocks {
    entries: BTreeMap<(BotId, i64), AtTime>,
    offsets: BTreeMap<&'static str, BTreeSet<i64>>,
    compared: u32,
}

#[derive(Default)]
struct AtTime {
    once: Vec<ListEntry>,
    daily: Vec<ListEntry>,
}

impl Clocks {
    fn take(&mut self, entry: ListEntry) -> Option<(u64, Millis)> {
        let times: BTreeSet<i64> = match entry.when {
            When::Once(at) => BTreeSet::from([at.get().div_euclid(1_000).rem_euclid(86_400)]),
            When::Daily(ClockTime { time, zone, .. }) => {
                let offsets = self.offsets.entry(zone.name()).or_insert_with(|| offsets_of(zone));
                let second = i64::from(time.num_seconds_from_midnight());
                offsets.iter().map(|offset| (second - offset).rem_euclid(86_400)).collect()
            }
        };
        for time in &times {
            let there = self.entries.entry((entry.bot, *time)).or_default();
            let once = there.once.iter().filter(|_| matches!(entry.when, When::Daily(_)));
            for earlier in there.daily.iter().chain(once) {
                if earlier.asks_as(&entry) || !may_meet(earlier.when, entry.when) {
                    continue;
                }
                let are_daily = matches!((earlier.when, entry.when), (When::Daily(_), When::Daily(_)));
                self.compared += if are_daily { TIMES_OF_DAY } else { 1 };
                if self.compared > MOST_COMPARED {
                    return None;
                }
                if let Some(at) = common_moment(earlier.when, entry.when) {
                    return Some((earlier.line, at));
                }
            }
        }
        for time in times {
            let there = self.entries.entry((entry.bot, time)).or_default();
            let kind = if matches!(entry.when, When::Once(_)) { &mut there.once } else { &mut there.daily };
            kind.push(entry);
        }
        None
    }
}

fn offsets_of(zone: Tz) -> BTreeSet<i64> {
    let offset = |second| {
        let utc = DateTime::from_timestamp(second, 0).unwrap_or_default().naive_utc();
        i64::from(zone.offset_from_utc_datetime(&utc).fix().local_minus_utc())
    };
    (KNOWN.0..KNOWN.1).step_by(APART).map(offset).collect()
}

fn may_meet(one: When, other: When) -> bool {
    match (one, other) {
        (When::Daily(one), When::Daily(other)) => match (one.date, other.date) {
            (Some(one), Some(other)) => one == other || one.0 != other.0 || one.1.abs_diff(other.1) == 1,
            (None, None) => one.zone != other.zone,
            _ => true,
        },
        _ => true,
    }
}

fn common_moment(one: When, other: When) -> Option<Millis> {
    let of = |when: When, at: Millis| when.between(at - Millis::new(1), at).next();
    match (one, other) {
        (When::Once(at), when) | (when, When::Once(at)) => of(when, at),
        (When::Daily(_), When::Daily(_)) => {
            one.between(COMPARED.0, COMPARED.1).find(|at| of(other, *at).is_some())
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
    pub(crate) fn words(&self, bots: &[BotSettings]) -> String {
        let name = bots.get(self.bot.index()).map_or("", |bot| bot.name.as_str());
        let (one, other) = self.lines;
        format!(
            "lines {one} and {other} ask {name} for different trades at {}: neither is given; keep one of them",
            super::id_of(self.at)
        )
    }

    pub(super) fn all_words(all: &[Self], bots: &[BotSettings]) -> Option<String> {
        let (first, more) = all.split_first()?;
        let more = match more.len() {
            0 => String::new(),
            count => format!(" ({})", counted(count, "more such moment", "more such moments")),
        };
        Some(format!("the list of signals: {}{more}", first.words(bots)))
    }
}

pub(super) fn take_contradictions(due: &mut Vec<DueEntry>) -> Vec<Contradiction> {
    let mut first: BTreeMap<(Millis, BotId), ListEntry> = BTreeMap::new();
    let mut found: BTreeMap<(Millis, BotId), Contradiction> = BTreeMap::new();
    for DueEntry { at, entry, .. } in due.iter() {
        let key = (*at, entry.bot);
        let earlier = *first.entry(key).or_insert(*entry);
        if !earlier.asks_as(entry) {
            let lines = (earlier.line, entry.line);
            found.entry(key).or_insert(Contradiction { at: *at, bot: entry.bot, lines });
        }
    }
    due.retain(|due| !found.contains_key(&(due.at, due.entry.bot)));
    found.into_values().collect()
}
