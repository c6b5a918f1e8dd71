//! Nominal close time of a trade, computed from its order time and expiry, ignoring latency.

use candlewick_sdk::{ExpirationType, Expiry, Millis};

/// Time before a candle close from which a `CANDLE_CLOSE` trade of 60 s or more closes with the next candle.
const CANDLE_CLOSE_CUTOFF: Millis = Millis::from_seconds(30);

pub(crate) fn nominal_close(expiry: Expiry, at: Millis) -> Millis {
    let duration = expiry.close_type.duration();
    // Computed only if needed, because the division is expensive.
    let next_candle = || at.floor_to(duration) + duration;
    match expiry.expiration_type {
        ExpirationType::Unstated | ExpirationType::TimeFixed => at + duration,
        ExpirationType::CandleClose => {
            let cutoff = if duration >= Millis::MINUTE { CANDLE_CLOSE_CUTOFF } else { Millis::ZERO };
            let next = next_candle();
            if next - at <= cutoff { next + duration } else { next }
        }
        ExpirationType::NextCandle => next_candle() + duration,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nominal_close_depends_on_the_expiration_type() {
        use ExpirationType::{CandleClose, NextCandle, TimeFixed};
        for (expiration_type, at, expected) in [
            (TimeFixed, 1_500, 61_500),
            (CandleClose, 0, 60_000),
            (CandleClose, 29_999, 60_000),
            (CandleClose, 30_000, 120_000),
            (NextCandle, 0, 120_000),
            (NextCandle, 59_999, 120_000),
        ] {
            let expiry = Expiry { close_type: "01:00".parse().unwrap(), expiration_type };
            assert_eq!(
                nominal_close(expiry, Millis::new(at)),
                Millis::new(expected),
                "{expiration_type} {at}"
            );
        }
    }
}
