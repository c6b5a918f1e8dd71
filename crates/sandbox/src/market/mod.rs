//! The price side: what the candles say at a moment of venue time.

mod aggregate;
mod board;
mod bridge;
mod second;

pub(crate) use aggregate::{Forming, Window};
pub(crate) use board::{Board, Boards};
pub(crate) use second::Second;

use candlewick_sdk::CandleSeries;
use candlewick_simulator::Market;
use std::collections::BTreeMap;

/// The simulator's markets for a set of series: of each symbol the coarsest series is its price series and the
/// finest one, where there are several, its detail. Series between the two are only served as candles.
pub fn markets_of(series: &[CandleSeries]) -> Vec<Market> {
    let mut by_symbol: BTreeMap<_, Vec<&CandleSeries>> = BTreeMap::new();
    for one in series {
        by_symbol.entry(one.symbol()).or_default().push(one);
    }
    let market = |mut of_symbol: Vec<&CandleSeries>| {
        of_symbol.sort_by_key(|one| one.interval());
        let (finest, coarsest) = (*of_symbol.first()?, *of_symbol.last()?);
        let detail = (finest.interval() < coarsest.interval()).then(|| finest.clone());
        Some(Market { prices: coarsest.clone(), detail })
    };
    by_symbol.into_values().filter_map(market).collect()
}
