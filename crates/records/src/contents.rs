//! Restores runs, intents and balances from a journal.

use crate::RecordsError;
use crate::lines::{SessionFold, parse_refusal, read_lines};
use crate::moment::format_utc;
use crate::run::RecordedRun;
use crate::trade::IntentOrigin;
use candlewick_engine::{
    Action, Control, Event, EventKind, Halt, IntentId, IntentRow, RecordedEntry, ReloadNote, RiskSettings,
    Session, SessionSettings, SettingsReload, TradeBook, VenueId,
};
use candlewick_journal::{Compaction, LineKind, Reader, StoredLine};
use candlewick_sdk::{Millis, escape_hidden};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ForeignTrade {
    pub venue_id: String,
    /// Number of the intent that this trade duplicates; `None` if the trade is not a duplicate.
    pub second_of: Option<u64>,
    pub seen_at: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LimitReached {
    /// Name of the rule that halted the bot: `LossStreak` or `MaxDrawdown`.
    pub rule: String,
    pub at: Millis,
}

impl LimitReached {
    pub fn describe(&self) -> String {
        format!(
            "halted by {} at {}; to continue, run `candlewick halt`, start the bot and run `candlewick resume`",
            escape_hidden(&self.rule),
            format_utc(self.at)
        )
    }
}

pub struct FoldedJournal {
    pub session: Session,
    pub book: TradeBook,
    /// Decided intents as tuples: intent, run, line number, bot index within the run, and journal time.
    pub decided_intents: Vec<(IntentId, u64, u64, usize, Millis)>,
    pub is_halted: bool,
    pub lines: Vec<StoredLine>,
    pub last_line: StoredLine,
}

pub struct JournalContents {
    pub runs: Vec<RecordedRun>,
    pub book: TradeBook,
    pub origins: BTreeMap<IntentId, IntentOrigin>,
    /// Session restored from the whole journal, with its ledger, limits and orders in doubt.
    pub session: Session,
    pub lines: Vec<StoredLine>,
    pub candle_counts: BTreeMap<u64, u64>,
    pub is_halted: bool,
    pub last_line: StoredLine,
}

impl JournalContents {
    pub async fn read(reader: &mut Reader) -> Result<Self, RecordsError> {
        Self::read_and_visit(reader, |_| Ok(())).await
    }

    pub(crate) async fn read_and_visit(
        reader: &mut Reader,
        visit: impl FnMut(&StoredLine) -> Result<(), RecordsError>,
    ) -> Result<Self, RecordsError> {
        let read = read_lines(reader, visit).await?;
        let runs = RecordedRun::read_all(&read.lines)?;
        let (Some(last_run), Some(last)) = (runs.last(), read.last_line) else {
            return Err(RecordsError::NoRun);
        };
        let mut fold = SessionFold::new(last_run.session_without_strategies()?);
        let (mut book, mut origins, mut is_halted) = (TradeBook::default(), BTreeMap::new(), false);
        let mut run = None;
        for stored in &read.lines {
            if stored.line.kind == LineKind::Run {
                run = runs.iter().find(|run| run.seq == stored.seq);
            }
            let Some(recorded) = fold.apply_line(stored)? else { continue };
            book.recall(&recorded);
            match &recorded {
                RecordedEntry::Open(approved) => {
                    let origin = run.map(|run| IntentOrigin::from_stored(stored, run)).transpose()?;
                    origins.extend(origin.map(|origin| (approved.intent(), origin)));
                }
                RecordedEntry::Event(event) => match event.kind {
                    EventKind::Control { control: Control::Halt } => is_halted = true,
                    EventKind::Control { control: Control::Resume } => is_halted = false,
                    _ => {}
                },
                RecordedEntry::Refuse => {
                    if let Some(refused) = parse_refusal(stored)? {
                        book.record_action(&Action::Refuse(refused));
                    }
                }
                RecordedEntry::DayOpened { .. } | RecordedEntry::Verdict => {}
            }
        }
        let session = fold.session;
        Ok(Self {
            runs,
            book,
            origins,
            session,
            lines: read.lines,
            candle_counts: read.candle_counts,
            is_halted,
            last_line: last,
        })
    }

    /// Builds the contents from the last snapshot and the lines after it. Omits refusals and candle counts.
    pub fn from_folded(folded: FoldedJournal) -> Result<Self, RecordsError> {
        let FoldedJournal { session, book, decided_intents: decided, is_halted, lines, last_line } = folded;
        let runs = RecordedRun::read_all(&lines)?;
        let origin = |(intent, number, seq, place, request_time): (IntentId, u64, u64, usize, Millis)| {
            let run = runs.iter().find(|run| run.number == number);
            let origin = run.and_then(|run| IntentOrigin::new(run, place, seq, request_time));
            let problem = || "unknown bot index".to_owned();
            let origin = origin.ok_or_else(|| RecordsError::UnreadableEntry { seq, problem: problem() })?;
            Ok((intent, origin))
        };
        let origins = decided.into_iter().map(origin).collect::<Result<_, RecordsError>>()?;
        let candles = BTreeMap::new();
        if runs.is_empty() {
            return Err(RecordsError::NoRun);
        }
        let mut contents =
            Self { runs, book, origins, session, lines, candle_counts: candles, is_halted, last_line };
        if let Some(note) = contents.last_reload(contents.last_run().number)? {
            let applied = contents.session.apply_limits(&note.risk);
            applied.map_err(|error| RecordsError::unreadable_entry(&contents.last_line, error))?;
        }
        Ok(contents)
    }

    pub fn audit_findings(&self, run: Option<u64>) -> BTreeMap<String, u64> {
        let mut found = BTreeMap::new();
        for stored in self.notes_newest_first(run) {
            let note: Value = serde_json::from_str(&stored.line.body).unwrap_or_default();
            if let Some(audit) = note["audit"].as_str() {
                *found.entry(audit.to_owned()).or_default() += 1;
            }
        }
        found
    }

    fn notes_newest_first(&self, run: Option<u64>) -> impl DoubleEndedIterator<Item = &StoredLine> {
        let is_note = move |stored: &&StoredLine| {
            stored.line.kind == LineKind::Note && run.is_none_or(|run| run == stored.line.run)
        };
        self.lines.iter().rev().filter(is_note)
    }

    pub fn notes_of_last_run(&self) -> impl Iterator<Item = &str> {
        self.notes_newest_first(Some(self.last_run().number)).map(|stored| stored.line.body.as_str())
    }

    pub fn halt(&self) -> Option<Halt> {
        let notes = self.notes_newest_first(None);
        let mut halts = notes.filter_map(|stored| Halt::from_note(&stored.line.body, stored.line.at));
        self.is_halted.then(|| halts.next().unwrap_or_default())
    }

    pub fn reached_limit(&self) -> Option<LimitReached> {
        self.notes_newest_first(Some(self.last_run().number)).find_map(|stored| {
            let note: Value = serde_json::from_str(&stored.line.body).ok()?;
            Some(LimitReached { rule: note["limit_reached"].as_str()?.to_owned(), at: stored.line.at })
        })
    }

    /// Returns the trades that belong to no intent, in order of detection. Excludes duplicates that have closed.
    pub fn foreign_trades(&self) -> Vec<ForeignTrade> {
        let ours = self.book.rows().iter().filter_map(|row| self.book.venue_id(row));
        let events = self.lines.iter().filter(|stored| stored.line.kind == LineKind::Event);
        let over = events.filter_map(|stored| match parse_event_named(stored, "\"second_trade_settled\"")? {
            EventKind::SecondTradeSettled { venue_id, .. } => Some(venue_id),
            _ => None,
        });
        let done: BTreeSet<String> = ours.chain(over).map(|id| id.as_str().to_owned()).collect();
        let notes = self.notes_newest_first(None).rev();
        let is_done = |trade: &ForeignTrade| done.contains(VenueId::truncated(&trade.venue_id).as_str());
        notes.filter_map(parse_foreign_trade).filter(|trade| !is_done(trade)).collect()
    }

    fn last_reload(&self, run: u64) -> Result<Option<ReloadNote>, RecordsError> {
        let read = |stored: &StoredLine| {
            let note = ReloadNote::parse(&stored.line.body);
            note.map_err(|error| RecordsError::unreadable_entry(stored, error)).transpose()
        };
        self.notes_newest_first(Some(run)).find_map(read).transpose()
    }

    pub fn last_settings_reload(&self) -> Result<Option<SettingsReload>, RecordsError> {
        Ok(self.last_reload(self.last_run().number)?.map(|note| note.reloaded))
    }

    pub fn settings_at_end(&self, run: &RecordedRun) -> Result<SessionSettings, RecordsError> {
        let risk = self.last_reload(run.number)?.map(|note| note.risk);
        let risk = risk.unwrap_or_else(|| run.settings.risk.clone());
        Ok(SessionSettings { risk, ..run.settings.clone() })
    }

    /// Returns the risk settings at a time; `None` if unknown because the settings were reloaded after that time.
    pub(crate) fn risk_settings_at(
        &self,
        run: &RecordedRun,
        time: Millis,
    ) -> Result<Option<RiskSettings>, RecordsError> {
        Ok(match self.last_reload(run.number)? {
            None => Some(run.settings.risk.clone()),
            Some(note) => (note.reloaded.at < time).then_some(note.risk),
        })
    }

    pub fn wallet_read_time(&self) -> Option<Millis> {
        let is_reading = |stored: &&StoredLine| {
            stored.line.kind == LineKind::Event && stored.line.body.contains("\"event\":\"balance\"")
        };
        self.lines.iter().rev().find(is_reading).map(|stored| stored.line.received)
    }

    pub fn compacted_before(&self) -> Option<Millis> {
        compacted_before(&self.lines)
    }

    /// Returns the intent that a venue trade duplicates. Includes closed trades and trades recorded only in a note.
    pub fn duplicated_intent(&self, venue_id: VenueId) -> Option<IntentId> {
        let booked = |stored: &StoredLine| match parse_event_named(stored, "\"second_trade\"")? {
            EventKind::SecondTrade(trade) if trade.venue_id == venue_id => Some(trade.intent),
            _ => None,
        };
        // If a duplicate trade closed before it was detected, only a note records the trade.
        let noted = |stored: &StoredLine| {
            let trade = parse_foreign_trade(stored)?;
            let is_it = VenueId::truncated(&trade.venue_id) == venue_id;
            trade.second_of.filter(|_| is_it).map(IntentId::new)
        };
        self.lines.iter().find_map(|stored| match stored.line.kind {
            LineKind::Event => booked(stored),
            LineKind::Note => noted(stored),
            LineKind::Run | LineKind::Action => None,
        })
    }

    pub fn in_doubt_since(&self, intent: IntentId) -> Option<Millis> {
        let mut own = self.lines.iter().filter(|stored| {
            stored.line.kind == LineKind::Event && stored.line.intent == Some(intent.number())
        });
        own.find_map(|stored| {
            let event: Event = serde_json::from_str(&stored.line.body).ok()?;
            matches!(event.kind, EventKind::InDoubt { .. }).then_some(event.at)
        })
    }

    pub fn run(&self, number: u64) -> Option<&RecordedRun> {
        self.runs.iter().find(|run| run.number == number)
    }

    pub fn last_run(&self) -> &RecordedRun {
        self.runs.last().expect("contents have at least one run")
    }

    pub fn intents(&self) -> impl Iterator<Item = (&IntentRow, &IntentOrigin)> {
        let origin = |row: &IntentRow| self.origins.get(&row.approved.intent());
        self.book.rows().iter().filter_map(move |row| Some((row, origin(row)?)))
    }

    pub fn find_intent(&self, name: &str) -> Result<(&IntentRow, &IntentOrigin), RecordsError> {
        let is_it = |row: &IntentRow| {
            let is_number = name.parse() == Ok(row.approved.intent().number());
            is_number || self.book.venue_id(row).is_some_and(|id| id.as_str() == name)
        };
        self.intents()
            .find(|(row, _)| is_it(row))
            .ok_or_else(|| RecordsError::UnknownTrade { name: name.to_owned() })
    }
}

fn parse_event_named(stored: &StoredLine, name: &str) -> Option<EventKind> {
    let body = Some(&stored.line.body).filter(|body| body.contains(name))?;
    Some(serde_json::from_str::<Event>(body).ok()?.kind)
}

pub(crate) fn compacted_before(lines: &[StoredLine]) -> Option<Millis> {
    let notes = lines.iter().filter_map(|stored| Compaction::from_line(&stored.line));
    notes.map(|compaction| compaction.since).max()
}

fn parse_foreign_trade(note: &StoredLine) -> Option<ForeignTrade> {
    let said: Value = serde_json::from_str(&note.line.body).ok()?;
    Some(ForeignTrade {
        venue_id: said["unexplained"].as_str()?.to_owned(),
        second_of: said["second_of"].as_u64(),
        seen_at: note.line.at,
    })
}
