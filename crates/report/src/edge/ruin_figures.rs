//! How probably stakes run out of money, at the rates that matter.

use candlewick_engine::StakeRuin;
use candlewick_sdk::{Money, MoneyScale};
use candlewick_statistics::{
    Recovery, RuinQuestion, StakePlan, StatisticsError, recovery_cost, required_balance, ruin,
};
use serde::Serialize;

/// What is known of one bot's stakes, or of stakes that were named.
#[derive(Debug, Serialize)]
pub struct RuinFigures {
    /// Whose; null when they were named.
    pub bot: Option<String>,
    /// How they follow each other, in words.
    pub stakes: String,
    /// What all levels of a ladder cost, in money.
    pub ladder_cost: Option<f64>,
    /// What a ladder of so many levels at this payout costs in first stakes: to win back the losses, and the profit too.
    pub recovery_costs: Option<[f64; 2]>,
    /// Whether a stake depends on the trades before it.
    pub is_ladder: bool,
    /// Over how many trades ruin is asked for.
    pub horizon_trades: u32,
    /// Ruin at each win rate that matters.
    pub rates: Vec<RuinRate>,
}

/// Ruin at one win rate.
#[derive(Debug, Serialize)]
pub struct RuinRate {
    /// `coin`, `break_even`, `lower_bound` or `given`.
    pub name: &'static str,
    /// The win rate.
    pub win_rate: f64,
    /// The probability of ruin within the horizon.
    pub ruin: f64,
    /// How far that may be off.
    pub error: f64,
    /// Mean number of trades until ruin, of the runs that are ruined within the horizon.
    pub mean_trades: Option<f64>,
    /// Trades within which half of all runs are ruined.
    pub half_after: Option<u32>,
    /// The balance with which ruin is no more probable than the limit; nothing without a limit, or if none was found.
    pub required_balance: Option<f64>,
}

/// What is asked of every stake.
#[derive(Clone, Copy, Debug)]
pub struct RuinTerms {
    /// The wallet's scale.
    pub scale: MoneyScale,
    /// The most probable ruin that is put up with; 0 for no limit.
    pub limit: f64,
    /// A win rate besides.
    pub win_rate: Option<f64>,
}

impl RuinFigures {
    /// Of stakes, at 50 %, at break-even, at the lower bound and at a rate that was named.
    ///
    /// # Errors
    /// A number that means nothing to a chain of ruin.
    pub fn of(bot: Option<String>, stake: &StakeRuin, terms: RuinTerms) -> Result<Self, StatisticsError> {
        let RuinQuestion { win_probability: break_even, payout_fraction, horizon_trades, .. } =
            stake.question;
        let named = [
            ("coin", Some(0.5)),
            ("break_even", Some(break_even)),
            ("lower_bound", stake.lower_bound),
            ("given", terms.win_rate),
        ];
        let rates = named.into_iter().filter_map(|(name, rate)| rate.map(|rate| (name, rate)));
        let rates = rates.map(|(name, rate)| RuinRate::of(name, rate, stake, terms));
        let levels = stake.plan.stakes(&stake.question)?;
        let total: u64 = levels.iter().sum();
        let is_martingale = matches!(stake.plan, StakePlan::Martingale { .. });
        let recovery = |recovery| recovery_cost(payout_fraction, levels.len() as u32, recovery);
        let recovery_costs =
            is_martingale.then(|| Ok([recovery(Recovery::Losses)?, recovery(Recovery::LossesAndProfit)?]));
        Ok(Self {
            bot,
            stakes: words(&stake.plan, &levels, terms.scale),
            ladder_cost: is_martingale.then(|| terms.scale.to_f64(to_money(total))),
            recovery_costs: recovery_costs.transpose()?,
            is_ladder: stake.is_ladder(),
            horizon_trades,
            rates: rates.collect::<Result<_, _>>()?,
        })
    }

    /// Ruin at one of the rates.
    pub fn at(&self, name: &str) -> Option<&RuinRate> {
        self.rates.iter().find(|rate| rate.name == name)
    }

    /// Ruin at break-even or the lower bound, whichever is worse.
    pub fn decisive(&self) -> f64 {
        let of = |name| self.at(name).map_or(0.0, |rate| rate.ruin);
        of("break_even").max(of("lower_bound"))
    }
}

impl RuinRate {
    fn of(
        name: &'static str,
        win_rate: f64,
        stake: &StakeRuin,
        terms: RuinTerms,
    ) -> Result<Self, StatisticsError> {
        let question = RuinQuestion { win_probability: win_rate, ..stake.question };
        let found = ruin(&question, &stake.plan)?;
        let needed =
            (terms.limit > 0.0).then(|| required_balance(&question, &stake.plan, terms.limit)).transpose()?;
        Ok(Self {
            name,
            win_rate,
            ruin: found.probability(),
            error: found.error(),
            mean_trades: found.mean_trades(),
            half_after: found.trades_until(0.5),
            required_balance: needed.flatten().map(|units| terms.scale.to_f64(to_money(units))),
        })
    }

    /// The rate in words.
    pub fn words(&self) -> &'static str {
        match self.name {
            "coin" => "a coin",
            "break_even" => "break-even",
            "lower_bound" => "lower bound",
            _ => "as given",
        }
    }
}

fn words(plan: &StakePlan, levels: &[u64], scale: MoneyScale) -> String {
    let money = |units: u64| scale.format(to_money(units));
    let ladder = || levels.iter().map(|stake| money(*stake)).collect::<Vec<_>>().join(", ");
    match *plan {
        StakePlan::Flat { stake } => format!("{} every time", money(stake)),
        StakePlan::Share { fraction, .. } => format!("{} % of the balance", fraction * 100.0),
        StakePlan::Kelly { fraction, believed_win_probability, .. } => {
            let believed = believed_win_probability * 100.0;
            format!("{fraction:.2} of the Kelly stake for a win rate of {believed:.2} %")
        }
        StakePlan::Martingale { .. } => format!("after losses {}", ladder()),
        StakePlan::Soros { .. } => format!("after wins {}", ladder()),
    }
}

fn to_money(units: u64) -> Money {
    Money::from_minor(i64::try_from(units).unwrap_or(i64::MAX))
}
