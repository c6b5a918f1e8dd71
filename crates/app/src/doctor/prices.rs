//! Checks that the symbol price API returns prices and candles for each bot.

use super::finding::{Check, Finding};
use super::venue::{ApiKind, ClockSamples, VenueProbe, send_request, suggest_fix};
use crate::configuration::bot_asset_type;
use candlewick_broker::{AsOf, BrokerError, CandleQuery, Candles, MarketData, PriceAnswer, PriceRecord};
use candlewick_engine::BotSettings;
use candlewick_sdk::{Candle, Interval, Millis, Series, Symbol};
use std::collections::BTreeSet;

/// Price age above which a warning is given. Prices in open markets change every second.
const MAX_PRICE_AGE: Millis = Millis::MINUTE;
/// Suffix of over-the-counter pairs, whose prices the venue sets itself (see `observed: values`).
const OTC_SUFFIX: &str = ".OTC";

pub(super) async fn check_prices(
    asked: &VenueProbe,
    bots: &[BotSettings],
    samples: &mut ClockSamples,
    report: &mut dyn FnMut(Finding),
) -> bool {
    if !asked.has_key {
        report(Check::PriceApi.warn("skipped: no api-key is set", "set the api-key first"));
        return false;
    }
    let mut seen = BTreeSet::new();
    for symbol in bots.iter().map(|bot| bot.symbol).filter(|symbol| seen.insert(*symbol)) {
        let (finding, is_reached) = check_symbol(asked, symbol, samples).await;
        report(finding);
        if !is_reached {
            return false;
        }
    }
    true
}

/// Checks the price of a symbol. The second value is `false` after an error that would occur for every symbol.
async fn check_symbol(asked: &VenueProbe, symbol: Symbol, samples: &mut ClockSamples) -> (Finding, bool) {
    match send_request(asked.venue.price(&symbol, AsOf::Latest), samples).await {
        Ok(PriceAnswer::Record(record)) => (judge_price(symbol, &record, samples.venue_now()), true),
        Ok(PriceAnswer::NotYet) => {
            let text = format!("{symbol}: the venue's answer contains no latest price");
            (Check::PriceApi.warn(text, "check broker.price_url"), true)
        }
        Err(BrokerError::NotFound { .. }) => (explain_unknown_pair(asked, symbol, samples).await, true),
        Err(error) => {
            let text = format!("{}: {error}", asked.price_url);
            (Check::PriceApi.fail(text, suggest_fix(&error, ApiKind::Price)), false)
        }
    }
}

fn judge_price(symbol: Symbol, record: &PriceRecord, now: Millis) -> Finding {
    // A price record is a one-second bar, and its time is the open time.
    let age = (now - record.time - Millis::SECOND).max(Millis::ZERO);
    let text = format!("{symbol}: {}, {} old", record.prices.close, format_span(age));
    if age > MAX_PRICE_AGE {
        Check::PriceApi.warn(text, "the market may be closed; signals on stale data are rejected (StaleData)")
    } else {
        Check::PriceApi.ok(text)
    }
}

async fn explain_unknown_pair(asked: &VenueProbe, symbol: Symbol, samples: &mut ClockSamples) -> Finding {
    let mut known = Vec::new();
    for other in alternative_symbols(symbol) {
        let answer = send_request(asked.venue.price(&other, AsOf::Latest), samples).await;
        if matches!(answer, Ok(PriceAnswer::Record(_))) {
            known.push(format!("\"{other}\""));
        }
    }
    let slot = "see which pairs the venue lists for the slot in broker.slot";
    let remedy = if known.is_empty() {
        format!("check the symbol; {slot}")
    } else {
        format!("did you mean {}? Otherwise {slot}", known.join(" or "))
    };
    Check::PriceApi.fail(format!("{symbol}: unknown pair"), remedy)
}

pub fn alternative_symbols(symbol: Symbol) -> Vec<Symbol> {
    let plain = symbol.as_str().to_uppercase();
    let (name, is_otc) = match plain.strip_suffix(OTC_SUFFIX) {
        Some(name) => (name, true),
        None => (plain.as_str(), false),
    };
    let name: String = name.chars().filter(|character| !matches!(character, '/' | '-' | '_' | ' ')).collect();
    let otc = format!("{name}{OTC_SUFFIX}");
    let ordered = if is_otc { [otc, name] } else { [name, otc] };
    ordered.iter().filter_map(|text| Symbol::new(text).ok()).filter(|other| *other != symbol).collect()
}

