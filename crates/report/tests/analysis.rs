//! The analysis of a run agrees with figures counted by hand.

#![allow(clippy::unwrap_used, reason = "the parts of a test are tests")]

#[allow(dead_code, reason = "what backtests are tested with holds more than is needed here")]
#[path = "../../backtest/tests/backtest/stage.rs"]
mod stage;

use candlewick_backtest::{BacktestResult, BacktestSettings, Summary};
use candlewick_engine::JournalHash;
use candlewick_records::TradingMode;
use candlewick_report::analysis::{Analysis, Breakdown, Dimension, EquityPoint, Prices, RunData};
use candlewick_report::run::{Caveats, ReplayBasis};
use candlewick_sdk::{Candle, Direction, Interval, Millis, Money, MoneyScale, Payout, Signal, Strategy};
use candlewick_search::evidence::EvidenceKind;
use stage::{START, bot, closing, minute, run, series, settings};
use std::ops::Range;

struct Directed(Vec<(i64, Direction)>);

impl Strategy for Directed {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let at = candle.close_time(Interval::MINUTE);
        let signal = self.0.iter().find(|(number, _)| minute(*number) == at)?;
        Some(match signal.1 {
            Direction::Buy => Signal::buy("as listed"),
            Direction::Sell => Signal::sell("as listed"),
        })
    }
}

const BALANCE: Money = Money::from_minor(100_000);

fn finished(closes: &[f64], trades: &[(i64, Direction)]) -> (BacktestSettings, BacktestResult) {
    let settings = settings(vec![bot("a", series("BTCUSDT", "1m"))]);
    let candles = [closing("BTCUSDT", "1m", closes)];
    let strategy: Box<dyn Strategy> = Box::new(Directed(trades.to_vec()));
    let finished = run(&settings, vec![strategy], &candles, &[], &mut JournalHash::new()).unwrap();
    (settings, finished)
}

fn analysed(closes: &[f64], trades: &[(i64, Direction)], prices: Prices) -> Analysis {
    let (settings, finished) = finished(closes, trades);
    let span: Range<Millis> = START..minute(closes.len() as i64);
    let trades = RunData {
        book: &finished.book,
        bots: &settings.session.bots,
        scale: MoneyScale::default(),
        balance: BALANCE,
        span: &span,
        prices,
    };
    Analysis::new(&trades, &Summary::new(&finished.book, BALANCE))
}

/// Trades: won, lost, lost, drawn, won. Balances at a payout of 80 %: 1,008, 998, 988, 988, 996.
const CLOSES: [f64; 6] = [100.0, 101.0, 102.0, 101.0, 101.0, 103.0];

const TRADES: [(i64, Direction); 5] = [
    (1, Direction::Buy),
    (2, Direction::Sell),
    (3, Direction::Buy),
    (4, Direction::Buy),
    (5, Direction::Buy),
];

fn near(found: Option<f64>, expected: f64) {
    let found = found.expect("there is a figure");
    assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
}

#[test]
fn figures_match_hand_computed_ones() {
    let analysis = analysed(&CLOSES, &TRADES, Prices::Fair);
    let points: Vec<(Millis, f64)> = analysis.equity.iter().map(|point| (point.at, point.balance)).collect();
    let balances = [1_000.0, 1_008.0, 998.0, 988.0, 988.0, 996.0];
    assert_eq!(points, [0, 2, 3, 4, 5, 6].map(minute).into_iter().zip(balances).collect::<Vec<_>>());
    let metrics = analysis.metrics;
    let rates = metrics.win_rate.unwrap();
    assert_eq!(rates.rate, 0.5);
    near(rates.above_break_even, 0.5 - 1.0 / 1.8);
    // Wilson interval for 2 of 4: center 0.5, half-width 0.35, as in published calculators.
    near(Some((rates.uncertainty() * 1e4).round()), 3_500.0);
    let expectancy = metrics.expectancy.unwrap();
    near(Some(expectancy.return_per_unit), (0.8 - 1.0 - 1.0 + 0.0 + 0.8) / 5.0);
    near(Some(expectancy.profit_per_trade), -0.8);
    near(metrics.profit_factor.of_returns, 0.8);
    near(metrics.profit_factor.of_money, 0.8);
    let fall = metrics.drawdown.unwrap();
    assert_eq!((fall.amount, fall.percent), (20.0, 2_000.0 / 1_008.0));
    assert_eq!((fall.peak_at, fall.trough_at, fall.recovered_at), (minute(2), Some(minute(4)), None));
    assert_eq!((fall.fall_ms, fall.recovery_ms), (Some(Millis::MINUTE * 2), None));
    assert_eq!((metrics.streaks.won.length, metrics.streaks.lost.length), (1, 2));
    // Two losses in a row among four even trades: 8 of 16.
    near(metrics.streaks.lost.probability, 0.5);
    near(metrics.exposure, 5.0 / 6.0);
    near(metrics.trades_per_day, 1_200.0);
    assert_eq!((metrics.daily.days, metrics.daily.sharpe), (1, None));
}

#[test]
fn run_without_trades_has_no_figures() {
    let analysis = analysed(&CLOSES, &[], Prices::Fair);
    let metrics = analysis.metrics;
    assert_eq!((metrics.win_rate, metrics.expectancy, metrics.drawdown), (None, None, None));
    assert_eq!((metrics.exposure, metrics.trades_per_day), (Some(0.0), Some(0.0)));
    assert!(analysis.breakdowns.iter().all(|breakdown| breakdown.cells.is_empty()));
    assert_eq!(analysis.baselines, None);
    assert_eq!(analysis.equity, [EquityPoint { at: START, balance: 1_000.0 }]);
}

