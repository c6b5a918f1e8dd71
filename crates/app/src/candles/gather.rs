//! Collects the candles for a run, with notices about their quality.

use super::load::{self, ALL_TIME};
use super::market::{built_in_tick_notice, markets_for, missing_tick_notice, select_series};
use super::name::{PriceSource, build_rule_bots};
use crate::configuration::{Flag, LoadedConfig, Problems};
use crate::error::{AppError, Result};
use crate::evidence::SealUse;
use crate::progress::Progress;
use candlewick_engine::{BotSettings, IntentRow, TradeBook};
use candlewick_history::{
    HashedSeries, combine_series_hashes, count_candles_in_closed_hours, count_missing_candles,
};
use candlewick_records::{count_text, format_utc};
use candlewick_sdk::{CandleSeries, CloseType, Expiry, Millis, Series};
use candlewick_search::evidence::EvidenceKind;
use candlewick_simulator::{Market, check_expiry, coarse_periods};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;

#[derive(Clone, Debug, Default)]
pub struct CandleChoice {
    /// Candle files or catalog series ([`DataName`](super::DataName)). Trades are priced on the shortest candles.
    pub data: Vec<String>,
    pub catalog: Option<PathBuf>,
    pub from: Option<Millis>,
    pub to: Option<Millis>,
    pub allow_coarse: bool,
    pub rules: Option<PathBuf>,
    pub payout: Option<f64>,
    pub seal: SealUse,
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
    pub revised_candles: u64,
    pub notices: Vec<String>,
    /// Kind of evidence that trades on these candles are.
    pub evidence: EvidenceKind,
}

impl SeriesContent {
    fn from_series(series: &HashedSeries) -> Self {
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

    pub fn missing_candles(&self, bots: &[BotSettings]) -> u64 {
        self.series.iter().filter(|one| is_used_by_bot(bots, one)).map(count_missing_candles).sum()
    }
}

pub(super) fn is_used_by_bot(bots: &[BotSettings], series: &CandleSeries) -> bool {
    bots.iter().any(|bot| bot.series() == series.series())
}

fn market_hours_notice(series: &CandleSeries) -> Option<String> {
    let (closed, all, name) =
        (count_candles_in_closed_hours(series), series.candles().len(), series.series());
    let percent = closed as f64 * 100.0 / all as f64;
    (closed > 0).then(|| {
        format!("{name}: {closed} of {all} candles ({percent:.1} %) are outside market hours; `candlewick data check` lists them")
    })
}

impl CandleChoice {
    pub fn flags(&self) -> Vec<Flag> {
        let data = (!self.data.is_empty()).then_some(&self.data);
        let flags = [
            Flag::new("--data", "sandbox", "data", data),
            Flag::new("--catalog", "data", "catalog", self.catalog.as_ref()),
            Flag::new(
                "--rules",
                "",
                "bots",
                self.rules.as_ref().map(|file| build_rule_bots(file, &self.data)),
            ),
            Flag::new("--payout", "simulation", "payout_percent", self.payout),
        ];
        flags.into_iter().flatten().collect()
    }

    pub fn gather(&self, loaded: &LoadedConfig, progress: &dyn Progress) -> Result<Candles> {
        let bots = &loaded.config.bots;
        let stock = load::load(loaded, (&self.range()?, &self.seal), progress)?;
        let given: Vec<Series> = stock.series.iter().map(|one| one.candles().series()).collect();
        let (prices, revised, evidence) = (stock.prices, stock.revised_candles, stock.evidence);
        let mut notices = stock.notices;
        let share = loaded.config.data.longer_share_percent;
        let selected = select_series(bots, stock.series, (&stock.location, share))?;
        let series = load::collect_candles(&selected);
        let markets = markets_for(bots, &series);
        let heard = series.iter().filter(|one| is_used_by_bot(bots, one));
        notices.extend(heard.filter_map(market_hours_notice));
        if evidence == EvidenceKind::Practice {
            notices.push("synthetic candles: profits on them say nothing about a strategy".to_owned());
        } else {
            notices.extend(missing_tick_notice(&markets, &loaded.config.simulation.ticks));
        }
        notices.extend(built_in_tick_notice(loaded));
        let joined = series.iter().map(CandleSeries::series).filter(|one| !given.contains(one));
        notices.extend(joined.map(|one| format!("the candles of {one} are resampled from shorter candles")));
        let hash = combine_series_hashes(&selected).to_hex().to_string();
        let contents = selected.iter().map(SeriesContent::from_series).collect();
        Ok(Candles { series, markets, hash, contents, prices, revised_candles: revised, notices, evidence })
    }

    pub fn check_expiries(
        &self,
        loaded: &LoadedConfig,
        markets: &[Market],
        fineness: FineCandleCoverage,
    ) -> Result<Option<String>> {
        self.coarse_notice(check_expiries(loaded, markets, fineness, COARSE_FLAG_HINT))
    }

    pub fn check_trades(
        &self,
        loaded: &LoadedConfig,
        markets: &[Market],
        book: &TradeBook,
    ) -> Result<Option<String>> {
        self.coarse_notice(check_trades(loaded, markets, book))
    }

    fn coarse_notice(&self, checked: Result<()>) -> Result<Option<String>> {
        match checked {
            Ok(()) => Ok(None),
            Err(_) if self.allow_coarse => Ok(Some(COARSE_NOTICE.to_owned())),
            Err(failure) => Err(failure),
        }
    }

