//! `edge ruin`: the probability that stakes exhaust the balance.

use super::{load_config, parse_payout_fraction, parse_percent_fraction};
use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::output::show;
use crate::progress::Progress;
use candlewick_app::bots::session_settings;
use candlewick_app::configuration::LoadedConfig;
use candlewick_engine::{EngineError, StakeRuin, TrackRecord};
use candlewick_report::edge::{RuinFigures, RuinSummary, RuinTerms};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Money, Payout};
use candlewick_statistics::{
    MAX_MONEY, RuinParameters, StakePlan, WalletLimits, WinRate, break_even, wilson_interval,
};
use clap::Args;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick edge ruin --stake 10 --balance 500 --payout 85\n  candlewick edge ruin --martingale \
                  10 --factor 2.2 --levels 6 --balance 2000\n  candlewick edge ruin --soros 10 --wins 3\n  candlewick edge \
                  ruin --share 2 --won 580 --lost 420\n  candlewick edge ruin --config my.toml --json\n\n\
                  Ruin means that the next stake exceeds the balance. A Markov chain over consecutive trades up to the \
                  horizon gives the exact probability of ruin: at a win rate of 50 %, at break-even, at the lower bound of \
                  --won and --lost, and at --win-rate. The larger of the risks at break-even and at the lower bound is \
                  compared with the limit; risks of ladders are added up. Without stakes, the stakes of configured bots are used."
)]
pub(crate) struct RuinArguments {
    /// Fixed stake
    #[arg(long, value_name = "AMOUNT", group = "plan")]
    stake: Option<Decimal>,
    /// Stake as a share of the balance, in percent
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent_fraction, group = "plan")]
    share: Option<f64>,
    /// Stake as a fraction of the Kelly stake, from 0 to 1
    #[arg(long, value_name = "FRACTION", value_parser = parse_fraction, group = "plan", requires = "believe")]
    kelly: Option<f64>,
    /// Assumed win rate for the Kelly stake, in percent
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent_fraction, requires = "kelly")]
    believe: Option<f64>,
    /// First stake of a martingale ladder, which raises the stake after losses
    #[arg(long, value_name = "AMOUNT", group = "plan")]
    martingale: Option<Decimal>,
    /// Stake factor between ladder levels [default: the factor that recovers all losses plus the first profit]
    #[arg(long, value_name = "FACTOR", value_parser = parse_factor, requires = "martingale")]
    factor: Option<f64>,
    /// Number of ladder levels, including the first stake
    #[arg(long, value_name = "N", requires = "martingale", default_value_t = 6)]
    levels: u32,
    /// Maximum stake of the ladder
    #[arg(long, value_name = "AMOUNT", requires = "martingale")]
    max_stake: Option<Decimal>,
    /// First stake of a Soros ladder, which adds the profit to the stake after wins
    #[arg(long, value_name = "AMOUNT", group = "plan")]
    soros: Option<Decimal>,
    /// Maximum number of consecutive wins whose profit is added to the stake
    #[arg(long, value_name = "N", requires = "soros", default_value_t = 3)]
    wins: u32,
    /// Balance [default: account.initial_balance]
    #[arg(long, value_name = "AMOUNT")]
    balance: Option<Decimal>,
    /// Payout in percent [default: simulation.payout_percent]
    #[arg(long, value_name = "PERCENT", value_parser = parse_payout_fraction)]
    payout: Option<f64>,
    /// Horizon in number of trades [default: risk.ruin_horizon_trades]
    #[arg(long, value_name = "N")]
    trades: Option<u32>,
    /// Minimum stake [default: risk.min_stake]
    #[arg(long, value_name = "AMOUNT")]
    min_stake: Option<Decimal>,
    /// Share of trades that end in a draw, in percent
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent_fraction)]
    draws: Option<f64>,
    /// Trades won so far
    #[arg(long, value_name = "N", requires = "lost")]
    won: Option<u64>,
    /// Trades lost so far
    #[arg(long, value_name = "N", requires = "won")]
    lost: Option<u64>,
    /// Additional win rate, in percent, for which to compute the risk
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent_fraction)]
    win_rate: Option<f64>,
    /// Maximum acceptable risk of ruin, in percent [default: risk.max_ruin_probability]
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent_fraction)]
    limit: Option<f64>,
}

pub(super) fn run(arguments: &RuinArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let loaded = load_config(context)?;
    let inputs = RuinInputs::new(arguments, &loaded)?;
    let stakes = inputs.collect_stakes(arguments, &loaded)?;
    let scale = loaded.config.account.money_scale;
    let terms = RuinTerms { scale, limit: inputs.limit, win_rate: arguments.win_rate };
    let mut progress = Progress::new("Computing risk of ruin", context.global);
    let (mut figures, mut below) = (Vec::new(), Vec::new());
    for (done, stake) in (0..).zip(&stakes) {
        progress.update(done, stakes.len() as u64);
        let bot = (!stake.bot.is_empty()).then(|| stake.bot.clone());
        if let Some(why) = stake.describe_below_minimum(terms.scale)? {
            let prefix = bot.map(|bot| format!("bot \"{bot}\": ")).unwrap_or_default();
            below.push(format!("{prefix}{why}"));
            continue;
        }
        figures.push(RuinFigures::new(bot, stake, terms)?);
    }
    drop(progress);
    if figures.is_empty() && !below.is_empty() {
        return Err(Failure::configuration(below.join("; "))
            .hint("raise the stake, or lower risk.min_stake (--min-stake)"));
    }
    for why in below {
        tracing::warn!("{why}");
    }
    let balance = (inputs.balance, terms.scale);
    show(&RuinSummary::new(balance, inputs.payout.to_fraction(), inputs.limit, figures), context.global)
}

