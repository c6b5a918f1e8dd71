//! The deterministic trading engine: a [`Session`] turns events into actions.
//!
//! [`Session::handle`] contains all trading logic. It turns [`Event`]s into [`Action`]s without any I/O, and never
//! reads the clock, a price or the wallet. Backtests, paper runs and live runs are drivers of this function, and a
//! journal is the list of its events. A driver can open only an [`ApprovedTrade`]. Only the risk rules ([`Rule`]) can
//! approve a trade.
#![warn(missing_docs)]

mod action;
mod book;
mod bot;
mod bot_verdict;
mod edge_sequence;
mod encode;
mod event;
mod id;
mod intent;
mod journal_decoder;
mod judge;
mod kept_rows;
mod ledger;
mod nominal;
mod outside_signal;
mod reasons;
mod record;
mod reentry;
mod refusal_count;
mod reload;
mod risk;
mod ruin;
mod ruin_limits;
mod session;
mod settings;
mod stake;
mod stake_checks;
mod stake_notices;
#[cfg(test)]
#[path = "tests/testing.rs"]
mod testing;

pub use action::{Action, Judgement, RefusedSignal};
pub use book::{IntentRow, IntentState, OriginalOrder, OriginalResult, TradeBook, UpdateNumbers};
pub use bot_verdict::BotVerdict;
pub use edge_sequence::{EdgeRow, RunningEdge, edge_sequence, edge_sequence_from_trades};
pub use event::{
    Control, EdgeVerdict, Event, EventKind, Halt, OpenedTrade, Origin, RefusalReason, Rejection, SecondTrade,
    TradeSettlement, VenueId, VenueSymbol, VenueTerms,
};
pub use id::{BotId, IntentId, Renumbering, SeriesId, SessionNames, SymbolId};
pub use journal_decoder::{DecodeError, JournalDecoder, RecordedEntry};
pub use judge::{EdgeDetection, Judge, JudgedTrade, build_judge, judge, judge_trades, to_trade_outcome};
pub use kept_rows::{StoredCounts, StoredRow};
pub use ledger::Ledger;
pub use outside_signal::{OutsideSignal, SignalId, SignalReason, SignalSource};
pub use record::{Entry, Header, JournalHash, Recorder, RecorderInterest};
pub use reload::{ReloadNote, ReloadTrigger, SettingChange, SettingsReload, changes_between};
pub use risk::{
    ApprovedTrade, Blackout, Blackouts, BotLimitSettings, CooldownScope, DayStart, EndedTrade, Hours,
    LambdaRule, Lateness, LimitUsage, LocalClock, OrderReply, OrderTerms, PauseCause, PauseScope,
    PauseSettings, Quantity, RefusalPause, RiskSettings, Rule, RunningPause, SessionLimitSettings,
    SessionSpan, TradingWindow, VerdictSettings, Weekday, invalid_time_zone_hint, misleading_zone_note,
    missing_dst_note, parse_time_zone, parse_utc_offset, pause_after, refusal_pause_after,
};
pub use ruin::{RuinReport, StakeRuin, TrackRecord, check_ruin};
pub use session::{
    BatchEnd, BookedTrade, LadderLevel, Obstacle, PrecomputedOutcome, RestoreError, Session, SessionSnapshot,
    SnapshotOrigin, StakeBound, StakeViolation, StoredCandles, TrialBatch, TrialSession, WorstStaleness,
};
pub use settings::{BotSettings, EngineError, SessionSettings};
pub use stake::{IfRefused, KellyBound, LadderEntry, StakeSettings};
pub use stake_checks::{LadderNotice, check_first_stakes, check_stakes};
pub use stake_notices::{excessive_stake_notices, payout_probe_count_notices, unprofitable_level_notices};
