//! JSON documents that the dashboard sends to the browser.

mod state;

pub(crate) use state::{State, build_state};
#[cfg(test)]
pub(crate) use state::{build_limits, build_run};

use crate::model::{BotFigures, CandleFeed, Model, MoneyCurve, TailLine};
use candlewick_engine::RefusedSignal;
use candlewick_records::TradeLine;
use candlewick_sdk::{Direction, Millis, Series};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Price bars of one length, oldest first.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct Bars {
    /// Length of a bar, in milliseconds.
    #[schema(value_type = i64)]
    pub(crate) length: Millis,
    /// Start of each bar in venue time, in milliseconds.
    #[schema(value_type = Vec<i64>)]
    pub(crate) time: Vec<Millis>,
    pub(crate) open: Vec<f64>,
    pub(crate) high: Vec<f64>,
    pub(crate) low: Vec<f64>,
    pub(crate) close: Vec<f64>,
}

pub(crate) fn build_bars(feed: &CandleFeed, level: usize, from: Millis) -> Option<Bars> {
    let level = feed.levels.0.get(level)?;
    let mut bars = Bars { length: level.bar_length, ..Bars::default() };
    for bar in level.bars.iter().filter(|bar| bar.time >= from) {
        bars.time.push(bar.time);
        bars.open.push(bar.open);
        bars.high.push(bar.high);
        bars.low.push(bar.low);
        bars.close.push(bar.close);
    }
    Some(bars)
}

/// Venue clock.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct Clock {
    /// Current venue time in milliseconds since 1970, null while no bot responds.
    #[schema(value_type = Option<i64>)]
    pub(crate) now: Option<Millis>,
    /// Speed of the venue clock as a multiple of real time. Only a sandbox exceeds 1.
    pub(crate) speed: f64,
    /// Venue time of the last response from the venue.
    #[schema(value_type = Option<i64>)]
    pub(crate) heard: Option<Millis>,
    /// Number of the last journal line that was read.
    pub(crate) seq: u64,
}

/// Curve of the equity or of one bot's profit. A point covers one settlement or, in a long curve, several.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct EquityCurve {
    /// Venue time of each point, in milliseconds since 1970.
    #[schema(value_type = Vec<i64>)]
    time: Vec<Millis>,
    /// Equity after the last settlement that the point covers.
    equity: Vec<f64>,
    /// Lowest equity after any settlement that the point covers.
    low: Vec<f64>,
    /// Highest equity after any settlement that the point covers.
    high: Vec<f64>,
    /// Max drawdown after any settlement that the point covers, as a negative amount of money.
    drawdown: Vec<f64>,
}

/// Confidence intervals (95 %) of a bot's edge, by number of trades.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct EdgeCurve {
    /// Number of trades at each point.
    trades: Vec<u64>,
    /// Lower bound of the edge, in percent of the stake. 0 is break-even.
    low: Vec<f64>,
    high: Vec<f64>,
    /// Lower bound of the win rate, in percent.
    rate_low: Vec<f64>,
    rate_high: Vec<f64>,
}

pub(crate) fn equity_curve(model: &Model, bot: Option<usize>) -> Option<EquityCurve> {
    let scale = model.session().money_scale();
    let points: &MoneyCurve = match bot {
        None => &model.curve,
        Some(place) => &model.bots.get(place)?.curve,
    };
    let mut curve = EquityCurve::default();
    for point in &points.points {
        curve.time.push(point.time);
        curve.equity.push(scale.to_f64(point.last));
        curve.low.push(scale.to_f64(point.low));
        curve.high.push(scale.to_f64(point.high));
        curve.drawdown.push(-scale.to_f64(point.drawdown));
    }
    Some(curve)
}

pub(crate) fn edge_curve(bot: &BotFigures) -> EdgeCurve {
    let mut curve = EdgeCurve::default();
    for point in &bot.edge_points {
        let (Some(edge), Some(rate)) =
            (point.intervals.edge_sequence_95, point.intervals.win_rate_sequence_95)
        else {
            continue;
        };
        curve.trades.push(point.trades);
        curve.low.push(edge[0] * 100.0);
        curve.high.push(edge[1] * 100.0);
        curve.rate_low.push(rate[0] * 100.0);
        curve.rate_high.push(rate[1] * 100.0);
    }
    curve
}

/// Body of a sign-in request.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignIn {
    /// One-time token from the sign-in link.
    pub(crate) token: String,
}

/// Response to a successful sign-in. The response sets a cookie.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SignedIn {
    /// Whether the sign-in succeeded. Always true.
    pub(crate) signed_in: bool,
}

/// Body of a request to halt the bot.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reason {
    /// Reason for the halt, as free text for the journal.
    #[serde(default)]
    pub(crate) reason: String,
}

/// Response to an executed command.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Ordered {
    pub(crate) text: String,
}

/// Error response.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// Error message for the operator.
    pub(crate) problem: String,
}

/// A page of trades and orders, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Trades {
    /// Trades with the same keys as in `candlewick trades --json`.
    #[schema(value_type = Vec<Object>)]
    pub(crate) trades: Vec<TradeLine>,
    /// Value of the parameter `before` for the next page, null on the last page.
    pub(crate) before: Option<u64>,
}

/// A page of journal lines, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Lines {
    pub(crate) lines: Vec<TailLine>,
    /// Value of the parameter `before` for the next page, null on the last page.
    pub(crate) before: Option<u64>,
}

/// A rejected signal.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Mark {
    /// Venue time of the decision, in milliseconds.
    #[schema(value_type = i64)]
    at: Millis,
    bot: String,
    /// Direction of the signal: `BUY` or `SELL`.
    #[schema(value_type = String)]
    direction: Direction,
    /// Name of the risk rule that rejected the signal.
    rule: &'static str,
}

impl Mark {
    pub(crate) fn new(refused: &RefusedSignal, bot: String) -> Self {
        Self { at: refused.decision_time, bot, direction: refused.direction, rule: refused.rule.as_str() }
    }
}

/// Returns the trades in memory, and the value of `before` for older trades in the journal. `None` if `bot` is unknown.
pub(crate) fn build_trades(
    model: &Model,
    before: u64,
    most: usize,
    bot: Option<&str>,
) -> Option<(Trades, Option<u64>)> {
    if bot.is_some_and(|bot| !model.knows_bot(bot)) {
        return None;
    }
    let (kept, first) = (&model.trades, model.trades.first_intent);
    let rows = kept.book.rows();
    let begin = rows.partition_point(|row| row.approved.intent().number() < first);
    let end = rows.partition_point(|row| row.approved.intent().number() < before).max(begin);
    let mut trades = Vec::new();
    for row in rows[begin..end].iter().rev() {
        if bot.is_some_and(|bot| kept.bot_name(row) != Some(bot)) {
            continue;
        }
        let Some(trade) = kept.trade_line(row) else { continue };
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

pub(crate) fn build_marks(model: &Model, series: Series) -> Vec<Mark> {
    model.refusals.iter().filter(|(of, _)| *of == series).map(|(_, mark)| mark.clone()).collect()
}
