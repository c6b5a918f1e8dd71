//! Signal lists: files with times at which bots trade, in live runs and backtests.

mod above;
mod columns;
mod duplicates;
mod entry;
mod lines;
mod recognition;
mod split;
mod time;
mod zones;

use crate::configuration::{LoadedConfig, Problem, ProblemKind};
use candlewick_engine::{BotId, BotSettings, OutsideSignal, SignalId, SignalSource};
use candlewick_records::count_text;
use candlewick_sdk::{CandleSeries, Expiry, Millis};
use chrono::{DateTime, SecondsFormat};
use std::io::Read as _;
use std::path::Path;

pub(crate) use duplicates::Contradiction;
pub(crate) use entry::{EntryTime, LineOutcome, ListEntry, ListOptions, ParsedLine};
pub(crate) use time::{from_unix_millis, parse_timeframe};
pub(crate) use zones::{parse_offset_zone, zone_label};

const MAX_LISTED_LINES: usize = 5;
const MAX_SKIPPED_TIMES: usize = 100;
const MAX_FILE_BYTES: u64 = 4_000_000;

pub(crate) const SOURCE_NAME: &str = "list";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SignalList {
    entries: Vec<ListEntry>,
    columns: Option<String>,
    skipped: Vec<(u64, String)>,
    repeats: Vec<u64>,
    comments: Vec<u64>,
    hash: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DueEntry {
    pub(crate) at: Millis,
    /// Signal id. It is derived from the time, so that an edited file never repeats a trade.
    pub(crate) id: SignalId,
    pub(crate) entry: ListEntry,
}

impl SignalList {
    pub(super) fn from_entries(entries: Vec<ListEntry>) -> Self {
        Self { entries, ..Self::default() }
    }

    pub(crate) fn parse(text: &str, bots: &[BotSettings], terms: ListOptions) -> Result<Self, String> {
        let (lines, columns) = entry::read_lines(text, bots, terms)?;
        let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
        let mut list = Self { columns, hash, ..Self::default() };
        for line in &lines {
            match &line.outcome {
                LineOutcome::Entry(entry, _) => list.entries.push(*entry),
                LineOutcome::Date | LineOutcome::Expiry | LineOutcome::Zones(_) | LineOutcome::Gale => {}
                LineOutcome::Comment => list.comments.push(line.line),
                LineOutcome::Repeats(_) => list.repeats.push(line.line),
                LineOutcome::Contradicts(problem) => return Err(format!("line {}: {problem}", line.line)),
                LineOutcome::Unknown(problem) if terms.skip_unknown => {
                    list.skipped.push((line.line, problem.clone()));
                }
                LineOutcome::Unknown(problem) => return Err(line.rejection_message(problem)),
            }
        }
        Ok(list)
    }

    pub(crate) fn read(path: &Path, bots: &[BotSettings], terms: ListOptions) -> Result<Self, String> {
        Self::parse(&read_text(path)?, bots, terms)
    }

    pub(crate) fn read_lines(
        path: &Path,
        bots: &[BotSettings],
        terms: ListOptions,
    ) -> Result<Vec<ParsedLine>, String> {
        Ok(entry::read_lines(&read_text(path)?, bots, terms)?.0)
    }

    pub(crate) fn load(loaded: &LoadedConfig) -> Result<Option<Self>, Problem> {
        let signals = &loaded.config.signals;
        let Some(path) = &signals.list else { return Ok(None) };
        let read = Self::read(path, &loaded.config.bots, ListOptions::from_settings(signals));
        let problem = |problem: String| {
            let name = path.display().to_string();
            let problem = problem + &loaded.describe_tried_paths("signals.list", &name);
            loaded
                .problem("signals.list", problem)
                .with_value(format!("{name:?}"))
                .with_kind(ProblemKind::Data)
        };
        read.map(Some).map_err(problem)
    }

    pub(crate) fn describe(&self) -> String {
        let what = count_text(self.entries.len(), "entry", "entries");
        let columns = self.columns.as_ref().map(|columns| format!(", columns read as {columns}"));
        let skipped = self.describe_skipped_lines();
        let [one, several] = ["duplicate line omitted", "duplicate lines omitted"];
        let repeats = describe_line_numbers(&self.repeats, one, several);
        let [one, several] = ["comment that looks like an entry", "comments that look like entries"];
        let comments = describe_line_numbers(&self.comments, one, several);
        format!("{what}{}{skipped}{repeats}{comments}", columns.unwrap_or_default())
    }

    pub(super) fn describe_first_skipped(&self) -> Option<String> {
        let (first, why) = self.skipped.first()?;
        Some(format!("{}; line {first}: {why}", self.describe_skipped_lines().trim_start_matches(", ")))
    }

    fn describe_skipped_lines(&self) -> String {
        let lines: Vec<u64> = self.skipped.iter().map(|(line, _)| *line).collect();
        describe_line_numbers(&lines, "line skipped", "lines skipped")
    }

    /// Describes the last newly skipped line. Compares reasons with `before`, because edits change line numbers.
    pub(crate) fn describe_new_skips(&self, before: &Self) -> Option<String> {
        let mut rest: Vec<&str> = before.skipped.iter().map(|(_, why)| why.as_str()).collect();
        let is_new = |(_, why): &&(u64, String)| {
            let known = rest.iter().position(|other| other == why);
            known.map(|place| rest.swap_remove(place)).is_none()
        };
        let (line, why) = self.skipped.iter().filter(is_new).last()?;
        Some(format!("line {line} is now skipped: {why}"))
    }

    pub(crate) fn short_hash(&self) -> &str {
        self.hash.get(..16).unwrap_or_default()
    }

    pub(crate) const fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn count_missing_in(&self, other: &Self) -> usize {
        let same = |one: &&ListEntry| {
            other.entries.iter().any(|other| ListEntry { line: one.line, ..*other } == **one)
        };
        self.entries.iter().filter(|entry| !same(entry)).count()
    }

    /// Returns the entries due in `(from, to]`, ordered by time and then by line. Omits lines that contradict others.
    pub(crate) fn due_entries(&self, from: Millis, to: Millis) -> Vec<DueEntry> {
        self.due_entries_and_contradictions(from, to).0
    }

    pub(super) fn due_entries_and_contradictions(
        &self,
        from: Millis,
        to: Millis,
    ) -> (Vec<DueEntry>, Vec<Contradiction>) {
        let moments =
            |&entry: &ListEntry| entry.time.times_between(from, to).map(move |at| DueEntry::new((at, entry)));
        let mut due: Vec<DueEntry> = self.entries.iter().flat_map(moments).collect();
        due.sort_by_key(|due| (due.at, due.entry.line));
        let contradictions = duplicates::take_contradictions(&mut due);
        (due, contradictions)
    }

    pub(super) fn describe_next(&self, bots: &[BotSettings], now: Millis) -> String {
        let next = self.next_due_entry(now).map(|due| {
            let bot = bots.get(due.entry.bot.index()).map_or("", |bot| bot.name.as_str());
            format!("next {} of {bot} at {}", due.entry.direction, signal_id_at(due.at))
        });
        let over = || match self.due_entries(Millis::ZERO, now).last() {
            Some(last) => format!("no entry is pending; the last one was due at {}", signal_id_at(last.at)),
            None => "no entry is pending".to_owned(),
        };
        format!("{}; {}", self.describe(), next.unwrap_or_else(over))
    }

    pub(crate) fn next_after(&self, from: Millis) -> Option<Millis> {
        self.entries.iter().filter_map(|entry| entry.time.next_after(from)).min()
    }

    pub(super) fn next_due_entry(&self, from: Millis) -> Option<DueEntry> {
        let mut at = from;
        (0..MAX_SKIPPED_TIMES).find_map(|_| {
            at = self.next_after(at)?;
            self.due_entries(at - Millis::new(1), at).first().copied()
        })
    }

    /// Returns the signals within the time span of each bot's candles, and a warning about contradictions.
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
        let has_candles = |bot: BotId, at: Millis| {
            let series = own.get(bot.index()).copied().flatten();
            series.is_some_and(|series| series.start() < at && at <= series.end())
        };
        let (due, mut contradictions) = self.due_entries_and_contradictions(from, to);
        let due = due.into_iter().filter(|due| has_candles(due.entry.bot, due.at));
        let signals =
            due.filter_map(|due| Some((due.at, due.signal(bots.get(due.entry.bot.index())?)))).collect();
        contradictions.retain(|found| has_candles(found.bot, found.at));
        (signals, Contradiction::describe_all(&contradictions, bots))
    }
}

