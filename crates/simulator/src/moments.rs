//! Open, close and pricing times of a trade, and the maximum duration of a trade.

use crate::SimulationSettings;
use crate::path::PriceMoment;
use crate::settings::OpenRounding;
use candlewick_sdk::{ExpirationType, Expiry, Millis};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TradeTimes {
    /// Open time, at or after the arrival of the order.
    pub open_time: Millis,
    /// Close time, always after the open time.
    pub close_time: Millis,
    pub entry: PriceMoment,
    pub exit: PriceMoment,
}

impl TradeTimes {
    /// Computes the times of a trade from the arrival of the order (see `observed: expiry` in docs/api/observed.md).
    ///
    /// - `TIME_FIXED d` opens at the arrival, or at the end of the second of arrival. It closes `d` after the open.
    /// - `CANDLE_CLOSE d` opens in the same way. It closes at the end of the aligned candle of length `d` that contains
    ///   the open. If the time left in this candle is at most the cutoff, the trade closes one candle later.
    /// - `NEXT_CANDLE d` opens with the first aligned candle of length `d` that begins strictly after the arrival. It
    ///   closes at the end of this candle. The open time is not rounded.
    #[allow(clippy::inline_always, reason = "a call would stall: it reads the expiry in other pieces")]
    #[inline(always)]
    pub fn new(expiry: Expiry, arrival: Millis, settings: &SimulationSettings) -> Self {
        let duration = expiry.close_type.duration();
        let rounding = settings.open_rounding;
        match expiry.expiration_type {
            ExpirationType::Unstated | ExpirationType::TimeFixed => {
                let open_time = round_open_time(arrival, rounding);
                Self::from_times(open_time, open_time + duration, rounding)
            }
            ExpirationType::CandleClose => {
                let open_time = round_open_time(arrival, rounding);
                let mut close_time = open_time.floor_to(duration) + duration;
                if close_time - open_time <= settings.candle_close_cutoff(duration) {
                    close_time += duration;
                }
                Self::from_times(open_time, close_time, rounding)
            }
            ExpirationType::NextCandle => {
                let open_time = arrival.floor_to(duration) + duration;
                let close_time = open_time + duration;
                // The price of an entry at a candle's open is not affected by rounding.
                let exit = exit_price_moment(close_time, rounding);
                Self { open_time, close_time, entry: PriceMoment::Entry(open_time), exit }
            }
        }
    }

    fn from_times(open_time: Millis, close_time: Millis, rounding: OpenRounding) -> Self {
        let entry = match rounding {
            OpenRounding::SecondEnd => PriceMoment::SecondEntry(pricing_second(open_time)),
            OpenRounding::None => PriceMoment::Entry(open_time),
        };
        Self { open_time, close_time, entry, exit: exit_price_moment(close_time, rounding) }
    }
}

fn round_open_time(arrival: Millis, rounding: OpenRounding) -> Millis {
    match rounding {
        OpenRounding::SecondEnd => arrival.floor_to(Millis::SECOND) + Millis::new(999),
        OpenRounding::None => arrival,
    }
}

fn exit_price_moment(close_time: Millis, rounding: OpenRounding) -> PriceMoment {
    match rounding {
        OpenRounding::SecondEnd => PriceMoment::Exit(pricing_second(close_time)),
        OpenRounding::None => PriceMoment::Exit(close_time),
    }
}

/// Returns the second whose price applies. The last millisecond of a second already has the next second's price.
fn pricing_second(time: Millis) -> Millis {
    (time + Millis::new(1)).floor_to(Millis::SECOND)
}

