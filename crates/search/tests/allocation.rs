//! The allocations of a trial do not depend on the number of candles.

#![allow(clippy::unwrap_used, reason = "the parts of a test are tests")]

mod fixtures;

use candlewick_sdk::testkit::random_walk;
use candlewick_sdk::{CandleSeries, Interval, Millis, Money, Registry, Series};
use candlewick_search::sweep::{
    Candidate, DeclarationMode, Replayer, Setting, SharedRunner, Space, TrialEnd, TrialRunner,
};
use fixtures::markets;
use serde_json::json;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

#[allow(
    unsafe_code,
    reason = "an allocator is unsafe by its trait; this one counts and hands on what it is asked"
)]
// SAFETY: every call is forwarded unchanged to the system allocator; the counter does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ASKED.set(ASKED.get() + 1);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ASKED.set(ASKED.get() + 1);
        // SAFETY: the caller upholds the contract of `realloc`.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const CANDLES: usize = 400_000;

#[test]
fn trial_memory_is_independent_of_the_number_of_candles() {
    let registry = Registry::default().with::<rsi_reversal::RsiReversal>().unwrap();
    let entry = registry.find("rsi-reversal").unwrap();
    let series = Series { symbol: "BTCUSDT".parse().unwrap(), interval: Interval::MINUTE };
    let candles = vec![CandleSeries::new(series, random_walk(1, CANDLES)).unwrap()];
    let markets = markets(&candles[0]);
    let stake = json!({ "kind": "fixed", "amount": 10 });
    let bot = json!({ "strategy": entry.name, "close_type": "05:00", "stake": stake });
    let mut settings = fixtures::settings(&bot, &json!({ "daily_loss_limit": 1_000 }), 1_000_000);
    let space = Space::new(entry, &settings.session.bots[0], &["period=5..9".to_owned()], &[]).unwrap();
    let candidate: Candidate = [Setting::Whole(7)].into();
    for several in [false, true] {
        if several {
            (settings.session.risk.max_open_trades, settings.session.risk.max_open_trades_per_symbol) =
                (5, 3);
            (settings.session.risk.allow_opposite, settings.session.risk.allow_duplicate) = (true, true);
        }
        for black_box in [DeclarationMode::Ignored, DeclarationMode::Trusted] {
            let replay =
                Replayer { settings: &settings, entry, space: &space, candles: &candles, markets: &markets };
            let shared = SharedRunner::new(replay, black_box);
            let measure = |until: Millis| {
                let before = ASKED.get();
                let outcome = shared.measure(&candidate, until, Money::from_minor(100_000_000)).unwrap();
                let TrialEnd::Figures(figures) = outcome else { panic!("{outcome:?}") };
                (figures.trades, ASKED.get() - before)
            };
            let (start, end) = (candles[0].start(), candles[0].end());
            let quarter = start + Millis::new((end - start).get() / 4);
            // The first trial computes the outcomes of orders.
            let _ = (measure(quarter), measure(end));
            let ((few, asked), (many, asked_of_many)) = (measure(quarter), measure(end));
            println!("{black_box:?}, several {several}: {few} trades {asked}, {many} trades {asked_of_many}");
            assert!(many > 3 * few && few > 1_000, "{few} and {many} trades");
            assert!(asked_of_many <= asked + 2, "{asked} for {few} trades, {asked_of_many} for {many}");
        }
    }
}
