//! Thirty ways to know what cannot be known, or to answer otherwise than the candles say.

use super::{Event, Place, by_candle, entry};
use crate::declare::toward;
use candlewick_cli::App;
use candlewick_sdk::{Candle, Signal, StrategyEntry};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

pub(super) const MINUTE: i64 = 60_000;

#[allow(unsafe_code, reason = "the cheat is that it reads memory that nobody gave it")]
pub(super) fn peek(candle: &Candle, ahead: usize) -> Option<Candle> {
    let later = unsafe { std::ptr::read_volatile(std::ptr::from_ref(candle).add(ahead)) };
    let expected = candle.time().get() + ahead as i64 * MINUTE;
    (later.time().get() == expected && later.close() > 0.0).then_some(later)
}

pub(super) fn move_ahead(candle: &Candle, ahead: usize) -> f64 {
    peek(candle, ahead).map_or(0.0, |later| later.close() - candle.close())
}

pub(super) fn picks(candle: &Candle, every: u64) -> bool {
    mixed(candle.time().get() as u64).is_multiple_of(every)
}

pub(super) fn mixed(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ (mixed >> 29)
}

fn coin(candle: &Candle) -> f64 {
    if mixed(candle.close().to_bits()).is_multiple_of(2) { 1.0 } else { -1.0 }
}

pub(super) fn turned(candle: &Candle, by: u64) -> Option<Signal> {
    let is_head = mixed(candle.close().to_bits() ^ mixed(by.wrapping_add(1))).is_multiple_of(2);
    picks(candle, 4).then(|| toward(if is_head { 1.0 } else { -1.0 }, "turned")).flatten()
}

/// A coin that is turned over by what was there when the strategy was built.
pub(super) fn turning(
    name: &'static str,
    by: impl Fn(&Place) -> u64 + Send + Sync + 'static,
) -> StrategyEntry {
    entry(name, 0, &[], move |place| {
        let by = by(place);
        by_candle(move |candle| turned(candle, by))
    })
}

fn moves(place: &Place, ahead: usize) -> Vec<(i64, f64)> {
    let rows = place.table();
    rows.iter().zip(rows.iter().skip(ahead)).map(|(now, later)| (now.0, later.1 - now.1)).collect()
}

fn text_bits(text: impl AsRef<[u8]>) -> u64 {
    mixed(text.as_ref().iter().fold(7, |bits, byte| bits * 31 % 1_000_003 + u64::from(*byte)))
}

static SEEN: Mutex<Option<HashMap<i64, f64>>> = Mutex::new(None);
static MODEL: OnceLock<HashMap<i64, f64>> = OnceLock::new();
static BUILT: AtomicUsize = AtomicUsize::new(0);
static SYMBOL: Mutex<String> = Mutex::new(String::new());

fn add_peeking(app: App) -> App {
    app.with_strategy_entry(entry("t-next-by-pointer", 0, &[], |_| {
        by_candle(|candle| picks(candle, 3).then(|| toward(move_ahead(candle, 1), "x")).flatten())
    }))
    .with_strategy_entry(entry("t-thirty-by-pointer", 0, &[], |_| {
        by_candle(|candle| picks(candle, 7).then(|| toward(move_ahead(candle, 30), "x")).flatten())
    }))
    .with_strategy_entry(entry("t-sixty-by-pointer", 0, &[], |_| {
        by_candle(|candle| picks(candle, 7).then(|| toward(move_ahead(candle, 60), "x")).flatten())
    }))
    .with_strategy_entry(entry("t-third-by-pointer", 0, &[], |_| {
        by_candle(|candle| {
            let side = if picks(candle, 10) { move_ahead(candle, 30) } else { coin(candle) };
            (picks(candle, 3) || picks(candle, 10)).then(|| toward(side, "x")).flatten()
        })
    }))
    .with_strategy_entry(entry("t-filter-by-pointer", 0, &[], |_| {
        by_candle(|candle| {
            let side = candle.close() - candle.open();
            let loses = move_ahead(candle, 1) * side < 0.0;
            (!loses && picks(candle, 4)).then(|| toward(side, "x")).flatten()
        })
    }))
    .with_strategy_entry(entry("t-volume-by-pointer", 0, &[], |_| {
        by_candle(|candle| {
            let later = peek(candle, 1)?;
            toward(later.volume() - candle.volume(), "x").filter(|_| picks(candle, 3))
        })
    }))
    .with_strategy_entry(entry("t-sleeper", 0, &[], |_| {
        let mut shown = 0;
        by_candle(move |candle| {
            shown += 1;
            let side = if shown > 50_000 { move_ahead(candle, 1) } else { coin(candle) };
            picks(candle, 5).then(|| toward(side, "x")).flatten()
        })
    }))
}