struct RuinInputs {
    balance: Money,
    payout: Payout,
    limit: f64,
    lower_bound: Option<f64>,
}

impl RuinInputs {
    fn new(arguments: &RuinArguments, loaded: &LoadedConfig) -> Result<Self, Failure> {
        let balance = match arguments.balance {
            Some(amount) => to_money(amount, "--balance", loaded)?,
            None => loaded.initial_balance()?,
        };
        let payout = arguments.payout.and_then(|payout| Payout::from_parts((payout * 1e6).round() as u32));
        // Counts given by the user are used even if they are small.
        let rate =
            arguments.won.zip(arguments.lost).map(|(won, lost)| WinRate::new(won, lost)).transpose()?;
        let interval = rate.map(|rate| wilson_interval(rate, 0.90)).transpose()?;
        Ok(Self {
            balance,
            payout: payout.unwrap_or(loaded.config.simulation.payout_percent),
            limit: arguments.limit.unwrap_or(loaded.config.risk.max_ruin_probability),
            lower_bound: interval.map(|interval| interval.lower),
        })
    }

    fn collect_stakes(
        &self,
        arguments: &RuinArguments,
        loaded: &LoadedConfig,
    ) -> Result<Vec<StakeRuin>, Failure> {
        let plan = self.choose_plan(arguments, loaded)?;
        let mut settings = session_settings(loaded);
        let risk = &mut settings.risk;
        risk.ruin_horizon_trades = arguments.trades.unwrap_or(risk.ruin_horizon_trades);
        risk.min_stake = arguments.min_stake.unwrap_or(risk.min_stake);
        let minimum_stake = to_minor_units(risk.min_stake, "--min-stake", loaded)?.max(1);
        let mut stakes = match plan {
            Some(plan) => {
                let payout_fraction = self.payout.to_fraction();
                let question = RuinParameters {
                    balance: u64::try_from(self.balance.minor()).unwrap_or(0),
                    minimum_stake,
                    win_probability: break_even(payout_fraction)?,
                    payout_fraction,
                    draw_share: 0.0,
                    horizon_trades: risk.ruin_horizon_trades,
                };
                let limits = WalletLimits::default();
                vec![StakeRuin { bot: String::new(), plan, question, lower_bound: None, limits }]
            }
            None if settings.bots.is_empty() => {
                return Err(Failure::configuration("no stakes to evaluate").hint(
                    "pass stakes (--stake 10, --martingale 10, --soros 10, --share 2, --kelly 0.5), or a --config with bots",
                ));
            }
            None => {
                let known = TrackRecord::from_assumed_payout(self.payout);
                StakeRuin::for_bots(&settings, self.balance, &vec![known; settings.bots.len()])?
            }
        };
        for stake in &mut stakes {
            stake.question.draw_share = arguments.draws.unwrap_or_default();
            stake.lower_bound = self.lower_bound.or(stake.lower_bound);
        }
        Ok(stakes)
    }

    fn choose_plan(
        &self,
        arguments: &RuinArguments,
        loaded: &LoadedConfig,
    ) -> Result<Option<StakePlan>, Failure> {
        let step = to_minor_units(loaded.config.risk.stake_step, "risk.stake_step", loaded)?.max(1);
        let amount = |amount, flag| to_minor_units(amount, flag, loaded);
        if let Some(stake) = arguments.stake {
            return Ok(Some(StakePlan::Flat { stake: amount(stake, "--stake")? }));
        }
        if let Some(fraction) = arguments.share {
            return Ok(Some(StakePlan::Share { fraction, step }));
        }
        if let Some((fraction, believed_win_probability)) = arguments.kelly.zip(arguments.believe) {
            return Ok(Some(StakePlan::Kelly { fraction, believed_win_probability, step }));
        }
        if let Some(base) = arguments.martingale {
            let most = arguments.max_stake.map(|most| amount(most, "--max-stake")).transpose()?;
            return Ok(Some(StakePlan::Martingale {
                base: amount(base, "--martingale")?,
                factor: arguments.factor.unwrap_or(1.0 + 1.0 / self.payout.to_fraction()),
                levels: arguments.levels,
                most_stake: most.unwrap_or(MAX_MONEY),
                step,
            }));
        }
        let soros = arguments.soros.map(|base| amount(base, "--soros")).transpose()?;
        Ok(soros.map(|base| StakePlan::Soros { base, wins: arguments.wins, most_stake: MAX_MONEY, step }))
    }
}

fn to_money(amount: Decimal, key: &str, loaded: &LoadedConfig) -> Result<Money, Failure> {
    let exact = loaded.config.account.money_scale.convert_exact(amount);
    Ok(exact.map_err(|source| EngineError::Amount { key: key.to_owned(), source })?)
}

fn to_minor_units(amount: Decimal, key: &str, loaded: &LoadedConfig) -> Result<u64, Failure> {
    u64::try_from(to_money(amount, key, loaded)?.minor()).map_err(|_| {
        Failure::configuration(format!("{key}: {amount} is negative")).hint("use an amount such as 10")
    })
}

fn parse_fraction(text: &str) -> Result<f64, String> {
    let fraction = text.parse().ok().filter(|fraction: &f64| *fraction > 0.0 && *fraction <= 1.0);
    fraction.ok_or_else(|| "use a fraction above 0 and up to 1, such as 0.5".to_owned())
}
fn parse_factor(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "use a number such as 2.2".to_owned())
}
