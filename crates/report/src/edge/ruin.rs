//! Probability of ruin for each stake rule at several win rates, as text and JSON.

use crate::figure::{format_money, format_number, format_percent};
use candlewick_engine::StakeRuin;
use candlewick_records::table_text;
use candlewick_sdk::{Money, MoneyScale};
use candlewick_statistics::{
    RecoveryGoal, RuinParameters, StakePlan, StatisticsError, recovery_cost, required_balance, ruin,
};
use serde::Serialize;
use std::fmt::{self, Write as _};

#[derive(Debug, Serialize)]
pub struct RuinFigures {
    pub bot: Option<String>,
    pub stakes: String,
    pub ladder_cost: Option<f64>,
    /// Costs of a lost ladder as multiples of its first stake: to recover only the losses, and to also earn the profit.
    pub recovery_costs: Option<[f64; 2]>,
    pub is_ladder: bool,
    pub horizon_trades: u32,
    pub rates: Vec<RuinRate>,
}

#[derive(Debug, Serialize)]
pub struct RuinRate {
    /// Name of the win rate: `coin`, `break_even`, `lower_bound` or `given`.
    pub name: &'static str,
    pub win_rate: f64,
    pub ruin: f64,
    pub error: f64,
    /// Mean number of trades until ruin, averaged over the cases of ruin within the horizon.
    pub mean_trades: Option<f64>,
    pub half_after: Option<u32>,
    /// Balance that keeps the ruin probability within the limit; `None` without a limit or if no balance was found.
    pub required_balance: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
pub struct RuinTerms {
    pub scale: MoneyScale,
    /// Maximum acceptable probability of ruin. The value 0 disables the limit.
    pub limit: f64,
    pub win_rate: Option<f64>,
}

impl RuinFigures {
    pub fn new(bot: Option<String>, stake: &StakeRuin, terms: RuinTerms) -> Result<Self, StatisticsError> {
        let RuinParameters { win_probability: break_even, payout_fraction, horizon_trades, .. } =
            stake.question;
        let named = [
            ("coin", Some(0.5)),
            ("break_even", Some(break_even)),
            ("lower_bound", stake.lower_bound),
            ("given", terms.win_rate),
        ];
        let rates = named.into_iter().filter_map(|(name, rate)| rate.map(|rate| (name, rate)));
        let rates = rates.map(|(name, rate)| RuinRate::new(name, rate, stake, terms));
        let levels = stake.plan.stakes(&stake.question)?;
        let total: u64 = levels.iter().sum();
        let is_martingale = matches!(stake.plan, StakePlan::Martingale { .. });
        let recovery = |recovery| recovery_cost(payout_fraction, levels.len() as u32, recovery);
        let recovery_costs = is_martingale
            .then(|| Ok([recovery(RecoveryGoal::Losses)?, recovery(RecoveryGoal::LossesAndProfit)?]));
        Ok(Self {
            bot,
            stakes: stake_text(&stake.plan, &levels, terms.scale),
            ladder_cost: is_martingale.then(|| terms.scale.to_f64(to_money(total))),
            recovery_costs: recovery_costs.transpose()?,
            is_ladder: stake.is_ladder(),
            horizon_trades,
            rates: rates.collect::<Result<_, _>>()?,
        })
    }

    pub fn find_rate(&self, name: &str) -> Option<&RuinRate> {
        self.rates.iter().find(|rate| rate.name == name)
    }

    pub fn max_ruin(&self) -> f64 {
        let of = |name| self.find_rate(name).map_or(0.0, |rate| rate.ruin);
        of("break_even").max(of("lower_bound"))
    }
}

impl RuinRate {
    fn new(
        name: &'static str,
        win_rate: f64,
        stake: &StakeRuin,
        terms: RuinTerms,
    ) -> Result<Self, StatisticsError> {
        let question = RuinParameters { win_probability: win_rate, ..stake.question };
        let found = ruin(&question, &stake.plan)?;
        let needed =
            (terms.limit > 0.0).then(|| required_balance(&question, &stake.plan, terms.limit)).transpose()?;
        Ok(Self {
            name,
            win_rate,
            ruin: found.probability(),
            error: found.error(),
            mean_trades: found.mean_trades_until_ruin(),
            half_after: found.trades_until_risk(0.5),
            required_balance: needed.flatten().map(|units| terms.scale.to_f64(to_money(units))),
        })
    }

    pub fn describe(&self) -> &'static str {
        match self.name {
            "coin" => "coin toss",
            "break_even" => "break-even",
            "lower_bound" => "lower bound",
            _ => "given",
        }
    }
}

