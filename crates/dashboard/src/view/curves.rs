//! Equity over time and edge over trades, as columns.

use crate::model::{BotFigures, Curve, Model};
use candlewick_sdk::Millis;
use serde::Serialize;
use utoipa::ToSchema;

/// Equity after settlements; of a long time some are joined, with their extremes.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct EquityCurve {
    /// Venue time, in milliseconds.
    #[schema(value_type = Vec<i64>)]
    time: Vec<Millis>,
    /// Equity then.
    equity: Vec<f64>,
    /// The lowest of those that were joined.
    low: Vec<f64>,
    /// The highest of those.
    high: Vec<f64>,
    /// The max. drawdown among them, in money, below zero.
    drawdown: Vec<f64>,
}

/// The 95 % intervals of a bot's edge as they narrowed.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct EdgeCurve {
    /// Trades so far.
    trades: Vec<u64>,
    /// Ends of the interval of the edge, in percent of the stake; 0 is break-even.
    low: Vec<f64>,
    high: Vec<f64>,
    /// Ends of that of the win rate, in percent.
    rate_low: Vec<f64>,
    rate_high: Vec<f64>,
}

pub(crate) fn equity_curve(model: &Model, bot: Option<usize>) -> Option<EquityCurve> {
    let scale = model.session().money_scale();
    let points: &Curve = match bot {
        None => &model.curve,
        Some(place) => &model.bots.get(place)?.curve,
    };
    let mut curve = EquityCurve::default();
    for point in points.points() {
        curve.time.push(point.time);
        curve.equity.push(scale.to_f64(point.last));
        curve.low.push(scale.to_f64(point.low));
        curve.high.push(scale.to_f64(point.high));
        curve.drawdown.push(-scale.to_f64(point.fall));
    }
    Some(curve)
}

pub(crate) fn edge_curve(bot: &BotFigures) -> EdgeCurve {
    let mut curve = EdgeCurve::default();
    for point in &bot.edge {
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
