//! Handling of periods in which the process did not run.

use super::Coordinator;
use super::command::Step;
use candlewick_sdk::Millis;
use std::time::Duration;

impl Coordinator {
    pub(super) fn on_absence(&mut self, span: Duration, step: &mut Step<'_>) {
        let span = Millis::new(i64::try_from(span.as_millis()).unwrap_or(i64::MAX));
        if self.phase.is_over() {
            return;
        }
        let candles = match self.market.closes_between(step.now - span, step.now) {
            0 => "no candle closed meanwhile".to_owned(),
            1 => "1 candle closed meanwhile".to_owned(),
            more => format!("{more} candles closed meanwhile"),
        };
        let seconds = span.get() / 1_000;
        let text = format!("this process did not run for {seconds} s (stopped or suspended?); {candles}");
        self.session.alarm(text, step);
    }
}
