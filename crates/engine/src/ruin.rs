//! Risk of ruin with the configured stakes, checked before the first trade.

use crate::risk::Limits;
use crate::ruin_limits::{
    StakeList, describe_unsimulated_settings, format_percent, lowest_payout, wallet_limits,
};
use crate::stake_checks::{check_first_stakes, max_concurrent_trades};
use crate::{BotSettings, EngineError, IfRefused, IntentRow, SessionSettings, StakeSettings, edge_sequence};
use candlewick_sdk::{Money, MoneyScale, Outcome, Payout, Symbol};
use candlewick_statistics::{
    MAX_HORIZON_TRADES, MAX_MONEY, RuinParameters, StakePlan, StatisticsError, WalletLimits, break_even,
    kelly_fraction, required_balance, ruin,
};
use std::fmt::Write as _;

/// Minimum number of won or lost trades for a win-rate bound. Below it, the bound mainly reflects the sample size.
const MIN_TRADES: usize = 200;

/// One-sided confidence of 95 %, expressed as a two-sided interval of 90 %.
const CONFIDENCE: f64 = 0.90;

/// Known or assumed payout and win rate of a bot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrackRecord {
    /// Payout of a win, last known or assumed.
    pub payout: Payout,
    /// Anytime-valid lower confidence bound of the win rate, `None` if there are too few trades.
    pub lower_bound: Option<f64>,
}

/// The stakes of a bot and the inputs of its risk of ruin, assuming that the bot has the whole balance.
#[derive(Clone, Debug, PartialEq)]
pub struct StakeRuin {
    /// Name of the bot.
    pub bot: String,
    /// Sequence of stakes.
    pub plan: StakePlan,
    /// Balance, payout and horizon, with the break-even rate as the win rate.
    pub question: RuinParameters,
    /// Lower bound of the win rate, `None` if there are too few trades.
    pub lower_bound: Option<f64>,
    /// Limits of the bot's trades.
    pub limits: WalletLimits,
}

/// Messages about the risk of ruin of all stakes, shown before the first trade.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuinReport {
    /// One line per ladder.
    pub ladder_lines: Vec<String>,
    /// One line per stake that is not a ladder. Bots with the same stake share a line.
    pub stake_lines: Vec<String>,
    /// Number of bots that use no ladder and are more likely than not to lose half the balance, despite their limits.
    pub bots_with_halving_risk: usize,
    /// Reason to reject the stakes, with a suggested change.
    pub refusal: Option<String>,
}

impl TrackRecord {
    /// Creates a record from an assumed payout, without a bound on the win rate.
    pub const fn from_assumed_payout(payout: Payout) -> Self {
        Self { payout, lower_bound: None }
    }

    /// Builds the record from the rows of the bot's trades.
    pub fn from_rows<'a>(payout: Payout, rows: impl Iterator<Item = &'a IntentRow> + Clone) -> Self {
        let is_decided = |row: &&IntentRow| matches!(row.outcome, Some(Outcome::Won | Outcome::Lost));
        let is_enough = rows.clone().filter(is_decided).count() >= MIN_TRADES;
        let interval = is_enough.then(|| edge_sequence(rows).win_rate(CONFIDENCE).ok()).flatten();
        Self { payout, lower_bound: interval.map(|interval| interval.lower) }
    }
}

impl StakeRuin {
    /// Builds the ruin inputs of each bot for the given balance. `records` are in bot order.
    pub fn for_bots(
        settings: &SessionSettings,
        balance: Money,
        records: &[TrackRecord],
    ) -> Result<Vec<Self>, EngineError> {
        let limits = Limits::new(&settings.risk, settings.money_scale)?;
        let mut symbols: Vec<Symbol> = settings.bots.iter().map(|bot| bot.symbol).collect();
        symbols.sort_unstable();
        symbols.dedup();
        let together = limits.open_trade_cap(symbols.len());
        let bots = settings.bots.iter().zip(records).enumerate();
        bots.map(|(index, (bot, record))| {
            let key = format!("bots[{index}].stake");
            Self::for_bot((bot, settings, &key), (&limits, together), balance, *record)
        })
        .collect()
    }

