//! Tick size of a symbol: its smallest price step.

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tick {
    size: f64,
    /// Number of steps in 1.0, `None` if it is not an integer.
    steps_per_one: Option<f64>,
}

impl Tick {
    pub(crate) fn new(size: f64) -> Option<Self> {
        if !(size.is_finite() && size > 0.0) {
            return None;
        }
        let inverse = (1.0 / size).round();
        let steps_per_one = (inverse >= 1.0 && 1.0 / inverse == size).then_some(inverse);
        Some(Self { size, steps_per_one })
    }

    /// Rounds to the nearest multiple of the step, halves up.
    ///
    /// If 1.0 is an integer number of steps, the multiple is computed by one division. It is then
    /// bit for bit the number that the price's decimal text parses to (123,457 steps of 0.00001 are
    /// 1.23457), so that a draw against a candle's close is recognized.
    #[inline]
    pub(crate) fn round(self, price: f64) -> f64 {
        match self.steps_per_one {
            Some(steps) => (price * steps).round() / steps,
            None => (price / self.size).round() * self.size,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(size: f64, price: f64, expected: f64) {
        assert_eq!(Tick::new(size).map(|tick| tick.round(price)), Some(expected));
    }

    #[test]
    fn prices_go_to_the_nearest_step() {
        check(0.01, 1.234, 1.23);
        check(0.01, 1.236, 1.24);
        check(0.25, 10.125, 10.25);
        check(0.25, 10.12, 10.0);
        check(5.0, 42_717.4, 42_715.0);
        check(0.00001, 1.234_567_8, 1.23457);
    }

    #[test]
    fn a_step_that_is_not_above_zero_is_none() {
        for size in [0.0, -0.01, f64::NAN, f64::INFINITY] {
            assert_eq!(Tick::new(size), None);
        }
    }

    proptest! {
        #[test]
        fn a_rounded_price_is_what_its_decimal_text_parses_to(steps in 1_u32..100_000_000, decimals in 0_usize..8) {
            let size: f64 = format!("1e-{decimals}").parse().unwrap();
            let price: f64 = format!("{steps}e-{decimals}").parse().unwrap();
            let tick = Tick::new(size).unwrap();
            prop_assert_eq!(tick.round(price + size * 0.3), price);
            prop_assert_eq!(tick.round(price - size * 0.3), price);
        }
    }
}
