//! An intent as machines and people read it: fixed keys, one line each.

use crate::error::RecordsError;
use crate::run::RecordedRun;
use candlewick_engine::{IntentRow, IntentState, TradeBook};
use candlewick_journal::StoredLine;
use candlewick_sdk::{Direction, Millis, MoneyScale, Outcome, Payout, Symbol};
use serde::{Deserialize, Serialize};

/// Where an intent came from: what a journal holds of it beside its row.
#[derive(Clone, Debug, PartialEq)]
pub struct IntentOrigin {
    /// The run in which it was decided.
    pub run: u64,
    /// The number of its line.
    pub seq: u64,
    /// Whose it is.
    pub bot: String,
    /// What it trades.
    pub symbol: Symbol,
    /// When it was journalled: its request left then, or at once after.
    pub request_time: Millis,
    /// How many decimals its money has.
    pub scale: MoneyScale,
}

impl IntentOrigin {
    /// Of the line that approved it.
    ///
    /// # Errors
    /// The line names no bot of the run.
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

/// An intent with the keys that machines rely on. Times are milliseconds; what is not known is null.
#[derive(Debug, Serialize)]
pub struct TradeLine {
    /// Its number, from 1 over the whole journal.
    pub intent_id: u64,
    /// The venue's identifier of the trade.
    pub venue_id: Option<String>,
    /// Whose it is.
    pub bot: String,
    /// What it trades.
    pub symbol: Symbol,
    /// `BUY` or `SELL`.
    pub direction: Direction,
    /// The stake, in the wallet's currency.
    pub amount: f64,
    /// One of [`TradeLine::STATES`].
    pub state: &'static str,
    /// How it ended; null until it has settled.
    pub result: Option<Outcome>,
    /// Profit or loss, in the wallet's currency; null until it has settled.
    pub pnl: Option<f64>,
    /// When the bot decided.
    pub decision_time: Millis,
    /// When its request left; null when it never did.
    pub request_time: Option<Millis>,
    /// When the venue opened it.
    pub open_time: Option<Millis>,
    /// The price at which it opened.
    pub open_price: Option<f64>,
    /// When it closes or has closed.
    pub close_time: Option<Millis>,
    /// The price at which it closed.
    pub close_price: Option<f64>,
    /// What a win pays, in percent of the stake.
    pub payout: Option<Payout>,
    /// How long it lasts, as `HH:MM`.
    pub close_type: String,
    /// How its end is fixed.
    pub expiration_type: String,
    /// The strategy's reason, with its numbers.
    pub reason: String,
    /// The run in which it was decided.
    pub run: u64,
    /// The pair that was asked for, where the venue took another trade: symbol, direction and amount above are the
    /// venue's then. Null, as the next two, where it took what was asked for.
    pub ordered_symbol: Option<Symbol>,
    /// The direction that was asked for.
    pub ordered_direction: Option<Direction>,
    /// The stake that was asked for, in the wallet's currency.
    pub ordered_amount: Option<f64>,
    /// Whether a person said how it ended, because the venue no longer had it.
    pub settled_by_person: bool,
    /// The result that was booked first, where the venue changed it later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected_from: Option<Outcome>,
    #[serde(skip)]
    scale: MoneyScale,
}

impl TradeLine {
    /// The states, as machines read them.
    pub const STATES: [&'static str; 6] =
        ["in_doubt", "open", "settled", "rejected", "not_opened", "not_sent"];

    /// Of an intent.
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

    /// How it ended, and who said so where that was a person.
    pub fn result_text(&self) -> Option<String> {
        let by = if self.settled_by_person { ", a person said" } else { "" };
        let corrected = self.corrected_from.map(|first| format!(", corrected from {first}"));
        self.result.map(|result| format!("{result}{by}{}", corrected.unwrap_or_default()))
    }

    /// The stake with the wallet's decimals.
    pub fn stake_text(&self) -> String {
        format!("{:.*}", self.scale.decimals() as usize, self.amount)
    }

    /// What was asked for, in words, where the venue took something else.
    pub fn ordered_text(&self) -> Option<String> {
        let (symbol, direction) = (self.ordered_symbol?, self.ordered_direction?);
        let amount = self.ordered_amount?;
        Some(format!("{direction} {amount:.*} on {symbol}", self.scale.decimals() as usize))
    }

    /// Profit or loss with its sign and the wallet's decimals, once it has settled.
    pub fn pnl_text(&self) -> Option<String> {
        self.pnl.map(|pnl| format!("{pnl:+.*}", self.scale.decimals() as usize))
    }
}
