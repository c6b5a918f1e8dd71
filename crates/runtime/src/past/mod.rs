//! State of earlier runs. Every start recovers this state from the journal.

mod compact;
mod evicted_intents;
mod fold;
mod pieces;
mod snapshot;
mod tables;
mod verify;

pub use compact::{Projection, ProjectionResult, compact_journal, project_journal};
pub(crate) use evicted_intents::EvictedIntents;
pub use evicted_intents::OldTrade;
pub use fold::{FullReadCallback, FullReadProgress, JournalFold};
pub use tables::TablesCheck;
pub use verify::{JournalCheck, SnapshotCheck, check_journal};

use crate::RuntimeError;
use crate::audit::{Audit, WalletAudit};
use crate::coordinator::Reservations;
use crate::error::Result;
use candlewick_engine::{
    Control, Event, EventKind, Halt, Header, IntentId, IntentRow, JournalDecoder, OpenedTrade, RecordedEntry,
    Session, TradeBook,
};
use candlewick_journal::{Line, LineKind, Reader, StoredLine, is_seal, is_snapshot};
use candlewick_sdk::Millis;
use candlewick_sdk::rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const HALT_PREFIX: &str = Halt::ALARM_PREFIX;

const HALT_SEARCH_LINES: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntentDecision {
    pub run: u64,
    pub seq: u64,
    pub bot: usize,
    pub at: Millis,
}

#[derive(Clone, Debug, Default)]
pub struct RecoveredState {
    pub(crate) book: TradeBook,
    pub(crate) evicted: EvictedIntents,
    /// Time at which each intent was journaled. The order's request cannot have been sent earlier.
    pub(crate) sent: BTreeMap<IntentId, Millis>,
    /// Intents that were reported as not sent, although the client had tried to send them.
    pub(crate) attempted_sends: BTreeSet<IntentId>,
    /// Time at which each intent was put in doubt, which is the latest possible end of the order's request.
    pub(crate) in_doubt_since: BTreeMap<IntentId, Millis>,
    pub(crate) unexplained: Vec<String>,
    pub(crate) second_trades: Vec<String>,
    /// Intents that were corrected or put in doubt after they ended, in event order. Snapshots omit this list.
    pub(crate) revised: Vec<IntentId>,
    pub(crate) lacks_settlement: bool,
    pub(crate) last_received: Millis,
    /// Texts of all alarms in the journal. The text of a halt begins with [`HALT_PREFIX`].
    pub(crate) alarms: BTreeSet<String>,
    /// Findings of earlier runs that must not be reported again.
    pub(crate) findings: BTreeSet<String>,
    pub(crate) wallet: WalletAudit,
    pub(crate) is_halted: bool,
    /// Last halt. If the state came from a snapshot, `None` until [`RecoveredState::find_halt`] is called.
    pub(crate) halt: Option<Halt>,
    pub(crate) decided: BTreeMap<IntentId, IntentDecision>,
    /// Numbers of lines that are displayed but not folded: headers, notes and duplicate trades.
    pub(crate) displayed: Vec<u64>,
    pub(crate) wallet_line: Option<u64>,
    pub runs: u64,
    pub began: Option<Millis>,
}

impl RecoveredState {
    pub async fn first_header(reader: &mut Reader) -> Result<Option<Header>> {
        first_run(reader).await?.map(|first| read_header(first.seq, &first.line)).transpose()
    }

    pub async fn first_balance(reader: &mut Reader) -> Result<Option<Decimal>> {
        let Some(first) = first_run(reader).await? else { return Ok(None) };
        let header: Header = read_header(first.seq, &first.line)?;
        let balance = header.settings.pointer("/session/balance").cloned().unwrap_or_default();
        serde_json::from_value(balance)
            .map(Some)
            .map_err(|error| unreadable_entry(first.seq, &error.to_string()))
    }

    pub const fn book(&self) -> &TradeBook {
        &self.book
    }

    pub fn into_book(self) -> TradeBook {
        self.book
    }

    pub const fn evicted_count(&self) -> u64 {
        self.evicted.count
    }

    pub fn old_rows(&self) -> impl Iterator<Item = &IntentRow> {
        self.evicted.rows.iter().rev()
    }

    pub fn take_old_trades(&mut self) -> Vec<OldTrade> {
        let mut trades = std::mem::take(&mut self.evicted.trades);
        trades.reverse();
        trades
    }

    pub const fn evicted_bots(&self) -> &BTreeSet<(u64, usize)> {
        &self.evicted.bots
    }

    pub const fn decisions(&self) -> &BTreeMap<IntentId, IntentDecision> {
        &self.decided
    }

    pub fn displayed_lines(&self) -> Vec<u64> {
        let mut displayed = self.displayed.clone();
        displayed.extend(self.wallet_line);
        displayed.sort_unstable();
        displayed
    }

    pub const fn is_halted(&self) -> bool {
        self.is_halted
    }

