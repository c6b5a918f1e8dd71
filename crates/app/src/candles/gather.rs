//! The candles of a run, with notices about them.
use super::coarse::{ALLOW_BY_FLAG, COARSE, Fineness, check_expiries, check_trades};
use super::load::{self, ALWAYS, CandleSource};
use super::market::{markets_for, select_series};
use super::price_source::PriceSource;
use super::price_step::{built_in_steps_note, unset_steps};
use super::rule_bots::rule_bots;
use crate::configuration::{Flag, Loaded};
use crate::error::AppError;
use crate::progress::Progress;
use candlewick_engine::{BotSettings, TradeBook};
use candlewick_history::{HashedSeries, closed_candles, combine_series_hashes, missing_candles};
use candlewick_records::utc;
use candlewick_sdk::{CandleSeries, Millis, Series};
use candlewick_simulator::Market;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::PathBuf;

#[derive(Clone, Debug, Default)]
pub struct CandleChoice {
    /// Candle files or catalog series.
    ///
    /// Files are `SYMBOL_INTERVAL.csv` (or `.parquet`) or `SYMBOL@INTERVAL=PATH`, series are
    /// `SYMBOL@INTERVAL`. Finer candles of a symbol price its trades.
    pub data: Vec<String>,
    pub catalog: Option<PathBuf>,
    pub from: Option<Millis>,
    pub to: Option<Millis>,
    pub allow_coarse: bool,
    pub rules: Option<PathBuf>,
    pub payout: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesContent {
    pub series: String,
    pub candles: u64,
    pub start: Millis,
    pub end: Millis,
    pub hash: String,
}

pub struct Candles {
    pub series: Vec<CandleSeries>,
    pub markets: Vec<Market>,
    pub hash: String,
    pub contents: Vec<SeriesContent>,
    pub prices: PriceSource,
    pub revised: u64,
    pub notices: Vec<String>,
}

impl SeriesContent {
    fn of(series: &HashedSeries) -> Self {
        let candles = series.candles();
        Self {
            series: format!("{}@{}", candles.symbol(), candles.interval()),
            candles: candles.candles().len() as u64,
            start: candles.start(),
            end: candles.end(),
            hash: series.hash().to_hex().to_string(),
        }
    }
}

impl Candles {
    pub fn span(&self) -> Range<Millis> {
        let start = self.series.iter().map(CandleSeries::start).min();
        let end = self.series.iter().map(CandleSeries::end).max();
        start.unwrap_or(Millis::ZERO)..end.unwrap_or(Millis::ZERO)
    }

    /// Counts missing candles of the bots' series.
    ///
    /// Ignores hours when the market was closed.
    pub fn missing(&self, bots: &[BotSettings]) -> u64 {
        let has_bot = |one: &&CandleSeries| bots.iter().any(|bot| bot.series() == one.series());
        self.series.iter().filter(has_bot).map(missing_candles).sum()
    }
}

fn closed_notice(series: &CandleSeries) -> Option<String> {
    let (closed, all) = (closed_candles(series), series.candles().len());
    let percent = closed as f64 * 100.0 / all as f64;
    let name = series.series();
    (closed > 0).then(|| {
        format!("{name}: {closed} of {all} candles ({percent:.1} %) lie in hours in which the market is closed; `data check` lists them")
    })
}

impl CandleChoice {
    pub fn flags(&self) -> Vec<Flag> {
        let data = (!self.data.is_empty()).then_some(&self.data);
        let flags = [
            Flag::new("--data", "sandbox", "data", data),
            Flag::new("--catalog", "data", "catalog", self.catalog.as_ref()),
            Flag::new("--rules", "", "bots", self.rules.as_ref().map(|file| rule_bots(file, &self.data))),
            Flag::new("--payout", "simulation", "payout_percent", self.payout),
        ];
        flags.into_iter().flatten().collect()
    }

    pub fn gather(&self, loaded: &Loaded, progress: &dyn Progress) -> Result<Candles, AppError> {
        let bots = &loaded.config.bots;
        let stock = load::load(loaded, &self.range()?, progress)?;
        let given: Vec<Series> = stock.series.iter().map(|one| one.candles().series()).collect();
        let (prices, revised) = (stock.prices, stock.revised);
        let mut notices = stock.notices;
        let share = loaded.config.data.longer_share_percent;
        let selected = select_series(bots, stock.series, (&stock.place, share))?;
        let series = load::candles_of(&selected);
        let markets = markets_for(bots, &series);
        notices.extend(
            series
                .iter()
                .filter(|one| bots.iter().any(|bot| bot.series() == one.series()))
                .filter_map(closed_notice),
        );
        if stock.source == CandleSource::Synthetic {
            notices.push("synthetic candles: a profit on them says nothing about a strategy".to_owned());
        } else {
            notices.extend(unset_steps(&markets, &loaded.config.simulation.ticks));
        }
        notices.extend(built_in_steps_note(loaded));
        let joined = series.iter().map(CandleSeries::series).filter(|one| !given.contains(one));
        notices.extend(joined.map(|one| format!("the candles of {one} are resampled from shorter ones")));
        let hash = combine_series_hashes(&selected).to_hex().to_string();
        let contents = selected.iter().map(SeriesContent::of).collect();
        Ok(Candles { series, markets, hash, contents, prices, revised, notices })
    }

    pub fn check_expiries(
        &self,
        loaded: &Loaded,
        markets: &[Market],
        fineness: Fineness,
    ) -> Result<Option<String>, AppError> {
        self.coarse(check_expiries(loaded, markets, fineness, ALLOW_BY_FLAG))
    }

    pub fn check_trades(
        &self,
        loaded: &Loaded,
        markets: &[Market],
        book: &TradeBook,
    ) -> Result<Option<String>, AppError> {
        self.coarse(check_trades(loaded, markets, book))
    }

    fn coarse(&self, checked: Result<(), AppError>) -> Result<Option<String>, AppError> {
        match checked {
            Ok(()) => Ok(None),
            Err(_) if self.allow_coarse => Ok(Some(COARSE.to_owned())),
            Err(failure) => Err(failure),
        }
    }

    fn range(&self) -> Result<Range<Millis>, AppError> {
        let range = self.from.unwrap_or(ALWAYS.start)..self.to.unwrap_or(ALWAYS.end);
        if range.is_empty() {
            let [from, to] = [range.start, range.end].map(utc);
            return Err(AppError::invalid(format!("--from {from} does not lie before --to {to}")));
        }
        Ok(range)
    }
}
