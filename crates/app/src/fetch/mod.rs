//! Download of candles and prices from the venue into the catalog.
//!
//! Each series is a task that stores its candles in batches, in order of time. After an
//! interruption, the next run requests only what is missing.

mod candles;
mod outcome;
#[cfg(test)]
mod properties;

pub use candles::{BATCH, CandleJob, fetch_candles};
pub use outcome::{FetchEnd, Fetched, document, text};

use crate::candles::{DataName, check_stored, source_of};
use crate::configuration::{Loaded, asset_type_of_bot, credentials};
use crate::error::{AppError, Result};
use crate::progress::{Progress, ProgressBar};
use candlewick_api::{Credentials, HttpBroker};
use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_broker::{BrokerError, MarketData, PriceRecorder, Recorded};
use candlewick_engine::BotSettings;
use candlewick_history::{Appended, Catalog, Origin, asset_type_of};
use candlewick_sdk::{Candle, Interval, Millis, Series, Symbol};
use outcome::give_up;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

#[derive(Clone)]
pub struct Fetching {
    pub market: Arc<dyn MarketData>,
    pub clock: Arc<dyn Clock>,
    pub catalog: Catalog,
    pub source: String,
    price_url: String,
    mixing: Mixing,
    /// Ends all tasks, each after storing what it received.
    pub stop: CancellationToken,
    meter: Arc<Mutex<Meter>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mixing {
    Allowed,
    Refused,
}

struct Meter {
    bar: Box<dyn ProgressBar>,
    done: u64,
    total: u64,
}

impl Fetching {
    /// Creates a client of the symbol price API, without the trading token.
    pub fn new(loaded: &Loaded, targets: &[Target], mixing: Mixing, progress: &dyn Progress) -> Result<Self> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let settings = loaded.config.broker.client.clone();
        let credentials = Credentials { api_token: None, ..credentials(loaded)? };
        let (price_url, source) = (settings.price_url.clone(), source_of(&settings));
        let asset_types = targets.iter().map(|one| (one.series.symbol, one.asset_type.clone())).collect();
        let market =
            HttpBroker::new(settings, credentials, Arc::clone(&clock))?.with_asset_types(asset_types);
        Ok(Self {
            market: Arc::new(market),
            clock,
            catalog: Catalog::new(loaded.config.data.catalog.clone()),
            source,
            price_url,
            mixing,
            stop: CancellationToken::new(),
            meter: Arc::new(Mutex::new(Meter { bar: progress.bar("Fetching"), done: 0, total: 0 })),
        })
    }

    pub fn check_in_step(&self, symbol: Symbol) -> Result<Vec<String>> {
        check_stored(&self.catalog, symbol)
    }

    fn expect(&self, candles: u64) {
        self.meter.lock().unwrap_or_else(PoisonError::into_inner).total += candles;
    }

    fn advance(&self, candles: u64) {
        let mut meter = self.meter.lock().unwrap_or_else(PoisonError::into_inner);
        meter.done += candles;
        let (done, total) = (meter.done, meter.total);
        meter.bar.update(done.min(total), total);
    }

    fn pulse(&self, records: u64) {
        let mut meter = self.meter.lock().unwrap_or_else(PoisonError::into_inner);
        meter.done += records;
        let message = format!("Recording, {} price records so far; Ctrl-C ends", meter.done);
        meter.bar.pulse(message);
    }

    async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Catalog) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let catalog = self.catalog.clone();
        let done = tokio::task::spawn_blocking(move || work(&catalog)).await;
        done.map_err(|error| AppError::system("the catalog was not read or written to its end", error))?
    }

    async fn append(&self, series: Series, candles: Vec<Candle>, seen_at: Millis) -> Result<Appended> {
        let origin =
            Origin { source: self.source.clone(), licence: None, fetched_at: seen_at, files: Vec::new() };
        self.on_disk(move |catalog| Ok(catalog.append(series, &candles, &origin)?)).await
    }

    /// Rejects a series of other sources, whose every difference would count as revised.
    async fn check_source(&self, series: Series) -> Result<()> {
        if self.mixing == Mixing::Allowed {
            return Ok(());
        }
        let Some(manifest) = self.on_disk(move |catalog| Ok(catalog.manifest(series)?)).await? else {
            return Ok(());
        };
        if manifest.origins.iter().any(|origin| origin.source == self.source) {
            return Ok(());
        }
        let others: Vec<&str> = manifest.origins.iter().map(|origin| origin.source.as_str()).collect();
        let folder = self.catalog.folder().display();
        let problem = format!("{series} in the catalog {folder} came from {}", others.join(", "));
        let help =
            "--catalog takes another folder; --mix puts this venue's candles beside those that are there";
        Err(AppError::invalid(problem).help(help))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub series: Series,
    /// Asset type of the venue: `crypto`, `forex` or `otc`.
    pub asset_type: String,
}

