//! The ordered chain of rules before every open. The first refusal wins.
//!
//! Each rule is a function in its own file that judges a [`Proposal`] by the [`View`]. Trades are
//! approved only here. Trades approved in an earlier run are restored by `journal_decoder`, and
//! nothing opens them.

mod approved;
mod best_payout;
mod blackout;
mod blackouts;
mod bot_limits;
mod bound;
mod changed;
mod clock_skew;
mod cooldown;
mod daily_loss_limit;
mod daily_profit_target;
mod days;
mod duplicate_open;
mod edge_rejected;
mod gate_closed;
mod halted;
mod hours;
mod in_doubt;
mod in_flight;
mod insufficient_balance;
mod late_signal;
mod lateness;
mod limit_use;
mod limit_words;
mod limits;
mod loss_streak;
mod max_drawdown;
mod max_open_trades;
mod max_open_trades_per_symbol;
mod max_trades_per_day;
mod max_trades_per_hour;
mod min_payout;
mod opposite_open;
mod outside_hours;
mod pause;
mod pauses;
mod refusal;
mod refused_by_venue;
mod rule;
mod session_limits;
mod session_loss_limit;
mod session_profit_target;
mod settings;
mod stake_bounds;
mod stale_data;
mod standing;
mod state;
#[cfg(test)]
mod testing;
mod venue_refusals;
mod verdict_settings;
mod zone_help;

pub use approved::{Approved, OrderTerms};
pub use blackouts::{Blackout, Blackouts};
pub use bot_limits::BotLimitSettings;
pub use hours::{DayStart, Hours, LocalClock, Weekday, Window};
pub use lateness::Lateness;
pub use limit_use::{LimitUse, Quantity};
pub use pauses::{EndedTrade, PauseCause, PauseScope, PauseSettings, RunningPause, pause_after};
pub use rule::Rule;
pub use session_limits::{SessionLimitSettings, SessionSpan};
pub use settings::{CooldownScope, RiskSettings};
pub use venue_refusals::{RefusalPause, VenueAnswer, refusal_pause_after};
pub use verdict_settings::{LambdaRule, VerdictSettings};
pub use zone_help::{offset_zone, time_zone, time_zone_help, without_summer_time, zone_note};

pub(crate) use bot_limits::limit_use::limit_use_of;
pub(crate) use bound::Bound;
pub(crate) use changed::{CountedPayouts, counted_otherwise};
pub(crate) use late_signal::latest_departure;
pub(crate) use limit_use::limit_use;
pub(crate) use limits::Limits;
pub(crate) use min_payout::Probe;
pub(crate) use refusal::{Refusal, figures, refusals};
pub(crate) use standing::{refuses_until, stopped_by};
pub(crate) use state::RiskState;

use crate::intent::{IntentCounts, Intents};
use crate::ledger::Ledger;
use crate::{Action, BotId, Edge, Origin, SymbolId};
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
    pub(crate) edge: Edge,
    pub(crate) reason: &'a Reason,
    pub(crate) is_virtual: bool,
}

#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
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

type Check = fn(&Proposal<'_>, View<'_>) -> Ruling;

/// Generates the chain of the rules, with their order and names. Each rule is inlined: with a list
/// of function pointers, a signal that the eleventh rule refuses took twice as many instructions.
macro_rules! chain {
    ($($rule:ident: $($module:ident)::+,)*) => {
        impl Rule {
            /// All rules, in the order in which they are asked.
            pub const ALL: [Self; [$(stringify!($rule)),*].len()] = [$(Self::$rule),*];

            /// The name, as counted in `refused`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$rule => stringify!($rule),)*
                }
            }

            /// Returns whether this rule refuses the proposal.
            pub(crate) fn refuses(self, proposal: &Proposal<'_>, view: View<'_>) -> bool {
                let ruling = match self {
                    $(Self::$rule => $($module)::+::check(proposal, view),)*
                };
                ruling == Ruling::Refuse
            }
        }

        /// Asks every rule in turn; the first that refuses. A part of its caller: a call would cost a signal that is refused early as much
        /// as the rules do.
        #[allow(clippy::inline_always, reason = "left to itself the compiler calls it")]
        #[inline(always)]
        fn first_refusal(proposal: &Proposal<'_>, view: View<'_>) -> Option<Rule> {
            $(
                if $($module::)+check(proposal, view) == Ruling::Refuse {
                    return Some(Rule::$rule);
                }
            )*
            None
        }
    };
}