    pub fn halt(&self) -> Option<Halt> {
        self.is_halted.then(|| self.halt.clone().unwrap_or_default())
    }

    async fn find_halt(&mut self, reader: &mut Reader) -> Result<()> {
        if !self.is_halted || self.halt.is_some() {
            return Ok(());
        }
        for numbers in self.displayed.rchunks(HALT_SEARCH_LINES) {
            let lines = reader.lines_by_number(numbers).await?;
            let mut halts = lines.iter().rev().filter(|stored| stored.line.kind == LineKind::Note);
            self.halt = halts.find_map(|stored| Halt::from_note(&stored.line.body, stored.line.at));
            if self.halt.is_some() {
                break;
            }
        }
        Ok(())
    }

    pub fn unexplained_trades(&self) -> &[String] {
        &self.unexplained
    }

    fn fold_line(
        &mut self,
        (seq, line): (u64, &Line),
        recall: &mut Option<JournalDecoder>,
        session: &mut Session,
    ) -> Result<()> {
        if line.kind == LineKind::Run {
            self.runs = self.runs.max(line.run);
            self.began = self.began.or(Some(line.at));
            self.displayed.push(seq);
            let made = JournalDecoder::for_run(&read_header(seq, line)?, session);
            *recall = Some(made.map_err(|error| unreadable_entry(seq, &error.to_string()))?);
            return Ok(());
        }
        if line.kind == LineKind::Note {
            if !is_snapshot(&line.body) {
                self.apply_note(&line.body, line.at);
                self.displayed.extend(Some(seq).filter(|_| !is_seal(&line.body)));
            }
            return Ok(());
        }
        // Most lines are candles. The fold ignores candles, so they are skipped before decoding.
        let is_candle = line.kind == LineKind::Event && line.body.contains("\"event\":\"candle\"");
        if is_candle {
            return Ok(());
        }
        let Some(recall) = recall else {
            return Err(unreadable_entry(seq, "the entry precedes the first run"));
        };
        let recorded = match line.kind {
            LineKind::Action => recall.read_action(&line.body),
            LineKind::Event | LineKind::Run | LineKind::Note => recall.read_event(&line.body),
        };
        let recorded = recorded.map_err(|error| unreadable_entry(seq, &error.to_string()))?;
        if let RecordedEntry::Open(approved) = &recorded {
            self.sent.insert(approved.intent(), line.received);
            self.decided.insert(approved.intent(), read_decision(seq, line)?);
        }
        self.last_received = self.last_received.max(line.received);
        if let RecordedEntry::Event(event) = &recorded {
            if let EventKind::Correction { intent, .. } = event.kind {
                let may_be_settled = self.book.row(intent).is_none_or(IntentRow::is_finished);
                self.lacks_settlement |= may_be_settled && !session.can_correct(intent);
            }
            self.apply_event(event);
            match event.kind {
                EventKind::SecondTrade(_) | EventKind::SecondTradeSettled { .. } => self.displayed.push(seq),
                EventKind::Balance { .. } => self.wallet_line = Some(seq),
                // The venue may have executed the order long after the order's stake was reserved.
                EventKind::Opened(OpenedTrade { intent, venue_id: Some(_), .. })
                | EventKind::Adopted(OpenedTrade { intent, .. }) => {
                    if let Some(row) = self.book.row(intent) {
                        self.wallet.postpone_change(-row.approved.stake(), line.received);
                    }
                }
                _ => {}
            }
        }
        let reservations = Reservations::new(session);
        session.recall(&recorded);
        self.book.recall(&recorded);
        let released = reservations.released_stake(session, &self.book);
        self.wallet.record_event_balance(session.ledger().free_balance(), released, line.received);
        Ok(())
    }

    /// Removes finished intents from memory. Retains the last intent, because its number determines the next number.
    fn forget_intents(&mut self, is_forgotten: impl Fn(IntentId) -> bool) {
        let last = self.book.rows().last().map(|row| (row.approved.intent(), row.approved.decision_time()));
        let is_last = |intent| last.is_some_and(|(last, _)| last == intent);
        // A rejected intent is retained for a day, because the venue may still list a trade for it.
        let may_return = |row: &IntentRow| {
            row.is_refused() && last.is_some_and(|(_, at)| at - row.approved.decision_time() < Millis::DAY)
        };
        self.book.retain_rows(|row| {
            let intent = row.approved.intent();
            !row.is_finished() || may_return(row) || is_last(intent) || !is_forgotten(intent)
        });
        let book = &self.book;
        self.sent.retain(|intent, _| book.row(*intent).is_some());
        self.in_doubt_since.retain(|intent, _| book.row(*intent).is_some());
        self.decided.retain(|intent, _| book.row(*intent).is_some());
    }

