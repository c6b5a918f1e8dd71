//! Value of the bots' gates in a run.

use crate::ReportError;
use crate::edge::GatedBot;
use crate::figure::{p_value_text, percent};
use candlewick_statistics::{GateRule, GatedTrade, gate_worth};
use serde::Serialize;

const MOST_DRAWS: usize = 2_000;
/// Minimum number of random gates and orders: allows a p-value of 0.01.
const FEWEST_DRAWS: usize = 99;
/// Limit of signals times draws; more would take longer than the run.
const MOST_DRAWN: usize = 20_000_000;
const SEED: u64 = 1;

/// Value of a bot's gate over all of its signals at one payout. Means are returns per unit of stake.
#[derive(Debug, Serialize)]
pub struct GateLine {
    /// `trades` counts all signals, `real` those that the gate passed, before any risk limits.
    #[serde(flatten)]
    pub(crate) worth: GatedBot,
    pub(crate) gate: String,
    pub(crate) payout_percent: f64,
    pub(crate) draws: u32,
    pub(crate) seed: u64,
    #[serde(skip)]
    pub(crate) random_means: Vec<f64>,
}

impl GateLine {
    pub fn of(
        bot: &str,
        rule: GateRule,
        signals: &[GatedTrade],
        payout_fraction: f64,
    ) -> Result<Option<Self>, ReportError> {
        if signals.is_empty() {
            return Ok(None);
        }
        let draws = (MOST_DRAWN / signals.len()).clamp(FEWEST_DRAWS, MOST_DRAWS) as u32;
        let worth = gate_worth(signals, rule, draws, SEED)?;
        Ok(Some(Self {
            worth: GatedBot::of(bot, &worth),
            gate: rule.to_string(),
            payout_percent: payout_fraction * 100.0,
            draws,
            seed: SEED,
            random_means: worth.random_means,
        }))
    }

    pub(super) fn words(&self) -> Vec<String> {
        let GatedBot { bot, trades, real, mean_of_all, random_95, p_shuffled, .. } = &self.worth;
        let gate = format!("{bot} {}", self.gate);
        let Some(mean) = self.worth.mean_of_real else {
            return vec![gate, format!("it never opened, over {trades} signals")];
        };
        let random = random_95.map(|[low, high]| format!("{} to {}", percent(low), percent(high)));
        vec![
            gate,
            format!("{} against {} a trade without it", percent(mean), percent(*mean_of_all)),
            format!(
                "{} of a random gate (95 %), p-value in random order {}",
                random.unwrap_or_else(|| "-".to_owned()),
                p_value_text(*p_shuffled)
            ),
            self.worth.words().to_owned(),
            format!("{real} of {trades} signals let pass, at a payout of {:.0} %;", self.payout_percent),
            "those of the warm-up and those a limit refused included".to_owned(),
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
            GatedTrade { decided, known: decided + 10, day: 0, unit_return: *unit_return }
        };
        let signals: Vec<GatedTrade> = (0..).zip(returns).map(signal).collect();
        let opening = GateRule::opening(GateOpening::AfterVirtualLosses(2));
        let rule = GateRule { close_after_trades: 1, ..opening };
        GateLine::of("a", rule, &signals, 0.8).unwrap()
    }

    #[test]
    fn a_gate_is_told_beside_trading_all_and_beside_random_gates() {
        // Virtual, virtual, real: the real ones are the third (won) and the sixth (lost), -10 % on average; all six lose 70 %.
        let line = line(&[-1.0, -1.0, 0.8, -1.0, -1.0, -1.0]).unwrap();
        let words = line.words();
        assert!(words[1].contains("-10.00 %") && words[1].contains("-70.00 %"), "{words:?}");
        assert!(words[4].contains("2 of 6") && words[4].contains("80 %"), "{words:?}");
        assert!(words.iter().all(|line| line.len() < 80), "{words:?}");
        let json = serde_json::to_value(&line).unwrap();
        let (real, gain) = (&json["real"], json["gain"].as_f64().unwrap());
        assert!(*real == 2 && (gain - 0.6).abs() < 1e-12 && json["draws"] == 2_000, "{json}");
    }

    #[test]
    fn one_that_never_opened_says_so_and_one_without_signals_says_nothing() {
        let closed = line(&[0.8; 5]).unwrap().words();
        assert_eq!(closed[1..], ["it never opened, over 5 signals"]);
        assert!(line(&[]).is_none());
    }
}
