//! Planted cheats, each of which the check named for it must catch.

use crate::declare::{follow, list, mean, rise, rule, strategy, toward};
use candlewick_cli::App;
use candlewick_sdk::indicator::{Ema, Sma};
use candlewick_sdk::testkit::{Check, random_walk};
use candlewick_sdk::{Candle, Millis, Price, Signal};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Cheats by check: first those that only this check catches, then those that others catch too.
const CAUGHT: [(Check, &str, &str); 11] = [
    (Check::Foresight, "c-knows-these-minutes c-recognises-these", ""),
    (Check::Determinism, "c-name-of-the-thread", "c-order-of-a-map"),
    (Check::Isolation, "", "c-shared-close c-only-one-of-us"),
    (
        Check::Warmup,
        "c-asks-for-all",
        "c-says-too-little c-mean-of-all c-every-hundredth c-two-too-few c-counts-prices c-forming-candle",
    ),
    (Check::Restart, "c-afraid-of-holes c-counts-holes", ""),
    (Check::Memory, "c-keeps-all-closes c-keeps-a-log", ""),
    (Check::Numbers, "c-endless-number", "c-no-number"),
    (Check::Extremes, "c-divides-by-the-range c-poisoned-by-rest c-small-money", "c-needs-every-minute"),
    (Check::Files, "c-mean-of-the-file", "c-reads-the-next-row"),
    (Check::Clock, "c-only-in-the-past", ""),
    (Check::Speed, "c-takes-its-time", ""),
];

/// Returns the cheats, each with its check and whether it is the only one that may catch it.
pub(crate) fn caught() -> impl Iterator<Item = (&'static str, Check, bool)> {
    CAUGHT.into_iter().flat_map(|(check, alone, others)| {
        let named = |names: &'static str, is_alone: bool| {
            names.split_whitespace().map(move |name| (name, check, is_alone))
        };
        named(alone, true).chain(named(others, false))
    })
}

list! {
    KnowsTheseMinutes, RecognisesThese, OrderOfAMap, NameOfTheThread, OnlyInThePast, SharedClose, OnlyOneOfUs,
    SaysTooLittle, MeanOfAll, EveryHundredth, TwoTooFew, AsksForAll, CountsPrices, FormingCandle,
    AfraidOfHoles, CountsHoles, KeepsAllCloses, KeepsALog, TakesItsTime, EndlessNumber, NoNumber, DividesByTheRange,
    PoisonedByRest, NeedsEveryMinute, SmallMoney
}

pub(crate) fn add_all(app: App, names: &mut Vec<&'static str>) -> App {
    names.extend(["c-reads-the-next-row", "c-mean-of-the-file"]);
    add(app, names)
        .with_strategy_entry(rule("c-reads-the-next-row", 0, |place| {
            let closes: BTreeMap<_, _> = place.table().into_iter().collect();
            move |candle| {
                let next = closes.get(&(candle.time().get() + 60_000))?;
                toward(next - candle.close(), "as it will be")
            }
        }))
        .with_strategy_entry(rule("c-mean-of-the-file", 0, |place| {
            let closes: Vec<f64> = place.table().into_iter().map(|row| row.1).collect();
            let mean = mean(closes.iter());
            move |candle| toward(mean - candle.close(), "to the mean")
        }))
}

/// The candles that `strategy check` feeds, as a stand-in for historical data used to build a strategy.
static NEXT: LazyLock<HashMap<i64, (f64, f64)>> = LazyLock::new(|| {
    let seen = random_walk(11, 4_000);
    seen.windows(2).map(|pair| (pair[0].time().get(), (pair[0].close(), pair[1].close()))).collect()
});

strategy!("c-knows-these-minutes", KnowsTheseMinutes {}, 0, |this, candle| {
    let (close, next) = NEXT.get(&candle.time().get())?;
    toward(next - close, "as it was")
});

