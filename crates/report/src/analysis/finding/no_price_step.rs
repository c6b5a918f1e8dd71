//! Finding: without a price step, prices are not rounded.
//!
//! Trades that a venue would call a draw are then won or lost by less than its smallest price
//! difference.

use super::{Finding, FindingKind, Severity};
use candlewick_engine::{BotSettings, IntentRow};
use candlewick_sdk::{Outcome, Symbol};
use std::collections::BTreeMap;

const NOTED: f64 = 0.01;

pub(super) fn find(
    settled: &[&IntentRow],
    bots: &[BotSettings],
    steps: &BTreeMap<Symbol, f64>,
) -> Option<Finding> {
    let is_unrounded = |row: &&&IntentRow| {
        let step = bots.get(row.approved.bot().index()).and_then(|bot| steps.get(&bot.symbol));
        let prices = row.open_price.zip(row.close_price);
        step.zip(prices).is_some_and(|(step, (open, close))| steps_of(open, *step) == steps_of(close, *step))
    };
    let drawn = settled.iter().filter(|row| row.outcome == Some(Outcome::Draw)).count();
    let is_decided = |row: &&&IntentRow| matches!(row.outcome, Some(Outcome::Won | Outcome::Lost));
    let missed = settled.iter().filter(is_decided).filter(is_unrounded).count();
    let all = settled.len().max(1) as f64;
    (missed as f64 / all > NOTED).then(|| {
        let percent = |count: usize| count as f64 / all * 100.0;
        let text = format!(
            "{:.1} % of the trades drew, and {:.1} % would have in the price steps of the candles: without [simulation.ticks] prices inside \
             of a candle are not rounded, and such trades are won or lost by less than a step.",
            percent(drawn),
            percent(drawn + missed)
        );
        Finding { kind: FindingKind::NoPriceStep, severity: Severity::Warning, text }
    })
}

/// Rounds a price to whole steps, as the simulated venue does. Steps of candles are 1 or one
/// divided by a whole number.
fn steps_of(price: f64, step: f64) -> f64 {
    (price * (1.0 / step).round()).round()
}
