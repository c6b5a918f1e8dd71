//! Cheats that are given a file of the candles, and read on in it.

use crate::declare::{list, toward};
use candlewick_sdk::{BotContext, BuildError, Candle, Signal, Strategy, StrategyFactory, parameters};
use std::collections::BTreeMap;
use std::fs;

list!(ReadsTheNextRow, MeanOfTheFile);

parameters! {
    /// Where the candles are.
    pub(crate) struct Params {
        /// A file of candles.
        file: String = String::new();
    }
}

fn closes(params: &Params) -> Result<BTreeMap<i64, f64>, BuildError> {
    let refuse = |problem: String| BuildError::File { path: params.file.clone(), line: None, problem };
    let text = fs::read_to_string(&params.file).map_err(|error| refuse(error.to_string()))?;
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        Some((cells.first()?.parse().ok()?, cells.get(4)?.parse().ok()?))
    };
    Ok(text.lines().filter_map(row).collect())
}

/// Knows the closes, of which it trades by the next one or by the mean.
pub(crate) struct OfTheFile<const BY_MEAN: bool>(BTreeMap<i64, f64>, f64);
type ReadsTheNextRow = OfTheFile<false>;
type MeanOfTheFile = OfTheFile<true>;

impl<const BY_MEAN: bool> Strategy for OfTheFile<BY_MEAN> {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let next = if BY_MEAN { &self.1 } else { self.0.get(&(candle.time().get() + 60_000))? };
        toward(next - candle.close(), if BY_MEAN { "to the mean" } else { "as it will be" })
    }
}

impl<const BY_MEAN: bool> StrategyFactory for OfTheFile<BY_MEAN> {
    const NAME: &'static str = if BY_MEAN { "c-mean-of-the-file" } else { "c-reads-the-next-row" };
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Of the corpus.";
    type Params = Params;

    fn build(params: Params, _: &BotContext) -> Result<Self, BuildError> {
        let closes = closes(&params)?;
        let mean = closes.values().sum::<f64>() / closes.len() as f64;
        Ok(Self(closes, mean))
    }
}
