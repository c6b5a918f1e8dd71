//! A second trial: ten more ways to cheat and eight more ways to trade, of kinds that the first one has not.

use super::cheats::{MINUTE, mixed, move_ahead, picks, turned, turning};
use super::{DATA, Event, by_candle, entry};
use crate::declare::{Window, mean, toward};
use candlewick_cli::App;
use candlewick_sdk::{Candle, Outcome};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Instant;

fn closes(count: usize) -> impl FnMut(&Candle) -> Option<Vec<f64>> + Send + 'static {
    let mut last = Window::new(count);
    move |candle| Some(last.with(candle.close())?.iter().copied().collect())
}

static INSTANCES: AtomicUsize = AtomicUsize::new(0);
static LUCK: AtomicI64 = AtomicI64::new(0);

thread_local! {
    static OF_THREAD: RefCell<HashMap<i64, f64>> = RefCell::default();
}

#[allow(clippy::disallowed_methods, reason = "the cheat is that it reads a clock")]
fn started() -> Instant {
    Instant::now()
}

pub(super) fn add_cheats(app: App) -> App {
    let app = app
        .with_strategy_entry(turning("u-process-id", |_| u64::from(std::process::id())))
        .with_strategy_entry(entry("u-one-in-ten-by-pointer", 0, &[], |_| {
            by_candle(|candle| {
                let knows = mixed(candle.close().to_bits() ^ 9).is_multiple_of(10);
                let side = if knows { move_ahead(candle, 1) } else { candle.close() - candle.open() };
                toward(side, "x").filter(|_| picks(candle, 2))
            })
        }))
        .with_strategy_entry(turning("u-every-second-instance", |_| {
            INSTANCES.fetch_add(1, Ordering::Relaxed) as u64 % 2
        }))
        .with_strategy_entry(turning("u-file-of-the-system", |_| {
            // A folder of the user, wherever the process runs.
            let folder = std::env::var_os("XDG_CACHE_HOME").map_or_else(std::env::temp_dir, Into::into);
            let path = folder.join("u-file-of-the-system");
            let known = std::fs::read(&path).map_or(0, |bytes| bytes.len() as u64);
            let _ = std::fs::write(&path, vec![0; known as usize % 64 + 1]);
            known
        }))
        .with_strategy_entry(entry("u-child-process", 0, &[], |_| {
            let printed = std::process::Command::new("/bin/cat").arg(DATA).output();
            let text = printed.map(|output| output.stdout).unwrap_or_default();
            let rows = String::from_utf8_lossy(&text).into_owned();
            let row = |line: &str| {
                let mut cells = line.split(',');
                Some((cells.next()?.parse::<i64>().ok()?, cells.nth(3)?.parse::<f64>().ok()?))
            };
            let table: BTreeMap<i64, f64> = rows.lines().filter_map(row).collect();
            by_candle(move |candle| {
                let later = table.get(&(candle.time().get() + MINUTE)).copied();
                let side = later.map_or(candle.close() - candle.open(), |later| later - candle.close());
                toward(side, "x").filter(|_| picks(candle, 3))
            })
        }));
    app.with_strategy_entry(turning("u-port", |_| {
        let port = std::net::UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
        port.map_or(0, |address| u64::from(address.port()))
    }))
    .with_strategy_entry(entry("u-luck-of-all", 0, &[], |_| {
        move |event| match event {
            Event::Candle(candle) => turned(candle, LUCK.load(Ordering::Relaxed) as u64 % 2),
            Event::Longer(_) => None,
            Event::Settled(settlement) => {
                let won = i64::from(settlement.outcome == Outcome::Won);
                LUCK.fetch_add(won, Ordering::Relaxed);
                None
            }
        }
    }))
    .with_strategy_entry(entry("u-racing-thread", 0, &[], |_| {
        let count = Arc::new(AtomicUsize::new(0));
        let other = Arc::downgrade(&count);
        std::thread::spawn(move || {
            while let Some(count) = other.upgrade() {
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        // A run is over sooner than a thread begins where the processors are busy.
        while count.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        by_candle(move |candle| turned(candle, count.load(Ordering::Relaxed) as u64))
    }))
    .with_strategy_entry(entry("u-stopwatch", 0, &[], |_| {
        let built = started();
        by_candle(move |candle| turned(candle, built.elapsed().as_micros() as u64 / 50))
    }))
    .with_strategy_entry(entry("u-map-of-the-thread", 0, &[], |_| {
        by_candle(|candle| {
            let later = OF_THREAD.with_borrow_mut(|seen| {
                seen.insert(candle.time().get(), candle.close());
                seen.get(&(candle.time().get() + MINUTE)).copied()
            });
            let known = later.and_then(|later| toward(later - candle.close(), "x"));
            known.or_else(|| turned(candle, 0))
        })
    }))
}

pub(super) fn add_honest(app: App, names: &mut Vec<&'static str>) -> App {
    names.extend("v-grid-step v-smoothed-candles v-price-of-the-day v-odd-return".split(' '));
    names.extend("v-first-days v-echo v-fractal v-median".split(' '));
    let app = app
        .with_strategy_entry(entry("v-grid-step", 1, &[], |_| {
            let mut last = None;
            by_candle(move |candle| {
                let step = (candle.close().ln() / 0.001).floor();
                toward(step - last.replace(step)?, "a step")
            })
        }))
        .with_strategy_entry(entry("v-smoothed-candles", 120, &[], |_| {
            let (mut open, mut close, mut was) = (None, 0.0, 0.0);
            by_candle(move |candle| {
                let before = open.map_or(candle.open(), |open| f64::midpoint(open, close));
                close = (candle.open() + candle.high() + candle.low() + candle.close()) / 4.0;
                open = Some(before);
                let (side, old) = (close - before, std::mem::replace(&mut was, close - before));
                (side * old < 0.0).then(|| toward(side, "turned")).flatten()
            })
        }))
        .with_strategy_entry(entry("v-price-of-the-day", 1_440, &[], |_| {
            let (mut day, mut paid, mut volume) = (0, 0.0, 0.0);
            by_candle(move |candle| {
                let today = candle.time().get().div_euclid(1_440 * MINUTE);
                if std::mem::replace(&mut day, today) != today {
                    (paid, volume) = (0.0, 0.0);
                }
                paid += candle.volume() * (candle.high() + candle.low() + candle.close()) / 3.0;
                volume += candle.volume();
                let price = (volume > 0.0).then(|| paid / volume)?;
                (picks(candle, 5)).then(|| toward(price - candle.close(), "back to it")).flatten()
            })
        }));
    let app = app
        .with_strategy_entry(entry("v-odd-return", 50, &[], |_| {
            let mut last = closes(51);
            by_candle(move |candle| {
                let last = last(candle)?;
                let moves: Vec<f64> = last.windows(2).map(|pair| (pair[1] / pair[0]).ln()).collect();
                let middle = mean(moves.iter());
                let squares: Vec<f64> = moves.iter().map(|one| (one - middle).powi(2)).collect();
                let score = (moves[49] - middle) / mean(squares.iter()).sqrt();
                (score.abs() > 2.0).then(|| toward(-score, "too far")).flatten()
            })
        }))
        .with_strategy_entry(entry("v-first-days", 0, &[], |_| {
            by_candle(|candle| {
                // Weeks of 28 days, counted from 1970.
                let day = candle.time().get().div_euclid(1_440 * MINUTE).rem_euclid(28);
                (day <= 4).then(|| toward(candle.close() - candle.open(), "first days")).flatten()
            })
        }))
        .with_strategy_entry(entry("v-echo", 31, &[], |_| {
            let mut last = closes(32);
            by_candle(move |candle| {
                let moves: Vec<f64> = last(candle)?.windows(2).map(|pair| pair[1] - pair[0]).collect();
                let echo: f64 = moves.windows(2).map(|pair| pair[0] * pair[1]).sum();
                toward(echo * moves[30], "as it does").filter(|_| picks(candle, 3))
            })
        }));
    app.with_strategy_entry(entry("v-fractal", 4, &[], |_| {
        let mut last: VecDeque<Candle> = VecDeque::new();
        by_candle(move |candle| {
            last.push_back(*candle);
            if last.len() > 5 {
                last.pop_front();
            }
            let others = || [0, 1, 3, 4].into_iter().map(|place| last.get(place));
            let middle = last.get(2)?;
            let is_top = others().all(|one| one.is_some_and(|one| one.high() < middle.high()));
            let is_bottom = others().all(|one| one.is_some_and(|one| one.low() > middle.low()));
            toward(f64::from(u8::from(is_bottom)) - f64::from(u8::from(is_top)), "fractal")
        })
    }))
    .with_strategy_entry(entry("v-median", 30, &[], |_| {
        let mut last = closes(31);
        by_candle(move |candle| {
            let mut sorted = last(candle)?;
            sorted.sort_unstable_by(f64::total_cmp);
            let far = sorted[15] / candle.close() - 1.0;
            (far.abs() > 0.001).then(|| toward(far, "to the middle")).flatten()
        })
    }))
}
