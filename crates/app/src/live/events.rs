//! Publishes the events of a run from its start to its end.

use candlewick_broker::clock::Clock;
use candlewick_engine::{IntentState, SessionSettings};
use candlewick_records::TradingMode;
use candlewick_runtime::events::{EventFeed, EventNames, RunEvent, Totals};
use candlewick_runtime::{FinishedRun, Observer, StopReason};
use candlewick_sdk::{Millis, Money, MoneyScale, Outcome};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

const EVENT_DRAIN_TIMEOUT: Duration = Duration::from_secs(3);

pub(super) struct EventPublication {
    feed: EventFeed,
    scale: MoneyScale,
    translation: JoinHandle<()>,
}

impl EventPublication {
    pub(super) fn begin(
        feed: EventFeed,
        (settings, trading, balance): (&SessionSettings, TradingMode, Money),
        clock: Arc<dyn Clock>,
    ) -> (Self, Arc<dyn Observer>) {
        let scale = settings.money_scale;
        let names = EventNames::new(&settings.bots, scale);
        let started = RunEvent::Started {
            version: env!("CARGO_PKG_VERSION"),
            trading: serde_json::json!(trading).as_str().unwrap_or_default().to_owned(),
            bots: names.bots().to_vec(),
            balance: scale.to_f64(balance),
        };
        feed.publish(clock.now(), &started);
        let (observer, translation) = feed.observer(names, clock);
        (Self { feed, scale, translation: tokio::spawn(translation) }, Arc::new(observer))
    }

    pub(super) async fn end(self, finished: Option<&FinishedRun>, now: Millis) -> u64 {
        let Self { feed, scale, translation } = self;
        drop(tokio::time::timeout(EVENT_DRAIN_TIMEOUT, translation).await);
        if let Some(finished) = finished {
            feed.publish(now, &RunEvent::Ended(totals(finished, scale, feed.dropped_count())));
        }
        feed.last_seq()
    }
}

fn totals(finished: &FinishedRun, scale: MoneyScale, dropped: u64) -> Totals {
    let mut totals = Totals {
        stop: stop_name(finished.stop),
        candles: finished.candles,
        unfinished: finished.unfinished.len(),
        balance: scale.to_f64(finished.free),
        dropped,
        ..Totals::default()
    };
    let mut profit = Money::ZERO;
    for row in finished.book.rows().iter().filter(|row| row.state == IntentState::Settled) {
        totals.trades += 1;
        profit += row.profit;
        match row.outcome {
            Some(Outcome::Won) => totals.won += 1,
            Some(Outcome::Lost) => totals.lost += 1,
            Some(Outcome::Draw) => totals.draw += 1,
            Some(Outcome::Cancelled) => totals.cancelled += 1,
            None => {}
        }
    }
    totals.pnl = scale.to_f64(profit);
    totals
}

pub const fn stop_name(stop: StopReason) -> &'static str {
    match stop {
        StopReason::TimeUp => "time_up",
        StopReason::DataEnds(_) => "data_ends",
        StopReason::Interrupted => "interrupted",
        StopReason::Terminated => "terminated",
        StopReason::Limit(rule) => rule.as_str(),
    }
}