fn stake_text(plan: &StakePlan, levels: &[u64], scale: MoneyScale) -> String {
    let money = |units: u64| scale.format(to_money(units));
    let ladder = || levels.iter().map(|stake| money(*stake)).collect::<Vec<_>>().join(", ");
    match *plan {
        StakePlan::Flat { stake } => format!("flat {}", money(stake)),
        StakePlan::Share { fraction, .. } => format!("{} % of the balance", fraction * 100.0),
        StakePlan::Kelly { fraction, believed_win_probability, .. } => {
            let believed = believed_win_probability * 100.0;
            format!("{fraction:.2} x Kelly at a win rate of {believed:.2} %")
        }
        StakePlan::Martingale { .. } => format!("ladder after losses: {}", ladder()),
        StakePlan::Soros { .. } => format!("ladder after wins: {}", ladder()),
    }
}

fn to_money(units: u64) -> Money {
    Money::from_minor(i64::try_from(units).unwrap_or(i64::MAX))
}

#[derive(Debug, Serialize)]
pub struct RuinSummary {
    pub balance: f64,
    #[serde(skip)]
    scale: MoneyScale,
    /// Payout as a fraction of the stake.
    pub payout: f64,
    pub limit: f64,
    pub stakes: Vec<RuinFigures>,
    /// Sum of the ladders' ruin probabilities at break-even or the lower bound, whichever is worse; `None` without one.
    pub ladders: Option<f64>,
}

impl RuinSummary {
    pub fn new(
        (balance, scale): (Money, MoneyScale),
        payout: f64,
        limit: f64,
        stakes: Vec<RuinFigures>,
    ) -> Self {
        let mut ladders = stakes.iter().filter(|stake| stake.is_ladder).map(RuinFigures::max_ruin).peekable();
        let together = ladders.peek().is_some().then(|| ladders.sum::<f64>().min(1.0));
        Self { balance: scale.to_f64(balance), scale, payout, limit, ladders: together, stakes }
    }
}

impl fmt::Display for RuinSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let balance = format_money(self.balance, self.scale);
        write!(f, "Risk of ruin: balance {balance}, payout {}", format_percent(self.payout))?;
        for stake in &self.stakes {
            write!(f, "\n\n{}", figures_text(stake, self.limit, self.scale))?;
        }
        let Some(together) = self.ladders else { return Ok(()) };
        let limit = format_percent(self.limit);
        let limit = match self.limit {
            0.0 => "no limit set".to_owned(),
            most if together > most => format!("above the limit of {limit}, so no live run starts"),
            _ => format!("within the limit of {limit}"),
        };
        let (together, worse) =
            (format_percent(together), "at break-even or the lower bound, whichever is worse");
        write!(f, "\n\nAll ladders together: {together} {worse} ({limit}).")
    }
}

fn figures_text(figures: &RuinFigures, limit: f64, scale: MoneyScale) -> String {
    let bot = figures.bot.as_ref().map(|bot| format!("bot \"{bot}\": ")).unwrap_or_default();
    let mut text = format!("{bot}{}", figures.stakes);
    if let Some(cost) = figures.ladder_cost {
        let _ = write!(text, "; total cost {} if every level loses", format_money(cost, scale));
    }
    if let Some([losses, all]) = figures.recovery_costs {
        let _ = write!(
            text,
            "\nA lost ladder of this length costs {losses:.1} times its first stake if sized to recover only the losses, or {all:.1} times if sized to also earn the profit."
        );
    }
    let within = format!("ruin within {} trades", format_number(figures.horizon_trades));
    let enough = format!("balance for {}", format_percent(limit));
    let mut header =
        vec!["case", "win rate", within.as_str(), "max error", "mean trades to ruin", "trades to 50 % ruin"];
    header.extend((limit > 0.0).then_some(enough.as_str()));
    let row = |rate: &RuinRate| {
        let needed = rate.required_balance.map(|needed| format_money(needed, scale));
        let mut row = vec![
            rate.describe().to_owned(),
            format_percent(rate.win_rate),
            format_percent(rate.ruin),
            format_percent(rate.error),
            rate.mean_trades.map_or("-".to_owned(), |trades| format_number(format!("{trades:.0}"))),
            rate.half_after.map_or("-".to_owned(), format_number),
        ];
        row.extend((limit > 0.0).then(|| needed.unwrap_or_else(|| "none found".to_owned())));
        row
    };
    format!("{text}\n\n{}", table_text(header, figures.rates.iter().map(row)))
}
