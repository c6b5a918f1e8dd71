//! Evaluation of a trade gate on past trades, as text and JSON.

use super::sample::group_by_bot;
use super::{NamedTrade, TradesFile};
use crate::ReportError;
use crate::figure::{format_number, format_percent, p_value_text};
use candlewick_engine::DayStart;
use candlewick_records::table_text;
use candlewick_sdk::Outcome;
use candlewick_statistics::{GateRule, GateWorth, GatedTrade, StatisticsError, gate_worth};
use serde::Serialize;
use std::fmt;

#[derive(Clone, Copy, Debug)]
pub struct GateSetup {
    pub rule: GateRule,
    pub day: Option<DayStart>,
}

/// Evaluation of a trade gate on trades that were opened without a gate. All means are returns per unit of stake.
#[derive(Debug, Serialize)]
pub struct GateReport {
    pub gate: String,
    pub draws: u32,
    pub seed: u64,
    /// One evaluation per bot, because each gate follows a single bot. Bots are ordered by their first trade.
    pub bots: Vec<GatedBot>,
}

#[derive(Debug, Serialize)]
pub struct GatedBot {
    pub bot: String,
    pub trades: u64,
    pub real: u64,
    #[serde(rename = "mean_of_all")]
    pub mean_of_all_trades: f64,
    #[serde(rename = "mean_of_real")]
    pub mean_of_real_trades: Option<f64>,
    pub gain: Option<f64>,
    /// Central 95 % range of the mean returns of random gates that pass the same number of trades.
    pub random_95: Option<[f64; 2]>,
    /// P-value against random gates: probability that equally many random trades have at least this mean return.
    pub p_random: Option<f64>,
    /// P-value against shuffled results: probability that the gate does at least as well if the results are shuffled.
    pub p_shuffled: Option<f64>,
}

impl GateReport {
    /// Evaluates the gate on the finished trades of each bot. Drawn and cancelled trades count as a return of 0.
    pub fn new(file: &TradesFile, gate: GateSetup, draws: u32, seed: u64) -> Result<Self, ReportError> {
        let GateSetup { rule, day } = gate;
        if day.is_some() && !file.has_times {
            return Err(ReportError::TradesWithoutTimes);
        }
        let mut bots = Vec::new();
        for (name, own) in group_by_bot(&file.trades) {
            let gated: Vec<_> = own.into_iter().filter_map(|named| to_gated_trade(named, day)).collect();
            if !gated.is_empty() {
                bots.push(GatedBot::new(name, &gate_worth(&gated, rule, draws, seed)?));
            }
        }
        if bots.is_empty() {
            return Err(StatisticsError::NoTrades.into());
        }
        Ok(Self { gate: rule.to_string(), draws, seed, bots })
    }
}

impl GatedBot {
    pub(crate) fn new(bot: &str, worth: &GateWorth) -> Self {
        Self {
            bot: bot.to_owned(),
            trades: worth.trades,
            real: worth.real_trades,
            mean_of_all_trades: worth.mean_of_all_trades,
            mean_of_real_trades: worth.mean_of_real_trades,
            gain: worth.mean_of_real_trades.map(|mean| mean - worth.mean_of_all_trades),
            random_95: worth.random_95,
            p_random: worth.p_value_random,
            p_shuffled: worth.p_value_shuffled,
        }
    }

    pub(crate) fn describe(&self) -> &'static str {
        match self.p_shuffled {
            None => "never opened",
            Some(p) if p <= 0.05 => "better than chance, if no other gate was tried",
            Some(_) => "no better than chance",
        }
    }
}

fn to_gated_trade(named: &NamedTrade, day: Option<DayStart>) -> Option<GatedTrade> {
    let (known, outcome) = named.trade.ended?;
    let decided = named.trade.decided;
    let unit_return = match outcome {
        Outcome::Won => named.trade.payout?.to_fraction(),
        Outcome::Lost => -1.0,
        Outcome::Draw | Outcome::Cancelled => 0.0,
    };
    let day = day.map_or(0, |day| day.day_bounds(decided).0.get());
    Some(GatedTrade { decided_at: decided.get(), known_at: known.get(), day, unit_return })
}

impl fmt::Display for GateReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const HEADER: &str = "bot|signals|traded|mean return|mean of traded|gain|random gates, 95 %|p (random)|p (shuffled)|result";
        let range = |[low, high]: [f64; 2]| format!("{} to {}", format_percent(low), format_percent(high));
        let row = |bot: &GatedBot| {
            [
                if bot.bot.is_empty() { "all trades".to_owned() } else { bot.bot.clone() },
                format_number(bot.trades),
                format_number(bot.real),
                format_percent(bot.mean_of_all_trades),
                format_percent(bot.mean_of_real_trades),
                format_percent(bot.gain),
                bot.random_95.map_or("-".to_owned(), range),
                p_value_text(bot.p_random),
                p_value_text(bot.p_shuffled),
                bot.describe().to_owned(),
            ]
        };
        write!(
            f,
            "Gate: {}.\n\n{}\n\nReturns are in percent of the stake. Each of {} random gates (seed {}) \
             passes the same number of trades. A gate cannot improve the mean return of independent trades. \
             The file must contain all signals. If the bot has a gate, use a backtest without the gate.",
            self.gate,
            table_text(HEADER.split('|'), self.bots.iter().map(row)),
            self.draws,
            self.seed
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_engine::{JudgedTrade, SymbolId};
    use candlewick_sdk::{Millis, Payout};
    use candlewick_statistics::GateOpening;

    fn trade(bot: &str, place: i64, outcome: Option<Outcome>) -> NamedTrade {
        let (decided, payout) = (Millis::MINUTE * place, Payout::from_parts(800_000));
        let ended = outcome.map(|outcome| (decided + Millis::MINUTE, outcome));
        let (symbol, answered, sequence) = (SymbolId::FIRST, None, None);
        let trade = JudgedTrade { symbol, decided, answered, payout, ended, sequence };
        NamedTrade { bot: bot.to_owned(), trade, money: None }
    }

    fn evaluate(trades: Vec<NamedTrade>) -> Result<GateReport, ReportError> {
        let opening = GateRule::from_opening(GateOpening::AfterVirtualLosses(2));
        let rule = GateRule { close_after_trades: 1, ..opening };
        let file = TradesFile { trades, has_times: true, ..TradesFile::default() };
        GateReport::new(&file, GateSetup { rule, day: None }, 99, 1)
    }

    #[test]
    fn evaluates_gate_per_bot_without_open_trades() {
        use Outcome::{Draw, Lost, Won};
        let mut trades = Vec::new();
        for (place, outcome) in (0..).zip([Lost, Draw, Lost, Won]) {
            trades.push(trade("a", place, Some(outcome)));
            trades.push(trade("b", place, Some(Won)));
        }
        trades.push(trade("a", 9, None));
        let report = evaluate(trades).unwrap();
        let [a, b] = &*report.bots else { panic!("{report:?}") };
        assert_eq!((a.bot.as_str(), a.trades, a.real), ("a", 4, 1));
        assert!((a.gain.unwrap() - (0.8 + 1.2 / 4.0)).abs() < 1e-12);
        assert_eq!((b.trades, b.real, b.gain), (4, 0, None));
        assert!(evaluate(vec![trade("a", 0, None)]).is_err());
    }
}
