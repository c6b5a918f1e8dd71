//! Order latencies, drawn at random from latencies that a live session recorded.

use crate::SimulatorError;
use candlewick_sdk::{Millis, Symbol};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Recorded latencies from an order's decision to its arrival at the venue, in milliseconds.
///
/// Each order draws one latency of its symbol with equal probability. The draw depends only on the seed and the order
/// number, so repeated runs have the same latencies. A symbol without latencies draws from all symbols.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct RecordedLatency {
    /// Seed of the random draws.
    #[serde(default)]
    pub seed: u64,
    /// Latencies by symbol, each from 0 to 86,400,000 (one day). At least one latency is required.
    #[schemars(with = "BTreeMap<String, Vec<i64>>")]
    pub samples_ms: BTreeMap<Symbol, Vec<Millis>>,
}

impl RecordedLatency {
    pub(crate) fn check(&self) -> Result<(), SimulatorError> {
        let problem = |value: String, allowed| SimulatorError::ChangeSetting {
            key: "recorded_latency.samples_ms".to_owned(),
            value,
            allowed,
        };
        if self.samples().next().is_none() {
            return Err(problem("nothing".to_owned(), "at least one latency"));
        }
        match self.samples().find(|latency| !(Millis::ZERO..=Millis::DAY).contains(latency)) {
            Some(latency) => Err(problem(latency.to_string(), "0 to 86400000")),
            None => Ok(()),
        }
    }

    pub(crate) fn draw(&self, symbol: Symbol, number: u64) -> Millis {
        let own = self.samples_ms.get(&symbol).filter(|own| !own.is_empty());
        let count = own.map_or_else(|| self.samples().count(), Vec::len);
        // The high half of the product distributes 64 bits evenly over any count.
        let place = ((u128::from(mix(self.seed, number)) * count as u128) >> 64) as usize;
        let drawn = match own {
            Some(own) => own.get(place).copied(),
            None => self.samples().nth(place),
        };
        drawn.unwrap_or(Millis::ZERO)
    }

    pub fn median(&self) -> Millis {
        let mut sorted: Vec<Millis> = self.samples().collect();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or(Millis::ZERO)
    }

    fn samples(&self) -> impl Iterator<Item = Millis> {
        self.samples_ms.values().flatten().copied()
    }
}

/// Applies the `SplitMix64` finalizer (Steele, Lea and Flood 2014). Adjacent numbers give unrelated results.
const fn mix(seed: u64, number: u64) -> u64 {
    let mut bits = seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(seed: u64, rows: &[(&str, &[i64])]) -> RecordedLatency {
        let millis = |values: &[i64]| values.iter().copied().map(Millis::new).collect();
        let samples_ms = rows.iter().map(|(symbol, values)| (symbol.parse().unwrap(), millis(values)));
        RecordedLatency { seed, samples_ms: samples_ms.collect() }
    }

    #[test]
    fn draws_latencies_of_the_symbol_with_equal_probability() {
        let recorded = recorded(7, &[("BTCUSDT", &[100, 200, 300, 400]), ("ETHUSDT", &[9_000])]);
        let mut counts = BTreeMap::<i64, u32>::new();
        for number in 0..40_000 {
            *counts.entry(recorded.draw("BTCUSDT".parse().unwrap(), number).get()).or_default() += 1;
        }
        assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [100, 200, 300, 400]);
        // Each latency is expected 10,000 times, with a standard deviation of 87.
        assert!(counts.values().all(|count| count.abs_diff(10_000) < 4 * 87), "{counts:?}");
    }

    #[test]
    fn symbol_without_latencies_draws_from_all() {
        let recorded = recorded(7, &[("BTCUSDT", &[100]), ("ETHUSDT", &[900])]);
        let drawn: std::collections::BTreeSet<i64> =
            (0..64).map(|number| recorded.draw("SOLUSDT".parse().unwrap(), number).get()).collect();
        assert_eq!(drawn.into_iter().collect::<Vec<_>>(), [100, 900]);
    }

    #[test]
    fn median_is_the_lower_middle_latency() {
        assert_eq!(recorded(0, &[("A", &[5, 1]), ("B", &[9])]).median(), Millis::new(5));
        assert_eq!(recorded(0, &[("A", &[5, 1]), ("B", &[9, 2])]).median(), Millis::new(5));
    }

    #[test]
    fn mix_matches_splitmix64() {
        // These are the first three outputs of the reference generator, starting from state 0.
        let expected = [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f];
        assert_eq!([1, 2, 3].map(|number| mix(0, number)), expected);
        // The seed is combined by XOR before any mixing. This checks the first and the second state.
        assert_eq!(mix(0x9e37_79b9_7f4a_7c15 ^ 0x3c6e_f372_fe94_f82a, 1), expected[1]);
    }

    #[test]
    fn rejects_missing_and_negative_latencies() {
        let checked = |rows: &[(&str, &[i64])]| recorded(0, rows).check().map_err(|error| error.to_string());
        let problem = |text: &str| Err(format!("[simulation] recorded_latency.samples_ms = {text}"));
        assert_eq!(checked(&[("A", &[0, 86_400_000])]), Ok(()));
        assert_eq!(checked(&[("A", &[])]), problem("nothing: use at least one latency"));
        assert_eq!(checked(&[("A", &[3, -1])]), problem("-1: use 0 to 86400000"));
    }
}
