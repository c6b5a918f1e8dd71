//! Errors in the settings of an indicator.

use crate::Millis;

/// Maximum period, as in TA-Lib.
const LONGEST_PERIOD: usize = 100_000;

/// Invalid settings of an indicator.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum IndicatorError {
    /// A period is too short or too long.
    #[error("{indicator}: period {period} is outside {least} to {LONGEST_PERIOD}")]
    ChangePeriod {
        /// Name of the indicator.
        indicator: &'static str,
        /// Requested period.
        period: usize,
        /// Minimum period.
        least: usize,
    },
    /// The fast period is not shorter than the slow one.
    #[error("{indicator}: fast period {fast} is not below slow period {slow}")]
    OrderPeriods {
        /// Name of the indicator.
        indicator: &'static str,
        /// Fast period.
        fast: usize,
        /// Slow period.
        slow: usize,
    },
    /// The distance of the bands is out of range.
    #[error("bollinger: {deviations} deviations is not a number above 0 and up to 1000")]
    ChangeDeviations {
        /// Requested distance in standard deviations.
        deviations: f64,
    },
    /// The distance of the channel lines is out of range.
    #[error("{indicator}: multiple {multiple} is not a number above 0 and up to 1000")]
    ChangeMultiple {
        /// Name of the indicator.
        indicator: &'static str,
        /// Requested multiple of the average range.
        multiple: f64,
    },
    /// The acceleration of a stop is out of range.
    #[error("parabolic sar: step {step} and limit {limit} are not above 0, in this order and up to 1")]
    ChangeAcceleration {
        /// Requested step.
        step: f64,
        /// Requested limit.
        limit: f64,
    },
    /// A session starts outside a day, or lasts longer than one.
    #[error(
        "session range: start {start} ms is not from 0 to a day, or length {length} ms not above 0 and up to a day"
    )]
    ChangeSession {
        /// Start of the session, from midnight UTC.
        start: Millis,
        /// Length of the session.
        length: Millis,
    },
}

pub(super) fn checked_period(
    indicator: &'static str,
    period: usize,
    least: usize,
) -> Result<usize, IndicatorError> {
    if (least..=LONGEST_PERIOD).contains(&period) {
        Ok(period)
    } else {
        Err(IndicatorError::ChangePeriod { indicator, period, least })
    }
}

pub(super) fn checked_multiple(indicator: &'static str, multiple: f64) -> Result<f64, IndicatorError> {
    if multiple > 0.0 && multiple <= 1_000.0 {
        Ok(multiple)
    } else {
        Err(IndicatorError::ChangeMultiple { indicator, multiple })
    }
}

#[cfg(test)]
mod tests {
    use crate::Millis;
    use crate::indicator::{
        Adx, Atr, Bollinger, Cci, Donchian, Ema, Hull, IndicatorError, Keltner, Macd, ParabolicSar, Pivots,
        Rsi, SessionRange, Sma, Stochastic, Supertrend, WilliamsR, Wma, ZScore,
    };

    fn check<I>(made: Result<I, IndicatorError>, expected: Result<(), &str>) {
        assert_eq!(made.map(|_| ()).map_err(|error| error.to_string()), expected.map_err(str::to_owned));
    }

    #[test]
    fn periods_without_a_meaning_are_refused() {
        check(Sma::new(1), Ok(()));
        check(Sma::new(0), Err("sma: period 0 is outside 1 to 100000"));
        check(Ema::new(100_001), Err("ema: period 100001 is outside 1 to 100000"));
        check(Rsi::new(1), Err("rsi: period 1 is outside 2 to 100000"));
        check(Atr::new(0), Err("atr: period 0 is outside 1 to 100000"));
        check(Adx::new(usize::MAX), Err("adx: period 18446744073709551615 is outside 2 to 100000"));
        check(Cci::new(1), Err("cci: period 1 is outside 2 to 100000"));
        check(Stochastic::new(14, 0, 3), Err("stochastic: period 0 is outside 1 to 100000"));
        check(Wma::new(0), Err("wma: period 0 is outside 1 to 100000"));
        check(Hull::new(1), Err("hull: period 1 is outside 2 to 100000"));
        check(Donchian::new(0), Err("donchian: period 0 is outside 1 to 100000"));
        check(WilliamsR::new(0), Err("williams %r: period 0 is outside 1 to 100000"));
        check(ZScore::new(1), Err("z-score: period 1 is outside 2 to 100000"));
        check(Keltner::new(20, 0, 2.0), Err("keltner: period 0 is outside 1 to 100000"));
        check(Supertrend::new(0, 3.0), Err("supertrend: period 0 is outside 1 to 100000"));
        check(Macd::new(26, 26, 9), Err("macd: fast period 26 is not below slow period 26"));
    }

    #[test]
    fn deviations_without_a_meaning_are_refused() {
        check(Bollinger::new(20, 2.5), Ok(()));
        check(Bollinger::new(20, 0.0), Err("bollinger: 0 deviations is not a number above 0 and up to 1000"));
        check(
            Bollinger::new(20, f64::NAN),
            Err("bollinger: NaN deviations is not a number above 0 and up to 1000"),
        );
    }

    #[test]
    fn distances_and_steps_without_a_meaning_are_refused() {
        check(Keltner::new(20, 10, -2.0), Err("keltner: multiple -2 is not a number above 0 and up to 1000"));
        check(
            Supertrend::new(10, f64::NAN),
            Err("supertrend: multiple NaN is not a number above 0 and up to 1000"),
        );
        check(ParabolicSar::new(0.02, 1.0), Ok(()));
        for (step, limit) in [(0.0, 0.2), (0.3, 0.2), (0.1, 1.5)] {
            let refused = format!(
                "parabolic sar: step {step} and limit {limit} are not above 0, in this order and up to 1"
            );
            check(ParabolicSar::new(step, limit), Err(&refused));
        }
    }

    #[test]
    fn sessions_that_do_not_fit_a_day_are_refused() {
        let (night, more) = (Millis::new(-1), Millis::DAY + Millis::SECOND);
        check(SessionRange::new(Millis::ZERO, Millis::DAY), Ok(()));
        check(Pivots::new(Millis::DAY - Millis::SECOND), Ok(()));
        for (start, length) in [
            (night, Millis::HOUR),
            (Millis::DAY, Millis::HOUR),
            (Millis::HOUR, more),
            (Millis::HOUR, Millis::ZERO),
        ] {
            let refused = format!(
                "session range: start {start} ms is not from 0 to a day, or length {length} ms not above 0 and up to a day"
            );
            check(SessionRange::new(start, length), Err(&refused));
        }
    }
}
