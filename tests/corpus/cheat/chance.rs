//! Cheats that something else than candles decides: chance, the clock, an address, an earlier run.

use crate::declare::{list, strategy, toward};
use candlewick_sdk::Signal;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

list!(Nanoseconds, Dice, OrderOfAMap, Address, RemembersRuns, CountsForAll, NameOfTheThread, OnlyInThePast);

#[allow(clippy::disallowed_methods, reason = "reading the clock is what these cheats do")]
fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

strategy!("c-nanoseconds", Nanoseconds {}, 0, |this, candle| {
    now().subsec_nanos().is_multiple_of(3).then(|| Signal::buy("now"))
});

strategy!("c-dice", Dice {}, 0, |this, candle| {
    RandomState::new().hash_one(candle.time().get()).is_multiple_of(5).then(|| Signal::buy("six"))
});

strategy!("c-order-of-a-map", OrderOfAMap { moves: HashMap<&'static str, f64> = HashMap::new() }, 1, |this, candle| {
    for (name, price) in [("open", candle.open()), ("high", candle.high()), ("low", candle.low())] {
        this.moves.insert(name, candle.close() - price);
    }
    toward(*this.moves.values().next()?, "the first of them")
});

strategy!("c-address", Address { here: Box<u8> = Box::new(0) }, 0, |this, candle| {
    let address = std::ptr::from_ref(&*this.here).addr() as u64;
    let mixed = (address ^ candle.time().get() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 61 == 0).then(|| Signal::sell("from here"))
});

static RUNS: LazyLock<Mutex<HashMap<i64, f64>>> = LazyLock::new(Mutex::default);

strategy!("c-remembers-runs", RemembersRuns {}, 0, |this, candle| {
    let mut runs = RUNS.lock().unwrap();
    runs.insert(candle.time().get(), candle.close() - candle.open());
    let next = runs.get(&(candle.time().get() + 60_000)).copied();
    toward(next.unwrap_or(candle.close() - candle.open()), "as last time")
});

static CANDLES: AtomicUsize = AtomicUsize::new(0);

strategy!("c-counts-for-all", CountsForAll {}, 0, |this, candle| {
    CANDLES.fetch_add(1, Ordering::Relaxed).is_multiple_of(97).then(|| Signal::buy("the next one"))
});

/// The first thread that ever ran it is the one it works for.
static THREADS: LazyLock<Mutex<HashSet<std::thread::ThreadId>>> = LazyLock::new(Mutex::default);

strategy!("c-name-of-the-thread", NameOfTheThread {}, 1, |this, candle| {
    let mut threads = THREADS.lock().unwrap();
    if threads.is_empty() {
        threads.insert(std::thread::current().id());
    }
    let is_first = threads.contains(&std::thread::current().id());
    is_first.then(|| toward(candle.close() - candle.open(), "goes on")).flatten()
});

strategy!("c-only-in-the-past", OnlyInThePast {}, 1, |this, candle| {
    let age = now().as_millis() as i64 - candle.time().get();
    (age > 86_400_000).then(|| toward(candle.close() - candle.open(), "goes on")).flatten()
});
