//! Check of each bot's symbol and the age of its price at the symbol price API.

use super::clock_skew::ClockSamples;
use super::finding::{Check, Finding};
use super::venue::{Api, Asked, Given, Reached, ask, remedy};
use candlewick_broker::{AsOf, BrokerError, MarketData, PriceAnswer, PriceRecord};
use candlewick_engine::BotSettings;
use candlewick_sdk::{Millis, Symbol};

/// Maximum age of a price without a warning; open markets move every second.
const FRESH: Millis = Millis::MINUTE;
/// Suffix for pairs that venues price themselves (`observed: values`).
const OTC: &str = ".OTC";

pub(super) async fn check(
    asked: &Asked,
    bots: &[BotSettings],
    samples: &mut ClockSamples,
    report: &mut dyn FnMut(Finding),
) -> Reached {
    if asked.key == Given::No {
        report(Check::PriceApi.warn("not asked: there is no api-key", "give one first"));
        return Reached::No;
    }
    let mut symbols: Vec<Symbol> = Vec::new();
    for bot in bots {
        if !symbols.contains(&bot.symbol) {
            symbols.push(bot.symbol);
        }
    }
    for symbol in symbols {
        let (finding, reached) = check_symbol(asked, symbol, samples).await;
        report(finding);
        if reached == Reached::No {
            return reached;
        }
    }
    Reached::Yes
}

/// Checks a symbol and returns whether to check the next one.
///
/// Errors that are not about the symbol would only repeat.
async fn check_symbol(asked: &Asked, symbol: Symbol, samples: &mut ClockSamples) -> (Finding, Reached) {
    match ask(asked.venue.price(&symbol, AsOf::Latest), samples).await {
        Ok(PriceAnswer::Record(record)) => (judge(symbol, &record, samples.venue_now()), Reached::Yes),
        Ok(PriceAnswer::NotYet) => {
            let text = format!("{symbol}: the venue says OK to a question for the latest price");
            (Check::PriceApi.warn(text, "check broker.price_url"), Reached::Yes)
        }
        Err(BrokerError::NotFound { .. }) => (not_found(asked, symbol, samples).await, Reached::Yes),
        Err(error) => {
            let text = format!("{}: {error}", asked.price_url);
            (Check::PriceApi.fail(text, remedy(&error, Api::Price)), Reached::No)
        }
    }
}

fn judge(symbol: Symbol, record: &PriceRecord, now: Millis) -> Finding {
    // A record is a bar of one second, by its open time.
    let age = (now - record.time - Millis::SECOND).max(Millis::ZERO);
    let text = format!("{symbol}: {}, {} old", record.prices.close, span(age));
    if age > FRESH {
        Check::PriceApi.warn(text, "its market may be closed: signals on old data are refused (StaleData)")
    } else {
        Check::PriceApi.ok(text)
    }
}

async fn not_found(asked: &Asked, symbol: Symbol, samples: &mut ClockSamples) -> Finding {
    let mut known = Vec::new();
    for other in alternatives(symbol) {
        let answer = ask(asked.venue.price(&other, AsOf::Latest), samples).await;
        if matches!(answer, Ok(PriceAnswer::Record(_))) {
            known.push(format!("\"{other}\""));
        }
    }
    let slot = "the venue's own list has the pairs of this slot (broker.slot)";
    let remedy = if known.is_empty() {
        format!("check the bots' symbol; {slot}")
    } else {
        format!("did you mean {}? {slot}", known.join(" or "))
    };
    Check::PriceApi.fail(format!("{symbol}: there is no such pair"), remedy)
}

pub fn alternatives(symbol: Symbol) -> Vec<Symbol> {
    let plain = symbol.as_str().to_uppercase();
    let (name, is_otc) = match plain.strip_suffix(OTC) {
        Some(name) => (name, true),
        None => (plain.as_str(), false),
    };
    let name: String = name.chars().filter(|character| !matches!(character, '/' | '-' | '_' | ' ')).collect();
    let otc = format!("{name}{OTC}");
    let ordered = if is_otc { [otc, name] } else { [name, otc] };
    ordered.iter().filter_map(|text| Symbol::new(text).ok()).filter(|other| *other != symbol).collect()
}

pub(super) fn span(length: Millis) -> String {
    let seconds = length.get() / 1_000;
    match seconds {
        0..=119 => format!("{:.1} s", length.get() as f64 / 1_000.0),
        120..=7_199 => format!("{} min", seconds / 60),
        7_200..=172_799 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Mark;
    use super::*;
    use candlewick_sdk::Ohlcv;

    #[test]
    fn other_ways_to_write_a_pair_are_tried() {
        for (symbol, expected) in [
            ("btc/usdt", &["BTCUSDT", "BTCUSDT.OTC"][..]),
            ("EUR-USD", &["EURUSD", "EURUSD.OTC"]),
            ("EURUSD", &["EURUSD.OTC"]),
            ("EURUSD.OTC", &["EURUSD"]),
            ("eurusd.otc", &["EURUSD.OTC", "EURUSD"]),
        ] {
            let found = alternatives(symbol.parse().unwrap());
            let found: Vec<&str> = found.iter().map(Symbol::as_str).collect();
            assert_eq!(found, expected, "{symbol}");
        }
    }

    #[test]
    fn an_old_price_is_worth_a_word() {
        let symbol = "EURUSD".parse().unwrap();
        let prices = Ohlcv { open: 1.0, high: 2.0, low: 1.0, close: 1.25, volume: 0.0 };
        let record = |time| PriceRecord { time: Millis::new(time), prices, recorded_time: None };
        let check = |now, mark: Mark, text: &str| {
            let finding = judge(symbol, &record(10_000), Millis::new(now));
            assert_eq!((finding.mark, finding.text.as_str()), (mark, text));
        };
        check(10_500, Mark::Ok, "EURUSD: 1.25, 0.0 s old");
        check(12_200, Mark::Ok, "EURUSD: 1.25, 1.2 s old");
        check(71_000, Mark::Ok, "EURUSD: 1.25, 60.0 s old");
        check(71_001, Mark::Warn, "EURUSD: 1.25, 60.0 s old");
        check(7_211_000, Mark::Warn, "EURUSD: 1.25, 2 h old");
    }
}