impl DueEntry {
    pub(super) fn new((at, entry): (Millis, ListEntry)) -> Self {
        Self { at, id: signal_id_at(at), entry }
    }

    pub(super) fn signal(&self, bot: &BotSettings) -> OutsideSignal {
        let ListEntry { bot: id, direction, close_type, reason, .. } = self.entry;
        OutsideSignal {
            bot: id,
            direction,
            source: SignalSource::truncated(SOURCE_NAME),
            id: self.id,
            expires: None,
            expiry: close_type.map(|close_type| Expiry { close_type, ..bot.expiry() }),
            reason,
        }
    }
}

fn describe_line_numbers(lines: &[u64], one: &str, several: &str) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = lines.iter().take(MAX_LISTED_LINES).map(u64::to_string).collect();
    let more = if lines.len() > MAX_LISTED_LINES { " and more" } else { "" };
    format!(", {} ({}{more})", count_text(lines.len(), one, several), shown.join(", "))
}

pub(super) fn signal_id_at(at: Millis) -> SignalId {
    let time = DateTime::from_timestamp_millis(at.get()).unwrap_or_default();
    SignalId::truncated(&time.to_rfc3339_opts(SecondsFormat::AutoSi, true))
}

fn read_text(path: &Path) -> Result<String, String> {
    let cannot = |error| format!("cannot read the file: {error}");
    // Only regular files are read, because reading a pipe would block.
    if !std::fs::metadata(path).map_err(cannot)?.is_file() {
        return Err("not a regular file".to_owned());
    }
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(cannot)?;
    file.take(MAX_FILE_BYTES + 1).read_to_string(&mut text).map_err(cannot)?;
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("the file is larger than {} MB", MAX_FILE_BYTES / 1_000_000));
    }
    Ok(text)
}

#[cfg(test)]
mod tests;
