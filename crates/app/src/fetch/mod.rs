//! Download of candles and prices from the venue into the catalog, in batches and in time order.

mod candles;
mod outcome;

pub use candles::{CandleJob, DEFAULT_BATCH_CANDLES, fetch_candles};
pub use outcome::{FetchEnd, FetchStats, text, to_json_document};

use crate::candles::{DataName, check_stored_series, deduplicate, describe_source};
use crate::configuration::{LoadedConfig, bot_asset_type, credentials};
use crate::error::{AppError, Result};
use crate::progress::{Progress, ProgressBar};
use candles::Batch;
use candlewick_api::{Credentials, HttpBroker};
use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_broker::{BrokerError, MarketData, PricePoller};
use candlewick_engine::BotSettings;
use candlewick_history::{Catalog, expected_asset_type};
use candlewick_sdk::{Interval, Series, Symbol};
use outcome::handle_fetch_error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

#[derive(Clone)]
pub struct Fetcher {
    pub market: Arc<dyn MarketData>,
    pub clock: Arc<dyn Clock>,
    pub catalog: Catalog,
    pub source: String,
    price_url: String,
    mixing: SourceMixing,
    /// Token that stops all tasks. Each task then stores the candles that it has received, and ends.
    pub stop: CancellationToken,
    meter: Arc<Mutex<ProgressMeter>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceMixing {
    Allowed,
    Refused,
}

struct ProgressMeter {
    bar: Box<dyn ProgressBar>,
    done: u64,
    total: u64,
}

impl Fetcher {
    pub fn new(
        loaded: &LoadedConfig,
        targets: &[Target],
        mixing: SourceMixing,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let settings = loaded.config.broker.client.clone();
        let credentials = Credentials { api_token: None, ..credentials(loaded)? };
        let (price_url, source) = (settings.price_url.clone(), describe_source(&settings));
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
            meter: Arc::new(Mutex::new(ProgressMeter { bar: progress.bar("Fetching"), done: 0, total: 0 })),
        })
    }

    pub fn check_alignment(&self, symbol: Symbol) -> Result<Vec<String>> {
        check_stored_series(&self.catalog, symbol)
    }

    fn add_to_total(&self, candles: u64) {
        self.meter.lock().unwrap_or_else(PoisonError::into_inner).total += candles;
    }

    fn advance(&self, candles: u64) {
        let mut meter = self.meter.lock().unwrap_or_else(PoisonError::into_inner);
        meter.done += candles;
        let (done, total) = (meter.done, meter.total);
        meter.bar.update(done.min(total), total);
    }

    fn advance_recording(&self, records: u64) {
        let mut meter = self.meter.lock().unwrap_or_else(PoisonError::into_inner);
        meter.done += records;
        let message = format!("Recording: {} price records so far (press Ctrl-C to stop)", meter.done);
        meter.bar.set_text(message);
    }

    async fn with_catalog<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Catalog) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let catalog = self.catalog.clone();
        let done = tokio::task::spawn_blocking(move || work(&catalog)).await;
        done.map_err(|error| AppError::system("the catalog operation was interrupted", error))?
    }

    /// Rejects a series whose stored candles are from another source, because differences would count as revisions.
    async fn check_source(&self, series: Series) -> Result<()> {
        if self.mixing == SourceMixing::Allowed {
            return Ok(());
        }
        let manifest = self.with_catalog(move |catalog| Ok(catalog.manifest(series)?)).await?;
        let Some(origins) = manifest.map(|manifest| manifest.origins) else { return Ok(()) };
        let others: Vec<&str> = origins.iter().map(|origin| origin.source.as_str()).collect();
        if others.contains(&self.source.as_str()) {
            return Ok(());
        }
        let folder = self.catalog.folder().display();
        let problem = format!("candles of {series} in the catalog {folder} are from {}", others.join(", "));
        let help = "choose another folder with --catalog, or add this venue's candles anyway with --mix";
        Err(AppError::invalid(problem).with_help(help))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub series: Series,
    /// Asset type at the venue: `crypto`, `forex` or `otc`.
    pub asset_type: String,
}

/// Returns the named series, or the bots' series if `names` is empty. `every` overrides their intervals.
pub fn select_targets(
    names: &[String],
    every: Option<Interval>,
    asset_type: Option<&str>,
    loaded: &LoadedConfig,
) -> Result<Vec<Target>> {
    let bots = &loaded.config.bots;
    let named = names.iter().map(|name| parse_series(name, every)).collect::<Result<Vec<_>, _>>()?;
    let of_bots = bots.iter().filter(|_| names.is_empty()).map(BotSettings::series);
    let all = named.into_iter().chain(of_bots);
    let series = deduplicate(all.map(|one| Series { interval: every.unwrap_or(one.interval), ..one }));
    if series.is_empty() {
        let help = "pass series names such as BTCUSDT@1m, or a --config with [[bots]]";
        return Err(AppError::invalid("no series to fetch").with_help(help));
    }
    let target = |series: Series| {
        let of_bot = || bots.iter().find(|bot| bot.symbol == series.symbol).map(bot_asset_type);
        let given = asset_type.or_else(of_bot).map(str::to_owned);
        let asset_type = given.unwrap_or_else(|| expected_asset_type(series.symbol).to_string());
        Target { series, asset_type }
    };
    Ok(series.into_iter().map(target).collect())
}

fn parse_series(name: &str, every: Option<Interval>) -> Result<Series> {
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
    Err(AppError::invalid(problem).with_help("write SYMBOL@INTERVAL, such as BTCUSDT@1m or EURUSD.OTC@5s"))
}

const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Interval between writes to the catalog. A crash loses the prices received since the last write.
const STORE_INTERVAL: Duration = Duration::from_secs(10);

pub async fn record_prices(target: Target, fetching: Fetcher) -> (FetchStats, Result<()>) {
    let mut fetched = FetchStats::new(&target);
    let outcome = record(target.series, &fetching, &mut fetched).await;
    let looked = fetched.load_stored_state(&fetching).await;
    (fetched, outcome.and(looked))
}

async fn record(series: Series, fetching: &Fetcher, fetched: &mut FetchStats) -> Result<()> {
    fetching.check_source(series).await?;
    let mut poller = PricePoller::new(Arc::clone(&fetching.market), series.symbol);
    let mut ticks = interval(POLL_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let (mut batch, mut stored) = (Batch::default(), Instant::now());
    let outcome = loop {
        let poll = async {
            ticks.tick().await;
            fetching.clock.catch_up();
            poller.poll().await
        };
        let polled = tokio::select! {
            biased;
            () = fetching.stop.cancelled() => break Ok(()),
            polled = poll => polled,
        };
        match polled {
            Ok(recorded) => {
                fetched.record(1, recorded.invalid_records, recorded.answered_at);
                fetching.advance_recording(recorded.candles.len() as u64);
                batch.add(recorded.candles, recorded.answered_at);
            }
            // Tries again, because the venue has answered before and may recover.
            Err(error)
                if fetched.requests > 0
                    && (error.is_temporary() || matches!(error, BrokerError::NotFound { .. })) =>
            {
                tracing::warn!(symbol = %series.symbol, %error, "no price record; retrying");
            }
            Err(error) => break Err(error),
        }
        if stored.elapsed() >= STORE_INTERVAL && !batch.candles.is_empty() {
            batch.store(fetching, fetched).await?;
            stored = Instant::now();
        }
    };
    batch.store(fetching, fetched).await?;
    match outcome {
        Ok(()) => Ok(()),
        Err(error) => handle_fetch_error(error, fetched, fetching).await,
    }
}

#[cfg(test)]
mod tests;
