//! Cumulative curve in one line of text.

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const MAX_COLUMNS: usize = 60;

pub(super) fn running_sum(numbers: impl IntoIterator<Item = f64>) -> Option<String> {
    let sums: Vec<f64> = (numbers.into_iter())
        .scan(0.0, |sum, number| {
            *sum += number;
            Some(*sum)
        })
        .collect();
    if sums.len() < 2 {
        return None;
    }
    let columns = sums.len().min(MAX_COLUMNS);
    let shown: Vec<f64> = (1..=columns).map(|column| sums[column * sums.len() / columns - 1]).collect();
    let low = shown.iter().copied().fold(0.0, f64::min);
    let high = shown.iter().copied().fold(0.0, f64::max);
    let step = ((high - low) / BLOCKS.len() as f64).max(f64::MIN_POSITIVE);
    let block = |sum: &f64| BLOCKS[(((sum - low) / step) as usize).min(BLOCKS.len() - 1)];
    Some(shown.iter().map(block).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_and_the_lowest_reach_the_ends() {
        for (numbers, expected) in [
            (&[][..], None),
            (&[1.0], None),
            (&[1.0, 1.0, 1.0, 1.0], Some("▃▅▇█")),
            (&[-4.0, 2.0, 6.0], Some("▁▃█")),
            (&[0.0, 0.0], Some("▁▁")),
        ] {
            assert_eq!(running_sum(numbers.iter().copied()).as_deref(), expected, "{numbers:?}");
        }
        let long = running_sum((0..1_000).map(|_| 1.0)).unwrap();
        assert!(long.chars().count() == MAX_COLUMNS && long.ends_with('█'), "{long}");
    }
}
