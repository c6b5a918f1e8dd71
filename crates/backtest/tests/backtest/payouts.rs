//! Two symbols that pay differently: each trade counts with what its own symbol pays.

use crate::lines::Lines;
use crate::stage::{Scripted, bot, closing, run, series, settings};
use candlewick_engine::StakeSettings;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Money, Payout};

/// 10.00 are won at 90 % and 20.00 are lost at 60 %.
#[test]
fn what_breaks_even_and_what_wins_prove_follow_from_the_payout_of_each_trade() {
    let (well, badly) = (series("BTCUSDT", "1m"), series("EURUSD", "1m"));
    let mut second = bot("b", badly);
    second.stake = StakeSettings::Fixed { amount: Decimal::from(20) };
    let mut settings = settings(vec![bot("a", well), second]);
    settings.simulation.payout_percent = Payout::from_percent(Decimal::from(90)).unwrap();
    let lower = Payout::from_percent(Decimal::from(60)).unwrap();
    settings.simulation.payout_percent_by_symbol = [(badly.symbol, lower)].into();
    let candles =
        [closing("BTCUSDT", "1m", &[100.0, 100.0, 101.0]), closing("EURUSD", "1m", &[100.0, 100.0, 99.0])];
    let strategies = [well, badly].map(|place| Box::new(Scripted::on(place, &[2])) as _);
    let run = run(&settings, strategies.into(), &candles, &[], &mut Lines::default()).unwrap();
    let paid: Vec<_> = run.book.rows().iter().map(|row| (row.profit.minor(), row.payout)).collect();
    assert_eq!(paid, [(900, Some(settings.simulation.payout_percent)), (-2_000, Some(lower))]);
    let summary = candlewick_backtest::Summary::of(&run.book, Money::from_minor(100_000));
    assert_eq!((summary.won, summary.lost, summary.pnl.minor()), (1, 1, -1_100));
    let is_near = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-12;
    // Staked 30.00, and 19.00 and 32.00 come back where both win; each counted once, 1 / 1.9 and 1 / 1.6 are needed.
    assert!(is_near(summary.break_even_by_money, 30.0 / 51.0), "{summary:?}");
    assert!(is_near(summary.break_even, f64::midpoint(1.0 / 1.9, 1.0 / 1.6)), "{summary:?}");
    // Both lose with (0.9 / 1.9) (0.6 / 1.6), where neither symbol has an edge.
    assert!(is_near(summary.p_value, 1.0 - 0.54 / 3.04), "{summary:?}");
}