    fn range(&self) -> Result<Range<Millis>> {
        let range = self.from.unwrap_or(ALL_TIME.start)..self.to.unwrap_or(ALL_TIME.end);
        if range.is_empty() {
            let [from, to] = [range.start, range.end].map(format_utc);
            return Err(AppError::invalid(format!("--from {from} is not before --to {to}")));
        }
        Ok(range)
    }
}

pub const COARSE_NOTICE: &str =
    "the candles are too coarse for an expiry, so prices are assumed and this run proves nothing";

const COARSE_FLAG_HINT: &str =
    "--allow-coarse fills in assumed prices inside candles, but the results then prove nothing";
pub const ALLOW_COARSE_HINT: &str =
    "sandbox.allow_coarse = true fills in assumed prices inside candles, but the results then prove nothing";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FineCandleCoverage {
    /// Fine candles are required for part of the run only. Each trade is checked after the run.
    Somewhere,
    Throughout,
}

pub fn describe_coarse_expiry(
    expiry: Expiry,
    market: &Market,
    fineness: FineCandleCoverage,
) -> Option<String> {
    if let Err(error) = check_expiry(expiry, market) {
        return Some(error.to_string());
    }
    let stretches = match fineness {
        FineCandleCoverage::Somewhere => return None,
        FineCandleCoverage::Throughout => coarse_periods(expiry, market),
    };
    let first = stretches.first()?;
    let (interval, symbol, close_type) = (market.prices.interval(), market.symbol(), expiry.close_type);
    let [start, end] = [first.start, first.end].map(format_utc);
    let more = format_remaining_count(stretches.len() - 1, "stretch", "stretches");
    Some(format!(
        "an expiry of {close_type} is shorter than the {interval} candles of {symbol}, and finer candles are missing \
         from {start} to {end}{more}"
    ))
}

pub fn check_expiries(
    loaded: &LoadedConfig,
    markets: &[Market],
    level: FineCandleCoverage,
    hint: &str,
) -> Result<()> {
    let mut problems = Vec::new();
    for (index, bot) in loaded.config.bots.iter().enumerate() {
        let Some(market) = markets.iter().find(|market| market.symbol() == bot.symbol) else { continue };
        if let Some(why) = describe_coarse_expiry(bot.expiry(), market, level) {
            let problem = loaded.problem(&format!("bots[{index}].close_type"), why);
            problems.push(problem.with_value(format!("\"{}\"", bot.close_type)));
        }
    }
    Problems::check(problems).map_err(|problems| AppError::invalid(problems.to_string()).with_help(hint))
}

fn check_trades(loaded: &LoadedConfig, markets: &[Market], book: &TradeBook) -> Result<()> {
    for (index, bot) in loaded.config.bots.iter().enumerate() {
        let Some(market) = markets.iter().find(|market| market.symbol() == bot.symbol) else { continue };
        let mut stretches: HashMap<CloseType, Vec<Range<Millis>>> = HashMap::new();
        let of_bot = book.rows().iter().filter(|row| row.approved.bot().index() == index);
        let mut is_too_coarse = |row: &&IntentRow| {
            let expiry = row.approved.expiry();
            let own = stretches.entry(expiry.close_type).or_insert_with(|| coarse_periods(expiry, market));
            is_opened_or_closed_within(row, own)
        };
        let coarse: Vec<&IntentRow> = of_bot.filter(|row| is_too_coarse(row)).collect();
        let Some((first, open)) = coarse.first().and_then(|row| Some((row, row.open_time?))) else {
            continue;
        };
        let (interval, symbol) = (market.prices.interval(), bot.symbol);
        let close_type = first.approved.expiry().close_type;
        let (open, more) = (format_utc(open), format_remaining_count(coarse.len() - 1, "trade", "trades"));
        let why = format!(
            "the {interval} candles of {symbol} are too coarse for the trade with expiry {close_type} opened at \
             {open}{more}"
        );
        let problem = if close_type == bot.close_type {
            loaded.problem(&format!("bots[{index}].close_type"), why).with_value(format!("\"{close_type}\""))
        } else {
            let problem = format!("the strategy sets its own expiry: {why}");
            loaded.problem(&format!("bots[{index}].strategy"), problem)
        };
        let help = format!("limit the run to the period of finer candles (--from, --to); {COARSE_FLAG_HINT}");
        return Err(AppError::invalid(Problems::from(problem).to_string()).with_help(help));
    }
    Ok(())
}

/// Returns whether the trade opened within any range (start included) or closed within any range (end included).
fn is_opened_or_closed_within(row: &IntentRow, stretches: &[Range<Millis>]) -> bool {
    let holds = |moment: Millis| {
        let after = stretches.partition_point(|stretch| stretch.start <= moment);
        after.checked_sub(1).is_some_and(|at| moment < stretches[at].end)
    };
    let exit = row.close_time.filter(|_| row.close_price.is_some()).map(|close| close - Millis::new(1));
    row.open_time.is_some_and(holds) || exit.is_some_and(holds)
}

fn format_remaining_count(count: usize, one: &str, several: &str) -> String {
    if count == 0 { String::new() } else { format!(", and {} more", count_text(count, one, several)) }
}
