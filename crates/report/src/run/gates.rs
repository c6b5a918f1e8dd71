//! Evaluation of each bot's trade gate in a run.

use crate::ReportError;
use crate::edge::GatedBot;
use crate::figure::{format_number, format_percent, p_value_text};
use candlewick_statistics::{GateRule, GatedTrade, gate_worth};
use serde::Serialize;

const MAX_DRAWS: usize = 2_000;
/// Minimum number of random gates and of shuffles. This many are enough for a p-value of 0.01.
const MIN_DRAWS: usize = 99;
/// Maximum product of signals and draws. More draws would take longer than the run itself.
const DRAW_BUDGET: usize = 20_000_000;
const SEED: u64 = 1;

/// Evaluation of a bot's trade gate over all signals at one payout. All means are returns per unit of stake.
#[derive(Debug, Serialize)]
pub struct GateLine {
    /// Number and mean return of all signals (`trades`) and of those that the gate passed (`real`), before risk limits.
    #[serde(flatten)]
    pub(crate) evaluation: GatedBot,
    pub(crate) gate: String,
    pub(crate) payout_percent: f64,
    pub(crate) draws: u32,
    pub(crate) seed: u64,
    #[serde(skip)]
    pub(crate) random_means: Vec<f64>,
}

impl GateLine {
    pub fn new(
        bot: &str,
        rule: GateRule,
        signals: &[GatedTrade],
        payout_fraction: f64,
    ) -> Result<Option<Self>, ReportError> {
        if signals.is_empty() {
            return Ok(None);
        }
        let draws = (DRAW_BUDGET / signals.len()).clamp(MIN_DRAWS, MAX_DRAWS) as u32;
        let worth = gate_worth(signals, rule, draws, SEED)?;
        Ok(Some(Self {
            evaluation: GatedBot::new(bot, &worth),
            gate: rule.to_string(),
            payout_percent: payout_fraction * 100.0,
            draws,
            seed: SEED,
            random_means: worth.random_means,
        }))
    }

    pub(super) fn text_lines(&self) -> Vec<String> {
        let GatedBot { bot, mean_of_all_trades, random_95, p_shuffled, .. } = &self.evaluation;
        let [trades, real] = [self.evaluation.trades, self.evaluation.real].map(format_number);
        let gate = format!("{bot} {}", self.gate);
        let Some(mean) = self.evaluation.mean_of_real_trades else {
            return vec![gate, format!("never opened in {trades} signals")];
        };
        let random =
            random_95.map(|[low, high]| format!("{} to {}", format_percent(low), format_percent(high)));
        vec![
            gate,
            format!(
                "mean return {} per trade, {} without the gate",
                format_percent(mean),
                format_percent(*mean_of_all_trades)
            ),
            format!(
                "95 % range of random gates {}; p-value (shuffled) {}",
                random.unwrap_or_else(|| "-".to_owned()),
                p_value_text(*p_shuffled)
            ),
            self.evaluation.describe().to_owned(),
            format!("passed {real} of {trades} signals, at a payout of {:.0} %,", self.payout_percent),
            "including signals from the warm-up and signals that a limit rejected".to_owned(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_statistics::GateOpening;

    fn line(returns: &[f64]) -> Option<GateLine> {
        let signal = |(place, unit_return): (i64, &f64)| {
            let decided = 10 * place;
            GatedTrade { decided_at: decided, known_at: decided + 10, day: 0, unit_return: *unit_return }
        };
        let signals: Vec<GatedTrade> = (0..).zip(returns).map(signal).collect();
        let opening = GateRule::from_opening(GateOpening::AfterVirtualLosses(2));
        let rule = GateRule { close_after_trades: 1, ..opening };
        GateLine::new("a", rule, &signals, 0.8).unwrap()
    }

    #[test]
    fn compares_gate_with_all_trades_and_random_gates() {
        // Trades 3 (won) and 6 (lost) pass the gate. Their mean is -10 %, and the mean of all six trades is -70 %.
        let line = line(&[-1.0, -1.0, 0.8, -1.0, -1.0, -1.0]).unwrap();
        let words = line.text_lines();
        assert!(words[1].contains("-10.00 %") && words[1].contains("-70.00 %"), "{words:?}");
        assert!(words[4].contains("2 of 6") && words[4].contains("80 %"), "{words:?}");
        assert!(words.iter().all(|line| line.len() < 80), "{words:?}");
        let json = serde_json::to_value(&line).unwrap();
        let (real, gain) = (&json["real"], json["gain"].as_f64().unwrap());
        assert!(*real == 2 && (gain - 0.6).abs() < 1e-12 && json["draws"] == 2_000, "{json}");
    }

    #[test]
    fn reports_gate_that_never_opened_and_omits_gate_without_signals() {
        let closed = line(&[0.8; 5]).unwrap().text_lines();
        assert_eq!(closed[1..], ["never opened in 5 signals"]);
        assert!(line(&[]).is_none());
    }
}
