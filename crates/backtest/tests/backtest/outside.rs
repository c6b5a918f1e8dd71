//! External signals between the candles and prices of a run.

use crate::lines::Words;
use crate::stage::{START, Scripted, bot, closing, markets, series, settings};
use candlewick_backtest::{Backtest, BacktestResult, BacktestSettings};
use candlewick_engine::{BotId, OutsideSignal, Recorder};
use candlewick_sdk::{CandleSeries, Direction, Millis, Text};

fn signal(id: &str) -> OutsideSignal {
    OutsideSignal {
        bot: BotId::FIRST,
        direction: Direction::Sell,
        source: Text::truncated("list"),
        id: Text::truncated(id),
        expires: None,
        expiry: None,
        reason: Text::truncated(""),
    }
}

fn second(second: i64) -> Millis {
    START + Millis::from_seconds(second)
}

/// Runs over three minutes that rise by 1 every 5 s, with a price every 30 s.
fn run(signals: Vec<(Millis, OutsideSignal)>, recorder: &mut dyn Recorder) -> BacktestResult {
    let closes: Vec<f64> = (1..=36).map(|step| 100.0 + f64::from(step)).collect();
    let minutes: Vec<f64> = closes.iter().skip(11).step_by(12).copied().collect();
    let candles = [closing("BTCUSDT", "1m", &minutes)];
    let details = [closing("BTCUSDT", "5s", &closes)];
    let settings = BacktestSettings {
        price_every_ms: Millis::from_seconds(30),
        ..settings(vec![bot("a", series("BTCUSDT", "1m"))])
    };
    let strategy = Scripted::on(series("BTCUSDT", "1m"), &[]);
    let market = markets(&candles, &details);
    let backtest =
        Backtest::new(&settings, vec![Box::new(strategy)], &[true], &candles as &[CandleSeries], market);
    let header = settings.header(vec![("test".to_owned(), "1.0.0".to_owned())], None);
    backtest.unwrap().with_signals(signals).run(&header, recorder, &mut |_, _| {}).unwrap()
}

#[test]
fn external_signals_follow_candles_and_precede_prices() {
    let mut words = Words::default();
    let signals = vec![(second(75), signal("b")), (second(60), signal("a")), (second(60), signal("a"))];
    let finished = run(signals, &mut words);
    let start = words.0.iter().position(|line| line == "60 candle of series 0").unwrap();
    let signal = &words.0[start + 1];
    assert!(signal.starts_with("60 ") && signal.contains("OutsideSignal"), "{signal}");
    assert_eq!(words.0[start + 2], "  open #1 bot 0");
    assert!(words.0.iter().position(|line| line == "60 price 112").unwrap() > start + 2, "{:?}", words.0);
    // Hand-computed: 12 steps above 100 at the open, 12 more at the close. The bot has an open trade at 75 s.
    let [row] = finished.book.rows() else { panic!("one trade") };
    assert_eq!((row.approved.direction(), row.approved.decision_time()), (Direction::Sell, second(60)));
    assert_eq!((row.open_price, row.close_price), (Some(112.0), Some(124.0)));
    assert_eq!(finished.candles, 3);
}

#[test]
fn external_signal_between_candles_trades_at_its_own_time() {
    let by_events = run(vec![(second(75), signal("a"))], &mut Words::default());
    let by_stretches = run(vec![(second(75), signal("a"))], &mut Nothing);
    for finished in [by_events, by_stretches] {
        let row = finished.book.rows()[0];
        assert_eq!((row.approved.decision_time(), row.open_time), (second(75), Some(second(75))));
        assert_eq!((row.open_price, row.close_price), (Some(115.0), Some(127.0)));
    }
}

struct Nothing;

impl Recorder for Nothing {
    fn record(&mut self, _entry: candlewick_engine::Entry<'_>) -> std::io::Result<()> {
        Ok(())
    }

    fn interest(&self) -> candlewick_engine::RecorderInterest {
        candlewick_engine::RecorderInterest::AllButCandles
    }
}
