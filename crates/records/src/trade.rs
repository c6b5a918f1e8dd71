//! An intent as JSON with fixed keys and as one line of text.

use crate::error::RecordsError;
use crate::run::RecordedRun;
use candlewick_engine::{IntentRow, IntentState, TradeBook};
use candlewick_journal::StoredLine;
use candlewick_sdk::{Direction, Millis, MoneyScale, Outcome, Payout, Symbol};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq)]
pub struct IntentOrigin {
    pub run: u64,
    pub seq: u64,
    pub bot: String,
    pub symbol: Symbol,
    /// When the intent was journalled. The request is sent right after.
    pub request_time: Millis,
    pub scale: MoneyScale,
}

impl IntentOrigin {
    pub(super) fn of(stored: &StoredLine, run: &RecordedRun) -> Result<Self, RecordsError> {
        #[derive(Deserialize)]
        struct Whose {
            bot: usize,
        }
        let whose: Whose = serde_json::from_str(&stored.line.body)
            .map_err(|error| RecordsError::unreadable(stored, error))?;
        let bot = run.settings.bots.get(whose.bot);
        let bot = bot.ok_or_else(|| RecordsError::unreadable(stored, "the run has no such bot"))?;
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

/// An intent with stable JSON keys. Times are in milliseconds; unknown values are `None`.
#[derive(Debug, Serialize)]
pub struct TradeLine {
    /// 1-based, unique in the whole journal.
    pub intent_id: u64,
    pub venue_id: Option<String>,
    pub bot: String,
    pub symbol: Symbol,
    pub direction: Direction,
    /// In the wallet's currency.
    pub amount: f64,
    /// One of [`TradeLine::STATES`].
    pub state: &'static str,
    pub result: Option<Outcome>,
    /// In the wallet's currency; `None` before settlement.
    pub pnl: Option<f64>,
    pub decision_time: Millis,
    pub request_time: Option<Millis>,
    pub open_time: Option<Millis>,
    pub open_price: Option<f64>,
    /// Actual or scheduled close.
    pub close_time: Option<Millis>,
    pub close_price: Option<f64>,
    /// Percentage of the stake that a win pays.
    pub payout: Option<Payout>,
    /// Duration as `HH:MM`.
    pub close_type: String,
    pub expiration_type: String,
    pub reason: String,
    pub run: u64,
    /// The ordered pair, if the venue opened a different trade. Then `symbol`, `direction` and
    /// `amount` are the venue's. All `ordered_*` fields are `None` if the venue opened what was
    /// ordered.
    pub ordered_symbol: Option<Symbol>,
    pub ordered_direction: Option<Direction>,
    /// In the wallet's currency.
    pub ordered_amount: Option<f64>,
    /// An operator entered the result because the venue no longer had the trade.
    pub settled_by_person: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected_from: Option<Outcome>,
    #[serde(skip)]
    scale: MoneyScale,
}

impl TradeLine {
    pub const STATES: [&'static str; 6] =
        ["in_doubt", "open", "settled", "rejected", "not_opened", "not_sent"];

    pub fn of(book: &TradeBook, (row, origin): (&IntentRow, &IntentOrigin)) -> Self {
        let trade = &row.approved;
        let departure = book.departure(trade.intent());
        let taken = departure.and_then(|departure| Symbol::new(departure.symbol?.as_str()).ok());
        Self {
            intent_id: trade.intent().number(),
            venue_id: book.venue_id(row).map(|id| id.as_str().to_owned()),
            bot: origin.bot.clone(),
            symbol: taken.unwrap_or(origin.symbol),
            direction: trade.direction(),
            amount: origin.scale.to_f64(trade.stake()),
            state: row.state.as_str(),
            result: row.outcome,
            pnl: (row.state == IntentState::Settled).then(|| origin.scale.to_f64(row.profit)),
            decision_time: trade.decision_time(),
            request_time: (row.state != IntentState::NotSent).then_some(origin.request_time),
            open_time: row.open_time,
            open_price: row.open_price,
            close_time: row.close_time,
            close_price: row.close_price,
            payout: row.payout,
            close_type: trade.expiry().close_type.to_string(),
            expiration_type: trade.expiry().expiration_type.to_string(),
            reason: book.reason(row).to_string(),
            run: origin.run,
            ordered_symbol: departure.map(|_| origin.symbol),
            ordered_direction: departure.map(|departure| departure.ordered.direction()),
            ordered_amount: departure.map(|departure| origin.scale.to_f64(departure.ordered.stake())),
            settled_by_person: book.is_settled_by_person(trade.intent()),
            corrected_from: book.correction(trade.intent()).map(|corrected| corrected.outcome),
            scale: origin.scale,
        }
    }

    pub fn result_text(&self) -> Option<String> {
        let by = if self.settled_by_person { ", a person said" } else { "" };
        let corrected = self.corrected_from.map(|first| format!(", corrected from {first}"));
        self.result.map(|result| format!("{result}{by}{}", corrected.unwrap_or_default()))
    }

    pub fn stake_text(&self) -> String {
        format!("{:.*}", self.scale.decimals() as usize, self.amount)
    }

    pub fn ordered_text(&self) -> Option<String> {
        let (symbol, direction) = (self.ordered_symbol?, self.ordered_direction?);
        let amount = self.ordered_amount?;
        Some(format!("{direction} {amount:.*} on {symbol}", self.scale.decimals() as usize))
    }

    pub fn pnl_text(&self) -> Option<String> {
        self.pnl.map(|pnl| format!("{pnl:+.*}", self.scale.decimals() as usize))
    }
}