pub(super) fn format_span(length: Millis) -> String {
    let seconds = length.get() / 1_000;
    match seconds {
        0..=119 => format!("{:.1} s", length.get() as f64 / 1_000.0),
        120..=7_199 => format!("{} min", seconds / 60),
        7_200..=172_799 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

const MIN_CANDLES: i64 = 3;
const MAX_CANDLES: i64 = 500;
/// Period in which to look for the last candles of a closed market. It covers a long weekend.
const LONG_WEEKEND: Millis = Millis::from_seconds(4 * 86_400);
const MAX_CANDLE_DELAY: Millis = Millis::from_seconds(5);

pub(super) async fn check_candles(
    asked: &VenueProbe,
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

async fn check_series(asked: &VenueProbe, bot: &BotSettings, samples: &mut ClockSamples) -> Finding {
    let name = format!("{} {}", bot.symbol, bot.interval);
    let now = samples.venue_now();
    let window = CandleWindow::ending_at(now, bot.interval);
    // Also requests the candle that has not closed yet, to report whether the venue sends such candles.
    let end = now + bot.interval.length();
    match send_request(asked.venue.candles(&candle_query(bot, window.start, end)), samples).await {
        Ok(candles) => match window.judge(&name, &candles) {
            Some(finding) => finding,
            None => explain_no_candles(asked, bot, &name, samples).await,
        },
        Err(error) => Check::Candles.fail(format!("{name}: {error}"), candle_hint(&error, bot)),
    }
}

/// Explains an empty answer: the market is closed if earlier candles exist; otherwise, the series is unknown.
async fn explain_no_candles(
    asked: &VenueProbe,
    bot: &BotSettings,
    name: &str,
    samples: &mut ClockSamples,
) -> Finding {
    let now = samples.venue_now();
    match send_request(asked.venue.candles(&candle_query(bot, now - LONG_WEEKEND, now)), samples).await {
        Ok(candles) if !candles.candles.is_empty() => Check::Candles.warn(
            format!("{name}: no recent candles, but some within the last {}", format_span(LONG_WEEKEND)),
            "the market may be closed; the bot waits for the next candle",
        ),
        Ok(_) => {
            let asset_type = bot_asset_type(bot);
            let remedy = format!(
                "check the bot's interval and its asset_type \"{asset_type}\" (known types: crypto, forex and otc)"
            );
            Check::Candles
                .fail(format!("{name}: no candles within the last {}", format_span(LONG_WEEKEND)), remedy)
        }
        Err(error) => Check::Candles.fail(format!("{name}: {error}"), candle_hint(&error, bot)),
    }
}

fn candle_query(bot: &BotSettings, start: Millis, end: Millis) -> CandleQuery {
    CandleQuery { symbol: bot.symbol, interval: bot.interval, start, end }
}

fn candle_hint(error: &BrokerError, bot: &BotSettings) -> String {
    match error {
        BrokerError::NotFound { .. } | BrokerError::Rejected { .. } => format!(
            "check the symbol, interval and asset_type \"{}\" of bot \"{}\" (known types: crypto, forex and otc)",
            bot_asset_type(bot),
            bot.name
        ),
        other => suggest_fix(other, ApiKind::Price),
    }
}

struct CandleWindow {
    interval: Interval,
    start: Millis,
    now: Millis,
    expected: i64,
}

impl CandleWindow {
    fn ending_at(now: Millis, interval: Interval) -> Self {
        let expected = (Millis::HOUR.get() / interval.length().get()).clamp(MIN_CANDLES, MAX_CANDLES);
        let start = now.floor_to(interval.length()) - interval.length() * expected;
        Self { interval, start, now, expected }
    }

    fn judge(&self, name: &str, candles: &Candles) -> Option<Finding> {
        let length = self.interval.length();
        // Uses the venue's clock, because the clock of this machine may be ahead.
        let has_closed = |candle: &Candle| candle.time() + length <= self.now;
        let times: BTreeSet<Millis> =
            candles.candles.iter().filter(|candle| has_closed(candle)).map(Candle::time).collect();
        let (closed, expected) = (times.range(self.start..self.now).count() as i64, self.expected);
        let last_close = self.now.floor_to(length);
        let is_only_late = closed + 1 == expected
            && !times.contains(&(last_close - length))
            && self.now - last_close < MAX_CANDLE_DELAY;
        let is_forming_sent = candles.forming_rows + candles.candles.len() > times.len();
        let forming = if is_forming_sent { "sent, but ignored" } else { "not sent" };
        let text = format!(
            "{name}: received {closed} of {expected} closed candles of the last {}; the forming candle is {forming}",
            format_span(length * expected)
        );
        let remedy = match candles.unusable_rows {
            0 if closed >= expected || is_only_late => return (closed > 0).then(|| Check::Candles.ok(text)),
            0 => format!("missing candles: {}; indicators skip them", expected - closed),
            unusable => format!("invalid rows: {unusable}; each counts as a gap"),
        };
        (closed > 0).then(|| Check::Candles.warn(text, remedy))
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::FindingStatus;
    use super::*;
    use candlewick_broker::CandleRow;
    use candlewick_sdk::Ohlcv;

    #[test]
    fn tries_other_notations_of_a_pair() {
        for (symbol, expected) in [
            ("btc/usdt", &["BTCUSDT", "BTCUSDT.OTC"][..]),
            ("EUR-USD", &["EURUSD", "EURUSD.OTC"]),
            ("EURUSD", &["EURUSD.OTC"]),
            ("EURUSD.OTC", &["EURUSD"]),
            ("eurusd.otc", &["EURUSD.OTC", "EURUSD"]),
        ] {
            let found = alternative_symbols(symbol.parse().unwrap());
            let found: Vec<&str> = found.iter().map(Symbol::as_str).collect();
            assert_eq!(found, expected, "{symbol}");
        }
    }

    #[test]
    fn warns_about_an_old_price() {
        let symbol = "EURUSD".parse().unwrap();
        let prices = Ohlcv { open: 1.0, high: 2.0, low: 1.0, close: 1.25, volume: 0.0 };
        let record = |time| PriceRecord { time: Millis::new(time), prices, created_time: None };
        let check = |now, mark: FindingStatus, text: &str| {
            let finding = judge_price(symbol, &record(10_000), Millis::new(now));
            assert_eq!((finding.mark, finding.text.as_str()), (mark, text));
        };
        check(10_500, FindingStatus::Ok, "EURUSD: 1.25, 0.0 s old");
        check(12_200, FindingStatus::Ok, "EURUSD: 1.25, 1.2 s old");
        check(71_000, FindingStatus::Ok, "EURUSD: 1.25, 60.0 s old");
        check(71_001, FindingStatus::Warn, "EURUSD: 1.25, 60.0 s old");
        check(7_211_000, FindingStatus::Warn, "EURUSD: 1.25, 2 h old");
    }

    fn check_window(minutes: &[i64], now: i64, mark: FindingStatus, parts: &[&str]) {
        let row = |minute: &i64| {
            let high = if *minute < 0 { 0.5 } else { 1.0 };
            let prices = Ohlcv { open: 1.0, high, low: 1.0, close: 1.0, volume: 0.0 };
            CandleRow { time: Millis::MINUTE * minute.abs(), prices }
        };
        let rows: Vec<CandleRow> = minutes.iter().map(row).collect();
        let now = Millis::new(now);
        let window = CandleWindow::ending_at(now, Interval::MINUTE);
        let symbol = Symbol::new("X").unwrap();
        let end = now + Millis::MINUTE;
        let query = CandleQuery { symbol, interval: Interval::MINUTE, start: window.start, end };
        let finding = window.judge("X 1m", &Candles::from_rows(&rows, &query, now)).unwrap();
        let shown = finding.to_string();
        assert!(finding.mark == mark && parts.iter().all(|part| shown.contains(part)), "{shown}");
    }

    #[test]
    fn counts_closed_candles_of_the_last_hour() {
        let hour: Vec<i64> = (40..100).collect();
        // The current time is 30 seconds into minute 100.
        let now = 100 * 60_000 + 30_000;
        check_window(
            &hour,
            now,
            FindingStatus::Ok,
            &["60 of 60 closed candles of the last 60 min", "is not sent"],
        );
        let longer: Vec<i64> = (30..=100).collect();
        check_window(&longer, now, FindingStatus::Ok, &["60 of 60", "forming candle is sent"]);
        check_window(&hour[1..], now, FindingStatus::Warn, &["59 of 60", "missing candles: 1"]);
        check_window(&hour[..59], now, FindingStatus::Warn, &["59 of 60"]);
        // A candle may still be missing three seconds after its close.
        check_window(&hour[..59], 100 * 60_000 + 3_000, FindingStatus::Ok, &["59 of 60"]);
        check_window(&hour[1..], 100 * 60_000 + 3_000, FindingStatus::Warn, &["59 of 60"]);
        check_window(&[&hour[..], &[-50]].concat(), now, FindingStatus::Warn, &["invalid rows: 1"]);
    }

    #[test]
    fn windows_of_short_and_long_intervals_are_bounded() {
        for (interval, expected) in [("1s", 500), ("5s", 500), ("1m", 60), ("30m", 3), ("1d", 3)] {
            let window = CandleWindow::ending_at(Millis::DAY * 20_000, interval.parse().unwrap());
            assert_eq!(window.expected, expected, "{interval}");
        }
    }
}
