//! The balance as a sparkline.

use crate::analysis::EquityPoint;

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const WIDTH: usize = 48;

pub(crate) fn sparkline(curve: &[EquityPoint]) -> Option<String> {
    let width = curve.len().min(WIDTH);
    let last_of = |column: usize| curve[((column + 1) * curve.len()).div_ceil(width) - 1].balance;
    let values: Vec<f64> = (0..width).map(last_of).collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let block = |value: &f64| {
        let share = (value - low) / (high - low);
        BLOCKS[((share * BLOCKS.len() as f64) as usize).min(BLOCKS.len() - 1)]
    };
    (high > low).then(|| values.iter().map(block).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::Millis;

    fn check(balances: &[f64], expected: Option<&str>) {
        let curve: Vec<EquityPoint> =
            balances.iter().map(|balance| EquityPoint { at: Millis::ZERO, balance: *balance }).collect();
        assert_eq!(sparkline(&curve).as_deref(), expected, "{balances:?}");
    }

    #[test]
    fn the_lowest_and_the_highest_fill_the_line() {
        check(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], Some("▁▂▃▄▅▆▇█"));
        check(&[10.0, 5.0, 20.0], Some("▃▁█"));
        check(&[10.0, 10.0], None);
        check(&[10.0], None);
        check(&[], None);
    }

    #[test]
    fn a_long_curve_is_thinned_to_its_ends() {
        let rising: Vec<EquityPoint> =
            (0..500).map(|step| EquityPoint { at: Millis::ZERO, balance: f64::from(step) }).collect();
        let line: Vec<char> = sparkline(&rising).unwrap().chars().collect();
        assert_eq!((line.len(), line[0], line[WIDTH - 1]), (WIDTH, '▁', '█'));
        assert!(line.is_sorted());
    }
}
