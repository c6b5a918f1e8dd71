//! Download of candles and prices from the venue into the catalog.
//!
//! Each series is a task that stores its candles in batches, in order of time. After an
//! interruption, the next run requests only what is missing.

mod candles;
mod outcome;
mod prices;
#[cfg(test)]
mod properties;
mod target;

pub use candles::{BATCH, CandleJob, fetch_candles};
pub use outcome::{FetchEnd, Fetched, document, text};
pub use prices::{PriceJob, record_prices};
pub use target::{Target, targets};

use crate::candles::{check_stored, source_of};
use crate::configuration::{Loaded, credentials};
use crate::error::{AppError, Result};
use crate::progress::{Progress, ProgressBar};
use candlewick_api::{Credentials, HttpBroker};
use candlewick_broker::MarketData;
use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_history::{Appended, Catalog, Origin};
use candlewick_sdk::{Candle, Millis, Series, Symbol};
use std::sync::{Arc, Mutex, PoisonError};
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
