//! Fixtures for the tests of sweeps.

use super::axis::{AxisScale, AxisValues};
use super::{Axis, AxisTarget, Figures, Setting, TrialEnd, TrialRow};
use candlewick_engine::BotSettings;
use serde_json::{Value, json};

pub(crate) fn figures(changes: Value) -> Figures {
    let mut figures = json!({
        "trades": 10, "won": 6, "lost": 3, "draw": 1, "cancelled": 0, "unsettled": 2, "refused": 7,
        "win_rate": 0.5, "break_even": 0.5, "edge_lower": 0.0, "p_value": null, "pnl": 0.0, "expectancy": null,
        "sharpe": null, "max_drawdown": 12.5, "max_drawdown_percent": 0.125, "longest_losing_streak": 2
    });
    let Value::Object(changes) = changes else { panic!("{changes} is not an object") };
    figures.as_object_mut().unwrap().extend(changes);
    serde_json::from_value(figures).unwrap()
}

pub(super) fn bot() -> BotSettings {
    let bot = json!({
        "name": "a", "symbol": "BTCUSDT", "interval": "1m", "strategy": "any", "close_type": "01:00"
    });
    serde_json::from_value(bot).unwrap()
}

pub(super) fn row(trial: u64, figures: Option<Figures>, score: Option<f64>) -> TrialRow {
    let refused = || TrialEnd::Refused(String::new());
    let outcome = figures.map_or_else(refused, |figures| TrialEnd::Figures(Box::new(figures)));
    TrialRow { trial, candidate: [].into(), rung: 0, share: 1.0, outcome, score }
}

pub(super) fn listed(name: &str, target: AxisTarget, settings: impl IntoIterator<Item = Setting>) -> Axis {
    Axis::new(name.to_owned(), target, AxisValues::Listed(settings.into_iter().collect()), AxisScale::Linear)
}

pub(super) fn whole(name: &str, numbers: impl IntoIterator<Item = i64>) -> Axis {
    listed(name, AxisTarget::Parameter, numbers.into_iter().map(Setting::Whole))
}
