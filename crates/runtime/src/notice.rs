//! Notices about a run, and the bounded channel that delivers the notices to watchers.

use crate::control::{Blockage, LateSeries, Phase, VenueApi};
use crate::coordinator::RequestId;
use crate::{Overview, StopReason};
use candlewick_engine::{
    Action, BotId, BotVerdict, EdgeVerdict, Event, EventKind, IntentRow, IntentState, Ledger,
};
use candlewick_sdk::{Millis, Money, Price, Symbol};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{self, Receiver, Sender};

pub const fn may_settle(before: Option<IntentState>) -> bool {
    matches!(
        before,
        Some(IntentState::InFlight | IntentState::InDoubt | IntentState::Open | IntentState::NotOpened)
    )
}

#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "most notices are large")]
pub enum Notice {
    Begins(Funds),
    LeftInDoubt(IntentRow),
    Handled {
        event: Event,
        actions: Vec<Action>,
        funds: Funds,
        intent: Option<IntentRow>,
        before: Option<IntentRow>,
    },
    Evidence(Evidence),
    Phase {
        phase: Phase,
        reason: Option<String>,
    },
    Blocked(Vec<Blockage>),
    Venue {
        api: VenueApi,
        is_silent: bool,
        heard: Option<Millis>,
    },
    Candles {
        series: LateSeries,
        is_late: bool,
    },
    Price(Symbol, Price),
    Overview(Box<Overview>),
    Note {
        text: String,
        fixed: Vec<String>,
    },
    Warning(String),
    Alarm(String),
    /// Log line about a change that another notice also reports. Receivers of both should ignore the log line.
    Logged {
        text: String,
        is_alarm: bool,
    },
    Stopping {
        why: StopReason,
        unfinished: usize,
        last_close: Option<Millis>,
        waits_until: Millis,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Funds {
    pub free: Money,
    pub open_stakes: Money,
    /// Maximum equity (free balance plus open stakes) since the start or the last resume.
    pub peak: Money,
    /// Wallet balance at the start of the run, `None` in later notices.
    pub first_wallet: Option<Money>,
}

impl Funds {
    pub(crate) fn from_ledger(ledger: &Ledger) -> Self {
        let (free, open_stakes, peak) = (ledger.free_balance(), ledger.open_stakes(), ledger.peak_equity());
        Self { free, open_stakes, peak, first_wallet: None }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    pub bot: BotId,
    pub edge: EdgeVerdict,
    pub trades: u64,
    /// Current wealth of the betting test that looks for an edge. The initial wealth is 1.
    pub wealth_for: f64,
    /// Wealth at which an edge counts as proven. Infinite if the bot's share of the error rate is 0.
    pub threshold_for: f64,
    /// Current wealth of the betting test that looks for the absence of an edge. The initial wealth is 1.
    pub wealth_against: f64,
    /// Wealth at which an edge counts as ruled out.
    pub threshold_against: f64,
}

impl Evidence {
    pub(crate) fn from_verdict(bot: BotId, verdict: &BotVerdict) -> Self {
        let test = verdict.edge_test();
        Self {
            bot,
            edge: verdict.edge(),
            trades: test.settled(),
            wealth_for: test.edge_account(),
            threshold_for: test.goal(),
            wealth_against: test.mirror_account(),
            threshold_against: test.plan().beta().recip(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeFilter {
    Everything,
    Trades,
}

/// Sending half of a watcher's channel. If the channel is full, a notice is dropped and counted.
#[derive(Debug)]
pub struct NoticeSender {
    sender: Sender<Notice>,
    interest: NoticeFilter,
    wants_overview: bool,
    dropped: Arc<AtomicU64>,
}

#[derive(Debug)]
pub struct NoticeReceiver {
    receiver: Receiver<Notice>,
    dropped: Arc<AtomicU64>,
    known: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ReceivedNotice {
    pub notice: Notice,
    pub missed: u64,
}

impl NoticeSender {
    pub fn channel(capacity: usize, interest: NoticeFilter) -> (Self, NoticeReceiver) {
        let (sender, receiver) = mpsc::channel(capacity.max(1));
        let dropped = Arc::new(AtomicU64::new(0));
        let watcher = Self { sender, interest, wants_overview: false, dropped: Arc::clone(&dropped) };
        (watcher, NoticeReceiver { receiver, dropped, known: 0 })
    }

    #[must_use]
    pub fn with_overview(self) -> Self {
        Self { wants_overview: true, ..self }
    }

    pub(crate) const fn wants_overview(&self) -> bool {
        self.wants_overview
    }

    pub fn send(&self, notice: &Notice) {
        let is_unwanted = match notice {
            Notice::Overview(_) => !self.wants_overview,
            other => self.interest == NoticeFilter::Trades && other.is_market_data(),
        };
        if is_unwanted {
            return;
        }
        // Only a full channel is counted, because a closed watcher misses nothing.
        if let Err(TrySendError::Full(_)) = self.sender.try_send(notice.clone()) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub fn dropped_count(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl Notice {
    pub(crate) fn is_market_data(&self) -> bool {
        match self {
            Self::Price(..) => true,
            Self::Handled { event, actions, .. } => {
                let is_market = matches!(event.kind, EventKind::Candle { .. } | EventKind::Price { .. });
                is_market && actions.is_empty()
            }
            _ => false,
        }
    }
}

impl NoticeReceiver {
    pub async fn next(&mut self) -> Option<ReceivedNotice> {
        let notice = self.receiver.recv().await?;
        Some(self.with_missed_count(notice))
    }

    /// Blocks until the next notice. Must not be called from an async task.
    pub fn blocking_next(&mut self) -> Option<ReceivedNotice> {
        let notice = self.receiver.blocking_recv()?;
        Some(self.with_missed_count(notice))
    }

    pub fn try_next(&mut self) -> Option<ReceivedNotice> {
        let notice = self.receiver.try_recv().ok()?;
        Some(self.with_missed_count(notice))
    }

    pub fn is_closed(&self) -> bool {
        self.receiver.is_closed() && self.receiver.is_empty()
    }

    fn with_missed_count(&mut self, notice: Notice) -> ReceivedNotice {
        let dropped = self.dropped.load(Ordering::Relaxed);
        let missed = dropped - std::mem::replace(&mut self.known, dropped);
        ReceivedNotice { notice, missed }
    }
}

/// Receives measurements of a run. The run loop calls these methods, so they must not block or panic.
pub trait Observer: Send + Sync {
    /// Called on each turn of the loop, and at least every few seconds.
    fn on_loop_turn(&self);

    /// Called for every notice, including notices that were dropped for some watchers.
    fn on_notice(&self, notice: &Notice);

    fn on_answer(&self, question: RequestKind, took: Duration);

    fn on_journal_write(&self, took: Duration, is_durable: bool);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestKind {
    Candles,
    Price,
    Trades,
    Account,
    Open,
}

impl RequestKind {
    pub const ALL: [Self; 5] = [Self::Candles, Self::Price, Self::Trades, Self::Account, Self::Open];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Candles => "candles",
            Self::Price => "price",
            Self::Trades => "trades",
            Self::Account => "account",
            Self::Open => "open",
        }
    }

    pub(crate) const fn from_request(id: RequestId) -> Option<Self> {
        Some(match id {
            RequestId::Candles(_) => Self::Candles,
            RequestId::Price(_) | RequestId::Subscription(_) | RequestId::SettlementPrice => Self::Price,
            RequestId::Trade(_) | RequestId::Trades | RequestId::TradeToAdopt(_) => Self::Trades,
            RequestId::Balances | RequestId::BalancesAfterTrades | RequestId::User => Self::Account,
            RequestId::Open(_) => Self::Open,
            RequestId::Settings => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_engine::{IntentId, Origin, SeriesId};
    use candlewick_sdk::{Candle, Interval, Ohlcv};

    fn warning(number: u64) -> Notice {
        Notice::Warning(number.to_string())
    }

    #[test]
    fn slow_watcher_learns_how_many_notices_it_missed() {
        let (watcher, mut notices) = NoticeSender::channel(2, NoticeFilter::Everything);
        for number in 0..5 {
            watcher.send(&warning(number));
        }
        assert_eq!(watcher.dropped_count(), 3);
        assert_eq!(notices.try_next(), Some(ReceivedNotice { notice: warning(0), missed: 3 }));
        assert_eq!(notices.try_next(), Some(ReceivedNotice { notice: warning(1), missed: 0 }));
        assert_eq!(notices.try_next(), None);
        drop(notices);
        watcher.send(&warning(9));
        assert_eq!(watcher.dropped_count(), 3, "without a receiver no drop counts");
    }

    #[test]
    fn trade_watcher_receives_no_candles() {
        let (watcher, mut notices) = NoticeSender::channel(4, NoticeFilter::Trades);
        let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
        let candle = Candle::new(Millis::ZERO, Interval::MINUTE, numbers).unwrap();
        let candle = EventKind::Candle { series: SeriesId::FIRST, candle, origin: Origin::Live };
        let handled = [candle, EventKind::NotSent { intent: IntentId::new(1) }].map(|kind| {
            let event = Event { at: Millis::ZERO, received: Millis::ZERO, kind };
            let (actions, funds) = (Vec::new(), Funds::default());
            Notice::Handled { event, actions, funds, intent: None, before: None }
        });
        for notice in &handled {
            watcher.send(notice);
        }
        let [_, notice] = handled;
        assert_eq!(notices.try_next(), Some(ReceivedNotice { notice, missed: 0 }));
        assert_eq!(notices.try_next(), None);
    }
}