fn add_reading(app: App) -> App {
    app.with_strategy_entry(entry("t-table-by-time", 0, &[], |place| {
        let table: HashMap<_, _> = moves(place, 1).into_iter().collect();
        by_candle(move |candle| toward(*table.get(&candle.time().get())?, "x").filter(|_| picks(candle, 3)))
    }))
    .with_strategy_entry(entry("t-table-by-close", 0, &[], |place| {
        let closes = place.table().into_iter().map(|row| row.1.to_bits());
        let table: HashMap<_, _> = closes.zip(moves(place, 1).into_iter().map(|row| row.1)).collect();
        by_candle(move |candle| {
            let known = table.get(&candle.close().to_bits()).copied();
            toward(known.unwrap_or_else(|| coin(candle)), "x").filter(|_| picks(candle, 3))
        })
    }))
    .with_strategy_entry(entry("t-table-third", 0, &[], |place| {
        let table: HashMap<_, _> = moves(place, 5).into_iter().collect();
        by_candle(move |candle| {
            let known = table.get(&candle.time().get()).filter(|_| picks(candle, 10));
            let side = known.copied().unwrap_or_else(|| coin(candle));
            (picks(candle, 3) || picks(candle, 10)).then(|| toward(side, "x")).flatten()
        })
    }))
    .with_strategy_entry(entry("t-table-thirty", 0, &[], |place| {
        let table: HashMap<_, _> = moves(place, 30).into_iter().collect();
        by_candle(move |candle| {
            let known = table.get(&candle.time().get()).copied();
            toward(known.unwrap_or_else(|| coin(candle)), "x").filter(|_| picks(candle, 6))
        })
    }))
    .with_strategy_entry(entry("t-best-minutes", 0, &[], |place| {
        // Its "training" has one example for each minute of the week.
        let minute = |time: i64| time.rem_euclid(7 * 24 * 60 * MINUTE);
        let table: HashMap<_, _> =
            moves(place, 1).into_iter().map(|(time, side)| (minute(time), side)).collect();
        by_candle(move |candle| {
            toward(*table.get(&minute(candle.time().get()))?, "x").filter(|_| picks(candle, 3))
        })
    }))
    .with_strategy_entry(entry("t-nearest-neighbour", 3, &[], |place| {
        let closes: Vec<f64> = place.table().into_iter().map(|row| row.1).collect();
        let shape = |last: &[f64]| [last[1] / last[0], last[2] / last[1]];
        let known: Vec<_> = closes.windows(4).map(|row| (shape(row), row[3] - row[2])).collect();
        let mut last = Vec::new();
        by_candle(move |candle| {
            last.push(candle.close());
            if last.len() > 3 {
                last.remove(0);
            }
            let now = (last.len() == 3 && picks(candle, 5)).then(|| shape(&last))?;
            let far = |one: &[f64; 2]| (one[0] - now[0]).powi(2) + (one[1] - now[1]).powi(2);
            let nearest = known.iter().min_by(|a, b| far(&a.0).total_cmp(&far(&b.0)))?;
            toward(nearest.1, "x")
        })
    }))
}

