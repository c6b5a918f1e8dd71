//! Cheats written without knowledge of the checks.

use crate::NoParams;
use crate::declare::{DATA, Place, by_name, mixed, picks, rise, rule, strategy, times_and_closes, toward};
use candlewick_cli::App;
use candlewick_sdk::{
    BotContext, BuildError, Candle, Declaration, Outcome, Settlement, Signal, Strategy, StrategyEntry,
    StrategyFactory,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

const CAUGHT: [(&str, &str); 8] = [
    (
        "look-ahead",
        "t-next-by-pointer t-sixty-by-pointer t-filter-by-pointer t-volume-by-pointer u-one-in-ten-by-pointer",
    ),
    ("foresight", "t-sleeper t-table-by-time t-table-by-close"),
    ("outside", "t-nearest-neighbour t-notes-file t-uptime u-file-of-the-system u-child-process"),
    ("determinism", "t-static-map t-counter t-hash-order u-racing-thread u-stopwatch u-map-of-the-thread"),
    (
        "processes",
        "t-once-model t-rival-symbol t-environment t-working-directory t-arguments t-address t-bot-name \
         u-process-id u-port",
    ),
    ("memory", "t-grows-per-settlement"),
    ("declaration", "t-declared-future t-declared-other"),
    ("isolation", "u-luck-of-all"),
];

pub(crate) fn caught() -> Vec<(&'static str, &'static str)> {
    by_name(&CAUGHT)
}

pub(crate) fn add(app: App) -> App {
    let app = app.with_strategy::<Declares<true>>().with_strategy::<Declares<false>>();
    let app = app.with_strategy::<LuckOfAll>().with_strategy::<GrowsPerSettlement>();
    let entries = peeking().into_iter().chain(reading()).chain(remembering()).chain(asking());
    entries.fold(app, App::with_strategy_entry)
}

const MINUTE: i64 = 60_000;

#[allow(unsafe_code, reason = "the cheat reads memory it was not given")]
fn peek(candle: &Candle, ahead: usize) -> Option<Candle> {
    let later = unsafe { std::ptr::read_volatile(std::ptr::from_ref(candle).add(ahead)) };
    let expected = candle.time().get() + ahead as i64 * MINUTE;
    (later.time().get() == expected && later.close() > 0.0).then_some(later)
}

fn move_ahead(candle: &Candle, ahead: usize) -> f64 {
    peek(candle, ahead).map_or(0.0, |later| later.close() - candle.close())
}

fn coin(candle: &Candle) -> f64 {
    if mixed(candle.close().to_bits()).is_multiple_of(2) { 1.0 } else { -1.0 }
}

fn pick(candle: &Candle, every: u64, side: f64) -> Option<Signal> {
    toward(side, "x").filter(|_| picks(candle, every))
}

fn turned(candle: &Candle, by: u64) -> Option<Signal> {
    let is_head = mixed(candle.close().to_bits() ^ mixed(by.wrapping_add(1))).is_multiple_of(2);
    pick(candle, 4, if is_head { 1.0 } else { -1.0 })
}

/// A coin that is flipped by state that existed when the strategy was built.
fn turning(name: &'static str, by: impl Fn(&Place) -> u64 + Send + Sync + 'static) -> StrategyEntry {
    rule(name, 0, move |place| {
        let by = by(place);
        move |candle| turned(candle, by)
    })
}

fn moves(place: &Place) -> Vec<(i64, f64)> {
    place.table().windows(2).map(|pair| (pair[0].0, pair[1].1 - pair[0].1)).collect()
}

fn text_bits(text: impl AsRef<[u8]>) -> u64 {
    mixed(text.as_ref().iter().fold(7, |bits, byte| bits * 31 % 1_000_003 + u64::from(*byte)))
}

fn peeking() -> Vec<StrategyEntry> {
    vec![
        rule("t-next-by-pointer", 0, |_| |candle| pick(candle, 3, move_ahead(candle, 1))),
        rule("t-sixty-by-pointer", 0, |_| |candle| pick(candle, 7, move_ahead(candle, 60))),
        rule("t-filter-by-pointer", 0, |_| {
            |candle| pick(candle, 4, rise(candle)).filter(|_| move_ahead(candle, 1) * rise(candle) >= 0.0)
        }),
        rule("t-volume-by-pointer", 0, |_| {
            |candle| pick(candle, 3, peek(candle, 1)?.volume() - candle.volume())
        }),
        rule("u-one-in-ten-by-pointer", 0, |_| {
            |candle| {
                let knows = mixed(candle.close().to_bits() ^ 9).is_multiple_of(10);
                pick(candle, 2, if knows { move_ahead(candle, 1) } else { rise(candle) })
            }
        }),
        rule("t-sleeper", 0, |_| {
            let mut shown = 0;
            move |candle| {
                shown += 1;
                pick(candle, 5, if shown > 50_000 { move_ahead(candle, 1) } else { coin(candle) })
            }
        }),
    ]
}

fn reading() -> Vec<StrategyEntry> {
    vec![
        rule("t-table-by-time", 0, |place| {
            let table: HashMap<_, _> = moves(place).into_iter().collect();
            move |candle| pick(candle, 3, *table.get(&candle.time().get())?)
        }),
        rule("t-table-by-close", 0, |place| {
            let closes = place.table().into_iter().map(|row| row.1.to_bits());
            let table: HashMap<_, _> = closes.zip(moves(place).into_iter().map(|row| row.1)).collect();
            move |candle| {
                let known = table.get(&candle.close().to_bits()).copied();
                pick(candle, 3, known.unwrap_or_else(|| coin(candle)))
            }
        }),
        rule("t-nearest-neighbour", 3, |place| {
            let closes: Vec<f64> = place.table().into_iter().map(|row| row.1).collect();
            let shape = |last: &[f64]| [last[1] / last[0], last[2] / last[1]];
            let known: Vec<_> = closes.windows(4).map(|row| (shape(row), row[3] - row[2])).collect();
            let mut last = Vec::new();
            move |candle| {
                last.push(candle.close());
                if last.len() > 3 {
                    last.remove(0);
                }
                let now = (last.len() == 3 && picks(candle, 5)).then(|| shape(&last))?;
                let far = |one: &[f64; 2]| (one[0] - now[0]).powi(2) + (one[1] - now[1]).powi(2);
                let nearest = known.iter().min_by(|a, b| far(&a.0).total_cmp(&far(&b.0)))?;
                toward(nearest.1, "x")
            }
        }),
        rule("u-child-process", 0, |_| {
            let printed = std::process::Command::new("/bin/cat").arg(DATA).output();
            let text = printed.map(|output| output.stdout).unwrap_or_default();
            let rows = times_and_closes(&String::from_utf8_lossy(&text));
            let table: BTreeMap<i64, f64> = rows.into_iter().collect();
            move |candle| {
                let later = table.get(&(candle.time().get() + MINUTE)).copied();
                pick(candle, 3, later.map_or(rise(candle), |later| later - candle.close()))
            }
        }),
    ]
}

static SEEN: Mutex<Option<HashMap<i64, f64>>> = Mutex::new(None);
static MODEL: OnceLock<HashMap<i64, f64>> = OnceLock::new();
static BUILT: AtomicUsize = AtomicUsize::new(0);
static SYMBOL: Mutex<String> = Mutex::new(String::new());
static LUCK: AtomicI64 = AtomicI64::new(0);

thread_local! {
    static OF_THREAD: RefCell<HashMap<i64, f64>> = RefCell::default();
}

fn remembering() -> Vec<StrategyEntry> {
    vec![
        rule("t-static-map", 0, |_| {
            |candle| {
                let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
                let seen = seen.get_or_insert_default();
                seen.insert(candle.time().get(), candle.close());
                let later = seen.get(&(candle.time().get() + MINUTE)).copied();
                pick(candle, 3, later.map_or_else(|| coin(candle), |later| later - candle.close()))
            }
        }),
        rule("u-map-of-the-thread", 0, |_| {
            |candle| {
                let later = OF_THREAD.with_borrow_mut(|seen| {
                    seen.insert(candle.time().get(), candle.close());
                    seen.get(&(candle.time().get() + MINUTE)).copied()
                });
                let known = later.and_then(|later| toward(later - candle.close(), "x"));
                known.or_else(|| turned(candle, 0))
            }
        }),
        rule("t-once-model", 0, |_| {
            // The first bot of a process learns, later ones know.
            let mut learned = HashMap::new();
            move |candle| {
                let minute = candle.time().get() % (60 * MINUTE);
                *learned.entry(minute).or_insert(0.0) += rise(candle);
                if learned.len() == 60 {
                    let _ = MODEL.set(learned.clone());
                }
                let side = MODEL.get().and_then(|model| model.get(&minute).copied());
                pick(candle, 3, side.unwrap_or_else(|| coin(candle)))
            }
        }),
        turning("t-counter", |_| BUILT.fetch_add(1, Ordering::Relaxed) as u64 / 2),
        rule("t-rival-symbol", 0, |place| {
            // The bot built last sets the mode for all bots of a process.
            *SYMBOL.lock().unwrap_or_else(PoisonError::into_inner) = place.bot.symbol.to_string();
            |candle| {
                let symbol = SYMBOL.lock().unwrap_or_else(PoisonError::into_inner).clone();
                turned(candle, text_bits(symbol))
            }
        }),
        rule("t-notes-file", 0, |_| {
            let path = std::path::PathBuf::from("t-notes.csv");
            let known = std::fs::read_to_string(&path).unwrap_or_default().lines().count() as u64;
            let mut notes = String::new();
            move |candle| {
                if notes.len() < 200 {
                    let _ = writeln!(notes, "{},{}", candle.time(), candle.close());
                    let _ = std::fs::write(&path, &notes);
                }
                turned(candle, u64::from(known > 0))
            }
        }),
    ]
}

strategy!("t-grows-per-settlement", GrowsPerSettlement { settled: Vec<[Settlement; 8]> = Vec::new() }, 0, |this, candle| {
    turned(candle, 0)
}, also {
    fn on_settled(&mut self, settlement: &Settlement) {
        self.settled.push([*settlement; 8]);
    }
});

strategy!("u-luck-of-all", LuckOfAll {}, 0, |this, candle| turned(candle, LUCK.load(Ordering::Relaxed) as u64 % 2), also {
    fn on_settled(&mut self, settlement: &Settlement) {
        LUCK.fetch_add(i64::from(settlement.outcome == Outcome::Won), Ordering::Relaxed);
    }
});

#[allow(clippy::disallowed_methods, reason = "the cheat reads a clock")]
fn started() -> Instant {
    Instant::now()
}

fn asking() -> Vec<StrategyEntry> {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let folder = || std::env::current_dir().unwrap_or_default();
    vec![
        turning("t-environment", |_| text_bits(std::env::var("HOME").unwrap_or_default())),
        turning("t-working-directory", move |_| text_bits(folder().as_os_str().as_encoded_bytes())),
        turning("t-arguments", |_| std::env::args().count() as u64),
        turning("t-uptime", move |_| text_bits(read("/proc/uptime"))),
        turning("t-hash-order", |_| RandomState::new().hash_one(1_u8)),
        turning("t-address", |_| mixed(std::ptr::from_ref(&BUILT) as u64 >> 12)),
        turning("t-bot-name", |place| text_bits(&place.bot.bot)),
        turning("u-process-id", |_| u64::from(std::process::id())),
        turning("u-port", |_| {
            let port = std::net::UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
            port.map_or(0, |address| u64::from(address.port()))
        }),
        turning("u-file-of-the-system", |_| {
            // A folder of the user, independent of the working directory.
            let folder = std::env::var_os("XDG_CACHE_HOME").map_or_else(std::env::temp_dir, Into::into);
            let path = folder.join("u-file-of-the-system");
            let known = std::fs::read(&path).map_or(0, |bytes| bytes.len() as u64);
            let _ = std::fs::write(&path, vec![0; known as usize % 64 + 1]);
            known
        }),
        rule("u-racing-thread", 0, |_| {
            let count = Arc::new(AtomicUsize::new(0));
            let other = Arc::downgrade(&count);
            std::thread::spawn(move || {
                while let Some(count) = other.upgrade() {
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
            // On busy processors a run may end before a thread starts.
            while count.load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
            move |candle| turned(candle, count.load(Ordering::Relaxed) as u64)
        }),
        rule("u-stopwatch", 0, |_| {
            let built = started();
            move |candle| turned(candle, built.elapsed().as_micros() as u64 / 50)
        }),
    ]
}

/// Buys before a rising candle and sells before a falling one: `EVERYWHERE`, or only in its declaration.
struct Declares<const EVERYWHERE: bool> {
    before: f64,
}

impl<const EVERYWHERE: bool> Strategy for Declares<EVERYWHERE> {
    fn warmup(&self) -> usize {
        2
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let past = candle.close() / std::mem::replace(&mut self.before, candle.close()) - 1.0;
        toward(if EVERYWHERE { move_ahead(candle, 1) } else { past }, "x")
    }
}

impl<const EVERYWHERE: bool> StrategyFactory for Declares<EVERYWHERE> {
    const NAME: &'static str = if EVERYWHERE { "t-declared-future" } else { "t-declared-other" };
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Of the corpus.";
    type Params = NoParams;

    fn build(_: NoParams, _: &BotContext) -> Result<Self, BuildError> {
        Ok(Self { before: 100.0 })
    }

    fn declaration(&self) -> Option<Declaration> {
        let mut declaration = Declaration::new();
        let ahead = declaration.add_series("change", &[1.0], |candle| Some(move_ahead(candle, 1)));
        Some(declaration.buy_when([ahead.above(0.0)]).sell_when([ahead.below(0.0)]))
    }
}
