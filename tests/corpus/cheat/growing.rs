//! Cheats that hold more with every candle, or take for ever.

use crate::declare::{list, strategy, toward};
use candlewick_sdk::Candle;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

list!(KeepsAllCloses, KeepsALog, KeepsEveryMinute, TakesItsTime);

strategy!(
    "c-keeps-all-closes", KeepsAllCloses { closes: Vec<f64> = Vec::new() }, 11, |this, candle| {
    this.closes.push(candle.close());
    let back = this.closes.len().checked_sub(11)?;
    toward(candle.close() - this.closes[back], "since ten candles ago")
});

static LOG: Mutex<Vec<Candle>> = Mutex::new(Vec::new());

strategy!("c-keeps-a-log", KeepsALog {}, 1, |this, candle| {
    LOG.lock().unwrap().push(*candle);
    toward(candle.close() - candle.open(), "goes on")
});

strategy!("c-keeps-every-minute", KeepsEveryMinute { by_minute: HashMap<i64, f64> = HashMap::new() }, 6, |this, candle| {
    this.by_minute.insert(candle.time().get(), candle.close());
    toward(candle.close() - this.by_minute.get(&(candle.time().get() - 300_000))?, "since five minutes ago")
});

strategy!("c-takes-its-time", TakesItsTime {}, 1, |this, candle| {
    std::thread::sleep(Duration::from_millis(2));
    toward(candle.close() - candle.open(), "after long thought")
});
