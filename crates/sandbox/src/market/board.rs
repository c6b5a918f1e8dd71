//! The offered pairs with their stored candles.

use super::PricePaths;
use crate::chance::{Chance, symbol_key};
use crate::{SandboxError, SandboxSettings};
use candlewick_broker::USUAL_INTERVALS;
use candlewick_history::{AssetType, asset_type_of, known_market, resample};
use candlewick_sdk::{CandleSeries, Interval, Millis, Symbol};
use candlewick_simulator::{PricePath, SimulationSettings};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

pub(crate) struct Boards {
    boards: BTreeMap<Symbol, Board>,
}

pub(crate) struct Board {
    pub(crate) symbol: Symbol,
    pub(crate) asset_type: AssetType,
    /// Series as given, finest first; never empty.
    pub(super) stored: Vec<CandleSeries>,
    resampled: Mutex<BTreeMap<Interval, Option<CandleSeries>>>,
    pub(super) tick: Option<f64>,
    pub(super) path: Option<PricePath>,
    pub(crate) chance: Chance,
    pub(crate) symbol_key: u64,
}

impl Boards {
    pub(crate) fn new(
        series: &[CandleSeries],
        settings: &SandboxSettings,
        simulation: &SimulationSettings,
        paths: &PricePaths,
    ) -> Result<Self, SandboxError> {
        let mut boards: BTreeMap<Symbol, Board> = BTreeMap::new();
        for one in series {
            let symbol = one.symbol();
            let board = match boards.entry(symbol) {
                std::collections::btree_map::Entry::Occupied(board) => board.into_mut(),
                std::collections::btree_map::Entry::Vacant(free) => free.insert(Board {
                    symbol,
                    asset_type: asset_type_in(settings, symbol)?,
                    stored: Vec::new(),
                    resampled: Mutex::default(),
                    tick: tick_of(simulation, symbol),
                    path: paths.get(&symbol).cloned(),
                    chance: Chance::new(settings.seed),
                    symbol_key: symbol_key(symbol),
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

    pub(crate) fn of(&self, pair: &str) -> Option<&Board> {
        self.boards.get(&Symbol::new(pair).ok()?)
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.boards.keys().map(Symbol::as_str).collect()
    }

    pub(crate) fn intervals(&self) -> Vec<Interval> {
        let usual = USUAL_INTERVALS.iter().filter_map(|text| text.parse().ok());
        let stored = self.boards.values().flat_map(|board| board.stored.iter().map(CandleSeries::interval));
        let known: BTreeSet<Interval> = usual.chain(stored).collect();
        let everywhere = |interval: &Interval| self.boards.values().all(|board| board.offers(*interval));
        known.into_iter().filter(everywhere).collect()
    }

    pub(crate) fn coarsest(&self) -> Millis {
        self.boards.values().map(Board::finest).max().unwrap_or(Millis::SECOND)
    }

    pub(crate) fn check_symbols(&self, symbols: impl Iterator<Item = Symbol>) -> Result<(), SandboxError> {
        let with_market: std::collections::BTreeSet<Symbol> = symbols.collect();
        let with_candles = self.boards.keys().copied().collect();
        match with_market.symmetric_difference(&with_candles).next() {
            None => Ok(()),
            Some(symbol) => Err(SandboxError::IncompleteMarket { symbol: *symbol }),
        }
    }
}

fn asset_type_in(settings: &SandboxSettings, symbol: Symbol) -> Result<AssetType, SandboxError> {
    let Some(text) = settings.asset_types.get(&symbol) else { return Ok(asset_type_of(symbol)) };
    text.parse().map_err(|_| SandboxError::InvalidSetting {
        key: "asset_types",
        value: text.clone(),
        allowed: "crypto, forex or otc",
    })
}

fn tick_of(simulation: &SimulationSettings, symbol: Symbol) -> Option<f64> {
    let set = simulation.ticks.get(&symbol).copied();
    set.or_else(|| known_market(symbol).map(|market| market.tick))
}

impl Board {
    /// Returns the candles of an interval, stored or resampled.
    ///
    /// `Ok(None)` if no candle is complete.
    pub(super) fn series_of(&self, interval: Interval) -> Result<Option<CandleSeries>, NotOffered> {
        if let Some(stored) = self.stored.iter().find(|one| one.interval() == interval) {
            return Ok(Some(stored.clone()));
        }
        let source = self.source_of(interval).ok_or(NotOffered)?;
        let mut resampled = self.resampled.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(resampled.entry(interval).or_insert_with(|| resample(source, interval).ok()).clone())
    }

    fn offers(&self, interval: Interval) -> bool {
        self.stored.iter().any(|one| one.interval() == interval) || self.source_of(interval).is_some()
    }

    fn source_of(&self, interval: Interval) -> Option<&CandleSeries> {
        let usual = USUAL_INTERVALS.iter().any(|text| text.parse() == Ok(interval));
        let divides = |one: &&CandleSeries| interval.length().is_aligned_to(one.interval().length());
        self.stored.iter().rev().find(divides).filter(|_| usual)
    }

    pub(super) fn finest(&self) -> Millis {
        self.stored.first().map_or(Millis::SECOND, |series| series.interval().length())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotOffered;
