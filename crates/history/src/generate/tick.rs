//! Prices as whole numbers of ticks.

/// Tick size as `numerator / denominator`, the denominator a power of ten.
///
/// A price is one division of two exact integers, so it is the double nearest to its decimal form
/// and prints without artefacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tick {
    numerator: u64,
    denominator: u64,
}

const MAX_DECIMALS: u32 = 8;
const LARGEST: f64 = 1e6;

impl Tick {
    /// Parses a tick size, `None` unless positive and with at most eight decimals.
    pub(super) fn from_step(step: f64) -> Option<Self> {
        if !(step > 0.0 && step <= LARGEST) {
            return None;
        }
        (0..=MAX_DECIMALS).find_map(|decimals| {
            let denominator = 10_u64.pow(decimals);
            let numerator = (step * denominator as f64).round();
            (numerator >= 1.0 && numerator / denominator as f64 == step)
                .then_some(Self { numerator: numerator as u64, denominator })
        })
    }

    pub(super) fn ticks_of(self, price: f64) -> i64 {
        (price * self.denominator as f64 / self.numerator as f64).round() as i64
    }

    pub(super) fn price_of(self, ticks: i64) -> f64 {
        (ticks as f64 * self.numerator as f64) / self.denominator as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_print_without_artefacts() {
        for (step, ticks, printed) in [
            (0.01, 9_500_003, "95000.03"),
            (0.000_01, 117_003, "1.17003"),
            (0.25, 3, "0.75"),
            (0.1, 3, "0.3"),
            (5.0, 19_001, "95005"),
            (1e-8, 7, "0.00000007"),
        ] {
            let tick = Tick::from_step(step).unwrap();
            let price = tick.price_of(ticks);
            assert_eq!((price.to_string().as_str(), tick.ticks_of(price)), (printed, ticks));
        }
    }

    #[test]
    fn steps_that_are_not_decimal_are_refused() {
        for step in [0.0, -0.01, f64::NAN, f64::INFINITY, 1e-9, 1.0 / 3.0, 1e7] {
            assert_eq!(Tick::from_step(step), None, "{step}");
        }
    }
}
