//! Number of candles that a strategy needs before its first signal.

use crate::bots::build_strategy;
use candlewick_engine::BotSettings;
use candlewick_rules::longest_warmup_part;
use candlewick_sdk::{Interval, Millis, Registry, Strategy};
use serde_json::Value;

/// Number of candles above which a warm-up counts as long if the length of the run is unknown.
const LONG_WARM_UP_CANDLES: usize = 2_000;
const LONG_WARM_UP_PERCENT: f64 = 5.0;

pub struct WarmUp {
    candles: usize,
    history: usize,
    interval: Interval,
    longest_part: Option<String>,
}

impl WarmUp {
    pub fn from_bot(bot: &BotSettings, registry: &Registry) -> Option<Self> {
        let strategy = build_strategy(bot, registry)?;
        Some(Self::from_strategy(strategy.as_ref(), (&bot.strategy, &bot.params), bot.interval, registry))
    }

    pub fn from_strategy(
        strategy: &dyn Strategy,
        named: (&str, &Value),
        interval: Interval,
        registry: &Registry,
    ) -> Self {
        Self {
            candles: strategy.warmup(),
            history: strategy.gate().map_or(0, |gate| gate.history),
            interval,
            longest_part: describe_longest_part(registry, named, interval),
        }
    }

    pub(crate) fn describe_long_warm_up(&self) -> Option<String> {
        let Self { candles, interval, .. } = self;
        (*candles > LONG_WARM_UP_CANDLES).then(|| {
            let length = describe_span(*interval, *candles);
            format!(
                "the strategy needs {candles} candles of {interval} ({length} of open market) before the first signal, so the first part of \
                 a backtest has no trades{}",
                self.describe_parts()
            )
        })
    }

    pub fn describe_warm_up_share(&self, count: usize) -> Option<String> {
        // The last candle of the warm-up can already produce a signal.
        let silent = self.candles.saturating_sub(1).min(count);
        let percent = silent as f64 / count.max(1) as f64 * 100.0;
        (percent > LONG_WARM_UP_PERCENT).then(|| {
            format!(
                "the first {silent} of {count} candles ({percent:.0} %) are a warm-up without trades; add earlier candles or use \
                 shorter periods{}",
                self.describe_parts()
            )
        })
    }

    fn describe_parts(&self) -> String {
        let gate = (self.history > 0).then(|| format!("the gate needs {} warm-up candles", self.history));
        let parts: Vec<String> = gate.into_iter().chain(self.longest_part.clone()).collect();
        if parts.is_empty() { String::new() } else { format!("; {}", parts.join("; ")) }
    }
}

pub fn describe_longest_part(
    registry: &Registry,
    strategy: (&str, &Value),
    interval: Interval,
) -> Option<String> {
    let part = longest_warmup_part(registry, strategy, interval).ok()??;
    let length = describe_span(interval, part.warmup);
    let alternative = part
        .windowed_average
        .map_or_else(String::new, |(text, candles)| format!(", `{text}` needs only {candles}"));
    Some(format!("`{}` needs {} candles of {interval} ({length}){alternative}", part.text, part.warmup))
}

fn describe_span(interval: Interval, candles: usize) -> String {
    let span = interval.length() * i64::try_from(candles).unwrap_or(i64::MAX);
    let hours = span.get() / Millis::HOUR.get();
    match (hours / 24, hours % 24) {
        (0, hours) => format!("{hours} h"),
        (1, hours) => format!("1 day {hours} h"),
        (days, hours) => format!("{days} days {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warm_up(candles: usize, history: usize) -> WarmUp {
        WarmUp { candles, history, interval: Interval::MINUTE, longest_part: None }
    }

    #[test]
    fn describes_a_warm_up_above_five_percent_of_the_candles() {
        for (needed, candles, expected) in [
            (8_551, 30_117, Some("the first 8550 of 30117 candles (28 %) are a warm-up")),
            (51, 1_000, None),
            (52, 1_000, Some("the first 51 of 1000 candles (5 %) are a warm-up")),
            (500, 100, Some("the first 100 of 100 candles (100 %) are a warm-up")),
            (1, 1, None),
            (10, 0, None),
        ] {
            let text = warm_up(needed, 0).describe_warm_up_share(candles);
            assert_eq!(text.is_some(), expected.is_some(), "{needed} of {candles}: {text:?}");
            assert!(text.unwrap_or_default().contains(expected.unwrap_or_default()), "{needed} of {candles}");
        }
        let text = warm_up(794, 500).describe_warm_up_share(2_880).unwrap();
        assert!(text.contains("the first 793 of 2880 candles (28 %)"), "{text}");
        assert!(text.ends_with("; the gate needs 500 warm-up candles"), "{text}");
    }

    #[test]
    fn describes_a_span_in_days_and_hours() {
        // 8,551 min = 142.5 h = 5 days 22.5 h.
        for (minutes, expected) in [(8_551, "5 days 22 h"), (1_500, "1 day 1 h"), (90, "1 h")] {
            assert_eq!(describe_span(Interval::MINUTE, minutes), expected);
        }
    }
}
