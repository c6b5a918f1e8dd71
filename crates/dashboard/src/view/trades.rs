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

/// Returns the trades before a number, `None` if no bot has or had this name. If the page is not
/// full, also the number before which the journal has more.
pub(crate) fn trades_of(
    model: &Model,
    before: u64,
    most: usize,
    bot: Option<&str>,
) -> Option<(Trades, Option<u64>)> {
    if bot.is_some_and(|bot| !model.knows_bot(bot)) {
        return None;
    }
    let (kept, first) = (&model.trades, model.trades.first());
    let rows = kept.book.rows();
    let begin = rows.partition_point(|row| row.approved.intent().number() < first);
    let end = rows.partition_point(|row| row.approved.intent().number() < before).max(begin);
    let mut trades = Vec::new();
    for row in rows[begin..end].iter().rev() {
        if bot.is_some_and(|bot| kept.bot_of(row) != Some(bot)) {
            continue;
        }
        let Some(trade) = kept.line(row) else { continue };
        trades.push(trade);
        if trades.len() == most {
            break;
        }
    }
    let oldest = if first > 1 { 1 } else { rows.first().map_or(0, |row| row.approved.intent().number()) };
    let is_full = trades.len() == most;
    let last = trades.last().map(|trade| trade.intent_id).filter(|last| *last > oldest && is_full);
    let earlier = Some(first.min(before)).filter(|earlier| *earlier > 1 && !is_full);
    Some((Trades { trades, before: last }, earlier))
}

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
