//! Robustness of a chosen set: results of the neighbouring sets.

use crate::sweep::Figures;
use serde::Serialize;

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Robustness {
    pub neighbours: u64,
    pub beat_break_even: u64,
    pub mean_fall: Option<f64>,
    pub worst_fall: Option<f64>,
}

impl Robustness {
    pub(super) fn of(score: f64, neighbours: &[(Option<Figures>, Option<f64>)]) -> Self {
        let beats = |figures: &Figures| match (figures.win_rate, figures.break_even) {
            (Some(rate), Some(needed)) => rate > needed,
            _ => false,
        };
        let falls: Vec<f64> = neighbours.iter().filter_map(|(_, other)| Some(score - (*other)?)).collect();
        Self {
            neighbours: neighbours.len() as u64,
            beat_break_even: neighbours
                .iter()
                .filter(|(figures, _)| figures.as_ref().is_some_and(beats))
                .count() as u64,
            mean_fall: (!falls.is_empty()).then(|| falls.iter().sum::<f64>() / falls.len() as f64),
            worst_fall: falls.into_iter().reduce(f64::max),
        }
    }

    #[must_use]
    pub fn pooled<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut pooled = Self::default();
        let (mut sum, mut count) = (0.0, 0_u32);
        for one in all {
            pooled.neighbours += one.neighbours;
            pooled.beat_break_even += one.beat_break_even;
            if let Some(fall) = one.mean_fall {
                sum += fall;
                count += 1;
            }
            pooled.worst_fall = pooled.worst_fall.into_iter().chain(one.worst_fall).reduce(f64::max);
        }
        pooled.mean_fall = (count > 0).then(|| sum / f64::from(count));
        pooled
    }

    pub fn share(&self) -> Option<f64> {
        (self.neighbours > 0).then(|| self.beat_break_even as f64 / self.neighbours as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(win_rate: Option<f64>) -> Figures {
        serde_json::from_value(serde_json::json!({
            "trades": 10, "won": 6, "lost": 4, "draw": 0, "cancelled": 0, "unsettled": 0, "refused": 0,
            "win_rate": win_rate, "break_even": 0.55, "edge_lower": 0.0, "p_value": 0.1, "pnl": 0.0,
            "expectancy": 0.0, "sharpe": null, "max_drawdown": 0.0, "max_drawdown_percent": 0.0,
            "longest_losing_streak": 0
        }))
        .unwrap()
    }

    fn robustness(neighbours: &[(Option<f64>, Option<f64>)]) -> Robustness {
        let all: Vec<_> = neighbours.iter().map(|(rate, score)| (Some(figures(*rate)), *score)).collect();
        Robustness::of(0.5, &all)
    }

    #[test]
    fn it_counts_who_beats_break_even_and_how_far_the_objective_falls() {
        let found = robustness(&[
            (Some(0.60), Some(0.25)),
            (Some(0.55), Some(0.50)),
            (Some(0.54), Some(-0.50)),
            (None, None),
        ]);
        // Falls of 0.25, 0 and 1.
        let expected = Robustness {
            neighbours: 4,
            beat_break_even: 1,
            mean_fall: Some(1.25 / 3.0),
            worst_fall: Some(1.0),
        };
        assert_eq!((found, found.share()), (expected, Some(0.25)));
        assert_eq!((robustness(&[]), robustness(&[]).share()), (Robustness::default(), None));
        // The parameters were refused.
        assert_eq!(Robustness::of(0.5, &[(None, None)]).beat_break_even, 0);
    }

    #[test]
    fn several_choices_weigh_alike() {
        let (one, two) = (robustness(&[(Some(0.6), Some(0.25))]), robustness(&[(Some(0.5), Some(0.0))]));
        let expected =
            Robustness { neighbours: 2, beat_break_even: 1, mean_fall: Some(0.375), worst_fall: Some(0.5) };
        assert_eq!(Robustness::pooled([&one, &two, &Robustness::default()]), expected);
    }
}
