//! The validated settings of the `[risk]` section, in the engine's units.

use super::bot_limits::BotLimits;
use super::hours::{DayStart, TradingWindow};
use super::money_limits::AmountOrPercent;
use super::session_limits::SessionLimits;
use super::{Blackouts, CooldownScope, PauseSettings, RiskSettings};
use crate::{BotId, EngineError, SymbolId};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Millis, Money, MoneyScale, Payout, Symbol};
use std::collections::BTreeMap;

/// The limits that the rules check. Zero disables a limit.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a setting")]
pub(crate) struct Limits {
    pub(super) max_open_trades: usize,
    pub(super) max_open_trades_per_symbol: usize,
    pub(super) max_trades_per_hour: usize,
    pub(super) max_trades_per_day: u32,
    pub(crate) daily_loss_limit: AmountOrPercent,
    pub(super) daily_profit_target: AmountOrPercent,
    pub(crate) session: SessionLimits,
    pub(super) max_drawdown: f64,
    /// Right shift of a peak that gives a fast lower bound of the maximum drawdown.
    drawdown_halvings: u32,
    pub(super) max_loss_streak: u32,
    pub(super) cooldown_after_loss: Millis,
    pub(super) cooldown_after_losses: u32,
    pub(super) cooldown_after_losses_span: Millis,
    pub(super) cooldown_scope: CooldownScope,
    pub(crate) pauses: Vec<PauseSettings>,
    pub(crate) refused_by_venue_pause: Millis,
    min_payout: Option<Payout>,
    named_payouts: BTreeMap<Symbol, Option<Payout>>,
    payouts: Vec<Option<Payout>>,
    /// Symbols that compete by payout. Only the symbol with the best payout is traded.
    best_payout_names: Vec<Symbol>,
    /// Ids of `best_payout_names`, empty if the Session trades fewer than two of these symbols.
    pub(super) best_payout_ids: Vec<SymbolId>,
    pub(super) payout_max_age: Millis,
    pub(super) stale_after_intervals: i64,
    pub(super) max_signal_delay: Millis,
    pub(super) allow_opposite: bool,
    pub(super) allow_duplicate: bool,
    pub(super) max_clock_skew: Millis,
    pub(super) hours: Vec<TradingWindow>,
    pub(super) day_start: DayStart,
    pub(crate) minimum_stake: Money,
    pub(super) max_stake: Money,
    pub(crate) stake_step: Money,
    pub(super) max_stake_fraction: f64,
    pub(crate) cap_stakes: bool,
    pub(crate) enforce_verdict: bool,
    named_bots: BTreeMap<String, BotLimits>,
    bots: Vec<Option<BotLimits>>,
    dated: Blackouts,
    pub(super) blackouts: Vec<Vec<(Millis, Millis)>>,
}

