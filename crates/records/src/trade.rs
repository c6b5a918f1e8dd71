//! An intent as machines and people are told it: fixed keys, one line each.

use super::{RecordedRun, damaged};
use crate::failure::Failure;
use candlewick_engine::{IntentRow, IntentState, TradeBook};
use candlewick_journal::StoredLine;
use candlewick_sdk::{Direction, Millis, MoneyScale, Outcome, Payout, Symbol};
use serde::{Deserialize, Serialize};

/// What a journal tells of an intent beside its row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Provenance {
    /// The run in which it was decided.
    pub(crate) run: u64,
    /// The number of its line.
    pub(crate) seq: u64,
    /// Whose it is.
    pub(crate) bot: String,
    /// What it trades.
    pub(crate) symbol: Symbol,
    /// When it was journalled: its request left then, or at once after.
    pub(crate) request_time: Millis,
    /// How many decimals its money has.
    pub(crate) scale: MoneyScale,
}

impl Provenance {
    /// Of the line that approved it.
    ///
    /// # Errors
    /// The line names no bot of the run.
    pub(super) fn of(stored: &StoredLine, run: &RecordedRun) -> Result<Self, Failure> {
        #[derive(Deserialize)]
        struct Whose {
            bot: usize,
        }
        let whose: Whose = serde_json::from_str(&stored.line.body).map_err(|error| damaged(stored, error))?;
        let bot = run.settings.bots.get(whose.bot);
        let bot = bot.ok_or_else(|| damaged(stored, "the run has no such bot"))?;
        Ok(Self {
            run: run.number,
            seq: stored.seq,
            bot: bot.name.clone(),
            symbol: bot.symbol,
            request_time: stored.line.received,
            scale: run.settings.money_scale,
        })
    }
}

/// An intent with the keys that machines rely on. Times are milliseconds; what is not known is null.
#[derive(Debug, Serialize)]
pub(crate) struct TradeLine {
    pub(crate) intent_id: u64,
    pub(crate) venue_id: Option<String>,
    pub(crate) bot: String,
    pub(crate) symbol: Symbol,
    pub(crate) direction: Direction,
    pub(crate) amount: f64,
    pub(crate) state: &'static str,
    pub(crate) result: Option<Outcome>,
    pub(crate) pnl: Option<f64>,
    pub(crate) decision_time: Millis,
    pub(crate) request_time: Option<Millis>,
    pub(crate) open_time: Option<Millis>,
    pub(crate) open_price: Option<f64>,
    pub(crate) close_time: Option<Millis>,
    pub(crate) close_price: Option<f64>,
    pub(crate) payout: Option<Payout>,
    pub(crate) close_type: String,
    pub(crate) expiration_type: String,
    pub(crate) reason: String,
    pub(crate) run: u64,
}

impl TradeLine {
    /// The states, as machines are told them.
    pub(crate) const STATES: [&'static str; 6] =
        ["in_doubt", "open", "settled", "rejected", "not_opened", "not_sent"];

    /// Of an intent.
    pub(crate) fn of(book: &TradeBook, (row, told): (&IntentRow, &Provenance)) -> Self {
        let trade = &row.approved;
        Self {
            intent_id: trade.intent().number(),
            venue_id: book.venue_id(row).map(|id| id.as_str().to_owned()),
            bot: told.bot.clone(),
            symbol: told.symbol,
            direction: trade.direction(),
            amount: told.scale.to_f64(trade.stake()),
            state: state_of(row.state),
            result: row.outcome,
            pnl: (row.state == IntentState::Settled).then(|| told.scale.to_f64(row.profit)),
            decision_time: trade.decision_time(),
            request_time: (row.state != IntentState::NotSent).then_some(told.request_time),
            open_time: row.open_time,
            open_price: row.open_price,
            close_time: row.close_time,
            close_price: row.close_price,
            payout: row.payout,
            close_type: trade.expiry().close_type.to_string(),
            expiration_type: trade.expiry().expiration_type.to_string(),
            reason: book.reason(row).to_string(),
            run: told.run,
        }
    }
}

/// Whoever only reads cannot tell an answer that is awaited from one that was lost.
pub(crate) const fn state_of(state: IntentState) -> &'static str {
    match state {
        IntentState::InFlight | IntentState::InDoubt => "in_doubt",
        IntentState::Open => "open",
        IntentState::Settled => "settled",
        IntentState::Rejected => "rejected",
        IntentState::NotSent => "not_sent",
        IntentState::NotOpened => "not_opened",
    }
}
