//! The deterministic Session: events in, actions out.
//!
//! [`Session::handle`] contains all trading logic. It turns [`Event`]s into [`Action`]s, never
//! reads the clock, a price or the wallet, and does no I/O. Backtests, live runs and paper runs are
//! drivers of this one function, and a journal is the list of its events. Only an [`Approved`]
//! trade can be opened, and only [`risk`](crate::Rule) can create one.
#![warn(missing_docs)]

mod action;
mod book;
mod bot;
mod bot_verdict;
mod corrected_rows;
mod edge_sequence;
mod edge_watch;
mod encode;
mod event;
mod event_sequence;
mod finding_out;
mod first_stake;
mod halt;
mod hash;
mod id;
mod intent;
mod intent_counts;
mod intent_state;
mod journal_decoder;
mod judge;
mod kept_rows;
mod ladder;
mod ledger;
mod nominal;
mod outgrown_stake;
mod outside_signal;
mod partial_book;
mod reasons;
mod record;
mod reentry;
mod refusal_count;
mod refusal_reason;
mod reload;
mod renumbering;
mod risk;
mod ruin;
mod ruin_limits;
mod ruin_words;
mod session;
mod settings;
mod shown_edge;
mod stake;
mod taken;
#[cfg(test)]
mod testing;
mod unrecovered;

pub use action::{Action, Judgement, Refused};
pub use book::{IntentRow, TradeBook};
pub use bot_verdict::BotVerdict;
pub use corrected_rows::CorrectedResult;
pub use edge_sequence::{EdgeRow, RunningEdge, edge_sequence, edge_sequence_of};
pub use event::{Control, Edge, Event, EventKind, Opened, Origin, Rejection, SecondTrade, Settled, VenueId};
pub use event_sequence::EventSequence;
pub use finding_out::{stakes_to_find_out, trades_that_found_out};
pub use first_stake::check_first_stakes;
pub use halt::Halt;
pub use hash::JournalHash;
pub use id::{BotId, IntentId, SeriesId, SymbolId};
pub use intent_state::IntentState;
pub use journal_decoder::{DecodeError, JournalDecoder, Recorded, to_recorded_form};
pub use judge::{Judge, JudgedTrade, judge, judge_of, judge_trades, to_trade_outcome};
pub use kept_rows::{BookTotals, KeptRow};
pub use ladder::{LadderInDay, LadderNotice, check_stakes};
pub use ledger::Ledger;
pub use outgrown_stake::outgrown_stakes;
pub use outside_signal::{OutsideSignal, SignalId, SignalReason, SignalSource};
pub use record::{Entry, Header, Interest, Recorder};
pub use refusal_reason::RefusalReason;
pub use reload::{ReloadNote, Reloaded, ReloadedBy, SettingChange, changes_between};
pub use renumbering::{Renumbering, SessionNames};
pub use risk::{
    Approved, Blackout, Blackouts, BotLimitSettings, CooldownScope, DayStart, EndedTrade, Hours, LambdaRule,
    Lateness, LimitUse, LocalClock, OrderTerms, PauseCause, PauseScope, PauseSettings, Quantity,
    RefusalPause, RiskSettings, Rule, RunningPause, SessionLimitSettings, SessionSpan, VenueAnswer,
    VerdictSettings, Weekday, Window, offset_zone, pause_after, refusal_pause_after, time_zone,
    time_zone_help, without_summer_time, zone_note,
};
pub use ruin::{RuinReport, StakeRuin, TradeRecord, check_ruin};
pub use session::{
    BookedTrade, LadderStanding, LongerStaleness, Obstacle, PrecomputedOutcome, RestoreError, Session,
    SessionSnapshot, SettingsBefore, StakeBound, StakeTrouble, StoredCandles, StretchEnd, TrialSession,
    TrialStretch,
};
pub use settings::{BotSettings, EngineError, SessionSettings};
pub use shown_edge::ShownEdge;
pub use stake::{IfRefused, KellyBound, LadderEntry, StakeSettings};
pub use taken::{Departure, Taken, VenueSymbol};
pub use unrecovered::levels_that_lose;
