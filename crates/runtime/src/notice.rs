//! What whoever watches a run receives, and the bounded channel that it goes through.

use crate::control::{Blockage, LateSeries, Phase, VenueApi};
use crate::{Overview, Stop};
use candlewick_engine::{Action, BotId, BotVerdict, Edge, Event, EventKind, IntentRow, IntentState, Ledger};
use candlewick_sdk::{Millis, Money, Price, Symbol};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{self, Receiver, Sender};

/// Whether a settlement is the end of an intent that stood so before it; another one of a trade that is over changes nothing.
pub const fn may_settle(before: Option<IntentState>) -> bool {
    matches!(
        before,
        Some(IntentState::InFlight | IntentState::InDoubt | IntentState::Open | IntentState::NotOpened)
    )
}

/// Something worth showing. It holds all that is needed to show it.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "most notices are the large ones")]
pub enum Notice {
    /// The run begins: its venue has answered, and its journal is open.
    Begins(Funds),
    /// An intent that was in doubt when an earlier run ended, and still is when this one begins.
    LeftInDoubt(IntentRow),
    /// The Session took an event and answered with these actions.
    Handled {
        /// The event.
        event: Event,
        /// What followed from it.
        actions: Vec<Action>,
        /// The money after it.
        funds: Funds,
        /// The intent that the event is about, as it stands after it.
        intent: Option<IntentRow>,
        /// The intent as it stood before the event.
        before: Option<IntentRow>,
    },
    /// What is known of a bot's edge: of each bot at the start, later of one whose trade has ended.
    Evidence(Evidence),
    /// What the run does with signals from now on.
    Phase {
        /// What it does.
        phase: Phase,
        /// Why it is halted or suspended.
        reason: Option<String>,
    },
    /// Lasting blockages as they stand after one began or ended.
    Blocked(Vec<Blockage>),
    /// An API of the venue has not answered for a while, and requests to it fail; or it answers again.
    Venue {
        /// Which API.
        api: VenueApi,
        /// Whether it is silent now.
        is_silent: bool,
        /// When it last answered.
        heard: Option<Millis>,
    },
    /// Candles of a series are late by more than two intervals, or come again.
    Candles {
        /// The series, and since when candles are missing.
        series: LateSeries,
        /// Whether they are late now.
        is_late: bool,
    },
    /// The latest price of a symbol whose strategies did not ask for it.
    Price(Symbol, Price),
    /// How the run stands, after something of note and now and then: only for watchers who ask for it.
    Overview(Box<Overview>),
    /// Something of interest, such as that a list was read again.
    Note {
        /// The line.
        text: String,
        /// What alarms said is wrong and no longer is.
        mended: Vec<String>,
    },
    /// Something went wrong that the run survives.
    Warning(String),
    /// Something that a person must see, however much else is said.
    Alarm(String),
    /// What the log says of a halt, a resume, a rejection, a doubt or its end, of which another notice tells: who acts on those does
    /// nothing for it.
    Logged {
        /// The line.
        text: String,
        /// Whether it is an alarm; else it is a warning.
        is_alarm: bool,
    },
    /// No more trades are opened.
    Stopping {
        /// Why.
        why: Stop,
        /// How many intents are tracked to their end.
        unfinished: usize,
        /// When the last of them closes, as far as is known.
        last_close: Option<Millis>,
        /// When the run no longer waits for them.
        waits_until: Millis,
    },
}

/// Whose money is where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Funds {
    /// What can be staked.
    pub free: Money,
    /// Stakes of intents that are not over.
    pub open_stakes: Money,
    /// The highest sum of both so far, or since the last resume.
    pub peak: Money,
    /// What the wallet held when the run began; `None` in later notices.
    pub first_wallet: Option<Money>,
}

impl Funds {
    pub(crate) fn of(ledger: &Ledger) -> Self {
        let (free, open_stakes, peak) = (ledger.free(), ledger.open_stakes(), ledger.peak());
        Self { free, open_stakes, peak, first_wallet: None }
    }
}

/// What the verdict on a bot's edge rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// Of which bot.
    pub bot: BotId,
    /// What it says.
    pub edge: Edge,
    /// Trades it rests on.
    pub trades: u64,
    /// What the account that bets on an edge has become, from 1.
    pub account_for: f64,
    /// With which it shows one; infinite where the bot may spend nothing of alpha.
    pub threshold_for: f64,
    /// What the account that bets against one has become.
    pub account_against: f64,
    /// With which it rules one out.
    pub threshold_against: f64,
}

impl Evidence {
    pub(crate) fn of(bot: BotId, verdict: &BotVerdict) -> Self {
        let test = verdict.edge_test();
        Self {
            bot,
            edge: verdict.edge(),
            trades: test.settled(),
            account_for: test.edge_account(),
            threshold_for: test.goal(),
            account_against: test.mirror_account(),
            threshold_against: test.plan().beta().recip(),
        }
    }
}

