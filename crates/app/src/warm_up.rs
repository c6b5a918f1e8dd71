//! How many candles a bot wants to have seen before its first signal, where a trader should know of it.

use crate::bots::strategy_of;
use candlewick_engine::BotSettings;
use candlewick_sdk::{CandleSeries, Millis, Registry, Strategy};

/// From so many candles on the warm-up is worth a line where the candles are not known.
pub const LONG: usize = 2_000;
/// From this share of the candles on it is worth a line, in percent.
const SHARE_PERCENT: f64 = 5.0;

/// Of each bot that needs many candles before its first signal: how many, and how long that is.
pub fn long_warm_ups(bots: &[BotSettings], registry: &Registry) -> Vec<String> {
    let words = |bot: &BotSettings| {
        let strategy = strategy_of(bot, registry)?;
        let (warmup, history) = (strategy.warmup(), history_of(strategy.as_ref()));
        (warmup > LONG).then(|| {
            let length = span_words(bot.interval.length() * i64::try_from(warmup).unwrap_or(i64::MAX));
            format!(
                "{}: {warmup} candles of {}, {length} of open market{}",
                bot.name,
                bot.interval,
                history_words(history)
            )
        })
    };
    bots.iter().filter_map(words).collect()
}

/// What the warm-ups of bots take of these candles, where that is a share worth knowing.
pub(crate) fn shares_of_warm_up(
    warmups: &[(BotSettings, usize)],
    series: &[CandleSeries],
    registry: &Registry,
) -> Vec<String> {
    let words = |(bot, warmup): &(BotSettings, usize)| {
        let own = series.iter().find(|one| one.series() == bot.series())?;
        let history = strategy_of(bot, registry).map_or(0, |strategy| history_of(strategy.as_ref()));
        warm_up_share(&bot.name, (*warmup, history), own.candles().len(), "")
    };
    warmups.iter().filter_map(words).collect()
}

/// How many candles of a strategy's warm-up are those from which its gate learns how it stands.
pub fn history_of(strategy: &dyn Strategy) -> usize {
    strategy.gate().map_or(0, |gate| gate.history)
}

fn history_words(history: usize) -> String {
    let gate = format!(", {history} of them for its gate to learn how it stands (history in gate)");
    if history > 0 { gate } else { String::new() }
}

/// What a warm-up, a part of which is the history of a gate, takes of so many candles, which are those `of` something, where that is a share
/// worth knowing.
pub fn warm_up_share(
    bot: &str,
    (warmup, history): (usize, usize),
    candles: usize,
    of: &str,
) -> Option<String> {
    // The last candle of the warm-up is the first that may bring a signal.
    let silent = warmup.saturating_sub(1).min(candles);
    let percent = silent as f64 / candles.max(1) as f64 * 100.0;
    (percent > SHARE_PERCENT).then(|| {
        let gate = history_words(history);
        format!(
            "bot \"{bot}\": the first {silent} of {candles} candles{of} ({percent:.0} %) are its warm-up{gate}, and bring no trade: bring earlier \
             candles as well, or take shorter periods; a period of longer candles counts all that are in it"
        )
    })
}

/// Days and hours.
pub fn span_words(span: Millis) -> String {
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

    #[test]
    fn a_warm_up_is_told_where_it_takes_more_than_a_twentieth() {
        for (warmup, candles, expected) in [
            (8_551, 30_117, Some("the first 8550 of 30117 candles (28 %) are its warm-up")),
            (51, 1_000, None),
            (52, 1_000, Some("the first 51 of 1000 candles (5 %) are its warm-up")),
            (500, 100, Some("the first 100 of 100 candles (100 %) are its warm-up")),
            (1, 1, None),
            (10, 0, None),
        ] {
            let told = warm_up_share("a", (warmup, 0), candles, "");
            assert_eq!(told.is_some(), expected.is_some(), "{warmup} of {candles}: {told:?}");
            assert!(told.unwrap_or_default().contains(expected.unwrap_or_default()), "{warmup} of {candles}");
        }
    }

    #[test]
    fn what_a_gate_learns_from_is_told_apart() {
        let told = warm_up_share("a", (794, 500), 2_880, "").unwrap();
        let expected = "the first 793 of 2880 candles (28 %) are its warm-up, 500 of them for its gate to learn how it stands (history in gate), and";
        assert!(told.contains(expected), "{told}");
    }

    #[test]
    fn a_span_is_days_and_hours() {
        // By hand: 8551 minutes are 142.5 hours, and those are 5 days and 22.5 hours.
        for (minutes, expected) in [(8_551, "5 days 22 h"), (1_500, "1 day 1 h"), (90, "1 h")] {
            assert_eq!(span_words(Millis::MINUTE * minutes), expected);
        }
    }
}