    fn for_bot(
        (bot, settings, key): (&BotSettings, &SessionSettings, &str),
        (limits, together): (&Limits, u32),
        balance: Money,
        record: TrackRecord,
    ) -> Result<Self, EngineError> {
        let scale = settings.money_scale;
        let payout = lowest_payout(record.payout, bot, settings);
        let money = |amount| EngineError::exact_money(scale, amount, &format!("{key}.amount")).map(to_units);
        let step = to_units(limits.stake_step).max(1);
        let minimum_stake = to_units(limits.minimum_stake).max(1);
        let most_stake = limits.largest_stake().map_or(MAX_MONEY, to_units);
        let mut horizon_trades = settings.risk.ruin_horizon_trades;
        let plan = match bot.stake {
            StakeSettings::Fixed { amount } => {
                let stake = money(amount)?;
                StakePlan::Flat { stake: stake - stake % step }
            }
            StakeSettings::Share { percent } => StakePlan::Share { fraction: percent / 100.0, step },
            StakeSettings::Martingale { amount, factor, levels, entry: _, if_refused: _ } => {
                StakePlan::Martingale { base: money(amount)?, factor, levels, most_stake, step }
            }
            StakeSettings::Soros { amount, wins, .. } => {
                let most_stake = if limits.cap_stakes { most_stake } else { MAX_MONEY };
                StakePlan::Soros { base: money(amount)?, wins, most_stake, step }
            }
            StakeSettings::Kelly { fraction, kelly_floor_trades, .. } => {
                let payout_fraction = payout.to_fraction();
                let stakes_more = |p: f64| kelly_fraction(p, payout_fraction).is_ok_and(|share| share > 0.0);
                if let Some(believed_win_probability) = record.lower_bound.filter(|p| stakes_more(*p)) {
                    let fraction = fraction / f64::from(together);
                    StakePlan::Kelly { fraction, believed_win_probability, step }
                } else {
                    // The bot stakes the minimum until its lower bound is above break-even. Later stakes are unknown.
                    if record.lower_bound.is_none() {
                        horizon_trades = horizon_trades.min(kelly_floor_trades.max(1));
                    }
                    StakePlan::Flat { stake: minimum_stake }
                }
            }
        };
        let payout_fraction = payout.to_fraction();
        let win_probability = break_even(payout_fraction).map_err(|error| setting_error(key, &error))?;
        let balance = to_units(balance);
        let question = RuinParameters {
            balance,
            minimum_stake,
            win_probability,
            payout_fraction,
            draw_share: 0.0,
            horizon_trades,
        };
        let plan = if limits.cap_stakes {
            plan
        } else {
            truncate_ladder_at_max_stake(plan, &question, bot, most_stake)
        };
        let (lower_bound, limits) = (record.lower_bound, wallet_limits(bot, settings));
        Ok(Self { bot: bot.name.clone(), plan, question, lower_bound, limits })
    }

    /// Returns whether stakes depend on previous trades. The ruin limit only applies to such stakes.
    pub const fn is_ladder(&self) -> bool {
        match self.plan {
            StakePlan::Martingale { .. } | StakePlan::Soros { .. } => true,
            StakePlan::Flat { .. } | StakePlan::Share { .. } | StakePlan::Kelly { .. } => false,
        }
    }

    /// Returns an explanation if the first stake is below the minimum, so that no trade is possible.
    /// This does not count as ruin. Returns `None` for Kelly stakes, which are never below the minimum.
    pub fn describe_below_minimum(&self, scale: MoneyScale) -> Result<Option<String>, StatisticsError> {
        if matches!(self.plan, StakePlan::Kelly { .. }) {
            return Ok(None);
        }
        let (first, least) = (self.plan.first_stake(&self.question)?, self.question.minimum_stake);
        let money = |units| scale.format(Money::from_minor(i64::try_from(units).unwrap_or(i64::MAX)));
        Ok((first < least).then(|| {
            format!(
                "cannot trade: its first stake of {} is below the minimum of {}",
                money(first),
                money(least)
            )
        }))
    }

