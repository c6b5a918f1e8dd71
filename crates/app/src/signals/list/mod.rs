//! Signal lists: files of times at which bots trade, in live runs and in backtests.

mod above;
mod columns;
mod entry;
mod lines;
mod shown;
mod split;
mod time;
mod twins;
mod zones;

use crate::configuration::{Loaded, Problem, ProblemKind};
use candlewick_engine::{BotId, BotSettings, OutsideSignal, SignalId, SignalSource};
use candlewick_records::counted;
use candlewick_sdk::{CandleSeries, Expiry, Millis};
use chrono::{DateTime, SecondsFormat};
use std::io::Read as _;
use std::path::Path;

pub(crate) use entry::{ListEntry, ListTerms, ReadLine, Taken, When};
pub(crate) use time::{timeframe, unix_millis};
pub(crate) use twins::Contradiction;
pub(crate) use zones::{offset_zone, zone_words};

const NAMED: usize = 5;
const LOOKED_BEHIND: usize = 100;
const MAX_BYTES: u64 = 4_000_000;

pub(crate) const SOURCE: &str = "list";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SignalList {
    entries: Vec<ListEntry>,
    columns: Option<String>,
    passed_over: Vec<(u64, String)>,
    repeated: Vec<u64>,
    comments: Vec<u64>,
    hash: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DueEntry {
    pub(crate) at: Millis,
    /// Derived from the moment, so that an edited file never repeats a trade.
    pub(crate) id: SignalId,
    pub(crate) entry: ListEntry,
}

impl SignalList {
    pub(super) fn of_entries(entries: Vec<ListEntry>) -> Self {
        Self { entries, ..Self::default() }
    }

    pub(crate) fn parse(text: &str, bots: &[BotSettings], terms: ListTerms) -> Result<Self, String> {
        let (lines, columns) = entry::read_lines(text, bots, terms)?;
        let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
        let mut list = Self { columns, hash, ..Self::default() };
        for line in &lines {
            match &line.taken {
                Taken::Entry(entry, _) => list.entries.push(*entry),
                Taken::Date | Taken::Expiry | Taken::Zones(_) | Taken::Gale => {}
                Taken::Comment => list.comments.push(line.line),
                Taken::Repeats(_) => list.repeated.push(line.line),
                Taken::Contradicts(problem) => return Err(format!("line {}: {problem}", line.line)),
                Taken::Unknown(problem) if terms.skip_unknown => {
                    list.passed_over.push((line.line, problem.clone()));
                }
                Taken::Unknown(problem) => return Err(line.refusal(problem)),
            }
        }
        Ok(list)
    }

    pub(crate) fn read(path: &Path, bots: &[BotSettings], terms: ListTerms) -> Result<Self, String> {
        Self::parse(&text_of(path)?, bots, terms)
    }

    pub(crate) fn lines(
        path: &Path,
        bots: &[BotSettings],
        terms: ListTerms,
    ) -> Result<Vec<ReadLine>, String> {
        Ok(entry::read_lines(&text_of(path)?, bots, terms)?.0)
    }

    pub(crate) fn of(loaded: &Loaded) -> Result<Option<Self>, Problem> {
        let signals = &loaded.config.signals;
        let Some(path) = &signals.list else { return Ok(None) };
        let read = Self::read(path, &loaded.config.bots, ListTerms::of(signals));
        let problem = |problem: String| {
            let name = path.display().to_string();
            let problem = problem + &loaded.looked_for("signals.list", &name);
            loaded.problem("signals.list", problem).value(format!("{name:?}")).kind(ProblemKind::Data)
        };
        read.map(Some).map_err(problem)
    }

    pub(crate) fn words(&self) -> String {
        let what = counted(self.entries.len(), "entry", "entries");
        let columns = self.columns.as_ref().map(|columns| format!(", its columns taken as {columns}"));
        let passed_over = self.counted_passed_over();
        let [one, several] = ["line that repeats another left out", "lines that repeat others left out"];
        let repeated = count_lines(&self.repeated, one, several);
        let [one, several] = ["line behind # that might be an entry", "lines behind # that might be entries"];
        let comments = count_lines(&self.comments, one, several);
        format!("{what}{}{passed_over}{repeated}{comments}", columns.unwrap_or_default())
    }

    pub(super) fn passed_over_words(&self) -> Option<String> {
        let (first, why) = self.passed_over.first()?;
        Some(format!("{}; line {first}: {why}", self.counted_passed_over().trim_start_matches(", ")))
    }

    fn counted_passed_over(&self) -> String {
        let lines: Vec<u64> = self.passed_over.iter().map(|(line, _)| *line).collect();
        count_lines(&lines, "line passed over", "lines passed over")
    }

    /// Describes a line skipped in this list but not in the previous one. Edits move lines, so they are matched by reason.
    pub(crate) fn newly_passed_over(&self, before: &Self) -> Option<String> {
        let mut rest: Vec<&str> = before.passed_over.iter().map(|(_, why)| why.as_str()).collect();
        let is_new = |(_, why): &&(u64, String)| {
            let known = rest.iter().position(|other| other == why);
            known.map(|place| rest.swap_remove(place)).is_none()
        };
        let (line, why) = self.passed_over.iter().filter(is_new).last()?;
        Some(format!("line {line} is new and passed over: {why}"))
    }

    pub(crate) fn short_hash(&self) -> &str {
        self.hash.get(..16).unwrap_or_default()
    }

    pub(crate) const fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn lacking_in(&self, other: &Self) -> usize {
        let same = |one: &&ListEntry| {
            other.entries.iter().any(|other| ListEntry { line: one.line, ..*other } == **one)
        };
        self.entries.iter().filter(|entry| !same(entry)).count()
    }

    /// Returns the entries due in `(from, to]`, by moment and then in file order.
    ///
    /// If two lines request different trades of a bot at one moment, neither is due.
    pub(crate) fn due(&self, from: Millis, to: Millis) -> Vec<DueEntry> {
        self.due_and_contradictions(from, to).0
    }

    pub(super) fn due_and_contradictions(
        &self,
        from: Millis,
        to: Millis,
    ) -> (Vec<DueEntry>, Vec<Contradiction>) {
        let moments =
            |&entry: &ListEntry| entry.when.between(from, to).map(move |at| DueEntry::of((at, entry)));
        let mut due: Vec<DueEntry> = self.entries.iter().flat_map(moments).collect();
        due.sort_by_key(|due| (due.at, due.entry.line));
        let contradictions = twins::take_contradictions(&mut due);
        (due, contradictions)
    }

    pub(super) fn outlook(&self, bots: &[BotSettings], now: Millis) -> String {
        let next = self.next_given(now).map(|due| {
            let bot = bots.get(due.entry.bot.index()).map_or("", |bot| bot.name.as_str());
            format!("next {} of {bot} at {}", due.entry.direction, id_of(due.at))
        });
        let over = || match self.due(Millis::ZERO, now).last() {
            Some(last) => format!("nothing is to come, the last was due at {}", id_of(last.at)),
            None => "nothing is to come".to_owned(),
        };
        format!("{}; {}", self.words(), next.unwrap_or_else(over))
    }

    pub(crate) fn next_after(&self, from: Millis) -> Option<Millis> {
        self.entries.iter().filter_map(|entry| entry.when.next_after(from)).min()
    }

    pub(super) fn next_given(&self, from: Millis) -> Option<DueEntry> {
        let mut at = from;
        (0..LOOKED_BEHIND).find_map(|_| {
            at = self.next_after(at)?;
            self.due(at - Millis::new(1), at).first().copied()
        })
    }

    /// Returns the signals of a backtest, each within its bot's candles, and a warning about contradictory lines.
    pub(crate) fn signals(
        &self,
        bots: &[BotSettings],
        candles: &[CandleSeries],
    ) -> (Vec<(Millis, OutsideSignal)>, Option<String>) {
        let own = |bot: &BotSettings| candles.iter().find(|candles| candles.series() == bot.series());
        let own: Vec<Option<&CandleSeries>> = bots.iter().map(own).collect();
        let starts = own.iter().flatten().map(|series| series.start());
        let ends = own.iter().flatten().map(|series| series.end());
        let (Some(from), Some(to)) = (starts.min(), ends.max()) else { return Default::default() };
        let is_shown = |bot: BotId, at: Millis| {
            let series = own.get(bot.index()).copied().flatten();
            series.is_some_and(|series| series.start() < at && at <= series.end())
        };
        let (due, mut contradictions) = self.due_and_contradictions(from, to);
        let due = due.into_iter().filter(|due| is_shown(due.entry.bot, due.at));
        let signals =
            due.filter_map(|due| Some((due.at, due.signal(bots.get(due.entry.bot.index())?)))).collect();
        contradictions.retain(|found| is_shown(found.bot, found.at));
        (signals, Contradiction::all_words(&contradictions, bots))
    }
}

impl DueEntry {
    pub(super) fn of((at, entry): (Millis, ListEntry)) -> Self {
        Self { at, id: id_of(at), entry }
    }

    pub(super) fn signal(&self, bot: &BotSettings) -> OutsideSignal {
        let ListEntry { bot: id, direction, close_type, reason, .. } = self.entry;
        OutsideSignal {
            bot: id,
            direction,
            source: SignalSource::truncated(SOURCE),
            id: self.id,
            expires: None,
            expiry: close_type.map(|close_type| Expiry { close_type, ..bot.expiry() }),
            reason,
        }
    }
}

fn count_lines(lines: &[u64], one: &str, several: &str) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = lines.iter().take(NAMED).map(u64::to_string).collect();
    let more = if lines.len() > NAMED { " and more" } else { "" };
    format!(", {} ({}{more})", counted(lines.len(), one, several), shown.join(", "))
}

pub(super) fn id_of(at: Millis) -> SignalId {
    let time = DateTime::from_timestamp_millis(at.get()).unwrap_or_default();
    SignalId::truncated(&time.to_rfc3339_opts(SecondsFormat::AutoSi, true))
}

fn text_of(path: &Path) -> Result<String, String> {
    let cannot = |error| format!("cannot read the file: {error}");
    // A pipe would be waited for.
    if !std::fs::metadata(path).map_err(cannot)?.is_file() {
        return Err("this is no regular file".to_owned());
    }
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(cannot)?;
    file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(cannot)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(format!("it has more than {} MB", MAX_BYTES / 1_000_000));
    }
    Ok(text)
}

#[cfg(test)]
mod tests;
