//! Market data of the offered pairs at a given venue time. Intervals that are not stored are resampled.

use crate::chance::{RandomSource, hash_symbol};
use crate::{SandboxError, SandboxSettings};
use candlewick_broker::COMMON_INTERVALS;
use candlewick_history::{AssetType, expected_asset_type, known_market, resample};
use candlewick_sdk::{Candle, CandleSeries, Interval, Millis, Ohlcv, Symbol};
use candlewick_simulator::{Market, PricePath, SimulationSettings, SimulatorError};
use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::sync::{Mutex, PoisonError};

mod second;

pub(crate) use second::OneSecondCandle;

pub(crate) type PricePaths = BTreeMap<Symbol, PricePath>;

pub(crate) fn build_price_paths(
    markets: &[Market],
    simulation: &SimulationSettings,
) -> Result<PricePaths, SimulatorError> {
    markets.iter().map(|market| Ok((market.symbol(), PricePath::new(market.clone(), simulation)?))).collect()
}

/// Builds one simulator market per symbol. If there are several intervals, the shortest is the detail of the next.
pub fn build_markets(series: &[CandleSeries]) -> Vec<Market> {
    let mut by_symbol: BTreeMap<_, Vec<&CandleSeries>> = BTreeMap::new();
    for one in series {
        by_symbol.entry(one.symbol()).or_default().push(one);
    }
    let market = |mut of_symbol: Vec<&CandleSeries>| {
        of_symbol.sort_by_key(|one| one.interval());
        let finest = *of_symbol.first()?;
        let longer = of_symbol.iter().find(|one| one.interval() > finest.interval());
        Some(match longer {
            Some(longer) => Market { prices: (*longer).clone(), detail: vec![finest.clone()] },
            None => Market { prices: finest.clone(), detail: Vec::new() },
        })
    };
    by_symbol.into_values().filter_map(market).collect()
}

pub(crate) struct PriceBoards {
    boards: BTreeMap<Symbol, PriceBoard>,
}

pub(crate) struct PriceBoard {
    pub(crate) symbol: Symbol,
    pub(crate) asset_type: AssetType,
    /// Stored candle series of the pair, with the finest interval first. The list is never empty.
    stored: Vec<CandleSeries>,
    resampled: Mutex<BTreeMap<Interval, Option<CandleSeries>>>,
    tick: Option<f64>,
    path: Option<PricePath>,
    pub(crate) random: RandomSource,
    pub(crate) symbol_key: u64,
}

impl PriceBoards {
    pub(crate) fn new(
        series: &[CandleSeries],
        settings: &SandboxSettings,
        simulation: &SimulationSettings,
        paths: &PricePaths,
    ) -> Result<Self, SandboxError> {
        let mut boards: BTreeMap<Symbol, PriceBoard> = BTreeMap::new();
        for one in series {
            let symbol = one.symbol();
            let board = match boards.entry(symbol) {
                Entry::Occupied(board) => board.into_mut(),
                Entry::Vacant(free) => free.insert(PriceBoard {
                    symbol,
                    asset_type: find_asset_type(settings, symbol)?,
                    stored: Vec::new(),
                    resampled: Mutex::default(),
                    tick: simulation.ticks.get(&symbol).copied().or_else(|| Some(known_market(symbol)?.tick)),
                    path: paths.get(&symbol).cloned(),
                    random: RandomSource::new(settings.seed),
                    symbol_key: hash_symbol(symbol),
                }),
            };
            board.stored.push(one.clone());
        }
        if boards.is_empty() {
            return Err(SandboxError::NoCandles);
        }
        for board in boards.values_mut() {
            board.stored.sort_by_key(CandleSeries::interval);
            board.stored.dedup_by_key(|one| one.interval());
        }
        Ok(Self { boards })
    }

    pub(crate) fn get(&self, pair: &str) -> Option<&PriceBoard> {
        self.boards.get(&Symbol::new(pair).ok()?)
    }

    pub(crate) fn pair_names(&self) -> Vec<&str> {
        self.boards.keys().map(Symbol::as_str).collect()
    }

    pub(crate) fn intervals(&self) -> Vec<Interval> {
        let usual = COMMON_INTERVALS.iter().filter_map(|text| text.parse().ok());
        let stored = self.boards.values().flat_map(|board| board.stored.iter().map(CandleSeries::interval));
        let known: BTreeSet<Interval> = usual.chain(stored).collect();
        let everywhere = |interval: &Interval| self.boards.values().all(|one| one.has_interval(*interval));
        known.into_iter().filter(everywhere).collect()
    }

    pub(crate) fn shortest_common_expiry(&self) -> Millis {
        self.boards.values().map(PriceBoard::finest_interval).max().unwrap_or(Millis::SECOND)
    }

