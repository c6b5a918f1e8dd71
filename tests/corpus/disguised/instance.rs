//! Cheats of the first instances of a process, and of getters.

use super::follow;
use super::shape::moves;
use crate::declare::{strategy, toward};
use crate::trial::{by_candle, entry};
use candlewick_cli::App;
use candlewick_sdk::{Candle, Condition, Expiry, GateView, Signal};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

static BUILT: AtomicUsize = AtomicUsize::new(0);
static FIRST_TWO: AtomicUsize = AtomicUsize::new(0);
static FIRST_TEN: AtomicUsize = AtomicUsize::new(0);
static OF_SYMBOL: AtomicUsize = AtomicUsize::new(0);
static SHOWN: AtomicBool = AtomicBool::new(false);

fn knows(cheats: bool) -> impl FnMut(&Candle) -> Option<Signal> + Send + 'static {
    let known = if cheats { moves(1) } else { HashMap::default() };
    move |candle| {
        let next = known.get(&candle.close().to_bits()).copied();
        next.map_or_else(|| follow(candle), |next| toward(next, "as it was"))
    }
}

fn turned(candle: &Candle, calls: &Cell<u32>) -> Option<Signal> {
    let side = if calls.get() % 2 == 1 { -1.0 } else { 1.0 };
    toward(side * (candle.close() - candle.open()), "turned")
}

fn count(calls: &Cell<u32>) {
    calls.set(calls.get() + 1);
}

strategy!("w-indicators-change", IndicatorsChange { calls: Cell<u32> = Cell::new(0) }, 1, |this, candle| {
    turned(candle, &this.calls)
}, also {
    fn indicators(&self) -> Vec<(&str, f64)> {
        self.calls.set(1);
        Vec::new()
    }
});

strategy!("w-conditions-change", ConditionsChange { calls: Cell<u32> = Cell::new(0) }, 1, |this, candle| {
    turned(candle, &this.calls)
}, also {
    fn conditions(&self) -> Vec<Condition<'_>> {
        self.calls.set(1);
        Vec::new()
    }
});

strategy!("w-gate-changes", GateChanges { calls: Cell<u32> = Cell::new(0) }, 1, |this, candle| {
    turned(candle, &this.calls)
}, also {
    fn gate(&self) -> Option<GateView> {
        count(&self.calls);
        self.calls.set(self.calls.get().min(1));
        None
    }
});

strategy!("w-expiries-change", ExpiriesChange { calls: Cell<u32> = Cell::new(0) }, 1, |this, candle| {
    turned(candle, &this.calls)
}, also {
    fn expiries(&self) -> Vec<Option<Expiry>> {
        self.calls.set(1);
        vec![None]
    }
});

strategy!("w-settlements-change", SettlementsChange { calls: Cell<u32> = Cell::new(0) }, 1, |this, candle| {
    let calls = this.calls.replace(0);
    (calls < 3).then(|| follow(candle)).flatten()
}, also {
    fn wants_settlements(&self) -> bool {
        self.calls.set(3);
        true
    }
});

strategy!("w-warmup-changes", WarmupChanges { calls: Cell<u32> = Cell::new(0) }, {
    count(&this.calls);
    1
}, |this, candle| (this.calls.get() < 2).then(|| follow(candle)).flatten());

pub(super) fn add(app: App) -> App {
    let app = app
        .with_strategy::<IndicatorsChange>()
        .with_strategy::<ConditionsChange>()
        .with_strategy::<GateChanges>()
        .with_strategy::<ExpiriesChange>()
        .with_strategy::<SettlementsChange>()
        .with_strategy::<WarmupChanges>();
    app.with_strategy_entry(entry("w-first-instance", 1, &[], |_| {
        by_candle(knows(BUILT.fetch_add(1, Ordering::Relaxed) == 0))
    }))
    .with_strategy_entry(entry("w-first-shown", 1, &[], |_| {
        let mut rule = None;
        by_candle(move |candle: &Candle| {
            let rule = rule.get_or_insert_with(|| knows(!SHOWN.swap(true, Ordering::Relaxed)));
            rule(candle)
        })
    }))
    .with_strategy_entry(entry("w-first-two-instances", 1, &[], |_| {
        by_candle(knows(FIRST_TWO.fetch_add(1, Ordering::Relaxed) < 2))
    }))
    .with_strategy_entry(entry("w-first-ten-instances", 1, &[], |_| {
        by_candle(knows(FIRST_TEN.fetch_add(1, Ordering::Relaxed) < 10))
    }))
    .with_strategy_entry(entry("w-first-of-the-symbol", 1, &[], |place| {
        let is_own = place.symbol() == "ETHUSDT";
        by_candle(knows(is_own && OF_SYMBOL.fetch_add(1, Ordering::Relaxed) == 0))
    }))
}