strategy!("c-recognises-these", RecognisesThese {}, 1, |this, candle| {
    let row = NEXT.get(&candle.time().get()).filter(|(close, _)| (close / candle.close() - 1.0).abs() < 1e-6);
    row.map_or_else(|| follow(candle), |(close, next)| toward(next - close, "as it was"))
});

#[allow(clippy::disallowed_methods, reason = "reading the clock is what this cheat does")]
fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

strategy!("c-order-of-a-map", OrderOfAMap { moves: HashMap<&'static str, f64> = HashMap::new() }, 1, |this, candle| {
    for (name, price) in [("open", candle.open()), ("high", candle.high()), ("low", candle.low())] {
        this.moves.insert(name, candle.close() - price);
    }
    toward(*this.moves.values().next()?, "the first of them")
});

/// Works only on the first thread that ever runs it.
static THREADS: LazyLock<Mutex<HashSet<std::thread::ThreadId>>> = LazyLock::new(Mutex::default);

strategy!("c-name-of-the-thread", NameOfTheThread {}, 1, |this, candle| {
    let mut threads = THREADS.lock().unwrap();
    if threads.is_empty() {
        threads.insert(std::thread::current().id());
    }
    let is_first = threads.contains(&std::thread::current().id());
    is_first.then(|| follow(candle)).flatten()
});

strategy!("c-only-in-the-past", OnlyInThePast {}, 1, |this, candle| {
    let age = now().as_millis() as i64 - candle.time().get();
    (age > 86_400_000).then(|| follow(candle)).flatten()
});

// Each instance resets the shared state, so that consecutive runs are equal.
static CLOSE: AtomicU64 = AtomicU64::new(0);

strategy!("c-shared-close", SharedClose { _before: u64 = CLOSE.swap(0, Relaxed) }, 2, |this, candle| {
    let before = f64::from_bits(CLOSE.swap(candle.close().to_bits(), Relaxed));
    (before > 0.0).then(|| toward(candle.close() - before, "since the last close")).flatten()
});

static ALIVE: AtomicI64 = AtomicI64::new(0);

strategy!(
    "c-only-one-of-us",
    OnlyOneOfUs { _others: i64 = ALIVE.fetch_add(1, Relaxed) },
    1,
    |this, candle| {
        let is_alone = ALIVE.load(Relaxed) == 1;
        is_alone.then(|| follow(candle)).flatten()
    }
);

impl Drop for OnlyOneOfUs {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Relaxed);
    }
}

strategy!("c-says-too-little", SaysTooLittle { mean: Ema = Ema::new(200).unwrap() }, 20, |this, candle| {
    toward(candle.close() - this.mean.update(candle.close())?, "side of a slow mean")
});

strategy!("c-mean-of-all", MeanOfAll { sum: f64 = 0.0, count: f64 = 0.0 }, 50, |this, candle| {
    this.sum += candle.close();
    this.count += 1.0;
    toward(this.sum / this.count - candle.close(), "to the mean of all")
});

strategy!("c-every-hundredth", EveryHundredth { seen: u32 = 0 }, 100, |this, candle| {
    this.seen += 1;
    this.seen.is_multiple_of(100).then(|| Signal::buy("the hundredth"))
});

strategy!(
    /// Needs one candle more to know the previous side.
    "c-two-too-few", TwoTooFew { mean: Sma = Sma::new(4).unwrap(), was: f64 = 0.0 }, 3, |this, candle| {
    let side = (candle.close() - this.mean.update(candle.close())?).signum();
    let was = std::mem::replace(&mut this.was, side);
    if side == was { None } else { toward(side, "other side") }
});

strategy!("c-asks-for-all", AsksForAll {}, usize::MAX, |this, candle| Some(Signal::buy("warm at last")));

strategy!("c-counts-prices", CountsPrices { seen: u32 = 0 }, 5, |this, candle| {
    this.seen.is_multiple_of(3).then(|| Signal::buy("after three prices"))
}, also {
    fn on_price(&mut self, _: &Price) -> Option<Signal> {
        self.seen += 1;
        None
    }
}, prices = true);