chain! {
    GateClosed: gate_closed,
    Halted: halted,
    LateSignal: late_signal,
    StaleData: stale_data,
    ClockSkew: clock_skew,
    InFlight: in_flight,
    InDoubt: in_doubt,
    OutsideHours: outside_hours,
    Blackout: blackout,
    Cooldown: cooldown,
    Pause: pause,
    RefusedByVenue: refused_by_venue,
    OppositeOpen: opposite_open,
    DuplicateOpen: duplicate_open,
    MaxOpenTrades: max_open_trades,
    MaxOpenTradesPerSymbol: max_open_trades_per_symbol,
    BotMaxOpenTrades: bot_limits::max_open_trades,
    MaxTradesPerHour: max_trades_per_hour,
    MaxTradesPerDay: max_trades_per_day,
    BotMaxTradesPerDay: bot_limits::max_trades_per_day,
    DailyLossLimit: daily_loss_limit,
    BotDailyLossLimit: bot_limits::daily_loss_limit,
    DailyProfitTarget: daily_profit_target,
    BotDailyProfitTarget: bot_limits::daily_profit_target,
    SessionLossLimit: session_loss_limit,
    BotSessionLossLimit: bot_limits::session_loss_limit,
    SessionProfitTarget: session_profit_target,
    BotSessionProfitTarget: bot_limits::session_profit_target,
    MaxDrawdown: max_drawdown,
    LossStreak: loss_streak,
    BotLossStreak: bot_limits::loss_streak,
    MinPayout: min_payout,
    BestPayout: best_payout,
    StakeBounds: stake_bounds,
    InsufficientBalance: insufficient_balance,
    EdgeRejected: edge_rejected,
}

#[inline]
pub(crate) fn approve(
    proposal: &Proposal<'_>,
    view: View<'_>,
    actions: &mut Vec<Action>,
) -> Result<(), Rule> {
    if let Some(rule) = first_refusal(proposal, view) {
        return Err(rule);
    }
    let intent = view.intents.next_id();
    // Made in its place: see docs/performance.md.
    actions.extend(iter::once_with(|| Action::Open(Approved::new(proposal, intent))));
    Ok(())
}

#[inline]
pub(crate) fn order_terms(proposal: &Proposal<'_>, view: View<'_>) -> Result<OrderTerms, Rule> {
    match first_refusal_of_terms(proposal, view) {
        Some(rule) => Err(rule),
        None => Ok(OrderTerms::of(proposal, view.intents.next_id())),
    }
}

/// Not inlined, because the trial loop that calls it is already long.
#[inline(never)]
fn first_refusal_of_terms(proposal: &Proposal<'_>, view: View<'_>) -> Option<Rule> {
    first_refusal(proposal, view)
}

const fn refuse_if(condition: bool) -> Ruling {
    if condition { Ruling::Refuse } else { Ruling::Pass }
}

#[cfg(test)]
mod tests {
    use super::testing::Situation;
    use super::*;

    #[test]
    fn every_rule_has_a_number_of_its_own_and_none_is_left_out() {
        // Refusals are counted by it.
        let mut numbers = Rule::ALL.map(|rule| rule as usize);
        numbers.sort_unstable();
        assert!(numbers.iter().copied().eq(0..Rule::ALL.len()), "{numbers:?}");
    }

    #[test]
    fn the_first_refusal_wins() {
        let mut situation = Situation::default();
        situation.state.halt();
        situation.proposal.origin = Origin::Backfill;
        let mut actions = Vec::new();
        assert_eq!(approve(&situation.proposal, situation.view(), &mut actions), Err(Rule::Halted));
        assert_eq!(actions, []);
    }

    #[test]
    fn a_sound_proposal_becomes_an_approved_trade_with_the_next_number() {
        let situation = Situation::default();
        let mut actions = Vec::new();
        approve(&situation.proposal, situation.view(), &mut actions).expect("nothing speaks against it");
        let [Action::Open(approved)] = &actions[..] else { panic!("{actions:?}") };
        assert_eq!(approved.intent().number(), 1);
        assert_eq!(approved.stake(), situation.proposal.stake);
    }
}
