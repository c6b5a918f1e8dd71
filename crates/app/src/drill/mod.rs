//! Failure drill: an accelerated run with injected faults in venue, token, journal and machine.
//!
//! Reactions of the bot are recorded per fault, and invariants are checked at the end.

mod leaping_clock;
mod looking;
mod night;
mod promises;
mod scene;
mod text;

pub use scene::{Scene, Shown};

use crate::bots::BotSet;
use crate::configuration::Loaded;
use crate::error::AppError;
use crate::live::{self, Embedded, FrontEnd, JournalSession};
use crate::progress::NoProgress;
use candlewick_broker::clock::{Clock, Speed, Stopwatch, VirtualClock};
use candlewick_history::{GenerateSettings, generate, known_market};
use candlewick_runtime::Stop;
use candlewick_sdk::{CandleSeries, Millis, Registry, Symbol};
use candlewick_simulator::Market;
use leaping_clock::LeapingClock;
use night::Night;
use serde::Serialize;
use std::fmt::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

pub const SPEED: f64 = 60.0;
const SYMBOLS: [&str; 2] = ["BTCUSDT", "ETHUSDT"];
/// 2026-01-05 00:00 UTC, a Monday.
const START: Millis = Millis::new(1_767_571_200_000);

#[derive(Debug, Serialize)]
pub struct Drill {
    pub scenes: Vec<Scene>,
    pub promises: Vec<Promise>,
    pub intents: usize,
    pub trades: usize,
    pub took_s: f64,
}

#[derive(Debug, Serialize)]
pub struct Promise {
    pub promise: &'static str,
    pub found: String,
    pub held: bool,
}

impl std::fmt::Display for Drill {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&text::text(self))
    }
}

impl Drill {
    pub fn broken(&self) -> Vec<&str> {
        let scenes = self.scenes.iter().filter(|scene| !scene.held).map(|scene| scene.happened);
        scenes.chain(self.promises.iter().filter(|one| !one.held).map(|one| one.promise)).collect()
    }
}

pub async fn play(registry: &Registry, progress: &mut dyn FnMut(&str)) -> Result<Drill, AppError> {
    let watch = Stopwatch::start();
    let folder = tempfile::tempdir().map_err(|error| AppError::system("no folder for the drill", error))?;
    let loaded = Loaded::of_text(&configuration(folder.path())?)?;
    let bots = BotSet::build(&loaded, registry)?;
    let series = candles()?;
    let markets = series.iter().map(|prices| Market { prices: prices.clone(), detail: Vec::new() }).collect();
    let start = START + Millis::HOUR;
    let clock = LeapingClock::of_venue(VirtualClock::new(start, Speed::Times(SPEED)));
    let clocks: [Arc<dyn Clock>; 2] = [Arc::new(clock.clone()), Arc::new(clock.of_bot())];
    let (journal, control) = JournalSession::open_with_control(&loaded).await?;
    let Embedded { running, connection, .. } =
        Embedded::start_on(&loaded, (series, markets), (start, None), clocks).await?;
    let (stop, stopped) = mpsc::channel(1);
    let night = Night::begin(&loaded, (&running, clock), &control.events());
    let read_again = Box::new(|| Err(AppError::invalid("a drill reads no settings again")));
    let announce = Box::new(|_: &str| {});
    let (watchers, leave) = (Vec::new(), Arc::default());
    let front = FrontEnd {
        journal,
        control,
        watchers,
        announce,
        progress: Box::new(NoProgress),
        stop: stopped,
        leave,
        read_again,
    };
    let run = Box::pin(live::run(&loaded, bots, connection, front));
    let played = async {
        let played = night.play(progress).await;
        let _ = stop.send(Stop::TimeUp).await;
        played
    };
    let (ended, played) = tokio::join!(run, played);
    let (scenes, at_venue) = played?;
    let outcome = ended?;
    running.stop().await;
    let promises = promises::hold(&loaded, &outcome, &at_venue).await?;
    let intents = outcome.finished.book.rows().len();
    let trades = promises::trades_of(&outcome).len();
    Ok(Drill { scenes, promises, intents, trades, took_s: watch.elapsed().as_secs_f64() })
}

fn configuration(folder: &Path) -> Result<String, AppError> {
    let mut text = format!(
        "[journal]\nurl = \"sqlite://{}\"\n[broker]\ntimeout_ms = 700\nretry_pause_ms = 50\n[sandbox]\nspeed = {SPEED}\n\
         listen = \"127.0.0.1:0\"\n[runtime]\nwatch_prices = false\nlist_lag_ms = 30000\n[risk]\nmax_open_trades = 0\n\
         max_trades_per_day = 0\ndaily_loss_limit = 0\nmax_drawdown_percent = 0\nmax_signal_delay_ms = 30000\n",
        folder.join("night.db").display(),
    );
    if cfg!(feature = "metrics") {
        let cannot = |error| AppError::system("no port for the drill's metrics", error);
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
        let _ = writeln!(text, "[metrics]\nlisten = \"{}\"", free.map_err(cannot)?);
    }
    for (seed, symbol) in SYMBOLS.iter().enumerate() {
        let _ = write!(
            text,
            "[[bots]]\nname = \"{symbol}\"\nsymbol = \"{symbol}\"\ninterval = \"1m\"\nstrategy = \"coin\"\n\
             close_type = \"01:00\"\nparams = {{ seed = {seed}, share = 0.7 }}\n"
        );
    }
    Ok(text)
}

fn candles() -> Result<Vec<CandleSeries>, AppError> {
    let made = SYMBOLS.iter().map(|symbol| {
        let symbol: Symbol = symbol.parse().map_err(|error| AppError::system("no symbol", error))?;
        let market = known_market(symbol).ok_or_else(|| AppError::invalid("no known market"))?;
        Ok(generate(&GenerateSettings::of_market(symbol, market, START, 2))?)
    });
    made.collect()
}

const LOOK_EVERY: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_mins(1);
const LASTS: Duration = Duration::from_secs(3);
const SETTLES: Duration = Duration::from_secs(1);
