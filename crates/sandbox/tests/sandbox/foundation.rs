//! Rejection of invalid inputs, and the markets built from candle series.

use crate::harness::{ManualClock, NOON, candles};
use candlewick_sandbox::{Sandbox, SandboxInputs, SandboxSettings, build_markets};
use candlewick_sdk::{CandleSeries, Money, MoneyScale};
use candlewick_simulator::{Market, SimulationSettings};

type Change = fn(&mut SandboxSettings);

fn check(series: Vec<CandleSeries>, markets: Vec<Market>, change: Change, expected: &str) {
    let mut settings = SandboxSettings::default();
    change(&mut settings);
    let foundation = SandboxInputs {
        clock: ManualClock::at(NOON),
        series,
        markets,
        simulation: SimulationSettings::default(),
        balance: Money::from_minor(1_000_000),
        scale: MoneyScale::default(),
    };
    let message = Sandbox::new(settings, foundation).err().unwrap().to_string();
    assert!(message.starts_with(expected), "{message}");
}

fn flat(symbol: &str, interval: &str) -> CandleSeries {
    candles(symbol, interval, 10, |_| Some(50.0))
}

#[test]
fn rejects_missing_and_invalid_inputs() {
    let series = vec![flat("BTCUSDT", "1m")];
    let markets = build_markets(&series);
    check(vec![], vec![], |_| (), "the sandbox has no candles");
    let incomplete = "BTCUSDT has either no market or no candles: provide both";
    check(series.clone(), vec![], |_| (), incomplete);
    let two = build_markets(&[flat("ETHUSDT", "1m"), flat("BTCUSDT", "1m")]);
    check(vec![flat("ETHUSDT", "1m")], two, |_| (), incomplete);
    check(series.clone(), markets.clone(), |settings| settings.token.clear(), "[sandbox] token = : use");
    let gold: Change = |given| given.asset_types = [("BTCUSDT".parse().unwrap(), "gold".to_owned())].into();
    check(series, markets, gold, "[sandbox] asset_types = gold: use crypto, forex or otc");
}

#[test]
fn the_finest_series_is_the_detail_of_the_next_longer_one() {
    let series = [flat("BTCUSDT", "5s"), flat("ETHUSDT", "1m"), flat("BTCUSDT", "5m"), flat("BTCUSDT", "1m")];
    let body: Vec<(String, Option<String>)> = build_markets(&series)
        .iter()
        .map(|market| {
            let detail = market.detail.first().map(|detail| detail.series().to_string());
            (market.prices.series().to_string(), detail)
        })
        .collect();
    let pairs = [("BTCUSDT 1m".to_owned(), Some("BTCUSDT 5s".to_owned())), ("ETHUSDT 1m".to_owned(), None)];
    assert_eq!(body, pairs);
}