impl Limits {
    pub(crate) fn new(settings: &RiskSettings, scale: MoneyScale) -> Result<Self, EngineError> {
        let seconds = |count: u32| Millis::from_seconds(i64::from(count));
        let stake_step = parse_amount(scale, settings.stake_step, "risk.stake_step")?;
        let least = parse_amount(scale, settings.min_stake, "risk.min_stake")?.max(Money::from_minor(1));
        let max_drawdown = parse_percent(settings.max_drawdown_percent, "risk.max_drawdown_percent")?;
        let hours = settings.hours.iter().enumerate();
        let hours: Vec<TradingWindow> = hours
            .map(|(index, hours)| TradingWindow::new(hours, &format!("risk.hours[{index}]")))
            .collect::<Result<_, _>>()?;
        let session = SessionLimits::new((&settings.session, &settings.bots), &hours, scale)?;
        settings.blackouts.check()?;
        PauseSettings::check(&settings.pauses)?;
        let own = settings;
        let bound = |(most, share), key: &str| AmountOrPercent::new(scale, most, share, key);
        let bots = settings.bots.iter();
        let bots = bots.map(|(name, bot)| Ok((name.clone(), BotLimits::new(bot, name, scale)?)));
        Ok(Self {
            max_open_trades: settings.max_open_trades as usize,
            max_open_trades_per_symbol: settings.max_open_trades_per_symbol as usize,
            max_trades_per_hour: settings.max_trades_per_hour as usize,
            max_trades_per_day: settings.max_trades_per_day,
            daily_loss_limit: bound(
                (own.daily_loss_limit, own.daily_loss_limit_percent),
                "risk.daily_loss_limit",
            )?,
            daily_profit_target: bound(
                (own.daily_profit_target, own.daily_profit_target_percent),
                "risk.daily_profit_target",
            )?,
            max_drawdown,
            drawdown_halvings: count_halvings(max_drawdown),
            max_loss_streak: settings.max_loss_streak,
            cooldown_after_loss: seconds(settings.cooldown_after_loss_s),
            cooldown_after_losses: settings.cooldown_after_losses,
            cooldown_after_losses_span: seconds(settings.cooldown_after_losses_s),
            cooldown_scope: settings.cooldown_scope,
            pauses: settings.pauses.clone(),
            refused_by_venue_pause: seconds(settings.refused_by_venue_pause_s),
            min_payout: parse_payout(settings.min_payout_percent, "risk.min_payout_percent")?,
            named_payouts: parse_min_payouts(&settings.min_payout_percent_by_symbol)?,
            payouts: Vec::new(),
            best_payout_names: parse_best_payout_names(&settings.best_payout_of)?,
            best_payout_ids: Vec::new(),
            payout_max_age: seconds(settings.payout_max_age_s),
            stale_after_intervals: i64::from(settings.stale_after_intervals),
            max_signal_delay: Millis::new(i64::from(settings.max_signal_delay_ms)),
            allow_opposite: settings.allow_opposite,
            allow_duplicate: settings.allow_duplicate,
            max_clock_skew: Millis::new(i64::from(settings.max_clock_skew_ms)),
            hours,
            session,
            day_start: DayStart::new(&settings.day_start, &settings.day_timezone, "risk")?,
            minimum_stake: round_up_to_step(stake_step, least),
            max_stake: parse_amount(scale, settings.max_stake, "risk.max_stake")?,
            stake_step,
            max_stake_fraction: parse_percent(settings.max_stake_percent, "risk.max_stake_percent")?,
            cap_stakes: settings.cap_stakes,
            enforce_verdict: settings.enforce_verdict,
            named_bots: bots.collect::<Result<_, EngineError>>()?,
            bots: Vec::new(),
            dated: settings.blackouts.clone(),
            blackouts: Vec::new(),
        })
    }

    pub(crate) fn bind_ids(&mut self, bots: &[String], symbols: &[Symbol]) {
        self.bots = bots.iter().map(|name| self.named_bots.get(name).cloned()).collect();
        self.blackouts = self.dated.spans_by_symbol(symbols);
        let payout = |symbol| self.named_payouts.get(symbol).copied().unwrap_or(self.min_payout);
        self.payouts = symbols.iter().map(payout).collect();
        let place = |name| symbols.iter().position(|symbol| symbol == name).and_then(SymbolId::new);
        let best_of: Vec<SymbolId> = self.best_payout_names.iter().filter_map(place).collect();
        self.best_payout_ids = if best_of.len() > 1 { best_of } else { Vec::new() };
    }

    #[inline]
    pub(super) fn min_payout(&self, symbol: SymbolId) -> Option<Payout> {
        self.payouts.get(symbol.index()).copied().unwrap_or(self.min_payout)
    }

    #[inline]
    pub(super) fn needs_payout(&self, symbol: SymbolId) -> bool {
        self.min_payout(symbol).is_some() || self.best_payout_ids.contains(&symbol)
    }

    pub(crate) fn max_daily_loss(&self, bot: &str, equity: Money) -> Option<Money> {
        self.named_bots.get(bot)?.daily_loss_limit.amount_at(equity)
    }

    pub(crate) fn max_session_loss(&self, bot: &str, equity: Money) -> Option<Money> {
        self.named_bots.get(bot)?.session_loss_limit.amount_at(equity)
    }

    #[inline]
    pub(super) fn bot_limits(&self, bot: BotId) -> Option<&BotLimits> {
        self.bots.get(bot.index())?.as_ref()
    }

    pub(crate) const fn has_open_trade_cap(&self) -> bool {
        self.max_open_trades > 0 || self.max_open_trades_per_symbol > 0
    }

