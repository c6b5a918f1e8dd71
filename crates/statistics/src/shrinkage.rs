//! Shrinkage of group means towards the overall mean.

use crate::StatisticsError;
use crate::statistics_error::check_numbers;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GroupMoments {
    pub count: u64,
    pub sum: f64,
    pub sum_of_squares: f64,
}

impl GroupMoments {
    pub fn add(&mut self, result: f64) {
        self.count += 1;
        self.sum += result;
        self.sum_of_squares += result * result;
    }

    fn mean(self) -> f64 {
        self.sum / self.count as f64
    }
}

/// Returns each group mean after shrinkage towards the overall mean. `None` for an empty group.
///
/// Let `s2` be the variance within groups (pooled, `N - k`), `w = n / s2`, `m` the overall mean and
/// `Q = sum w (m_i - m)^2`. The variance between groups is `t2 = max(0, (Q - (k - 1)) / (sum w - sum w^2 / sum w))`. A
/// mean `m_i` becomes `m + (m_i - m) t2 / (t2 + s2 / n)`. If chance explains all differences, every group gets the
/// overall mean.
///
/// Sources: R. DerSimonian and N. Laird, *Meta-Analysis in Clinical Trials* (1986), for `t2`; C. N. Morris,
/// *Parametric Empirical Bayes Inference* (1983).
pub fn shrink_to_overall_mean(groups: &[GroupMoments]) -> Result<Vec<Option<f64>>, StatisticsError> {
    let sums: Vec<f64> = groups.iter().flat_map(|group| [group.sum, group.sum_of_squares]).collect();
    check_numbers("sums of groups", &sums, 0)?;
    let filled: Vec<GroupMoments> = groups.iter().copied().filter(|group| group.count > 0).collect();
    let total = filled.iter().map(|group| group.count).sum::<u64>() as f64;
    let whole = filled.iter().map(|group| group.sum).sum::<f64>() / total;
    let freedom = total - filled.len() as f64;
    let within: f64 = filled.iter().map(|group| group.sum_of_squares - group.sum * group.mean()).sum();
    // If no group has two results, the variance within groups is unknown.
    let variance = (freedom > 0.0).then(|| (within / freedom).max(0.0));
    let kept = |count: u64| match variance {
        None => 0.0,
        // If all results within groups are equal, the group means are certain.
        Some(0.0) => 1.0,
        Some(variance) => {
            let between = variance_between_groups(&filled, whole, total, variance);
            between / (between + variance / count as f64)
        }
    };
    let shrunk = |one: &GroupMoments| (one.count > 0).then(|| whole + (one.mean() - whole) * kept(one.count));
    Ok(groups.iter().map(shrunk).collect())
}

fn variance_between_groups(filled: &[GroupMoments], whole: f64, total: f64, variance: f64) -> f64 {
    let spread = |group: &GroupMoments| group.count as f64 * (group.mean() - whole).powi(2);
    let squares: f64 = filled.iter().map(|group| (group.count as f64).powi(2)).sum();
    // `Q` and the weights are multiplied by the variance, which avoids a division by the variance.
    let excess = filled.iter().map(spread).sum::<f64>() - (filled.len() as f64 - 1.0) * variance;
    let weight = total - squares / total;
    if weight > 0.0 { (excess / weight).max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{assert_close, rows};

    fn group(results: &[f64]) -> GroupMoments {
        let mut sample = GroupMoments::default();
        for result in results {
            sample.add(*result);
        }
        sample
    }

    fn check(groups: &[&[f64]], expected: &[Option<f64>]) {
        let samples: Vec<GroupMoments> = groups.iter().map(|results| group(results)).collect();
        let found = shrink_to_overall_mean(&samples).unwrap();
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            match (found, expected) {
                (Some(found), Some(expected)) => {
                    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
                }
                _ => assert_eq!(found, expected, "{groups:?}"),
            }
        }
    }

    #[test]
    fn shrinkage_equals_the_reference_library() {
        let all = rows::<5>(include_str!("../reference/shrinkage.csv"));
        for case in all.chunk_by(|one, next| one[0] == next[0]) {
            let sample = |[_, count, sum, sum_of_squares, _]: &[f64; 5]| GroupMoments {
                count: *count as u64,
                sum: *sum,
                sum_of_squares: *sum_of_squares,
            };
            let samples: Vec<GroupMoments> = case.iter().map(sample).collect();
            for (found, row) in shrink_to_overall_mean(&samples).unwrap().iter().zip(case) {
                assert_close(found.unwrap(), row[4], 1e-9, &format!("{row:?}"));
            }
        }
    }

    #[test]
    fn chance_differences_shrink_to_the_overall_mean() {
        check(&[&[1.0, -1.0], &[1.0, -1.0, -1.0, 1.0]], &[Some(0.0), Some(0.0)]);
        // One result per group: the variance within groups is unknown.
        check(&[&[1.0], &[-1.0]], &[Some(0.0), Some(0.0)]);
        // If all results within groups are equal, the group means are certain.
        check(&[&[1.0, 1.0], &[-1.0, -1.0]], &[Some(1.0), Some(-1.0)]);
        check(&[&[3.0, 1.0]], &[Some(2.0)]);
        check(&[&[3.0, 1.0], &[], &[1.0, 3.0]], &[Some(2.0), None, Some(2.0)]);
        check(&[], &[]);
        check(&[&[]], &[None]);
        let odd = GroupMoments { count: 1, sum: f64::NAN, sum_of_squares: 1.0 };
        assert!(shrink_to_overall_mean(&[odd]).is_err());
    }
}