    /// Returns the probability of ruin if trades win with probability `win_probability`.
    pub fn probability_at(&self, win_probability: f64) -> Result<f64, StatisticsError> {
        ruin(&RuinParameters { win_probability, ..self.question }, &self.plan).map(|ruin| ruin.probability())
    }

    /// Returns the win rate that the ruin check assumes: break-even or the lower bound, whichever is lower.
    pub fn assumed_win_rate(&self) -> f64 {
        self.lower_bound
            .map_or(self.question.win_probability, |bound| bound.min(self.question.win_probability))
    }
}

/// Checks the combined ruin probability of all ladders against `risk.max_ruin_probability`.
/// Each ladder is evaluated at its break-even rate or its lower bound, whichever is lower.
pub fn check_ruin(
    settings: &SessionSettings,
    balance: Money,
    records: &[TrackRecord],
) -> Result<RuinReport, EngineError> {
    let limit = settings.risk.max_ruin_probability;
    if !(0.0..=1.0).contains(&limit) {
        let problem = format!("{limit} is not a probability from 0 to 1; 0 disables the limit");
        return Err(EngineError::setting("risk.max_ruin_probability", problem));
    }
    if !(1..=MAX_HORIZON_TRADES).contains(&settings.risk.ruin_horizon_trades) {
        let problem = format!("out of range; use 1 to {MAX_HORIZON_TRADES} trades");
        return Err(EngineError::setting("risk.ruin_horizon_trades", problem));
    }
    let risk_limits = Limits::new(&settings.risk, settings.money_scale)?;
    let stakes = StakeRuin::for_bots(settings, balance, records)?;
    let (mut report, mut stake_list) = (RuinReport::default(), StakeList::default());
    let (mut total, mut ladders) = (0.0, Vec::new());
    for (bot, stake) in settings.bots.iter().zip(stakes) {
        let key = format!("stake of bot \"{}\"", bot.name);
        let refused = |error: StatisticsError| match error {
            StatisticsError::TooManyTrades { trades, most } => {
                let name = &bot.name;
                let problem = format!(
                    "the risk of ruin of bot \"{name}\" takes too long to calculate over {trades} trades. Use at \
                     most {most}"
                );
                EngineError::setting("risk.ruin_horizon_trades", problem)
            }
            error => setting_error(&key, &error),
        };
        let at_once = match max_concurrent_trades(bot, &risk_limits) {
            1 => String::new(),
            count => format!("; simulated one trade at a time, although {count} can be open at once"),
        };
        let suffix = describe_unsimulated_settings(bot, &settings.risk).unwrap_or_default() + &at_once;
        if !stake.is_ladder() {
            stake_list.add(stake, &suffix, settings.money_scale).map_err(refused)?;
            continue;
        }
        let ruined = stake.probability_at(stake.assumed_win_rate());
        // Not an error if the limit is off.
        if let (Err(StatisticsError::TooManyTrades { trades, most }), true) = (&ruined, limit <= 0.0) {
            let bot = &bot.name;
            report.ladder_lines.push(format!(
                "bot \"{bot}\": risk of ruin not calculated, because {trades} trades take too long. Set \
                 risk.ruin_horizon_trades to {most} or less"
            ));
            continue;
        }
        if stake.describe_below_minimum(settings.money_scale).map_err(refused)?.is_some() {
            check_first_stakes(settings)?;
        }
        total += ruined.map_err(refused)?;
        let with_candles = if bot.stake.enters_without_signal() {
            "; every level after the first is traded on the next candle, without waiting for a signal"
        } else {
            ""
        };
        let ruin = stake.describe(settings.money_scale).map_err(refused)?;
        report.ladder_lines.push(format!("bot \"{}\": {}{suffix}{with_candles}", bot.name, ruin.text));
        ladders.push(stake);
    }
    report.bots_with_halving_risk = stake_list.bots_with_halving_risk();
    report.stake_lines = stake_list.lines();
    if limit > 0.0 && total > limit {
        report.refusal = Some(refusal_message(&ladders, total, settings)?);
    }
    Ok(report)
}

