//! Builds the rows of the journal's tables from the folded entries, and verifies the stored rows.

use super::{RecoveredState, read_header};
use crate::RuntimeError;
use crate::error::Result;
use candlewick_engine::{IntentId, IntentState};
use candlewick_journal::{
    IntentRecord, IntentRows, LineKind, RunNames, StoredLine, Tables, daily_figures, without_nul,
};
use candlewick_sdk::Symbol;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TablesCheck {
    Absent,
    Sound { seq: u64, intents: u64 },
}

pub(super) struct TableVerifier {
    tables: Option<Tables>,
    last: BTreeMap<u64, u64>,
    names: BTreeMap<u64, RunNames>,
    result: TablesCheck,
}

impl TableVerifier {
    pub(super) fn new(tables: Option<Tables>) -> Self {
        let tables = tables.filter(|tables| tables.last_entry.seq > 0);
        Self { tables, last: BTreeMap::new(), names: BTreeMap::new(), result: TablesCheck::Absent }
    }

    pub(super) fn check_line(&mut self, stored: &StoredLine, past: &RecoveredState) -> Result<()> {
        let Some(tables) = &self.tables else { return Ok(()) };
        match (stored.line.kind, stored.line.intent) {
            (LineKind::Event | LineKind::Action, Some(intent)) => {
                self.last.insert(intent, stored.seq);
            }
            (LineKind::Run, _) => {
                self.names.extend(read_run_names(stored).map(|names| (stored.line.run, names)));
            }
            _ => {}
        }
        if stored.seq < tables.last_entry.seq {
            return Ok(());
        }
        let wrong = |row: String| Err(RuntimeError::WrongRow { row });
        if stored.head() != tables.last_entry {
            return wrong(format!("row {} of the `projection` table", tables.last_entry.seq));
        }
        let expected: Vec<IntentRecord> = self.last.iter().filter_map(|one| self.row(one, past)).collect();
        let different = |(expected, found): (&IntentRecord, &IntentRecord)| expected != found;
        if let Some(place) = expected.iter().zip(&tables.intents).position(different) {
            return wrong(format!(
                "row {} of the `intents` table",
                expected[place].intent.min(tables.intents[place].intent)
            ));
        }
        if expected.len() != tables.intents.len() {
            let place = expected.len().min(tables.intents.len());
            let row = expected.get(place).or_else(|| tables.intents.get(place)).map_or(0, |row| row.intent);
            return wrong(format!("row {row} of the `intents` table"));
        }
        let figures = daily_figures(&expected);
        let all = figures.keys().chain(tables.figures.keys());
        let mut all = all.filter(|key| figures.get(key) != tables.figures.get(key));
        if let Some((day, bot)) = all.next() {
            return wrong(format!("row (day {}, bot {bot}) of the `figures` table", day.get()));
        }
        self.result = TablesCheck::Sound { seq: stored.seq, intents: expected.len() as u64 };
        self.tables = None;
        Ok(())
    }

    fn row(&self, (intent, seq): (&u64, &u64), past: &RecoveredState) -> Option<IntentRecord> {
        past.intent_record(*intent, *seq, self.names.get(&past.run_of_intent(*intent)?)?)
    }

    pub(super) fn finish(self) -> Result<TablesCheck> {
        match self.tables {
            Some(tables) => Err(RuntimeError::WrongRow {
                row: format!("row {} of the `projection` table", tables.last_entry.seq),
            }),
            None => Ok(self.result),
        }
    }
}

#[derive(Deserialize)]
struct NamedSession {
    money_scale: candlewick_sdk::MoneyScale,
    bots: Vec<NamedBot>,
}

#[derive(Deserialize)]
struct NamedBot {
    name: String,
    symbol: Symbol,
}

impl IntentRows for RecoveredState {
    fn last_intent(&self) -> u64 {
        self.book.rows().last().map_or(0, |row| row.approved.intent().number())
    }

    fn run_of_intent(&self, intent: u64) -> Option<u64> {
        self.decided.get(&IntentId::new(intent)).map(|decided| decided.run)
    }

    fn parse_run_names(&self, header: &StoredLine) -> Option<RunNames> {
        read_run_names(header)
    }

    fn intent_record(&self, intent: u64, seq: u64, names: &RunNames) -> Option<IntentRecord> {
        let id = IntentId::new(intent);
        let (row, decided) = (self.book.row(id)?, self.decided.get(&id)?);
        let (bot, symbol) = names.bots.get(decided.bot).cloned()?;
        let departure = self.book.original_order(id);
        let taken = departure.and_then(|departure| Symbol::new(departure.symbol?.as_str()).ok());
        let trade = &row.approved;
        let is_settled = row.state == IntentState::Settled;
        Some(IntentRecord {
            intent,
            seq,
            run: decided.run,
            bot: without_nul(bot),
            direction: trade.direction().to_string(),
            state: row.state.as_str().to_owned(),
            result: row.outcome.map(|outcome| outcome.as_str().to_owned()),
            stake_minor: trade.stake().minor(),
            profit_minor: is_settled.then(|| row.profit.minor()),
            unit: names.unit,
            payout: row.payout.map(candlewick_sdk::Payout::to_percent),
            decision_time: trade.decision_time(),
            request_time: (row.state != IntentState::NotSent).then_some(decided.at),
            open_time: row.open_time,
            open_price: row.open_price,
            close_time: row.close_time,
            close_price: row.close_price,
            settled_time: row.settled_at,
            close_type: trade.expiry().close_type.to_string(),
            expiration_type: trade.expiry().expiration_type.to_string(),
            reason: without_nul(self.book.reason(row).to_string()),
            venue_id: self.book.venue_id(row).map(|id| without_nul(id.as_str().to_owned())),
            symbol: taken.map_or_else(|| symbol.clone(), |taken| taken.to_string()),
            ordered_symbol: departure.map(|_| symbol),
            ordered_direction: departure.map(|departure| departure.ordered.direction().to_string()),
            ordered_stake_minor: departure.map(|departure| departure.ordered.stake().minor()),
            settled_by_person: self.book.is_settled_by_operator(id),
        })
    }
}

fn read_run_names(header: &StoredLine) -> Option<RunNames> {
    let header = read_header(header.seq, &header.line).ok()?;
    let named = NamedSession::deserialize(header.settings.get("session")?).ok()?;
    let bots = named.bots.into_iter().map(|bot| (bot.name, bot.symbol.to_string())).collect();
    Some(RunNames { bots, unit: 10_i64.checked_pow(named.money_scale.decimals())? })
}
