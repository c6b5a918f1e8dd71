//! The ordered chain of rules that a signal must pass before a trade is opened. The first rejection wins.
//!
//! Each rule is a function that checks a [`Proposal`] against a [`RiskView`] of the Session. Only this module approves
//! trades. `journal_decoder` restores trades that an earlier run approved. Restored trades are never opened.

mod approved;
mod blackouts;
mod bot_limits;
mod freshness;
mod hours;
mod limit_use;
mod limits;
mod money_limits;
mod open_trades;
mod pauses;
mod payouts;
mod refusal;
mod rule;
mod session_limits;
mod settings;
mod state;
#[cfg(test)]
#[path = "tests/testing.rs"]
mod testing;
mod venue_refusals;
mod zone_help;

pub use approved::{ApprovedTrade, OrderTerms};
pub use blackouts::{Blackout, Blackouts};
pub use bot_limits::BotLimitSettings;
pub use freshness::Lateness;
pub use hours::{DayStart, Hours, LocalClock, TradingWindow, Weekday};
pub use limit_use::{LimitUsage, Quantity};
pub use pauses::{EndedTrade, PauseCause, PauseScope, PauseSettings, RunningPause, pause_after};
pub use rule::Rule;
pub use session_limits::{SessionLimitSettings, SessionSpan};
pub use settings::{CooldownScope, LambdaRule, RiskSettings, VerdictSettings};
pub use venue_refusals::{OrderReply, RefusalPause, refusal_pause_after};
pub use zone_help::{
    invalid_time_zone_hint, misleading_zone_note, missing_dst_note, parse_time_zone, parse_utc_offset,
};

pub(crate) use freshness::send_deadline;
pub(crate) use limit_use::{bot_limit_usage, limit_usage};
pub(crate) use limits::Limits;
pub(crate) use payouts::PayoutProbe;
pub(crate) use refusal::{Refusal, describe_refusal, refusals, refused_until, stopping_rule};
pub(crate) use state::RiskState;
pub(crate) use state::carried::{PayoutRequirementChange, incompatible_setting};

use crate::intent::{IntentCounts, Intents};
use crate::ledger::Ledger;
use crate::{Action, BotId, EdgeVerdict, Origin, SymbolId};
use candlewick_sdk::{Direction, Expiry, Millis, Money, Reason};
use std::iter;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Proposal<'a> {
    pub(crate) bot: BotId,
    pub(crate) symbol: SymbolId,
    pub(crate) direction: Direction,
    pub(crate) expiry: Expiry,
    pub(crate) stake: Money,
    pub(crate) at: Millis,
    pub(crate) received: Millis,
    pub(crate) origin: Origin,
    pub(crate) last_close: Millis,
    pub(crate) interval: Millis,
    pub(crate) nominal_close: Millis,
    pub(crate) edge: EdgeVerdict,
    pub(crate) reason: &'a Reason,
    pub(crate) is_virtual: bool,
}

#[derive(Clone, Copy)]
pub(crate) struct RiskView<'a> {
    pub(crate) limits: &'a Limits,
    pub(crate) state: &'a RiskState,
    pub(crate) ledger: &'a Ledger,
    pub(crate) intents: &'a Intents,
    pub(crate) counts: &'a IntentCounts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ruling {
    Pass,
    Refuse,
}

type Check = fn(&Proposal<'_>, RiskView<'_>) -> Ruling;

/// Generates the rule chain from an ordered list of rules and their checks. The checks are inlined, because calls
/// through function pointers doubled the instruction count for a signal that the eleventh rule rejects.
macro_rules! chain {
    ($($rule:ident: $($check:ident)::+,)*) => {
        impl Rule {
            /// All rules, in the order in which they are checked.
            pub const ALL: [Self; [$(stringify!($rule)),*].len()] = [$(Self::$rule),*];

            /// Returns the name of the rule, which is also the key of the rejection counts.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$rule => stringify!($rule),)*
                }
            }

            pub(crate) fn refuses(self, proposal: &Proposal<'_>, view: RiskView<'_>) -> bool {
                let ruling = match self {
                    $(Self::$rule => $($check)::+(proposal, view),)*
                };
                ruling == Ruling::Refuse
            }
        }

        /// Returns the first rule that rejects. Inlined, because a call costs as much as checking the first few rules.
        #[allow(clippy::inline_always, reason = "otherwise the compiler does not inline it")]
        #[inline(always)]
        fn first_refusal(proposal: &Proposal<'_>, view: RiskView<'_>) -> Option<Rule> {
            $(
                if $($check)::+(proposal, view) == Ruling::Refuse {
                    return Some(Rule::$rule);
                }
            )*
            None
        }
    };
}