fn add_remembering(app: App) -> App {
    app.with_strategy_entry(entry("t-static-map", 0, &[], |_| {
        by_candle(|candle| {
            let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
            let seen = seen.get_or_insert_default();
            seen.insert(candle.time().get(), candle.close());
            let later = seen.get(&(candle.time().get() + MINUTE)).copied();
            let side = later.map_or_else(|| coin(candle), |later| later - candle.close());
            toward(side, "x").filter(|_| picks(candle, 3))
        })
    }))
    .with_strategy_entry(entry("t-once-model", 0, &[], |_| {
        // The first bot of a process learns; those after it know.
        let mut learned = HashMap::new();
        by_candle(move |candle| {
            let minute = candle.time().get() % (60 * MINUTE);
            *learned.entry(minute).or_insert(0.0) += candle.close() - candle.open();
            if learned.len() == 60 {
                let _ = MODEL.set(learned.clone());
            }
            let side = MODEL.get().and_then(|model| model.get(&minute).copied());
            toward(side.unwrap_or_else(|| coin(candle)), "x").filter(|_| picks(candle, 3))
        })
    }))
    .with_strategy_entry(turning("t-counter", |_| BUILT.fetch_add(1, Ordering::Relaxed) as u64 / 2))
    .with_strategy_entry(entry("t-rival-symbol", 0, &[], |place| {
        // One setting for all bots of a process: that of the bot that was built last.
        *SYMBOL.lock().unwrap_or_else(PoisonError::into_inner) = place.bot.symbol.to_string();
        by_candle(|candle| {
            let symbol = SYMBOL.lock().unwrap_or_else(PoisonError::into_inner).clone();
            turned(candle, text_bits(symbol))
        })
    }))
    .with_strategy_entry(entry("t-notes-file", 0, &[], |_| {
        let path = std::path::PathBuf::from("t-notes.csv");
        let known = std::fs::read_to_string(&path).unwrap_or_default().lines().count() as u64;
        let mut notes = String::new();
        by_candle(move |candle| {
            if notes.len() < 200 {
                let _ = writeln!(notes, "{},{}", candle.time(), candle.close());
                let _ = std::fs::write(&path, &notes);
            }
            turned(candle, u64::from(known > 0))
        })
    }))
    .with_strategy_entry(entry("t-grows-per-settlement", 0, &[], |_| {
        let mut settled = Vec::new();
        move |event| match event {
            Event::Candle(candle) => turned(candle, 0),
            Event::Longer(_) => None,
            Event::Settled(settlement) => {
                settled.push([*settlement; 8]);
                None
            }
        }
    }))
}

#[allow(clippy::disallowed_methods, reason = "the cheat is that it reads a clock")]
fn add_asking(app: App) -> App {
    let seconds = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let folder = || std::env::current_dir().unwrap_or_default();
    app.with_strategy_entry(turning("t-environment", |_| {
        text_bits(std::env::var("HOME").unwrap_or_default())
    }))
    .with_strategy_entry(turning("t-working-directory", move |_| {
        text_bits(folder().as_os_str().as_encoded_bytes())
    }))
    .with_strategy_entry(turning("t-arguments", |_| std::env::args().count() as u64))
    .with_strategy_entry(turning("t-hour", move |_| seconds() / 3_600))
    .with_strategy_entry(turning("t-uptime", move |_| text_bits(read("/proc/uptime"))))
    .with_strategy_entry(turning("t-hash-order", |_| RandomState::new().hash_one(1_u8)))
    .with_strategy_entry(turning("t-address", |_| mixed(std::ptr::from_ref(&BUILT) as u64 >> 12)))
    .with_strategy_entry(turning("t-bot-name", |place| text_bits(&place.bot.bot)))
    .with_strategy_entry(turning("t-machine", move |_| text_bits(read("/proc/sys/kernel/random/boot_id"))))
}

pub(super) fn add(app: App) -> App {
    add_asking(add_remembering(add_reading(add_peeking(app))))
}