/// Which notices a watcher receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// All.
    Everything,
    /// All but candles and prices from which nothing follows.
    Trades,
}

/// The run's end of a watcher's channel. Sending never waits: a notice for which there is no room is dropped and counted, so
/// whoever watches cannot hold up what trades.
#[derive(Debug)]
pub struct Watcher {
    sender: Sender<Notice>,
    interest: Interest,
    wants_overview: bool,
    dropped: Arc<AtomicU64>,
}

/// The watcher's own end.
#[derive(Debug)]
pub struct Notices {
    receiver: Receiver<Notice>,
    dropped: Arc<AtomicU64>,
    /// How many drops the watcher knows of.
    known: u64,
}

/// A notice, and how many were dropped since the one before it was received.
#[derive(Clone, Debug, PartialEq)]
pub struct Received {
    /// The notice.
    pub notice: Notice,
    /// Dropped before it, or while it waited.
    pub missed: u64,
}

impl Watcher {
    /// A channel in which at most `capacity` notices wait.
    pub fn channel(capacity: usize, interest: Interest) -> (Self, Notices) {
        let (sender, receiver) = mpsc::channel(capacity.max(1));
        let dropped = Arc::new(AtomicU64::new(0));
        let watcher = Self { sender, interest, wants_overview: false, dropped: Arc::clone(&dropped) };
        (watcher, Notices { receiver, dropped, known: 0 })
    }

    /// The same, with overviews.
    #[must_use]
    pub fn with_overview(self) -> Self {
        Self { wants_overview: true, ..self }
    }

    /// Whether it asks for overviews.
    pub(crate) const fn wants_overview(&self) -> bool {
        self.wants_overview
    }

    /// Hands a notice on, or counts it as dropped.
    pub fn send(&self, notice: &Notice) {
        let is_unwanted = match notice {
            Notice::Overview(_) => !self.wants_overview,
            other => self.interest == Interest::Trades && other.is_of_the_market(),
        };
        if is_unwanted {
            return;
        }
        // A watcher that has gone misses nothing.
        if let Err(TrySendError::Full(_)) = self.sender.try_send(notice.clone()) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many notices were dropped so far.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl Notice {
    /// Whether it says what the market did, and nothing followed.
    pub(crate) fn is_of_the_market(&self) -> bool {
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

impl Notices {
    /// Waits for the next notice, in a task; `None` once the run has ended and all was received.
    pub async fn next(&mut self) -> Option<Received> {
        let notice = self.receiver.recv().await?;
        Some(self.received(notice))
    }

    /// The same in a thread of its own. Not to be called in a task.
    pub fn wait(&mut self) -> Option<Received> {
        let notice = self.receiver.blocking_recv()?;
        Some(self.received(notice))
    }

    /// The next notice that waits already.
    pub fn try_next(&mut self) -> Option<Received> {
        let notice = self.receiver.try_recv().ok()?;
        Some(self.received(notice))
    }

    /// Whether the run has ended and all was received.
    pub fn is_over(&self) -> bool {
        self.receiver.is_closed() && self.receiver.is_empty()
    }

    fn received(&mut self, notice: Notice) -> Received {
        let dropped = self.dropped.load(Ordering::Relaxed);
        let missed = dropped - std::mem::replace(&mut self.known, dropped);
        Received { notice, missed }
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
    fn a_watcher_that_does_not_read_misses_notices_and_is_told_how_many() {
        let (watcher, mut notices) = Watcher::channel(2, Interest::Everything);
        for number in 0..5 {
            watcher.send(&warning(number));
        }
        assert_eq!(watcher.dropped(), 3);
        assert_eq!(notices.try_next(), Some(Received { notice: warning(0), missed: 3 }));
        assert_eq!(notices.try_next(), Some(Received { notice: warning(1), missed: 0 }));
        assert_eq!(notices.try_next(), None);
        drop(notices);
        watcher.send(&warning(9));
        assert_eq!(watcher.dropped(), 3, "nobody is there to miss it");
    }

    #[test]
    fn a_watcher_of_trades_is_not_flooded_with_candles() {
        let (watcher, mut notices) = Watcher::channel(4, Interest::Trades);
        let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
        let candle = Candle::new(Millis::ZERO, Interval::MINUTE, numbers).unwrap();
        let candle = EventKind::Candle { series: SeriesId::FIRST, candle, origin: Origin::Live };
        for kind in [candle, EventKind::NotSent { intent: IntentId::new(1) }] {
            let event = Event { at: Millis::ZERO, received: Millis::ZERO, kind };
            watcher.send(&Notice::Handled {
                event,
                actions: Vec::new(),
                funds: Funds::default(),
                intent: None,
                before: None,
            });
        }
        let Some(Received { notice: Notice::Handled { event, .. }, .. }) = notices.try_next() else {
            panic!("an intent is shown")
        };
        assert!(matches!(event.kind, EventKind::NotSent { .. }));
        assert_eq!(notices.try_next(), None);
    }
}