chain! {
    GateClosed: check_gate_closed,
    Halted: check_halted,
    LateSignal: freshness::check_late_signal,
    StaleData: freshness::check_stale_data,
    ClockSkew: freshness::check_clock_skew,
    InFlight: open_trades::check_in_flight,
    InDoubt: open_trades::check_in_doubt,
    OutsideHours: hours::check_outside_hours,
    Blackout: blackouts::check_blackout,
    Cooldown: pauses::check_cooldown,
    Pause: pauses::check_pause,
    RefusedByVenue: venue_refusals::check_refused_by_venue,
    OppositeOpen: open_trades::check_opposite_open,
    DuplicateOpen: open_trades::check_duplicate_open,
    MaxOpenTrades: open_trades::check_max_open_trades,
    MaxOpenTradesPerSymbol: open_trades::check_max_open_trades_per_symbol,
    BotMaxOpenTrades: bot_limits::check_max_open_trades,
    MaxTradesPerHour: open_trades::check_max_trades_per_hour,
    MaxTradesPerDay: open_trades::check_max_trades_per_day,
    BotMaxTradesPerDay: bot_limits::check_max_trades_per_day,
    DailyLossLimit: money_limits::check_daily_loss_limit,
    BotDailyLossLimit: bot_limits::check_daily_loss_limit,
    DailyProfitTarget: money_limits::check_daily_profit_target,
    BotDailyProfitTarget: bot_limits::check_daily_profit_target,
    SessionLossLimit: session_limits::check_session_loss_limit,
    BotSessionLossLimit: bot_limits::check_session_loss_limit,
    SessionProfitTarget: session_limits::check_session_profit_target,
    BotSessionProfitTarget: bot_limits::check_session_profit_target,
    MaxDrawdown: money_limits::check_max_drawdown,
    LossStreak: money_limits::check_loss_streak,
    BotLossStreak: bot_limits::check_loss_streak,
    MinPayout: payouts::check_min_payout,
    BestPayout: payouts::check_best_payout,
    StakeBounds: money_limits::check_stake_bounds,
    InsufficientBalance: money_limits::check_insufficient_balance,
    EdgeRejected: check_edge_rejected,
}

#[inline]
pub(crate) fn approve(
    proposal: &Proposal<'_>,
    view: RiskView<'_>,
    actions: &mut Vec<Action>,
) -> Result<(), Rule> {
    if let Some(rule) = first_refusal(proposal, view) {
        return Err(rule);
    }
    let intent = view.intents.next;
    // The action is constructed in place: see docs/performance.md.
    actions.extend(iter::once_with(|| Action::Open(ApprovedTrade::new(proposal, intent))));
    Ok(())
}

#[inline]
pub(crate) fn order_terms(proposal: &Proposal<'_>, view: RiskView<'_>) -> Result<OrderTerms, Rule> {
    match first_refusal_not_inlined(proposal, view) {
        Some(rule) => Err(rule),
        None => Ok(OrderTerms::new(proposal, view.intents.next)),
    }
}

/// Calls [`first_refusal`] without inlining, to keep the loop that calls it small.
#[inline(never)]
fn first_refusal_not_inlined(proposal: &Proposal<'_>, view: RiskView<'_>) -> Option<Rule> {
    first_refusal(proposal, view)
}

const fn refuse_if(condition: bool) -> Ruling {
    if condition { Ruling::Refuse } else { Ruling::Pass }
}

fn check_gate_closed(proposal: &Proposal, _: RiskView<'_>) -> Ruling {
    refuse_if(proposal.is_virtual)
}

fn check_halted(_proposal: &Proposal, view: RiskView<'_>) -> Ruling {
    refuse_if(view.state.is_halted())
}

fn check_edge_rejected(proposal: &Proposal, view: RiskView<'_>) -> Ruling {
    refuse_if(view.limits.enforce_verdict && proposal.edge.forbids_trades())
}

#[cfg(test)]
mod tests {
    use super::testing::Situation;
    use super::*;

    #[test]
    fn rule_numbers_are_unique_and_without_gaps() {
        let mut numbers = Rule::ALL.map(|rule| rule as usize);
        numbers.sort_unstable();
        assert!(numbers.iter().copied().eq(0..Rule::ALL.len()), "{numbers:?}");
    }

    #[test]
    fn first_refusal_wins() {
        let mut situation = Situation::default();
        situation.state.halted = true;
        situation.proposal.origin = Origin::Backfill;
        let mut actions = Vec::new();
        assert_eq!(approve(&situation.proposal, situation.view(), &mut actions), Err(Rule::Halted));
        assert_eq!(actions, []);
    }

    #[test]
    fn kill_switch_refuses_until_resumed_and_resume_does_not_lift_a_suspension() {
        let mut situation = Situation::default();
        for (is_halted, is_suspended, expected) in [
            (false, true, [Ruling::Refuse; 2]),
            (false, false, [Ruling::Pass; 2]),
            (true, false, [Ruling::Refuse, Ruling::Pass]),
        ] {
            (situation.state.halted, situation.state.suspended) = (is_halted, is_suspended);
            let before = situation.ask(check_halted);
            situation.state.resume();
            assert_eq!([before, situation.ask(check_halted)], expected);
        }
    }
}
