//! Check of the venue's candles for each bot, including whether it sends the forming candle.

use super::clock_skew::ClockSamples;
use super::finding::{Check, Finding};
use super::price_api::span;
use super::venue::{Api, Asked, ask, remedy};
use crate::configuration::asset_type_of_bot;
use candlewick_broker::{BrokerError, CandleQuery, Candles, MarketData};
use candlewick_engine::BotSettings;
use candlewick_sdk::{Candle, Interval, Millis, Series};
use std::collections::BTreeSet;

const FEWEST: i64 = 3;
const MOST: i64 = 500;
/// Lookback for the last candles of a closed market: a long weekend.
const LONG_AGO: Millis = Millis::from_seconds(4 * 86_400);
const JUST_NOW: Millis = Millis::from_seconds(5);

pub(super) async fn check(
    asked: &Asked,
    bots: &[BotSettings],
    samples: &mut ClockSamples,
    report: &mut dyn FnMut(Finding),
) {
    let mut known: Vec<Series> = Vec::new();
    for bot in bots {
        if !known.contains(&bot.series()) {
            known.push(bot.series());
            report(check_series(asked, bot, samples).await);
        }
    }
}

pub(super) fn not_asked() -> Finding {
    Check::Candles.warn("not asked: the price API comes first", "mend that")
}

async fn check_series(asked: &Asked, bot: &BotSettings, samples: &mut ClockSamples) -> Finding {
    let name = format!("{} {}", bot.symbol, bot.interval);
    let now = samples.venue_now();
    let window = Window::before(now, bot.interval);
    // The candle that forms is asked for as well: whether it is sent is worth knowing.
    let end = now + bot.interval.length();
    match ask(asked.venue.candles(&query(bot, window.start, end)), samples).await {
        Ok(candles) => {
            let found = window.count(&candles);
            if found.closed == 0 {
                nothing_lately(asked, bot, &name, samples).await
            } else {
                found.judge(&name)
            }
        }
        Err(error) => Check::Candles.fail(format!("{name}: {error}"), remedy_of(&error, bot)),
    }
}

/// Distinguishes a closed market from an unknown series.
///
/// A closed market has candles of earlier days.
async fn nothing_lately(asked: &Asked, bot: &BotSettings, name: &str, samples: &mut ClockSamples) -> Finding {
    let now = samples.venue_now();
    match ask(asked.venue.candles(&query(bot, now - LONG_AGO, now)), samples).await {
        Ok(candles) if !candles.candles.is_empty() => Check::Candles.warn(
            format!("{name}: none lately, though there are of the last {}", span(LONG_AGO)),
            "its market may be closed: the bot waits for the next candle",
        ),
        Ok(_) => {
            let asset_type = asset_type_of_bot(bot);
            let remedy = format!(
                "check the bot's interval and asset_type (\"{asset_type}\"; crypto, forex and otc are known)"
            );
            Check::Candles.fail(format!("{name}: there are none of the last {}", span(LONG_AGO)), remedy)
        }
        Err(error) => Check::Candles.fail(format!("{name}: {error}"), remedy_of(&error, bot)),
    }
}

fn query(bot: &BotSettings, start: Millis, end: Millis) -> CandleQuery {
    CandleQuery { symbol: bot.symbol, interval: bot.interval, start, end }
}

fn remedy_of(error: &BrokerError, bot: &BotSettings) -> String {
    match error {
        BrokerError::NotFound { .. } | BrokerError::Rejected { .. } => format!(
            "check bot \"{}\": its symbol, its interval, and asset_type (\"{}\"; crypto, forex and otc are known)",
            bot.name,
            asset_type_of_bot(bot)
        ),
        other => remedy(other, Api::Price),
    }
}

struct Window {
    interval: Interval,
    start: Millis,
    now: Millis,
    expected: i64,
}

struct Found {
    window: Window,
    closed: i64,
    is_only_late: bool,
    forming: usize,
    unusable: usize,
}

impl Window {
    fn before(now: Millis, interval: Interval) -> Self {
        let expected = (Millis::HOUR.get() / interval.length().get()).clamp(FEWEST, MOST);
        let start = now.floor_to(interval.length()) - interval.length() * expected;
        Self { interval, start, now, expected }
    }

