//! Histograms with bins of equal width.

const MOST_BINS: f64 = 24.0;

/// Half-open range `[from, to)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bin {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bins {
    /// One bin is centered on 0: for few distinct values that include 0.
    AroundZero,
    /// Two bins meet at 0: for values whose sign matters.
    BesideZero,
    /// Bins start anywhere: for values close together and far from 0.
    Anywhere,
}

pub(crate) fn histogram(values: &[f64], bins: Bins) -> Vec<Bin> {
    let (low, high) =
        values.iter().fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(*value), high.max(*value)));
    if values.is_empty() || !(high - low).is_finite() {
        return Vec::new();
    }
    let range = match bins {
        Bins::Anywhere => high - low,
        // 0 is among what is shown.
        Bins::AroundZero | Bins::BesideZero => high.max(0.0) - low.min(0.0),
    };
    let width = round_width(range / MOST_BINS);
    let shift = if bins == Bins::AroundZero { 0.5 } else { 0.0 };
    // What binary fractions leave of decimal ones must not move a value into the bin before.
    let place = |value: f64| (value / width + shift + 1e-9).floor();
    let first = place(low);
    let mut counts = vec![0_u64; (place(high) - first) as usize + 1];
    for value in values {
        counts[(place(*value) - first) as usize] += 1;
    }
    let edge = |number: usize| (first + number as f64 - shift) * width;
    let bin = |(number, count)| Bin { from: edge(number), to: edge(number + 1), count };
    counts.into_iter().enumerate().map(bin).collect()
}

/// Rounds up to 1, 2 or 5 times a power of ten.
fn round_width(width: f64) -> f64 {
    if width <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(width.log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|step| step * power);
    steps.into_iter().find(|step| *step >= width * (1.0 - 1e-9)).unwrap_or(power * 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_value_at_an_edge_begins_a_bin() {
        let bins = histogram(&[-100.0, -100.0, 0.0, 85.0], Bins::AroundZero);
        let (first, last) = (bins[0], bins[bins.len() - 1]);
        assert_eq!((first.from, first.to, first.count), (-105.0, -95.0, 2));
        assert_eq!((last.from, last.to, last.count), (85.0, 95.0, 1));
        let bins = histogram(&[-0.3, 0.0, 0.3], Bins::BesideZero);
        let zero: Vec<&Bin> = bins.iter().filter(|bin| bin.from.abs() < 1e-12).collect();
        assert_eq!((zero.len(), zero[0].count), (1, 1));
    }

    #[test]
    fn no_value_has_no_bin_and_one_value_has_one() {
        assert!(histogram(&[], Bins::BesideZero).is_empty());
        assert!(histogram(&[f64::NAN], Bins::BesideZero).is_empty());
        for value in [-7.5, 0.0, 1e-9, 3e9] {
            assert_eq!(histogram(&[value], Bins::AroundZero).iter().map(|bin| bin.count).sum::<u64>(), 1);
        }
    }

    proptest! {
        #[test]
        fn every_value_is_counted_where_it_lies(values in proptest::collection::vec(-1e4_f64..1e4, 1..300)) {
            for bins in [Bins::AroundZero, Bins::BesideZero, Bins::Anywhere] {
                let found = histogram(&values, bins);
                prop_assert!(found.len() as f64 <= MOST_BINS + 2.0);
                for bin in &found {
                    let near = (bin.to - bin.from) * 1e-8;
                    let inside = |from: f64, to: f64| values.iter().filter(|value| **value >= from && **value < to).count() as u64;
                    prop_assert!(inside(bin.from + near, bin.to - near) <= bin.count);
                    prop_assert!(inside(bin.from - near, bin.to + near) >= bin.count);
                }
                prop_assert_eq!(found.iter().map(|bin| bin.count).sum::<u64>(), values.len() as u64);
            }
        }
    }
}