fn truncate_ladder_at_max_stake(
    plan: StakePlan,
    question: &RuinParameters,
    bot: &BotSettings,
    most: u64,
) -> StakePlan {
    match plan {
        StakePlan::Soros { base, most_stake, step, .. } if bot.stake.if_refused() == IfRefused::Reset => {
            let stakes = plan.stakes(question).unwrap_or_default();
            let placed = stakes.iter().take_while(|stake| **stake <= most).count();
            StakePlan::Soros { base, wins: placed.saturating_sub(1) as u32, most_stake, step }
        }
        plan => plan,
    }
}

fn refusal_message(
    ladders: &[StakeRuin],
    total: f64,
    settings: &SessionSettings,
) -> Result<String, EngineError> {
    let (limit, horizon) = (settings.risk.max_ruin_probability, settings.risk.ruin_horizon_trades);
    let scale = settings.money_scale;
    let bots: Vec<String> = ladders.iter().map(|ladder| format!("\"{}\"", ladder.bot)).collect();
    let mut text = format!(
        "the risk of ruin of the ladders of {} within {horizon} trades is {}, above the limit of {}. Use fewer levels, \
         a smaller factor or a smaller amount",
        bots.join(", "),
        format_percent(total.min(1.0)),
        format_percent(limit),
    );
    if let [ladder] = ladders {
        let question = RuinParameters { win_probability: ladder.assumed_win_rate(), ..ladder.question };
        let needed = required_balance(&question, &ladder.plan, limit)
            .map_err(|error| setting_error(&format!("stake of bot \"{}\"", ladder.bot), &error))?;
        if let Some(needed) = needed.and_then(|needed| i64::try_from(needed).ok()) {
            let _ = write!(text, ", start with a balance of {}", scale.format(Money::from_minor(needed)));
        }
    }
    text.push_str(", or raise the limit. Run `candlewick edge ruin` for the figures");
    Ok(text)
}

fn setting_error(key: &str, error: &StatisticsError) -> EngineError {
    EngineError::setting(key, error.to_string())
}