impl SimulationSettings {
    /// Returns the longest possible time from an order's decision until its settlement is known.
    pub fn max_trade_duration(&self, expiry: Expiry) -> Millis {
        let recorded = self.recorded_latency.iter().flat_map(|all| all.samples_ms.values().flatten());
        let latency = recorded.copied().max().unwrap_or(self.latency_ms);
        let duration = expiry.close_type.duration();
        let open = match expiry.expiration_type {
            ExpirationType::Unstated | ExpirationType::TimeFixed => duration,
            ExpirationType::CandleClose => duration + self.candle_close_cutoff(duration).min(duration),
            ExpirationType::NextCandle => duration + duration,
        };
        // The open time may be rounded up by almost one second.
        latency + Millis::SECOND + open + self.settle_delay_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RecordedLatency;
    use ExpirationType::{CandleClose, NextCandle, TimeFixed, Unstated};
    use OpenRounding::{None as Exact, SecondEnd};
    use candlewick_sdk::CloseType;
    use proptest::prelude::*;

    const START: i64 = 1_641_038_400_000;

    fn at(offset: i64) -> Millis {
        Millis::new(START + offset)
    }

    fn expiry(expiration_type: ExpirationType, seconds: i64) -> Expiry {
        Expiry { close_type: CloseType::new(Millis::from_seconds(seconds)).unwrap(), expiration_type }
    }

    fn moments(kind: ExpirationType, seconds: i64, arrival: i64, rounding: OpenRounding) -> TradeTimes {
        let settings = SimulationSettings { open_rounding: rounding, ..SimulationSettings::default() };
        TradeTimes::new(expiry(kind, seconds), at(arrival), &settings)
    }

    /// `expected` is the open and close time relative to the start of a minute.
    fn check(kind: ExpirationType, seconds: i64, arrival: i64, rounding: OpenRounding, expected: (i64, i64)) {
        let made = moments(kind, seconds, arrival, rounding);
        let offsets = (made.open_time.get() - START, made.close_time.get() - START);
        assert_eq!(offsets, expected, "{kind} of {seconds} s, arrival {arrival}, {rounding:?}");
    }

    #[test]
    fn order_opens_at_the_end_of_its_arrival_second() {
        check(TimeFixed, 5, 2_000, SecondEnd, (2_999, 7_999));
        check(TimeFixed, 5, 2_999, SecondEnd, (2_999, 7_999));
        check(TimeFixed, 5, 3_000, SecondEnd, (3_999, 8_999));
        check(Unstated, 5, 3_000, SecondEnd, (3_999, 8_999));
        check(CandleClose, 60, 29_000, SecondEnd, (29_999, 60_000));
        check(CandleClose, 60, 30_000, SecondEnd, (30_999, 120_000));
        check(NextCandle, 60, 59_999, SecondEnd, (60_000, 120_000));
        check(NextCandle, 60, 60_000, SecondEnd, (120_000, 180_000));
    }

    #[test]
    fn durations_below_a_minute_have_no_cutoff_and_longer_ones_do() {
        check(CandleClose, 60, 29_999, Exact, (29_999, 60_000));
        check(CandleClose, 60, 30_000, Exact, (30_000, 120_000));
        check(CandleClose, 30, 29_999, Exact, (29_999, 30_000));
        check(CandleClose, 30, 30_000, Exact, (30_000, 60_000));
        check(CandleClose, 5, 4_000, SecondEnd, (4_999, 5_000));
        check(CandleClose, 300, 269_999, Exact, (269_999, 300_000));
        check(CandleClose, 300, 270_000, Exact, (270_000, 600_000));
    }

    #[test]
    fn configured_cutoff_applies_to_every_duration() {
        let settings = SimulationSettings {
            open_rounding: Exact,
            candle_close_cutoff_ms: Some(Millis::new(1_000)),
            ..SimulationSettings::default()
        };
        for (seconds, arrival, close) in
            [(30, 28_999, 30_000), (30, 29_000, 60_000), (60, 58_999, 60_000), (60, 59_000, 120_000)]
        {
            let made = TradeTimes::new(expiry(CandleClose, seconds), at(arrival), &settings);
            assert_eq!(made.close_time, at(close), "{seconds} s from {arrival}");
        }
    }

    proptest! {
        #[test]
        fn trade_opens_at_or_after_its_arrival_and_closes_later(
            kind in prop::sample::select(KINDS.to_vec()),
            rounding in prop::sample::select(vec![SecondEnd, Exact]),
            seconds in 1_i64..=86_400,
            arrival in -100_000_000_i64..100_000_000,
        ) {
            let made = moments(kind, seconds, arrival, rounding);
            let duration = Millis::from_seconds(seconds);
            prop_assert!(made.open_time >= at(arrival));
            prop_assert!(made.close_time > made.open_time);
            match kind {
                Unstated | TimeFixed => prop_assert_eq!(made.close_time - made.open_time, duration),
                CandleClose => {
                    prop_assert!(made.close_time.is_aligned_to(duration));
                    prop_assert!(made.close_time - made.open_time < duration + duration);
                }
                NextCandle => {
                    prop_assert!(made.open_time.is_aligned_to(duration) && made.open_time > at(arrival));
                    prop_assert!(made.open_time - at(arrival) <= duration);
                    prop_assert_eq!(made.close_time - made.open_time, duration);
                }
            }
        }
    }

    const KINDS: [ExpirationType; 4] = [Unstated, TimeFixed, CandleClose, NextCandle];

    #[test]
    fn longest_trade_adds_latency_rounding_duration_and_delay() {
        let recorded = RecordedLatency {
            seed: 1,
            samples_ms: [("BTCUSDT".parse().unwrap(), vec![Millis::new(100), Millis::new(700)])].into(),
        };
        let usual = SimulationSettings::default();
        let measured = SimulationSettings { recorded_latency: Some(recorded), ..usual.clone() };
        // Latency 2 s, rounding 1 s and settle delay 4 s, plus a minute, plus the cutoff or one more minute.
        for (settings, kind, expected) in [
            (&usual, KINDS[0], 67_000),
            (&usual, KINDS[1], 67_000),
            (&usual, KINDS[2], 97_000),
            (&usual, KINDS[3], 127_000),
            (&measured, KINDS[1], 65_700),
        ] {
            let expiry = Expiry { close_type: "01:00".parse().unwrap(), expiration_type: kind };
            assert_eq!(settings.max_trade_duration(expiry).get(), expected, "{kind}");
        }
    }

    proptest! {
        #[test]
        fn no_trade_lasts_longer_than_longest_trade(
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
            let moments = TradeTimes::new(expiry, Millis::new(decision + latency), &settings);
            let known_at = moments.close_time + settings.settle_delay_ms;
            prop_assert!(known_at - Millis::new(decision) <= settings.max_trade_duration(expiry));
        }
    }
}
