//! Long runs: many blocks of candles, panicking strategies and full journals.

use crate::stage::{Extremes, bot, markets, series, settings};
use candlewick_backtest::{Backtest, BacktestError, BacktestResult};
use candlewick_engine::{Entry, JournalHash, Recorder, RecorderInterest};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::testkit::random_walk;
use candlewick_sdk::{Candle, CandleSeries, Signal, Strategy};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// About 30 times the number of candles shown to a bot per turn.
const CANDLES: usize = 30_000;
const INTERESTS: [RecorderInterest; 2] = [RecorderInterest::AllButCandles, RecorderInterest::Everything];

struct Always {
    shown: usize,
    panics_at: usize,
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

    fn wants_settlements(&self) -> bool {
        false
    }
}

struct Bounded {
    interest: RecorderInterest,
    hash: JournalHash,
    room: usize,
}

impl Recorder for Bounded {
    fn interest(&self) -> RecorderInterest {
        self.interest
    }

    fn record(&mut self, entry: Entry<'_>) -> io::Result<()> {
        self.room = self.room.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
        self.hash.record(entry)
    }
}

fn run(
    interest: RecorderInterest,
    panics_at: usize,
    room: usize,
) -> (Result<BacktestResult, BacktestError>, String) {
    let place = series("BTCUSDT", "1m");
    let mut settings = settings(["a", "b"].map(|name| bot(name, place)).into());
    settings.session.balance = Decimal::from(1_000_000);
    let risk = &mut settings.session.risk;
    (risk.max_trades_per_day, risk.max_drawdown_percent, risk.daily_loss_limit) = (0, 0.0, Decimal::ZERO);
    let candles = [CandleSeries::new(place, random_walk(1, CANDLES)).unwrap()];
    let strategies: [Box<dyn Strategy>; 2] =
        [Box::new(Extremes::new()), Box::new(Always { shown: 0, panics_at })];
    let market = markets(&candles, &[]);
    let backtest = Backtest::new(&settings, strategies.into(), &[false; 2], &candles, market).unwrap();
    let mut recorder = Bounded { interest, hash: JournalHash::new(), room };
    let mut reports = Vec::new();
    let header = settings.header(Vec::new(), None);
    let finished = backtest.run(&header, &mut recorder, &mut |done, total| reports.push((done, total)));
    if finished.is_ok() {
        let all = CANDLES as u64;
        assert_eq!(reports.last(), Some(&(all, all)));
        assert!(reports.is_sorted() && reports.iter().all(|(_, total)| *total == all), "{reports:?}");
    }
    (finished, recorder.hash.finish())
}

#[test]
fn long_runs_do_not_depend_on_batching() {
    let [together, alone] = INTERESTS.map(|interest| run(interest, usize::MAX, usize::MAX));
    assert_eq!(together.1, alone.1);
    let [together, alone] = [together.0.unwrap(), alone.0.unwrap()];
    assert!(together.book.rows().len() > 1_000 && together.book.rows() == alone.book.rows());
    assert_eq!(together.final_balance, alone.final_balance);
}

#[test]
fn panic_of_a_strategy_reaches_the_caller() {
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
fn full_journal_ends_a_long_run() {
    for interest in INTERESTS {
        for room in [0, 1, 2, 1_000, 20_000] {
            let (stopped, _) = run(interest, usize::MAX, room);
            let message = stopped.err().map(|error| error.to_string());
            assert_eq!(message.as_deref(), Some("the journal cannot be written"), "{interest:?}, {room}");
        }
    }
}
