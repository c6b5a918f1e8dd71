//! Market data as of a moment of venue time.

mod aggregate;
mod board;
mod bridge;
mod second;

pub(crate) use aggregate::{Forming, Window};
pub(crate) use board::{Board, Boards};
pub(crate) use second::Second;

use candlewick_sdk::{CandleSeries, Symbol};
use candlewick_simulator::{Market, PricePath, SimulationSettings, SimulatorError};
use std::collections::BTreeMap;

pub(crate) type PricePaths = BTreeMap<Symbol, PricePath>;

pub(crate) fn paths_of(
    markets: &[Market],
    simulation: &SimulationSettings,
) -> Result<PricePaths, SimulatorError> {
    markets.iter().map(|market| Ok((market.symbol(), PricePath::new(market.clone(), simulation)?))).collect()
}

/// Builds the simulator's markets from the candle series.
///
/// The finest series of a symbol is the detail and the next longer one the price series. A symbol
/// with one series has no detail. Longer series are only served as candles.
pub fn markets_of(series: &[CandleSeries]) -> Vec<Market> {
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