    fn count(self, candles: &Candles) -> Found {
        let length = self.interval.length();
        // By the venue's clock: ours may be ahead of it.
        let has_closed = |candle: &Candle| candle.time() + length <= self.now;
        let times: BTreeSet<Millis> =
            candles.candles.iter().filter(|candle| has_closed(candle)).map(Candle::time).collect();
        let closed = times.range(self.start..self.now).count() as i64;
        let last_close = self.now.floor_to(length);
        let is_only_late = closed + 1 == self.expected
            && !times.contains(&(last_close - length))
            && self.now - last_close < JUST_NOW;
        let forming = candles.forming + candles.candles.len() - times.len();
        Found { window: self, closed, is_only_late, forming, unusable: candles.unusable }
    }
}

impl Found {
    fn judge(&self, name: &str) -> Finding {
        let Self { window, closed, is_only_late, forming, unusable } = self;
        let length = window.interval.length() * window.expected;
        let forming = if *forming > 0 { "sent too, and left out" } else { "not sent" };
        let text = format!(
            "{name}: {closed} of {} closed candles of the last {}; the forming one is {forming}",
            window.expected,
            span(length)
        );
        if *unusable > 0 {
            let remedy = format!("rows that are no sound candles: {unusable}; each counts as a gap");
            return Check::Candles.warn(text, remedy);
        }
        if *closed < window.expected && !is_only_late {
            let missing = window.expected - closed;
            let remedy = format!("missing: {missing}; indicators do not include them");
            return Check::Candles.warn(text, remedy);
        }
        Check::Candles.ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Mark;
    use super::*;
    use candlewick_broker::CandleRow;
    use candlewick_sdk::{Ohlcv, Symbol};

    fn check(minutes: &[i64], now: i64, mark: Mark, parts: &[&str]) {
        let row = |minute: &i64| {
            let high = if *minute < 0 { 0.5 } else { 1.0 };
            let prices = Ohlcv { open: 1.0, high, low: 1.0, close: 1.0, volume: 0.0 };
            CandleRow { time: Millis::MINUTE * minute.abs(), prices }
        };
        let rows: Vec<CandleRow> = minutes.iter().map(row).collect();
        let now = Millis::new(now);
        let window = Window::before(now, Interval::MINUTE);
        let symbol = Symbol::new("X").unwrap();
        let end = now + Millis::MINUTE;
        let query = CandleQuery { symbol, interval: Interval::MINUTE, start: window.start, end };
        let finding = window.count(&Candles::of_rows(&rows, &query, now)).judge("X 1m");
        let shown = finding.to_string();
        assert!(finding.mark == mark && parts.iter().all(|part| shown.contains(part)), "{shown}");
    }

    #[test]
    fn closed_candles_of_the_last_hour_are_counted_and_the_forming_one_is_not() {
        let hour: Vec<i64> = (40..100).collect();
        // It is minute 100 and 30 seconds.
        let now = 100 * 60_000 + 30_000;
        check(
            &hour,
            now,
            Mark::Ok,
            &["60 of 60 closed candles of the last 60 min", "forming one is not sent"],
        );
        let longer: Vec<i64> = (30..=100).collect();
        check(&longer, now, Mark::Ok, &["60 of 60", "forming one is sent too"]);
        check(&hour[1..], now, Mark::Warn, &["59 of 60", "missing: 1"]);
        check(&hour[..59], now, Mark::Warn, &["59 of 60"]);
        // Three seconds after its close a candle may not be there yet.
        check(&hour[..59], 100 * 60_000 + 3_000, Mark::Ok, &["59 of 60"]);
        check(&hour[1..], 100 * 60_000 + 3_000, Mark::Warn, &["59 of 60"]);
        let unsound = [&hour[..], &[-50]].concat();
        check(&unsound, now, Mark::Warn, &["no sound candles: 1"]);
    }

    #[test]
    fn windows_of_short_and_long_intervals_are_bounded() {
        for (interval, expected) in [("1s", 500), ("5s", 500), ("1m", 60), ("30m", 3), ("1d", 3)] {
            let window = Window::before(Millis::DAY * 20_000, interval.parse().unwrap());
            assert_eq!(window.expected, expected, "{interval}");
        }
    }
}
