//! A curve of many points, drawn with few: of each stretch its first, lowest, highest and last point stay.

/// The places of the points that stay: all of few, of many at most about `most`.
pub(super) fn thinned(values: &[f64], most: usize) -> Vec<usize> {
    if values.len() <= most {
        return (0..values.len()).collect();
    }
    let stretch = values.len().div_ceil((most / 4).max(1));
    let mut kept = Vec::with_capacity(most);
    for (number, part) in values.chunks(stretch).enumerate() {
        let from = number * stretch;
        let place_of = |is_beyond: fn(f64, f64) -> bool| {
            let best =
                |best: usize, place: usize| if is_beyond(part[place], part[best]) { place } else { best };
            from + (0..part.len()).fold(0, best)
        };
        let mut places = [from, place_of(|a, b| a < b), place_of(|a, b| a > b), from + part.len() - 1];
        places.sort_unstable();
        kept.extend(places);
    }
    kept.dedup();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ends_and_extremes_stay(values in proptest::collection::vec(-1e6_f64..1e6, 1..5_000), most in 4_usize..800) {
            let kept = thinned(&values, most);
            prop_assert!(kept.len() <= most, "{} of {most}", kept.len());
            prop_assert!(kept.is_sorted_by(|a, b| a < b));
            prop_assert_eq!((kept[0], kept[kept.len() - 1]), (0, values.len() - 1));
            for extreme in [f64::min, f64::max] {
                let of_all = values.iter().copied().reduce(extreme);
                let of_kept = kept.iter().map(|place| values[*place]).reduce(extreme);
                prop_assert_eq!(of_all, of_kept);
            }
        }
    }
}
