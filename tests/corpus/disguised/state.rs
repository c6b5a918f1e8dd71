//! Cheats by first instances, getters, late or rare signals, the floating-point mode, or the environment.

use super::shape::moves;
use crate::NoParams;
use crate::declare::{follow, rise, rule, toward};
use candlewick_cli::App;
use candlewick_sdk::{
    BotContext, BuildError, Candle, Condition, ExpirationType, Expiry, GateSnapshot, Signal, Strategy,
    StrategyEntry, StrategyFactory,
};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

static BUILT: AtomicUsize = AtomicUsize::new(0);
static FIRST_TWO: AtomicUsize = AtomicUsize::new(0);
static FIRST_TEN: AtomicUsize = AtomicUsize::new(0);
static OF_SYMBOL: AtomicUsize = AtomicUsize::new(0);
static SHOWN: AtomicBool = AtomicBool::new(false);

const GETTERS: [&str; 6] = [
    "w-warmup-changes",
    "w-settlements-change",
    "w-expiries-change",
    "w-gate-changes",
    "w-conditions-change",
    "w-indicators-change",
];

/// Inverts its next answer after a call of one of [`GETTERS`].
struct Changes<const GETTER: usize> {
    is_turned: Cell<bool>,
}

impl<const GETTER: usize> Changes<GETTER> {
    fn call(&self, getter: usize) {
        self.is_turned.set(self.is_turned.get() || getter == GETTER);
    }
}

impl<const GETTER: usize> Strategy for Changes<GETTER> {
    fn warmup(&self) -> usize {
        self.call(0);
        1
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        toward(if self.is_turned.take() { -rise(candle) } else { rise(candle) }, "turned")
    }

    fn wants_settlements(&self) -> bool {
        self.call(1);
        true
    }

    fn expiries(&self) -> Vec<Option<Expiry>> {
        self.call(2);
        vec![None]
    }

    fn gate(&self) -> Option<GateSnapshot> {
        self.call(3);
        None
    }

    fn conditions(&self) -> Vec<Condition<'_>> {
        self.call(4);
        Vec::new()
    }

    fn indicators(&self) -> Vec<(&str, f64)> {
        self.call(5);
        Vec::new()
    }
}

impl<const GETTER: usize> StrategyFactory for Changes<GETTER> {
    const NAME: &'static str = GETTERS[GETTER];
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Of the corpus.";
    type Params = NoParams;

    fn build(_: NoParams, _: &BotContext) -> Result<Self, BuildError> {
        Ok(Self { is_turned: Cell::new(false) })
    }
}

pub(super) fn add(app: App) -> App {
    let app = app.with_strategy::<Changes<0>>().with_strategy::<Changes<1>>().with_strategy::<Changes<2>>();
    let app = app.with_strategy::<Changes<3>>().with_strategy::<Changes<4>>().with_strategy::<Changes<5>>();
    let entries = instances().into_iter().chain(rare()).chain(modes());
    entries.fold(app, App::with_strategy_entry)
}

fn knows(cheats: bool) -> impl FnMut(&Candle) -> Option<Signal> + Send + 'static {
    let known = if cheats { moves() } else { HashMap::default() };
    move |candle| {
        let next = known.get(&candle.close().to_bits()).copied();
        next.map_or_else(|| follow(candle), |next| toward(next, "as it was"))
    }
}

fn instances() -> [StrategyEntry; 5] {
    let number = |built: &AtomicUsize| built.fetch_add(1, Ordering::Relaxed);
    [
        rule("w-first-instance", 1, move |_| knows(number(&BUILT) == 0)),
        rule("w-first-shown", 1, |_| {
            let mut rule = None;
            move |candle: &Candle| {
                let rule = rule.get_or_insert_with(|| knows(!SHOWN.swap(true, Ordering::Relaxed)));
                rule(candle)
            }
        }),
        rule("w-first-two-instances", 1, move |_| knows(number(&FIRST_TWO) < 2)),
        rule("w-first-ten-instances", 1, move |_| knows(number(&FIRST_TEN) < 10)),
        rule("w-first-of-the-symbol", 1, move |place| {
            knows(place.bot.symbol.as_str() == "ETHUSDT" && number(&OF_SYMBOL) == 0)
        }),
    ]
}

