//! Why an indicator cannot be made.

/// The longest period, as in TA-Lib.
const LONGEST_PERIOD: usize = 100_000;

/// The settings of an indicator are not usable.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum IndicatorError {
    /// A period is too short or too long.
    #[error("{indicator}: period {period} is outside {least} to {LONGEST_PERIOD}")]
    ChangePeriod {
        /// Which indicator.
        indicator: &'static str,
        /// What was asked for.
        period: usize,
        /// The shortest that has a meaning.
        least: usize,
    },
    /// The fast period is not below the slow one.
    #[error("{indicator}: fast period {fast} is not below slow period {slow}")]
    OrderPeriods {
        /// Which indicator.
        indicator: &'static str,
        /// The fast period.
        fast: usize,
        /// The slow period.
        slow: usize,
    },
    /// The bands' distance is not a finite number above zero.
    #[error("bollinger: {deviations} deviations is not a number above 0 and up to 1000")]
    ChangeDeviations {
        /// What was asked for.
        deviations: f64,
    },
}

/// `period`, when it lies in `least` to the longest.
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

#[cfg(test)]
mod tests {
    use crate::indicator::{Adx, Atr, Bollinger, Cci, Ema, IndicatorError, Macd, Rsi, Sma, Stochastic};

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
}