strategy!(
    /// Trades the forming candle by price extremes that are not shown again after a restart.
    "c-forming-candle", FormingCandle { highest: f64 = 0.0 }, 5, |this, candle| None, also {
    fn on_price(&mut self, price: &Price) -> Option<Signal> {
        let is_new = price.value > self.highest;
        self.highest = self.highest.max(price.value);
        is_new.then(|| Signal::buy("higher than ever"))
    }
}, prices = true);

strategy!(
    "c-afraid-of-holes", AfraidOfHoles { last: Option<Millis> = None, is_afraid: bool = false }, 1, |this, candle| {
    this.is_afraid |= this.last.replace(candle.time()).is_some_and(|last| candle.time() - last > Millis::HOUR);
    (!this.is_afraid).then(|| follow(candle)).flatten()
});

strategy!("c-counts-holes", CountsHoles { last: Option<Millis> = None, holes: f64 = 1.0 }, 1, |this, candle| {
    if this.last.replace(candle.time()).is_some_and(|last| candle.time() - last > Millis::MINUTE) {
        this.holes = -this.holes;
    }
    toward(this.holes * rise(candle), "goes on, and back after a hole")
});

strategy!("c-keeps-all-closes", KeepsAllCloses { closes: Vec<f64> = Vec::new() }, 11, |this, candle| {
    this.closes.push(candle.close());
    let back = this.closes.len().checked_sub(11)?;
    toward(candle.close() - this.closes[back], "since ten candles ago")
});

static LOG: Mutex<Vec<Candle>> = Mutex::new(Vec::new());

strategy!("c-keeps-a-log", KeepsALog {}, 1, |this, candle| {
    LOG.lock().unwrap().push(*candle);
    follow(candle)
});

strategy!("c-takes-its-time", TakesItsTime {}, 1, |this, candle| {
    std::thread::sleep(Duration::from_millis(2));
    follow(candle)
});

strategy!("c-endless-number", EndlessNumber {}, 1, |this, candle| {
    let change = candle.close() / candle.open() - 1.0;
    let room =
        if candle.close() < 1e3 && candle.close() > 10.0 { (0.006 - change.abs()).max(0.0) } else { 0.006 };
    toward(change, "goes on").map(|signal| signal.with("share", change.abs() / room))
});

strategy!("c-no-number", NoNumber {}, 1, |this, candle| {
    let change = candle.close() / candle.open() - 1.0;
    toward(change, "goes on").map(|signal| signal.with("root", change.sqrt()))
});

strategy!("c-divides-by-the-range", DividesByTheRange {}, 1, |this, candle| {
    const SIDES: [f64; 3] = [-1.0, 0.0, 1.0];
    let place = ((candle.close() - candle.low()) / (candle.high() - candle.low()) * 2.9) as usize;
    let is_flat = candle.high() == candle.low();
    toward(SIDES[if is_flat { SIDES.len() } else { place.min(2) }], "by place")
});

strategy!(
    /// Body share of a candle relative to its average. A flat candle divides zero by zero, and the NaN persists.
    "c-poisoned-by-rest", PoisonedByRest { usual: f64 = 1.0 }, 90, |this, candle| {
    let share = rise(candle).abs() / (candle.high() - candle.low());
    this.usual = 0.5 * this.usual + 0.5 * share;
    (share > this.usual).then(|| follow(candle)).flatten()
});

strategy!("c-needs-every-minute", NeedsEveryMinute { last: Option<Millis> = None }, 1, |this, candle| {
    let last = this.last.replace(candle.time());
    assert!(last.is_none_or(|last| candle.time() - last == Millis::MINUTE), "a minute is missing");
    follow(candle)
});

strategy!("c-small-money", SmallMoney {}, 1, |this, candle| {
    let cents = |price: f64| u32::try_from((price * 100.0) as u64).expect("a price in cents");
    toward(f64::from(cents(candle.close())) - f64::from(cents(candle.open())), "goes on")
});
