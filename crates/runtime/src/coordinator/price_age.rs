//! Rejects price records from the future and stale ones.

use super::Coordinator;
use super::command::Step;
use candlewick_engine::SymbolId;
use candlewick_sdk::{Millis, Price};
use std::collections::BTreeSet;

/// Age at which a price cannot come from an open market.
const MAX_AGE: Millis = Millis::from_seconds(12 * 3_600);

/// Symbols whose last price record was rejected, so that each warning appears once.
#[derive(Debug, Default)]
pub(super) struct RefusedPrices(BTreeSet<SymbolId>);

impl Coordinator {
    pub(super) fn believed_price(
        &mut self,
        id: SymbolId,
        (recorded, at, value): (Millis, Millis, f64),
        step: &mut Step<'_>,
    ) -> Option<Price> {
        let ahead = recorded - step.now.max(at);
        let age = at - recorded;
        let problem = if ahead > self.clock_slack() {
            Some(format!("is from the future by {} s", ahead.get() / 1_000))
        } else if age >= MAX_AGE {
            Some(format!("is {} h old", age.get() / Millis::HOUR.get()))
        } else {
            None
        };
        let Some(problem) = problem else {
            self.refused_prices.0.remove(&id);
            return (value > 0.0).then_some(Price { time: at, value });
        };
        if self.refused_prices.0.insert(id) {
            let symbol = self.market.symbol(id);
            step.warn(format!("{symbol}: the venue's price record {problem}: it is not used"));
        }
        None
    }
}
