//! A run on several threads is the same run, and ends as one that is on one thread ends.

use crate::stage::{Extremes, bot, markets, series, settings};
use candlewick_backtest::{Backtest, BacktestError, BacktestSettings, Finished};
use candlewick_engine::{Entry, Interest, JournalHash, Recorder};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::testkit::random_walk;
use candlewick_sdk::{Candle, CandleSeries, Series, Signal, Strategy};
use std::io;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// Many batches of one strategy, and of several.
const CANDLES: usize = 30_000;

/// A strategy that candles alone decide.
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

/// Signals at every candle, up to the one at which it panics.
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

/// The journal's hash, until there is no more room after so many entries.
struct Bounded {
    hash: JournalHash,
    room: usize,
}

impl Recorder for Bounded {
    fn interest(&self) -> Interest {
        Interest::AllButCandles
    }

    fn record(&mut self, entry: Entry<'_>) -> io::Result<()> {
        self.room = self.room.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
        self.hash.record(entry)
    }
}

fn walk(place: Series, seed: u64, candles: usize) -> CandleSeries {
    CandleSeries::new(place, random_walk(seed, candles)).unwrap()
}

/// On two series, of which one ends before the other: bots that signal at times, one that always does, and one that waits for settlements.
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

fn run(threads: usize, panics_at: usize, room: usize) -> (Result<Finished, BacktestError>, String) {
    let (settings, candles) = bots();
    let strategies = strategies(panics_at);
    let backtest =
        Backtest::new(&settings, strategies, &[false; 6], &candles, markets(&candles, &[])).unwrap();
    let mut recorder = Bounded { hash: JournalHash::new(), room };
    let mut told = Vec::new();
    let finished = backtest.on_threads(NonZeroUsize::new(threads).unwrap()).run(
        &settings.header(Vec::new(), None),
        &mut recorder,
        &mut |done, total| told.push((done, total)),
    );
    if finished.is_ok() {
        let all = (CANDLES + CANDLES / 2) as u64;
        assert_eq!(told.last(), Some(&(all, all)));
        assert!(told.is_sorted() && told.iter().all(|(_, total)| *total == all), "{told:?}");
    }
    (finished, recorder.hash.finish())
}

#[test]
fn the_journal_and_the_book_do_not_depend_on_the_threads() {
    let (expected, expected_hash) = run(1, usize::MAX, usize::MAX);
    let expected = expected.unwrap();
    assert!(expected.book.rows().len() > 5_000, "{} trades are too few", expected.book.rows().len());
    assert!(expected.book.refused().values().sum::<u64>() > 10_000);
    // Fewer threads than there is work for, one for each part of it, and more.
    for threads in [2, 3, 4, 5, 9] {
        let (found, hash) = run(threads, usize::MAX, usize::MAX);
        let found = found.unwrap();
        assert_eq!(hash, expected_hash, "{threads} threads");
        assert!(found.book.rows() == expected.book.rows(), "{threads} threads");
        assert_eq!(found.final_balance, expected.final_balance);
        assert_eq!(found.stopped_by, expected.stopped_by);
    }
}

#[test]
fn what_a_strategy_panics_with_ends_the_run() {
    for (threads, panics_at) in [(1, 20_000), (2, 1), (2, 20_000), (3, 3_001), (4, CANDLES)] {
        let panic = catch_unwind(AssertUnwindSafe(|| run(threads, panics_at, usize::MAX)));
        let said = panic.err().and_then(|said| said.downcast::<String>().ok()).map(|said| *said);
        assert_eq!(said, Some(format!("candle {panics_at} is unlucky")), "{threads} threads");
    }
}

#[test]
fn a_journal_without_room_ends_all_threads() {
    for threads in [1, 2, 4] {
        for room in [0, 1, 2, 1_000, 20_000] {
            let (stopped, _) = run(threads, usize::MAX, room);
            let said = stopped.err().map(|error| error.to_string());
            assert_eq!(said.as_deref(), Some("the journal cannot be written"), "{threads} threads, {room}");
        }
    }
}

/// Whether another thread than that of the run has shown a candle, and who waits for it.
type Elsewhere = Arc<(Mutex<bool>, Condvar)>;

/// On the thread of the run waits for a while until another has shown a candle to one of its kind.
struct Waits {
    elsewhere: Elsewhere,
    most: Duration,
}

impl Strategy for Waits {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, _: &Candle) -> Option<Signal> {
        let (seen, changed) = &*self.elsewhere;
        let mut seen = seen.lock().unwrap();
        if thread::current().name() == Some("strategies") {
            *seen = true;
            changed.notify_all();
        } else if !*seen {
            drop(changed.wait_timeout(seen, std::mem::take(&mut self.most)).unwrap());
        }
        None
    }

    fn wants_settlements(&self) -> bool {
        false
    }
}

#[test]
fn strategies_are_shown_candles_elsewhere_where_there_are_threads() {
    for (threads, most, expected) in [(1, Duration::ZERO, false), (2, Duration::from_secs(20), true)] {
        let elsewhere = Elsewhere::default();
        let places = [series("BTCUSDT", "1m"), series("ETHUSDT", "1m")];
        let settings = settings(places.map(|place| bot(place.symbol.as_str(), place)).to_vec());
        let candles = places.map(|place| walk(place, 1, CANDLES));
        let strategy = || -> Box<dyn Strategy> { Box::new(Waits { elsewhere: elsewhere.clone(), most }) };
        let strategies = vec![strategy(), strategy()];
        let made = Backtest::new(&settings, strategies, &[false; 2], &candles, markets(&candles, &[]));
        let mut recorder = Bounded { hash: JournalHash::new(), room: usize::MAX };
        let run = made.unwrap().on_threads(NonZeroUsize::new(threads).unwrap());
        run.run(&settings.header(Vec::new(), None), &mut recorder, &mut |_, _| {}).unwrap();
        assert_eq!(*elsewhere.0.lock().unwrap(), expected, "{threads} threads");
    }
}
