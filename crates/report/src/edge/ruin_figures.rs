//! Probability of ruin at the relevant win rates.

use candlewick_engine::StakeRuin;
use candlewick_sdk::{Money, MoneyScale};
use candlewick_statistics::{
    Recovery, RuinQuestion, StakePlan, StatisticsError, recovery_cost, required_balance, ruin,
};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct RuinFigures {
    pub bot: Option<String>,
    pub stakes: String,
    pub ladder_cost: Option<f64>,
    /// Cost of a ladder with as many levels at this payout, in multiples of the first stake: to
    /// recover the losses, and to recover them with a profit.
    pub recovery_costs: Option<[f64; 2]>,
    pub is_ladder: bool,
    pub horizon_trades: u32,
    pub rates: Vec<RuinRate>,
}

#[derive(Debug, Serialize)]
pub struct RuinRate {
    /// `coin`, `break_even`, `lower_bound` or `given`.
    pub name: &'static str,
    pub win_rate: f64,
    pub ruin: f64,
    pub error: f64,
    /// Mean number of trades until ruin, over runs that are ruined within the horizon.
    pub mean_trades: Option<f64>,
    pub half_after: Option<u32>,
    /// Balance at which the probability of ruin is within the limit; `None` without a limit or if
    /// none was found.
    pub required_balance: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
pub struct RuinTerms {
    pub scale: MoneyScale,
    /// Maximum acceptable probability of ruin; 0 for no limit.
    pub limit: f64,
    pub win_rate: Option<f64>,
}

impl RuinFigures {
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

    pub fn at(&self, name: &str) -> Option<&RuinRate> {
        self.rates.iter().find(|rate| rate.name == name)
    }

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