    pub(crate) fn apply_event(&mut self, event: &Event) {
        match event.kind {
            EventKind::InDoubt { intent } => {
                self.in_doubt_since.insert(intent, event.received);
            }
            EventKind::NotSent { intent } if !self.attempted_sends.remove(&intent) => {
                self.sent.remove(&intent);
            }
            EventKind::Correction { intent, .. } => self.revised.push(intent),
            EventKind::Reinstated(terms) => {
                self.in_doubt_since.insert(terms.intent(), event.received);
                self.revised.push(terms.intent());
            }
            EventKind::SecondTrade(trade) => self.second_trades.push(trade.venue_id.as_str().to_owned()),
            EventKind::Control { control: Control::Halt } => self.is_halted = true,
            EventKind::Control { control: Control::Resume } => self.is_halted = false,
            _ => {}
        }
    }

    pub(crate) fn apply_note(&mut self, body: &str, at: Millis) {
        let note: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
        if let Some(id) = note.get("unexplained").and_then(serde_json::Value::as_str) {
            self.unexplained.push(id.to_owned());
            if note.get("second_of").is_some_and(serde_json::Value::is_u64) {
                self.second_trades.push(id.to_owned());
            }
        }
        if let Some(wallets) = parse_field(&note, "wallets") {
            self.wallet.names = Some(wallets);
        }
        if let Some(bonus) = parse_field(&note, "bonus_wallets") {
            self.wallet.bonus = bonus;
        }
        let text = |key: &str| note.get(key).and_then(serde_json::Value::as_str);
        if let (Some(audit), Some(finding)) = (text("audit"), text("finding"))
            && Audit::DEDUPLICATED.iter().any(|once| once.as_str() == audit)
        {
            self.findings.insert(finding.to_owned());
        }
        if let Some(intent) =
            parse_field(&note, "intent").filter(|_| parse_field(&note, "tried") == Some(true))
        {
            self.attempted_sends.insert(intent);
        }
        if let Some(alarm) = text("alarm") {
            self.halt = Halt::from_alarm_text(alarm, at).or(self.halt.take());
            self.alarms.insert(alarm.to_owned());
        }
    }
}

fn parse_field<T: serde::de::DeserializeOwned>(note: &serde_json::Value, key: &str) -> Option<T> {
    note.get(key).and_then(|part| T::deserialize(part).ok())
}

fn read_decision(seq: u64, line: &Line) -> Result<IntentDecision> {
    #[derive(Deserialize)]
    struct BotRef {
        bot: usize,
    }
    let found: BotRef =
        serde_json::from_str(&line.body).map_err(|error| unreadable_entry(seq, &error.to_string()))?;
    Ok(IntentDecision { run: line.run, seq, bot: found.bot, at: line.received })
}

async fn first_run(reader: &mut Reader) -> Result<Option<StoredLine>> {
    let mut walk = reader.walk(1).await?;
    loop {
        let mut lines = walk.next().await?;
        match lines.pop() {
            Some(first) if first.line.kind == LineKind::Run => return Ok(Some(first)),
            Some(_) => {}
            None => return Ok(None),
        }
    }
}

fn read_header(seq: u64, line: &Line) -> Result<Header> {
    serde_json::from_str(&line.body).map_err(|error| unreadable_entry(seq, &error.to_string()))
}

fn unreadable_entry(seq: u64, problem: &str) -> RuntimeError {
    RuntimeError::UnreadableEntry { seq, problem: problem.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn unsent_order_may_have_left_only_if_the_client_tried() {
        let mut past = RecoveredState::default();
        let intents = [1, 2, 3].map(IntentId::new);
        past.sent = intents.map(|intent| (intent, Millis::SECOND)).into();
        past.apply_note(r#"{"intent":1,"not_sent":"no connection","tried":true}"#, Millis::ZERO);
        past.apply_note(r#"{"intent":2,"not_sent":"the run was about to end"}"#, Millis::ZERO);
        for intent in intents {
            let kind = EventKind::NotSent { intent };
            past.apply_event(&Event { at: Millis::SECOND, received: Millis::SECOND, kind });
        }
        assert_eq!(past.sent.into_keys().collect::<Vec<_>>(), [intents[0]]);
    }

    #[test]
    fn restores_second_trades_and_alarms_from_notes() {
        let notes = [
            json!({"unexplained": "a", "symbol": "BTCUSDT", "second_of": 1}),
            json!({"unexplained": "b", "symbol": "BTCUSDT", "second_of": null}),
            json!({"alarm": "halted: trade c is to pay 900 %"}),
            json!({"alarm": "trade d cannot have the time 1"}),
        ];
        let mut past = RecoveredState::default();
        for note in &notes {
            past.apply_note(&note.to_string(), Millis::ZERO);
        }
        assert_eq!([past.unexplained.concat(), past.second_trades.concat()], ["ab", "a"]);
        let said = ["halted: trade c is to pay 900 %", "trade d cannot have the time 1"].map(str::to_owned);
        assert_eq!(past.alarms, BTreeSet::from(said));
    }
}
