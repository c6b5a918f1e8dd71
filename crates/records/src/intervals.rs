//! Confidence intervals of edge and win rate, as JSON and text.

use candlewick_statistics::{ConfidenceInterval, ConfidenceSequence};
use serde::Serialize;

const CONFIDENCE: f64 = 0.95;

/// Confidence sequences: valid after every trade, for overlapping trades too. A lower end above the
/// upper end means that no single value fits all trades, so the value has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct EdgeIntervals {
    /// 95 % confidence sequence of the mean return per unit of stake; `None` without a trade.
    pub edge_sequence_95: Option<[f64; 2]>,
    pub win_rate_sequence_95: Option<[f64; 2]>,
}

impl EdgeIntervals {
    pub fn of(sequence: &ConfidenceSequence) -> Self {
        if sequence.settled() == 0 {
            return Self::default();
        }
        let ends = |interval: ConfidenceInterval| [interval.lower, interval.upper];
        Self {
            edge_sequence_95: sequence.edge(CONFIDENCE).ok().map(ends),
            win_rate_sequence_95: sequence.win_rate(CONFIDENCE).ok().map(ends),
        }
    }

    pub fn edge_words(&self) -> Option<String> {
        self.edge_sequence_95.map(|ends| words(ends, |end| format!("{:+.2} %", end * 100.0), "edge"))
    }

    pub fn win_rate_words(&self) -> Option<String> {
        self.win_rate_sequence_95.map(|ends| words(ends, |end| format!("{:.2} %", end * 100.0), "rate"))
    }
}

fn words([low, high]: [f64; 2], text: impl Fn(f64) -> String, name: &str) -> String {
    if low <= high {
        format!("{} to {}", text(low), text(high))
    } else {
        format!(
            "no one {name} fits all trades: above {} at some time, below {} at another",
            text(low),
            text(high)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_that_cross_say_that_nothing_fits() {
        let intervals = |edge| EdgeIntervals { edge_sequence_95: Some(edge), ..EdgeIntervals::default() };
        assert_eq!(intervals([-0.012, 0.0345]).edge_words().unwrap(), "-1.20 % to +3.45 %");
        assert_eq!(
            intervals([0.04, -0.05]).edge_words().unwrap(),
            "no one edge fits all trades: above +4.00 % at some time, below -5.00 % at another"
        );
        assert_eq!(EdgeIntervals::of(&ConfidenceSequence::new()), EdgeIntervals::default());
    }
}
