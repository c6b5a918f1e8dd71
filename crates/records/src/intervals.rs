//! The intervals of the edge and of the win rate, as machines and people read them.

use candlewick_statistics::{ConfidenceInterval, ConfidenceSequence};
use serde::Serialize;

const CONFIDENCE: f64 = 0.95;

/// Where both may lie, looked at after every trade, of trades that overlap or not. A first end above the second says that no
/// single value fits all trades: it has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct EdgeIntervals {
    /// The 95 % confidence sequence of the mean return per unit of stake; null without a trade.
    pub edge_sequence_95: Option<[f64; 2]>,
    /// The same of the win rate of the trades that were won or lost.
    pub win_rate_sequence_95: Option<[f64; 2]>,
}

impl EdgeIntervals {
    /// As a sequence stands.
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

    /// Where the edge lies, in words.
    pub fn edge_words(&self) -> Option<String> {
        self.edge_sequence_95.map(|ends| words(ends, |end| format!("{:+.2} %", end * 100.0), "edge"))
    }

    /// Where the win rate lies, in words.
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
