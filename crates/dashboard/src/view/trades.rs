//! Pages of trades and lines, and marks on candles.

use crate::model::{Model, TailLine};
use candlewick_records::TradeLine;
use candlewick_sdk::{Direction, Millis, Series};
use serde::Serialize;
use utoipa::ToSchema;

/// A page of trades and requests, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Trades {
    /// With the keys of `candlewick trades --json`.
    #[schema(value_type = Vec<Object>)]
    pub(crate) trades: Vec<TradeLine>,
    /// What to ask for as `before` for those that came earlier; null where there are none.
    pub(crate) before: Option<u64>,
}

/// A page of the journal's lines, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Lines {
    pub(crate) lines: Vec<TailLine>,
    /// What to ask for as `before` for those that stand before; null where there are none.
    pub(crate) before: Option<u64>,
}

/// A signal that was refused.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Mark {
    /// When it was given, in milliseconds of venue time.
    #[schema(value_type = i64)]
    at: Millis,
    bot: String,
    /// `BUY` or `SELL`.
    #[schema(value_type = String)]
    direction: Direction,
    /// The first rule that refused it.
    rule: &'static str,
}

/// The trades before this number, of one bot or all; none where no bot has this name, or had it.
pub(crate) fn trades_of(model: &Model, before: u64, most: usize, bot: Option<&str>) -> Option<Trades> {
    if bot.is_some_and(|bot| !model.knows_bot(bot)) {
        return None;
    }
    let rows = model.book.rows();
    let end = rows.partition_point(|row| row.approved.intent().number() < before);
    let mut trades = Vec::new();
    for row in rows[..end].iter().rev() {
        if bot.is_some_and(|bot| model.bot_of(row) != Some(bot)) {
            continue;
        }
        let Some(trade) = model.trade(row) else { continue };
        trades.push(trade);
        if trades.len() == most {
            break;
        }
    }
    let first = rows.first().map_or(0, |row| row.approved.intent().number());
    let before =
        trades.last().map(|trade| trade.intent_id).filter(|last| *last > first && trades.len() == most);
    Some(Trades { trades, before })
}

/// The signals on a series that were refused lately.
pub(crate) fn marks_of(model: &Model, series: Series) -> Vec<Mark> {
    let ours = model.refusals.iter().filter(|refusal| refusal.series == series);
    let mark = |refusal: &crate::model::Refusal| Mark {
        at: refusal.at,
        bot: refusal.bot.clone(),
        direction: refusal.direction,
        rule: refusal.rule,
    };
    ours.map(mark).collect()
}
