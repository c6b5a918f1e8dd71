//! Objective functions of a parameter search.

use super::Figures;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// Lower 95 % confidence bound of the edge, as a fraction of the stake.
    Edge,
    /// Net profit divided by the total stake.
    Expectancy,
    Sharpe,
    /// Net profit minus max drawdown.
    DrawdownPenalised,
}

impl Objective {
    pub const ALL: [Self; 4] = [Self::Edge, Self::Expectancy, Self::Sharpe, Self::DrawdownPenalised];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Edge => "edge",
            Self::Expectancy => "expectancy",
            Self::Sharpe => "sharpe",
            Self::DrawdownPenalised => "drawdown-penalised",
        }
    }

    pub const fn title(self) -> &'static str {
        match self {
            Self::Edge => "edge, lower 95 % bound",
            other => other.as_str(),
        }
    }

    pub fn format_score(self, score: f64) -> String {
        match self {
            Self::Edge | Self::Expectancy => format!("{:+.2} %", score * 100.0),
            Self::Sharpe => format!("{score:.4}"),
            Self::DrawdownPenalised => format!("{score:+.2}"),
        }
    }

    /// Returns the score of a trial, `None` if it is undefined or fewer than `min_trades` trades were won or lost.
    pub fn score(self, figures: &Figures, min_trades: u64) -> Option<f64> {
        if figures.decided_trades() < min_trades.max(1) {
            return None;
        }
        match self {
            Self::Edge => figures.edge_lower,
            Self::Expectancy => figures.expectancy,
            Self::Sharpe => figures.sharpe,
            Self::DrawdownPenalised => Some(figures.pnl - figures.max_drawdown),
        }
    }
}

pub(crate) fn compare_scores(one: Option<f64>, two: Option<f64>) -> Ordering {
    match (one, two) {
        (Some(one), Some(two)) => two.total_cmp(&one),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}

pub(crate) fn parse_name<T: Copy, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
    text: &str,
) -> Result<T, String> {
    let found = all.into_iter().find(|one| name(*one) == text);
    found.ok_or_else(|| format!("use one of {}", all.map(name).join(", ")))
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Objective {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parse_name(Self::ALL, Self::as_str, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::tests;
    use serde_json::json;

    fn figures(won: u64, lost: u64) -> Figures {
        let changes = json!({
            "won": won, "lost": lost, "draw": 50, "edge_lower": 0.02, "pnl": 30.0, "expectancy": 0.04
        });
        tests::figures(changes)
    }

    #[test]
    fn score_is_the_named_figure() {
        for (objective, expected) in [
            (Objective::Edge, Some(0.02)),
            (Objective::Expectancy, Some(0.04)),
            (Objective::Sharpe, None),
            (Objective::DrawdownPenalised, Some(17.5)),
        ] {
            assert_eq!(objective.score(&figures(6, 4), 10), expected, "{objective}");
            assert_eq!(objective.to_string().parse(), Ok(objective));
        }
    }

    #[test]
    fn formats_stake_fractions_as_percent() {
        let words = Objective::ALL.map(|objective| objective.format_score(-0.0123));
        assert_eq!(words, ["-1.23 %", "-1.23 %", "-0.0123", "-0.01"]);
    }

    #[test]
    fn requires_min_decided_trades() {
        for (won, lost, least, ok) in [(6, 4, 11, false), (6, 4, 10, true), (0, 0, 0, false), (1, 0, 0, true)]
        {
            let score = Objective::Edge.score(&figures(won, lost), least);
            assert_eq!(score.is_some(), ok, "{won} {lost} {least}");
        }
    }
}