fn to_units(money: Money) -> u64 {
    u64::try_from(money.minor()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RiskSettings;
    use crate::testing;
    use candlewick_sdk::rust_decimal::Decimal;

    fn soros(wins: u32, if_refused: crate::IfRefused) -> StakeSettings {
        StakeSettings::Soros { amount: Decimal::TEN, wins, if_refused }
    }

    fn settings(stakes: &[StakeSettings], change: impl Fn(&mut RiskSettings)) -> SessionSettings {
        let of_forty = |risk: &mut RiskSettings| {
            risk.ruin_horizon_trades = 40;
            change(risk);
        };
        let bot = |(n, stake): (usize, &StakeSettings)| testing::bot(&format!("bot-{n}"), stake.clone());
        testing::settings(1_000, of_forty, stakes.iter().enumerate().map(bot).collect())
    }

    fn martingale(levels: u32) -> StakeSettings {
        testing::martingale(Decimal::TEN, levels)
    }

    fn record(lower_bound: Option<f64>) -> TrackRecord {
        TrackRecord {
            lower_bound,
            ..TrackRecord::from_assumed_payout(Payout::from_parts(1_000_000).unwrap())
        }
    }

    /// Checks ladders at a balance of 70.00 each and a payout of 100 %, so break-even is at 50 %.
    fn check(stakes: &[StakeSettings], limit: f64, record: TrackRecord) -> RuinReport {
        let settings = settings(stakes, |risk| risk.max_ruin_probability = limit);
        check_ruin(&settings, Money::from_minor(7_000), &vec![record; stakes.len()]).unwrap()
    }

    #[test]
    fn refusal_names_the_risk_of_ruin_and_a_sufficient_balance() {
        let even = record(None);
        assert_eq!(check(&[martingale(1)], 0.9, even).refusal, None);
        let refusal = check(&[martingale(3)], 0.05, even).refusal.unwrap();
        for part in ["\"bot-0\"", "within 40 trades", "limit of 5.00 %", "fewer levels", "a balance of "] {
            assert!(refusal.contains(part), "{part}: {refusal}");
        }
        assert_eq!(check(&[martingale(3)], 0.0, even).refusal, None, "0 disables the limit");
        assert_eq!(check(&[martingale(3)], 0.0, even).ladder_lines.len(), 1);
    }

    #[test]
    fn stake_below_the_minimum_is_reported_as_such_and_not_as_ruin() {
        let soros = soros(2, crate::IfRefused::Wait);
        for stake in [martingale(3), soros] {
            let with = |least| {
                settings(std::slice::from_ref(&stake), |risk| risk.min_stake = Decimal::new(least, 2))
            };
            let balance = Money::from_minor(100_000);
            let problem = check_ruin(&with(1_001), balance, &[record(None)]).unwrap_err().to_string();
            assert!(problem.contains("is 10.00, but risk.min_stake is 10.01"), "{problem}");
            let sound = check_ruin(&with(1_000), balance, &[record(None)]).unwrap();
            assert!(sound.ladder_lines[0].contains("risk of ruin within"), "{sound:?}");
        }
        let share = settings(&[StakeSettings::Share { percent: 0.05 }], |_| ());
        let lines = check_ruin(&share, Money::from_minor(100_000), &[record(None)]).unwrap().stake_lines;
        let expected = "bot \"bot-0\": cannot trade: its first stake of 0.50 is below the minimum of 1.00";
        assert_eq!(lines, [expected]);
    }

    #[test]
    fn concurrent_trades_are_mentioned_because_ruin_assumes_one_at_a_time() {
        for (most, together) in [(1, 1), (3, 3), (10, 6)] {
            let said = match together {
                1 => String::new(),
                count => format!("; simulated one trade at a time, although {count} can be open at once"),
            };
            let flat = StakeSettings::Fixed { amount: Decimal::TEN };
            for stake in [martingale(3), flat] {
                let mut settings = settings(&[stake], |risk| {
                    (risk.max_open_trades, risk.max_open_trades_per_symbol) = (10, most);
                });
                settings.bots[0].close_type = "05:00".parse().unwrap();
                let report = check_ruin(&settings, Money::from_minor(7_000), &[record(None)]).unwrap();
                let words = report.ladder_lines.into_iter().chain(report.stake_lines).next().unwrap();
                assert_eq!(words.contains("one trade at a time"), together > 1, "{words}");
                assert!(words.contains(&said), "{words}");
            }
        }
    }

    #[test]
    fn several_ladders_count_together_and_other_stakes_do_not_count() {
        let even = record(None);
        let settings = settings(&[martingale(3), martingale(3)], |_| ());
        let both = StakeRuin::for_bots(&settings, Money::from_minor(7_000), &[even; 2]).unwrap();
        let single = both[0].probability_at(0.5).unwrap();
        assert_eq!(check(&[martingale(3)], single * 1.5, even).refusal, None);
        assert!(check(&[martingale(3), martingale(3)], single * 1.5, even).refusal.is_some());
        let flat = StakeSettings::Fixed { amount: Decimal::from(60) };
        let found = check(&[flat], 0.001, even);
        assert_eq!((found.ladder_lines.len(), found.stake_lines.len(), found.refusal), (0, 1, None));
    }

    #[test]
    fn lower_bound_counts_only_if_below_break_even() {
        let text = |record| check(&[martingale(3)], 0.0, record).ladder_lines.remove(0);
        for (bound, said) in [
            (None, " at a win rate of 50.00 % (break-even)"),
            (Some(0.85), " at a win rate of 50.00 % (break-even)"),
            (Some(0.3932), " at a win rate of 39.32 % (lower bound"),
        ] {
            assert!(text(record(bound)).contains(said), "{}", text(record(bound)));
        }
    }

    #[test]
    fn ruin_plan_matches_the_staking_rules() {
        let bound = crate::KellyBound::default();
        let stakes = [
            StakeSettings::Fixed { amount: Decimal::new(1_250, 2) },
            StakeSettings::Share { percent: 2.0 },
            soros(2, crate::IfRefused::Wait),
            StakeSettings::Kelly { fraction: 0.5, kelly_floor_trades: 30, bound },
        ];
        let settings = settings(&stakes, |risk| risk.stake_step = Decimal::from(5));
        let found = StakeRuin::for_bots(&settings, Money::from_minor(7_000), &[record(None); 4]).unwrap();
        let plans: Vec<StakePlan> = found.iter().map(|stake| stake.plan).collect();
        let expected = [
            StakePlan::Flat { stake: 1_000 },
            StakePlan::Share { fraction: 0.02, step: 500 },
            StakePlan::Soros { base: 1_000, wins: 2, most_stake: MAX_MONEY, step: 500 },
            StakePlan::Flat { stake: 500 },
        ];
        assert_eq!(plans, expected);
        assert_eq!((found[0].question.horizon_trades, found[3].question.horizon_trades), (40, 30));
        assert_eq!((found[0].question.minimum_stake, found[0].question.balance), (500, 7_000));
    }

    #[test]
    fn soros_stays_within_max_stake() {
        // Stakes at a payout of 100 %: 10, 20, 40. Two wins (25 % of three even trades) lead to the third stake.
        let report = |if_refused, cap_stakes| {
            let settings = settings(&[soros(2, if_refused)], |risk| {
                risk.ruin_horizon_trades = 3;
                (risk.max_stake, risk.cap_stakes) = (Decimal::from(25), cap_stakes);
                (risk.daily_loss_limit, risk.max_drawdown_percent) = (Decimal::ZERO, 0.0);
            });
            let ruin = StakeRuin::for_bots(&settings, Money::from_minor(100_000), &[record(None)]).unwrap();
            let text = check_ruin(&settings, Money::from_minor(100_000), &[record(None)]).unwrap();
            let stakes = ruin[0].plan.stakes(&ruin[0].question).unwrap();
            (stakes, text.ladder_lines.concat())
        };
        let (stakes, text) = report(IfRefused::Wait, false);
        assert_eq!(stakes, [1_000, 2_000, 4_000]);
        let stopped = text.split("stopped for good in ").nth(1).and_then(|rest| rest.split(' ').next());
        let stopped: f64 = stopped.unwrap().parse().unwrap();
        assert!(text.contains("; with max stake 25.00: ") && (stopped - 25.0).abs() < 0.5, "{text}");
        assert_eq!(report(IfRefused::Reset, false).0, [1_000, 2_000]);
        assert_eq!(report(IfRefused::Wait, true).0, [1_000, 2_000, 2_500]);
        for (if_refused, cap_stakes) in [(IfRefused::Reset, false), (IfRefused::Wait, true)] {
            let (_, text) = report(if_refused, cap_stakes);
            assert!(text.contains("good in 0 of") || text.contains("for good in 0.00 %"), "{text}");
        }
    }

    #[test]
    fn rejects_invalid_limits() {
        for (limit, horizon, key) in [
            (-0.1, 40, "risk.max_ruin_probability"),
            (1.1, 40, "risk.max_ruin_probability"),
            (f64::NAN, 40, "risk.max_ruin_probability"),
            (0.1, 0, "risk.ruin_horizon_trades"),
            (0.1, 100_001, "risk.ruin_horizon_trades"),
        ] {
            let settings = settings(&[martingale(1)], |risk| {
                (risk.max_ruin_probability, risk.ruin_horizon_trades) = (limit, horizon);
            });
            let error = check_ruin(&settings, Money::from_minor(7_000), &[record(None)]).unwrap_err();
            assert!(error.to_string().contains(key), "{error}");
        }
    }
}