/// Returns the series named as `SYMBOL@INTERVAL`, or by default the bots' series.
///
/// `every` sets the interval of all; names may then be plain symbols.
pub fn targets(
    names: &[String],
    every: Option<Interval>,
    asset_type: Option<&str>,
    loaded: &Loaded,
) -> Result<Vec<Target>> {
    let bots = &loaded.config.bots;
    let mut series: Vec<Series> = Vec::new();
    let named = names.iter().map(|name| series_of(name, every)).collect::<Result<Vec<_>, _>>()?;
    let of_bots = bots.iter().filter(|_| names.is_empty()).map(BotSettings::series);
    for one in named.into_iter().chain(of_bots) {
        let one = Series { interval: every.unwrap_or(one.interval), ..one };
        if !series.contains(&one) {
            series.push(one);
        }
    }
    if series.is_empty() {
        let help = "name some, such as BTCUSDT@1m, or give a --config that has [[bots]]";
        return Err(AppError::invalid("there is no series to fetch").help(help));
    }
    let kind = |symbol: Symbol| {
        let of_bot =
            bots.iter().find(|bot| bot.symbol == symbol).map(|bot| asset_type_of_bot(bot).to_owned());
        let given = asset_type.map(str::to_owned).or(of_bot);
        given.unwrap_or_else(|| asset_type_of(symbol).to_string())
    };
    Ok(series.into_iter().map(|series| Target { series, asset_type: kind(series.symbol) }).collect())
}

fn series_of(name: &str, every: Option<Interval>) -> Result<Series> {
    if let Ok(DataName::Stored(series)) = name.parse() {
        return Ok(series);
    }
    let problem = match (name.split_once('@'), every) {
        (None, Some(interval)) => match Symbol::new(name) {
            Ok(symbol) => return Ok(Series { symbol, interval }),
            Err(error) => error.to_string(),
        },
        (None, None) => format!("\"{name}\" has no interval"),
        (Some(_), _) => format!("\"{name}\" is not the name of a series"),
    };
    Err(AppError::invalid(problem).help("write SYMBOL@INTERVAL, such as BTCUSDT@1m or EURUSD.OTC@5s"))
}

const EVERY: Duration = Duration::from_secs(1);
/// Interval of writes, the maximum lost on interruption.
const KEEP_EVERY: Duration = Duration::from_secs(10);

#[derive(Clone, Debug)]
pub struct PriceJob {
    pub target: Target,
}

pub async fn record_prices(job: PriceJob, fetching: Fetching) -> (Fetched, Result<()>) {
    let mut fetched = Fetched::new(&job.target);
    let outcome = record(&job, &fetching, &mut fetched).await;
    let looked = fetched.look_back(&fetching).await;
    (fetched, outcome.and(looked))
}

async fn record(job: &PriceJob, fetching: &Fetching, fetched: &mut Fetched) -> Result<()> {
    let series = job.target.series;
    fetching.check_source(series).await?;
    let mut recorder = PriceRecorder::new(Arc::clone(&fetching.market), series.symbol);
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut waiting: Vec<Candle> = Vec::new();
    let (mut kept, mut seen_at) = (Instant::now(), Millis::ZERO);
    let outcome = loop {
        let poll = async {
            ticks.tick().await;
            fetching.clock.catch_up();
            recorder.poll().await
        };
        let polled = tokio::select! {
            biased;
            () = fetching.stop.cancelled() => break Ok(()),
            polled = poll => polled,
        };
        match polled {
            Ok(recorded) => {
                fetched.record(1, recorded.rejected, recorded.seen_at);
                fetching.pulse(recorded.candles.len() as u64);
                let Recorded { candles, seen_at: seen, .. } = recorded;
                waiting.extend(candles);
                seen_at = seen_at.max(seen);
            }
            Err(error) if may_pass(&error, fetched) => {
                tracing::warn!(symbol = %series.symbol, %error, "no price record; asking on");
            }
            Err(error) => break Err(error),
        }
        if kept.elapsed() >= KEEP_EVERY && !waiting.is_empty() {
            fetched.count(fetching.append(series, std::mem::take(&mut waiting), seen_at).await?);
            kept = Instant::now();
        }
    };
    if !waiting.is_empty() {
        fetched.count(fetching.append(series, waiting, seen_at).await?);
    }
    match outcome {
        Ok(()) => Ok(()),
        Err(error) => give_up(error, fetched, fetching).await,
    }
}

/// Returns whether polling can continue: the venue answered before and may recover.
fn may_pass(error: &BrokerError, fetched: &Fetched) -> bool {
    fetched.requests > 0 && (error.is_temporary() || matches!(error, BrokerError::NotFound { .. }))
}
