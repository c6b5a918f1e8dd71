//! Which part of a bot's rule takes so many candles, in words.

use candlewick_app::configuration::Loaded;
use candlewick_app::warm_up::{LONG, span_words};
use candlewick_engine::BotSettings;
use candlewick_rules::longest_part;
use candlewick_sdk::{CandleSeries, Interval, Registry};
use serde_json::Value;

/// Of the candles there are, from one in so many on a part is worth a line.
const SHARE: usize = 20;

/// The part of a bot's rule that takes the most candles, and what takes fewer; none where it takes fewer than `least`, and where there is no rule.
pub(super) fn long_part(
    registry: &Registry,
    strategy: (&str, &Value),
    interval: Interval,
    least: usize,
) -> Option<String> {
    let part = longest_part(registry, strategy, interval).ok()??;
    (part.candles >= least).then(|| {
        let length = span_words(interval.length() * i64::try_from(part.candles).unwrap_or(i64::MAX));
        let fewer = part.windowed.map_or_else(
            || "a shorter one takes fewer".to_owned(),
            |(text, candles)| format!("`{text}` takes {candles}, and a shorter one fewer"),
        );
        format!(
            "`{}` alone takes {} candles of {interval}, {length} of open market: {fewer}",
            part.text, part.candles
        )
    })
}

/// Of each bot whose rule has a part that takes many of its candles, or that takes many where they are not known.
pub(super) fn long_parts_of(loaded: &Loaded, series: &[CandleSeries], registry: &Registry) -> Vec<String> {
    let words = |bot: &BotSettings| {
        let own = series.iter().find(|one| one.series() == bot.series());
        let least = own.map_or(LONG, |own| own.candles().len() / SHARE);
        let part = long_part(registry, (&bot.strategy, &bot.params), bot.interval, least + 1)?;
        Some(format!("bot \"{}\": {part}", bot.name))
    };
    loaded.config.bots.iter().filter_map(words).collect()
}