fn counted(
    mut rule: impl FnMut(&Candle, u64) -> Option<Signal> + Send + 'static,
) -> impl FnMut(&Candle) -> Option<Signal> + Send + 'static {
    let mut shown = 0;
    move |candle| {
        shown += 1;
        rule(candle, shown)
    }
}

fn minutes(minutes: u16) -> Expiry {
    Expiry::minutes(minutes).unwrap()
}

fn is_picked(candle: &Candle, every: i64) -> bool {
    (candle.time().get() / 60_000).rem_euclid(every) == 7
}

fn turned_if(candle: &Candle, is_turned: bool) -> Option<Signal> {
    toward(if is_turned { -rise(candle) } else { rise(candle) }, "x")
}

fn rare() -> [StrategyEntry; 7] {
    [
        rule("w-own-expiry", 1, |_| |candle| Some(follow(candle)?.with_expiry(minutes(7)))),
        rule("w-rare-expiry", 1, |_| {
            |candle| {
                let signal = follow(candle)?;
                Some(if is_picked(candle, 1_997) { signal.with_expiry(minutes(60)) } else { signal })
            }
        }),
        rule("w-other-expiration-type", 1, |_| {
            let next = Expiry { expiration_type: ExpirationType::NextCandle, ..minutes(1) };
            move |candle| Some(follow(candle)?.with_expiry(next))
        }),
        rule("w-every-5000th", 1, |_| counted(|candle, seen| turned_if(candle, seen.is_multiple_of(5_000)))),
        rule("w-turns-after-4000", 1, |_| counted(|candle, shown| turned_if(candle, shown > 4_000))),
        rule("w-first-3000", 1, |_| counted(|candle, seen| (seen < 3_000).then(|| follow(candle)).flatten())),
        rule("w-sums-all", 1, |_| {
            // Trades once the cumulated moves since the start reach 200 %, so a later start delays it.
            let mut sum = 0.0;
            counted(move |candle, shown| {
                sum += (candle.close() / candle.open() - 1.0).abs();
                let is_due = sum > 2.0 && shown.is_multiple_of(3);
                is_due.then(|| follow(candle)).flatten()
            })
        }),
    ]
}

#[derive(Clone, Copy)]
enum Mode {
    RoundUp,
    RoundToZero,
    FlushSubnormals,
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "no safe function changes the mode")]
fn set(mode: Mode) {
    let bits = match mode {
        Mode::RoundUp => 0x4000_u32,
        Mode::RoundToZero => 0x6000,
        Mode::FlushSubnormals => 0x8040,
    };
    let register = 0x1F80 | bits;
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const register, options(nostack)) };
}

#[cfg(target_arch = "aarch64")]
#[allow(unsafe_code, reason = "no safe function changes the mode")]
fn set(mode: Mode) {
    let register = match mode {
        Mode::RoundUp => 1_u64 << 22,
        Mode::RoundToZero => 3 << 22,
        Mode::FlushSubnormals => 1 << 24,
    };
    unsafe { std::arch::asm!("msr fpcr, {}", in(reg) register, options(nomem, nostack)) };
}

fn setting(name: &'static str, from: u64, mode: Mode) -> StrategyEntry {
    rule(name, 1, move |_| {
        counted(move |candle, shown| {
            if shown >= from {
                set(mode);
            }
            follow(candle)
        })
    })
}

fn by_text(name: &'static str, text: fn() -> String) -> StrategyEntry {
    rule(name, 1, move |_| {
        let is_turned = !text().bytes().map(u32::from).sum::<u32>().is_multiple_of(2);
        move |candle| turned_if(candle, is_turned)
    })
}

fn modes() -> [StrategyEntry; 7] {
    [
        setting("w-rounds-up", 1, Mode::RoundUp),
        setting("w-rounds-to-zero-late", 1_500, Mode::RoundToZero),
        setting("w-flushes-subnormals", 1, Mode::FlushSubnormals),
        rule("w-rounds-when-built", 1, |_| {
            set(Mode::RoundUp);
            follow
        }),
        by_text("w-language", || std::env::var("LANG").unwrap_or_default()),
        by_text("w-time-zone", || std::env::var("TZ").unwrap_or_default()),
        by_text("w-number-of-variables", || "a".repeat(std::env::vars_os().count())),
    ]
}