#[test]
fn distinguishes_results() {
    let breakdowns = analysed(&CLOSES, &TRADES, Prices::Fair).breakdowns;
    let cells = |dimension| {
        let of = |one: &&Breakdown| one.by == dimension;
        let cells = &breakdowns.iter().find(of).unwrap().cells;
        let row = |cell: &candlewick_report::analysis::Cell| {
            (cell.label.clone(), cell.trades, cell.won, cell.lost, cell.pnl)
        };
        cells.iter().map(row).collect::<Vec<_>>()
    };
    let all = |label: &str| vec![(label.to_owned(), 5, 2, 2, -4.0)];
    for (dimension, expected) in [
        (Dimension::Hour, all("00:00")),
        (Dimension::Weekday, all("Mon")),
        (Dimension::Symbol, all("BTCUSDT")),
        (Dimension::Direction, vec![("BUY".to_owned(), 4, 2, 1, 6.0), ("SELL".to_owned(), 1, 0, 1, -10.0)]),
        (Dimension::Expiry, all("01:00 TIME_FIXED")),
        (Dimension::PayoutBand, all("80 to 85 %")),
        (Dimension::EntryDelay, all("below 1 s")),
    ] {
        assert_eq!(cells(dimension), expected, "{dimension:?}");
    }
    let direction = breakdowns.iter().find(|one| one.by == Dimension::Direction).unwrap();
    // Within: 2.28 - 4 x 0.0225 = 2.19 over 3, 0.73. Between: 4 x 0.23^2 + 0.92^2 = 1.058 less 0.73, over 5 - 17 / 5: 0.205.
    let shrunk = [0.23 * 0.205 / (0.205 + 0.73 / 4.0) - 0.08, -0.92 * 0.205 / (0.205 + 0.73) - 0.08];
    for (cell, shrunk) in direction.cells.iter().zip(shrunk) {
        assert!(cell.is_small);
        near(cell.shrunk_return, shrunk);
        near(cell.break_even, 1.0 / 1.8);
    }
    near(direction.cells[0].return_per_unit, 0.15);
}

#[test]
fn marks_cells_with_fewer_than_thirty_decided_trades() {
    let closes: Vec<f64> = (0..32).map(|step| 100.0 + f64::from(step % 3)).collect();
    for (trades, is_small) in [(29, true), (30, false)] {
        let trades: Vec<(i64, Direction)> = (1..=trades).map(|at| (at, Direction::Buy)).collect();
        let breakdowns = analysed(&closes, &trades, Prices::Fair).breakdowns;
        assert_eq!(breakdowns[0].cells[0].is_small, is_small);
    }
}

#[test]
fn baselines_trade_the_same_entries_in_other_directions() {
    let baselines = analysed(&CLOSES, &TRADES, Prices::Fair).baselines.unwrap();
    near(Some(baselines.own), -0.08);
    // Bought: won, won, lost, drawn, won. Sold: lost, lost, won, drawn, lost.
    near(Some(baselines.always_buy), (3.0 * 0.8 - 1.0) / 5.0);
    near(Some(baselines.always_sell), (0.8 - 3.0) / 5.0);
    assert!(baselines.p_value.is_some());
    assert_eq!(analysed(&CLOSES, &TRADES, Prices::Stressed).baselines, None);
}

#[test]
fn withholds_edge_of_bots_with_a_payout_above_the_stake() {
    let percent = |percent: u32| Payout::from_percent(percent.into()).unwrap();
    let basis =
        ReplayBasis { may_have_coarse_candles: false, has_venue_prices: true, has_simulated_latency: false };
    // Default payout, the payout of EURUSD, and the expected finding.
    for (usual, own, symbols, expected) in [
        (80, 150, &["BTCUSDT"][..], None),
        (80, 150, &["BTCUSDT", "EURUSD"], Some("150")),
        (120, 150, &["BTCUSDT"], Some("120")),
        (120, 85, &["EURUSD"], None),
        (120, 85, &["EURUSD", "GBPUSD"], Some("120")),
        (100, 100, &["EURUSD", "GBPUSD"], None),
    ] {
        let mut settings = settings(symbols.iter().map(|symbol| bot(symbol, series(symbol, "1m"))).collect());
        settings.simulation.payout_percent = percent(usual);
        settings.simulation.payout_percent_by_symbol = [("EURUSD".parse().unwrap(), percent(own))].into();
        let (venue, bots) = (&settings.simulation, &settings.session.bots[..]);
        let (_, finished) = finished(&CLOSES, &[]);
        for caveats in [
            Caveats::for_replay(basis, venue, bots, EvidenceKind::Practice),
            Caveats::for_live_run(
                Some(TradingMode::Paper),
                (venue, bots),
                &finished.book,
                EvidenceKind::default(),
            ),
        ] {
            let told =
                caveats.withholding_reasons.iter().filter_map(|words| words.strip_prefix("a payout of "));
            let told: Vec<&str> = told.filter_map(|words| words.split(' ').next()).collect();
            assert_eq!(told, expected.into_iter().collect::<Vec<_>>(), "{usual} {own} {symbols:?}");
        }
    }
}
