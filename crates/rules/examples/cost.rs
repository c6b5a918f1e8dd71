//! Runs a rule or the same strategy in Rust over many candles: `cost NAME rust|rules [CANDLES]`.
//! Measure with `time` or `valgrind --tool=callgrind`. Names: rsi, bollinger, donchian, macd, ema, stochastic.

use candlewick_sdk::testkit::{bot, random_walk};
use candlewick_sdk::{Signal, Strategy, StrategyEntry};
use serde_json::json;
use std::io::Write as _;
use std::process::ExitCode;

/// Number of different candles, which are repeated.
const MADE: usize = 10_000;

fn built(name: &str, is_rust: bool) -> Option<Box<dyn Strategy>> {
    let file = |name: &str| json!({ "file": format!("{}/../../strategies/rules/{name}.toml", env!("CARGO_MANIFEST_DIR")) });
    let (entry, params) = match name {
        "rsi" => (StrategyEntry::from_factory::<rsi_reversal::RsiReversal>(), file("rsi-reversal")),
        "bollinger" => (
            StrategyEntry::from_factory::<bollinger_reversal::BollingerReversal>(),
            file("bollinger-reversal"),
        ),
        "donchian" => {
            (StrategyEntry::from_factory::<donchian_breakout::DonchianBreakout>(), file("donchian-breakout"))
        }
        "macd" => (StrategyEntry::from_factory::<macd_cross::MacdCross>(), file("macd-cross")),
        "stochastic" => {
            (StrategyEntry::from_factory::<stochastic_adx::StochasticAdx>(), file("stochastic-adx"))
        }
        "ema" => {
            let rule =
                json!({ "buy": "crosses_above(ema(9), ema(21))", "sell": "crosses_below(ema(9), ema(21))" });
            (StrategyEntry::from_factory::<ema_cross::EmaCross>(), rule)
        }
        _ => return None,
    };
    let bot = bot("BTCUSDT");
    let built =
        if is_rust { entry.build(&json!({}), &bot) } else { candlewick_rules::entry().build(&params, &bot) };
    built.ok()
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |place: usize| arguments.get(place).map_or("", String::as_str);
    let count: usize = argument(2).parse().unwrap_or(10_000_000);
    let Some(mut strategy) = built(argument(0), argument(1) == "rust") else {
        return ExitCode::from(2);
    };
    let candles = random_walk(1, MADE);
    let mut signals = 0_u64;
    for _ in 0..count / MADE {
        let mut rest = &candles[..];
        while !rest.is_empty() {
            let mut signal: Option<Signal> = None;
            let shown = strategy.feed_until_signal(rest, 0, &mut signal);
            signals += u64::from(signal.is_some());
            rest = &rest[shown.count..];
        }
    }
    let told = format!("{signals} signals\n");
    std::io::stdout().write_all(told.as_bytes()).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}