    pub(crate) fn max_open_trades_for(&self, bot: &str) -> Option<usize> {
        let own = self.named_bots.get(bot).map_or(0, |own| own.max_open_trades);
        let caps = [self.max_open_trades, self.max_open_trades_per_symbol, own];
        caps.into_iter().filter(|cap| *cap > 0).min()
    }

    /// Returns the maximum number of open trades, or 1 if no cap is set. Kelly stakes are divided by this number.
    /// [`check_stakes`](crate::check_stakes) ensures that new runs with Kelly stakes have a cap.
    pub(crate) fn open_trade_cap(&self, symbols: usize) -> u32 {
        let per_symbol = self.max_open_trades_per_symbol.saturating_mul(symbols.max(1));
        let caps = [self.max_open_trades, per_symbol].into_iter().filter(|cap| *cap > 0);
        caps.min().and_then(|cap| u32::try_from(cap).ok()).unwrap_or(1).max(1)
    }

    pub(crate) const fn round_down_to_step(&self, stake: Money) -> Money {
        stake.floor_to(self.stake_step)
    }

    pub(crate) fn largest_stake(&self) -> Option<Money> {
        self.max_stake.is_positive().then_some(self.max_stake)
    }

    pub(crate) fn max_stake_at(&self, balance: Money) -> Option<Money> {
        (self.max_stake_fraction > 0.0).then(|| balance.mul_rounded_down(self.max_stake_fraction))
    }

    #[inline]
    pub(crate) fn has_stake_cap(&self) -> bool {
        self.max_stake.is_positive() || self.max_stake_fraction > 0.0
    }

    pub(crate) fn stake_cap(&self, free: Money) -> Option<Money> {
        let bounds = [self.largest_stake(), self.max_stake_at(free)];
        bounds.into_iter().flatten().min().map(|most| self.round_down_to_step(most))
    }

    pub(crate) const fn has_trades_per_hour_limit(&self) -> bool {
        self.max_trades_per_hour > 0
    }

    pub(crate) fn has_same_day_start(&self, other: &Self) -> bool {
        self.day_start == other.day_start
    }

    pub(crate) fn has_cooldown(&self) -> bool {
        self.cooldown_after_loss > Millis::ZERO || self.cooldown_after_losses > 0
    }

    pub(crate) fn session_end(&self, at: Millis) -> Millis {
        let starts = self.hours.iter().filter_map(|window| window.next_start(at));
        starts.filter(|_| self.session.is_per_trading_window()).min().unwrap_or(Millis::MAX)
    }

    pub(crate) fn max_drawdown_amount(&self, peak: Money) -> Option<Money> {
        (self.max_drawdown > 0.0).then(|| peak.mul_rounded_down(self.max_drawdown))
    }

    #[inline]
    pub(super) fn is_drawdown_exceeded(&self, fall: Money, peak: Money) -> bool {
        // Fast path: whole halvings underestimate the allowed fall, but most falls are even smaller.
        let is_shallow = fall.minor() <= peak.minor() >> self.drawdown_halvings;
        let is_exact = (0..1 << 52).contains(&peak.minor());
        !(is_shallow && is_exact) && self.max_drawdown_amount(peak).is_some_and(|most| fall > most)
    }

    pub(crate) fn day_bounds(&self, at: Millis) -> (Millis, Millis) {
        self.day_start.day_bounds(at)
    }
}

fn count_halvings(fraction: f64) -> u32 {
    (0..63).find(|halvings| 0.5_f64.powi(*halvings) <= fraction).unwrap_or(63).unsigned_abs()
}

fn round_up_to_step(step: Money, least: Money) -> Money {
    let floor = least.floor_to(step);
    if floor < least { floor + step } else { floor }
}

pub(super) fn parse_amount(scale: MoneyScale, amount: Decimal, key: &str) -> Result<Money, EngineError> {
    let money = EngineError::exact_money(scale, amount, key)?;
    if money < Money::ZERO {
        return Err(EngineError::setting(key, "an amount cannot be negative; 0 disables the limit"));
    }
    Ok(money)
}