    pub(crate) fn check_symbols(&self, symbols: impl Iterator<Item = Symbol>) -> Result<(), SandboxError> {
        let with_market: BTreeSet<Symbol> = symbols.collect();
        let with_candles = self.boards.keys().copied().collect();
        match with_market.symmetric_difference(&with_candles).next() {
            None => Ok(()),
            Some(symbol) => Err(SandboxError::IncompleteMarket { symbol: *symbol }),
        }
    }
}

fn find_asset_type(settings: &SandboxSettings, symbol: Symbol) -> Result<AssetType, SandboxError> {
    let Some(text) = settings.asset_types.get(&symbol) else { return Ok(expected_asset_type(symbol)) };
    text.parse().map_err(|_| SandboxError::InvalidSetting {
        key: "asset_types",
        value: text.clone(),
        allowed: "crypto, forex or otc",
    })
}

impl PriceBoard {
    /// Returns the stored or resampled candles of an interval, or `Ok(None)` if no candle is complete.
    fn find_series(&self, interval: Interval) -> Result<Option<CandleSeries>, IntervalNotOffered> {
        if let Some(stored) = self.stored.iter().find(|one| one.interval() == interval) {
            return Ok(Some(stored.clone()));
        }
        let source = self.finer_series(interval).ok_or(IntervalNotOffered)?;
        let mut resampled = self.resampled.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(resampled.entry(interval).or_insert_with(|| resample(source, interval).ok()).clone())
    }

    fn has_interval(&self, interval: Interval) -> bool {
        self.stored.iter().any(|one| one.interval() == interval) || self.finer_series(interval).is_some()
    }

    fn finer_series(&self, interval: Interval) -> Option<&CandleSeries> {
        let usual = COMMON_INTERVALS.iter().any(|text| text.parse() == Ok(interval));
        let divides = |one: &&CandleSeries| interval.length().is_aligned_to(one.interval().length());
        self.stored.iter().rev().find(divides).filter(|_| usual)
    }

    fn finest_interval(&self) -> Millis {
        self.stored.first().map_or(Millis::SECOND, |series| series.interval().length())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IntervalNotOffered;

const MAX_FORMING_CANDLE_SAMPLES: i64 = 120;

#[derive(Clone, Copy, Debug)]
pub(crate) struct CandleWindow {
    pub(crate) interval: Interval,
    pub(crate) start: Millis,
    /// Latest open time of the requested candles (inclusive).
    pub(crate) end: Millis,
    pub(crate) skip: usize,
    pub(crate) limit: usize,
}

impl PriceBoard {
    pub(crate) fn candles(
        &self,
        window: CandleWindow,
        include_forming: bool,
        now: Millis,
    ) -> Result<Vec<Candle>, IntervalNotOffered> {
        let CandleWindow { interval, start, end, skip, limit } = window;
        let series = self.find_series(interval)?;
        let closed = series.as_ref().map_or(&[][..], |own| closed_candles_between(own, start, end, now));
        let asked_for = (start..=end).contains(&now.floor_to(interval.length()));
        let forming = if include_forming && asked_for { self.forming_candle(interval, now) } else { None };
        Ok(closed.iter().copied().chain(forming).skip(skip).take(limit).collect())
    }

    fn forming_candle(&self, interval: Interval, now: Millis) -> Option<Candle> {
        let open_time = now.floor_to(interval.length());
        let mut parts: Option<Ohlcv> = None;
        let finest = self.stored.first()?;
        for candle in closed_candles_between(finest, open_time, now, now) {
            let (open, high, low, close) = (candle.open(), candle.high(), candle.low(), candle.close());
            merge_ohlcv(&mut parts, Ohlcv { open, high, low, close, volume: candle.volume() });
        }
        let mut time = now.floor_to(self.finest_interval()).max(open_time);
        let step = Millis::from_seconds(((now - time).get() / 1_000 / MAX_FORMING_CANDLE_SAMPLES).max(1));
        while time + step <= now {
            let last = time + step - Millis::SECOND;
            if let (Some(first), Some(last)) = (self.second_at(time), self.second_at(last)) {
                let OneSecondCandle { open, high, low, .. } = first;
                let volume = first.volume * (step.get() / 1_000) as f64;
                let (high, low) = (high.max(last.high), low.min(last.low));
                merge_ohlcv(&mut parts, Ohlcv { open, high, low, close: last.close, volume });
            }
            time += step;
        }
        Candle::new(open_time, interval, parts?).ok()
    }
}

fn closed_candles_between(series: &CandleSeries, start: Millis, end: Millis, now: Millis) -> &[Candle] {
    let candles = series.candles();
    let from = candles.partition_point(|candle| candle.time() < start);
    let to = candles.partition_point(|one| one.time() <= end && one.close_time(series.interval()) <= now);
    candles.get(from..to).unwrap_or_default()
}

fn merge_ohlcv(parts: &mut Option<Ohlcv>, part: Ohlcv) {
    *parts = Some(parts.map_or(part, |before| Ohlcv {
        open: before.open,
        high: before.high.max(part.high),
        low: before.low.min(part.low),
        close: part.close,
        volume: before.volume + part.volume,
    }));
}
