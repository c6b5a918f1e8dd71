//! Errors of the statistics functions.

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StatisticsError {
    #[error("there are no decided trades yet")]
    NoTrades,
    #[error("{won} wins are more than {trades} trades")]
    MoreWonThanTrades { won: u64, trades: u64 },
    #[error("{trades} trades are too many: use at most {most}")]
    TooManyTrades { trades: u64, most: u64 },
    #[error("{what} {value} is not a probability from 0 to 1")]
    NotAProbability { what: &'static str, value: f64 },
    #[error("confidence {value} is not between 0 and 1: use 0.95, for example")]
    NotAConfidence { value: f64 },
    #[error("payout fraction {value} is not above 0: 80 percent is 0.8")]
    NotAPayout { value: f64 },
    #[error("error rate {value} is not between 0 and 1: use 0.05, for example")]
    NotAnErrorRate { value: f64 },
    #[error("edge {value} is not a return per unit of stake above 0 and up to 1: use 0.04, for example")]
    NotAnEdge { value: f64 },
    #[error("stake {value} is not above 0")]
    NotAStake { value: f64 },
    #[error("a ladder cannot have {levels} levels: use 1 to 64")]
    NotALadder { levels: u32 },
    #[error("{what}: {found} are too few, use at least {needed}")]
    TooFew { what: &'static str, found: usize, needed: usize },
    #[error("{what}: {value} is not valid")]
    NotANumberFor { what: &'static str, value: f64 },
    #[error("{what}: {found} values instead of {expected}")]
    UnequalLengths { what: &'static str, found: usize, expected: usize },
    #[error("the amount or payout is too large: use at most {most} of the smallest unit")]
    TooMuchMoney { most: u64 },
}

pub(crate) fn check_probability(what: &'static str, value: f64) -> Result<f64, StatisticsError> {
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err(StatisticsError::NotAProbability { what, value })
    }
}

pub(crate) fn check_numbers(what: &'static str, values: &[f64], least: usize) -> Result<(), StatisticsError> {
    if values.len() < least {
        return Err(StatisticsError::TooFew { what, found: values.len(), needed: least });
    }
    match values.iter().find(|value| !value.is_finite()) {
        Some(value) => Err(StatisticsError::NotANumberFor { what, value: *value }),
        None => Ok(()),
    }
}

pub(crate) fn check_error_rate(value: f64) -> Result<f64, StatisticsError> {
    if value > 0.0 && value < 1.0 { Ok(value) } else { Err(StatisticsError::NotAnErrorRate { value }) }
}

pub(crate) fn check_confidence(value: f64) -> Result<f64, StatisticsError> {
    if value > 0.0 && value < 1.0 { Ok(value) } else { Err(StatisticsError::NotAConfidence { value }) }
}

pub(crate) fn check_payout(value: f64) -> Result<f64, StatisticsError> {
    if value.is_finite() && value > 0.0 { Ok(value) } else { Err(StatisticsError::NotAPayout { value }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_lie_from_0_to_1_and_payouts_above_0() {
        for value in [0.0, 0.5, 1.0] {
            assert_eq!(check_probability("p", value), Ok(value));
        }
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1e-300, 1.0 + f64::EPSILON] {
            assert!(check_probability("p", value).is_err(), "{value}");
        }
        assert_eq!(check_payout(0.8), Ok(0.8));
        for value in [f64::NAN, f64::INFINITY, 0.0, -0.8] {
            assert!(check_payout(value).is_err(), "{value}");
        }
    }

    #[test]
    fn error_rates_and_confidences_lie_between_0_and_1() {
        for value in [1e-300, 0.05, 1.0 - f64::EPSILON] {
            assert_eq!((check_error_rate(value), check_confidence(value)), (Ok(value), Ok(value)));
        }
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.5, 0.0, 1.0, 1.5] {
            assert!(check_error_rate(value).is_err() && check_confidence(value).is_err(), "{value}");
        }
    }

    #[test]
    fn rejects_too_few_and_infinite_numbers() {
        for needed in [1, 2] {
            assert_eq!(check_numbers("n", &[1.0, -2.0], needed), Ok(()));
        }
        let few = StatisticsError::TooFew { what: "n", found: 2, needed: 3 };
        assert_eq!(check_numbers("n", &[1.0, -2.0], 3), Err(few));
        let value = f64::INFINITY;
        let odd = StatisticsError::NotANumberFor { what: "n", value };
        assert_eq!(check_numbers("n", &[1.0, value], 2), Err(odd));
    }
}
