//! Cheats in signals that are rare or come late, and in their expiries.

use super::follow;
use crate::declare::toward;
use crate::trial::{by_candle, entry};
use candlewick_cli::App;
use candlewick_sdk::{Candle, ExpirationType, Expiry, Signal};

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

pub(super) fn add(app: App) -> App {
    let app = app
        .with_strategy_entry(entry("w-own-expiry", 1, &[], |_| {
            by_candle(|candle| Some(follow(candle)?.expiring(minutes(7))))
        }))
        .with_strategy_entry(entry("w-rare-expiry", 1, &[], |_| {
            by_candle(|candle| {
                let signal = follow(candle)?;
                Some(if is_picked(candle, 1_997) { signal.expiring(minutes(60)) } else { signal })
            })
        }))
        .with_strategy_entry(entry("w-other-expiration-type", 1, &[], |_| {
            let next = Expiry { expiration_type: ExpirationType::NextCandle, ..minutes(1) };
            by_candle(move |candle| Some(follow(candle)?.expiring(next)))
        }));
    app.with_strategy_entry(entry("w-every-5000th", 1, &[], |_| {
        by_candle(counted(|candle, shown| {
            let side = if shown.is_multiple_of(5_000) { -1.0 } else { 1.0 };
            toward(side * (candle.close() - candle.open()), "x")
        }))
    }))
    .with_strategy_entry(entry("w-turns-after-4000", 1, &[], |_| {
        by_candle(counted(|candle, shown| {
            let side = if shown > 4_000 { -1.0 } else { 1.0 };
            toward(side * (candle.close() - candle.open()), "x")
        }))
    }))
    .with_strategy_entry(entry("w-first-3000", 1, &[], |_| {
        by_candle(counted(|candle, shown| (shown < 3_000).then(|| follow(candle)).flatten()))
    }))
    .with_strategy_entry(entry("w-sums-all", 1, &[], |_| {
        // Trades once the moves since the start add up to 200 %: a later start delays it.
        let mut sum = 0.0;
        by_candle(counted(move |candle, shown| {
            sum += (candle.close() / candle.open() - 1.0).abs();
            let is_due = sum > 2.0 && shown.is_multiple_of(3);
            is_due.then(|| follow(candle)).flatten()
        }))
    }))
}
