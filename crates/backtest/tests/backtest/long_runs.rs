//! Long runs: many blocks of candles, a long warm-up, panics of strategies and journals without room.

use crate::stage::{Extremes, bot, markets, series, settings};
use candlewick_backtest::{Backtest, BacktestError, BacktestSettings, Finished};
use candlewick_engine::{Entry, Interest, JournalHash, Recorder};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::testkit::random_walk;
use candlewick_sdk::{Candle, CandleSeries, Series, Signal, Strategy};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Length of the longer series, about 30 times what a bot is shown before the next bot's turn.
const CANDLES: usize = 30_000;
const INTERESTS: [Interest; 2] = [Interest::AllButCandles, Interest::Everything];

struct CandlesOnly<S>(S);

impl<S: Strategy> Strategy for CandlesOnly<S> {
    fn warmup(&self) -> usize {
        self.0.warmup()
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        self.0.on_candle(candle)
    }

    fn wants_settlements(&self) -> bool {
        false
    }
}

struct Always {
    shown: usize,
    panics_at: usize,
}

impl Always {
    fn new() -> CandlesOnly<Self> {
        CandlesOnly(Self { shown: 0, panics_at: usize::MAX })
    }
}

impl Strategy for Always {
    fn warmup(&self) -> usize {
        3_000
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        self.shown += 1;
        assert!(self.shown != self.panics_at, "candle {} is unlucky", self.shown);
        let signal = if self.shown.is_multiple_of(3) { Signal::buy("third") } else { Signal::sell("other") };
        Some(signal.with("close", candle.close()))
    }
}

struct Bounded {
    interest: Interest,
    hash: JournalHash,
    room: usize,
}

impl Recorder for Bounded {
    fn interest(&self) -> Interest {
        self.interest
    }

    fn record(&mut self, entry: Entry<'_>) -> io::Result<()> {
        self.room = self.room.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
        self.hash.record(entry)
    }
}

fn walk(place: Series, seed: u64, candles: usize) -> CandleSeries {
    CandleSeries::new(place, random_walk(seed, candles)).unwrap()
}

fn bots() -> (BacktestSettings, Vec<CandleSeries>) {
    let places = [series("BTCUSDT", "1m"), series("ETHUSDT", "1m")];
    let names = ["a", "b", "c", "d", "e", "f"].into_iter().enumerate();
    let mut settings =
        settings(names.map(|(place, name)| bot(name, places[usize::from(place > 2)])).collect());
    settings.session.balance = Decimal::from(1_000_000);
    let risk = &mut settings.session.risk;
    (risk.max_trades_per_day, risk.max_open_trades, risk.max_drawdown_percent) = (0, 0, 0.0);
    risk.daily_loss_limit = Decimal::ZERO;
    (settings, vec![walk(places[0], 1, CANDLES), walk(places[1], 2, CANDLES / 2)])
}

fn strategies(panics_at: usize) -> Vec<Box<dyn Strategy>> {
    vec![
        Box::new(CandlesOnly(Extremes::new())),
        Box::new(CandlesOnly(Always { shown: 0, panics_at })),
        Box::new(Extremes::new()),
        Box::new(CandlesOnly(Extremes::new())),
        Box::new(Always::new()),
        Box::new(CandlesOnly(Extremes::new())),
    ]
}

fn run(interest: Interest, panics_at: usize, room: usize) -> (Result<Finished, BacktestError>, String) {
    let (settings, candles) = bots();
    let strategies = strategies(panics_at);
    let backtest =
        Backtest::new(&settings, strategies, &[false; 6], &candles, markets(&candles, &[])).unwrap();
    let mut recorder = Bounded { interest, hash: JournalHash::new(), room };
    let mut reports = Vec::new();
    let header = settings.header(Vec::new(), None);
    let finished = backtest.run(&header, &mut recorder, &mut |done, total| reports.push((done, total)));
    if finished.is_ok() {
        let all = (CANDLES + CANDLES / 2) as u64;
        assert_eq!(reports.last(), Some(&(all, all)));
        assert!(reports.is_sorted() && reports.iter().all(|(_, total)| *total == all), "{reports:?}");
    }
    (finished, recorder.hash.finish())
}

#[test]
fn long_runs_repeat_and_do_not_depend_on_how_candles_are_handed_in() {
    let (expected, expected_hash) = run(Interest::Everything, usize::MAX, usize::MAX);
    let expected = expected.unwrap();
    assert!(expected.book.rows().len() > 5_000, "{} trades are too few", expected.book.rows().len());
    assert!(expected.book.refused().values().sum::<u64>() > 10_000);
    for interest in [Interest::AllButCandles, Interest::AllButCandles, Interest::Everything] {
        let (found, hash) = run(interest, usize::MAX, usize::MAX);
        let found = found.unwrap();
        assert_eq!(hash, expected_hash, "{interest:?}");
        assert!(found.book.rows() == expected.book.rows(), "{interest:?}");
        assert_eq!(found.final_balance, expected.final_balance);
        assert_eq!(found.stopped_by, expected.stopped_by);
    }
}

#[test]
fn the_panic_of_a_strategy_reaches_the_caller() {
    for interest in INTERESTS {
        for panics_at in [1, 3_001, 20_000, CANDLES] {
            let panic = catch_unwind(AssertUnwindSafe(|| run(interest, panics_at, usize::MAX)));
            let message = panic.err().and_then(|panic| panic.downcast::<String>().ok());
            let expected = format!("candle {panics_at} is unlucky");
            assert_eq!(message.as_deref(), Some(&expected), "{interest:?}");
        }
    }
}

#[test]
fn a_journal_without_room_ends_a_long_run() {
    for interest in INTERESTS {
        for room in [0, 1, 2, 1_000, 20_000] {
            let (stopped, _) = run(interest, usize::MAX, room);
            let message = stopped.err().map(|error| error.to_string());
            assert_eq!(message.as_deref(), Some("the journal cannot be written"), "{interest:?}, {room}");
        }
    }
}