pub(super) fn parse_percent(value: f64, key: &str) -> Result<f64, EngineError> {
    if (0.0..=100.0).contains(&value) {
        return Ok(value / 100.0);
    }
    Err(EngineError::setting(key, format!("{value} is not a percentage from 0 to 100; 0 disables the limit")))
}

fn parse_min_payouts(given: &BTreeMap<String, f64>) -> Result<BTreeMap<Symbol, Option<Payout>>, EngineError> {
    let of = |(name, percent): (&String, &f64)| {
        let key = format!("risk.min_payout_percent_by_symbol.{name}");
        let symbol = Symbol::new(name).map_err(|error| EngineError::setting(&*key, error.to_string()))?;
        Ok((symbol, parse_payout(*percent, &key)?))
    };
    given.iter().map(of).collect()
}

fn parse_best_payout_names(names: &[String]) -> Result<Vec<Symbol>, EngineError> {
    const KEY: &str = "risk.best_payout_of";
    let mut symbols: Vec<Symbol> = Vec::with_capacity(names.len());
    for name in names {
        let symbol = Symbol::new(name).map_err(|error| EngineError::setting(KEY, error.to_string()))?;
        if symbols.contains(&symbol) {
            return Err(EngineError::setting(KEY, format!("{symbol} is listed twice; remove one")));
        }
        symbols.push(symbol);
    }
    if symbols.len() == 1 {
        let problem = format!("{} is the only listed symbol; list at least two symbols or none", symbols[0]);
        return Err(EngineError::setting(KEY, problem));
    }
    Ok(symbols)
}

fn parse_payout(percent: f64, key: &str) -> Result<Option<Payout>, EngineError> {
    if percent == 0.0 {
        return Ok(None);
    }
    let decimal = Decimal::try_from(percent).ok().and_then(|decimal| Payout::from_percent(decimal).ok());
    decimal.map(Some).ok_or_else(|| {
        EngineError::setting(key, format!("{percent} is not a valid payout; use a percentage such as 80"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(change: impl Fn(&mut RiskSettings)) -> Limits {
        let mut settings = RiskSettings::default();
        change(&mut settings);
        Limits::new(&settings, MoneyScale::default()).unwrap()
    }

    #[test]
    fn lower_cap_determines_maximum_of_open_trades() {
        let together = |all: u32, per_symbol: u32, symbols: usize| {
            let caps = |risk: &mut RiskSettings| {
                (risk.max_open_trades, risk.max_open_trades_per_symbol) = (all, per_symbol);
            };
            limits(caps).open_trade_cap(symbols)
        };
        assert_eq!([together(3, 1, 1), together(3, 1, 2), together(3, 1, 5)], [1, 2, 3]);
        // 0 means no cap.
        assert_eq!([together(4, 0, 2), together(0, 2, 3)], [4, 6]);
    }

    #[test]
    fn best_payout_needs_two_or_more_different_symbols() {
        for (names, expected) in [
            (&[][..], None),
            (&["EURUSD", "GBPUSD"], None),
            (&["EURUSD"], Some("EURUSD is the only listed symbol; list at least two symbols or none")),
            (&["A", "B", "A"], Some("A is listed twice; remove one")),
        ] {
            let best_payout_of = names.iter().map(ToString::to_string).collect();
            let settings = RiskSettings { best_payout_of, ..RiskSettings::default() };
            let problem = Limits::new(&settings, MoneyScale::default()).err().map(|error| error.to_string());
            let expected = expected.map(|words| format!("risk.best_payout_of: {words}"));
            assert_eq!(problem, expected, "{names:?}");
        }
    }

    #[test]
    fn minimum_stake_is_rounded_up_to_the_next_step() {
        // In cents: minimum, step and smallest possible stake.
        for (least, step, expected) in
            [(500, 0, 500), (500, 100, 500), (501, 100, 600), (599, 100, 600), (0, 0, 1), (0, 25, 25)]
        {
            let stakes = |risk: &mut RiskSettings| {
                (risk.min_stake, risk.stake_step) = (Decimal::new(least, 2), Decimal::new(step, 2));
            };
            assert_eq!(limits(stakes).minimum_stake.minor(), expected, "{least} in steps of {step}");
        }
    }
}
