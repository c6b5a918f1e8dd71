//! Maximum lifetime of a trade.

use crate::SimulationSettings;
use candlewick_sdk::{ExpirationType, Expiry, Millis};

impl SimulationSettings {
    /// Returns the longest possible time from a decision to its known settlement.
    ///
    /// Covers any latency and any arrival time within a candle.
    pub fn longest_trade(&self, expiry: Expiry) -> Millis {
        let recorded =
            self.recorded_latency.iter().flat_map(|recorded| recorded.samples_ms.values().flatten());
        let latency = recorded.copied().max().unwrap_or(self.latency_ms);
        let duration = expiry.close_type.duration();
        let open = match expiry.expiration_type {
            ExpirationType::Unstated | ExpirationType::TimeFixed => duration,
            ExpirationType::CandleClose => duration + self.cutoff_of(duration).min(duration),
            ExpirationType::NextCandle => duration + duration,
        };
        // An open is rounded up within its second.
        latency + Millis::SECOND + open + self.settle_delay_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Moments, OpenRounding, RecordedLatency};
    use candlewick_sdk::CloseType;
    use proptest::prelude::*;

    const KINDS: [ExpirationType; 4] = [
        ExpirationType::Unstated,
        ExpirationType::TimeFixed,
        ExpirationType::CandleClose,
        ExpirationType::NextCandle,
    ];

    #[test]
    fn it_is_latency_rounding_duration_and_delay() {
        let recorded = RecordedLatency {
            seed: 1,
            samples_ms: [("BTCUSDT".parse().unwrap(), vec![Millis::new(100), Millis::new(700)])].into(),
        };
        let usual = SimulationSettings::default();
        let measured = SimulationSettings { recorded_latency: Some(recorded), ..usual.clone() };
        // 2 s of latency, 1 s of rounding, 4 s of delay; a minute, and the cut-off or another minute.
        for (settings, kind, expected) in [
            (&usual, KINDS[0], 67_000),
            (&usual, KINDS[1], 67_000),
            (&usual, KINDS[2], 97_000),
            (&usual, KINDS[3], 127_000),
            (&measured, KINDS[1], 65_700),
        ] {
            let expiry = Expiry { close_type: "01:00".parse().unwrap(), expiration_type: kind };
            assert_eq!(settings.longest_trade(expiry).get(), expected, "{kind}");
        }
    }

    proptest! {
        #[test]
        fn no_trade_is_under_way_for_longer(
            decision in 0_i64..100_000_000,
            latency in 0_i64..9_000,
            seconds in 1_i64..4_000,
            kind in 0_usize..4,
            cutoff in prop::option::of(0_i64..90_000),
            is_rounded: bool,
        ) {
            let settings = SimulationSettings {
                latency_ms: Millis::new(latency),
                candle_close_cutoff_ms: cutoff.map(Millis::new),
                open_rounding: if is_rounded { OpenRounding::SecondEnd } else { OpenRounding::None },
                ..SimulationSettings::default()
            };
            let close_type = CloseType::new(Millis::from_seconds(seconds)).unwrap();
            let expiry = Expiry { close_type, expiration_type: KINDS[kind] };
            let moments = Moments::of(expiry, Millis::new(decision + latency), &settings);
            let known_at = moments.close_time + settings.settle_delay_ms;
            prop_assert!(known_at - Millis::new(decision) <= settings.longest_trade(expiry));
        }
    }
}
