//! Checks timestamps to tell the trade that was just opened from an older trade with the same terms.

use super::Coordinator;
use super::answers::MAX_TIME_OFFSET;
use super::command::Step;
use crate::resolver::MIN_CLOCK_UNCERTAINTY;
use candlewick_broker::{Reply, TradeReport};
use candlewick_engine::IntentId;
use candlewick_sdk::{ExpirationType, Millis};
use std::collections::VecDeque;

/// Tolerance for times that are truncated to seconds, and for requests that wait in the venue's queue.
const REQUEST_TIME_SLACK: Millis = Millis::from_seconds(5);
const UNMEASURED_CLOCK_SLACK: Millis = Millis::from_seconds(300);
const MAX_REQUEST_TIMES: usize = 16;

/// Request times in the last accepted answers. They reveal a venue that always reports the same `requestTime`.
#[derive(Debug, Default)]
pub(super) struct RequestTimes(VecDeque<RequestTime>);

#[derive(Clone, Copy, Debug)]
pub(super) struct RequestTime {
    pub(super) order: IntentId,
    pub(super) requested: Millis,
    pub(super) sent: Millis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeFault {
    Frozen {
        order: IntentId,
    },
    /// The times belong to another trade. `by` is their offset from this order's request, negative if earlier.
    OtherTrade {
        by: Millis,
    },
}

#[derive(Clone, Copy, Debug)]
struct TimeWindow {
    requested: Millis,
    from: Millis,
    to: Millis,
}

impl TimeWindow {
    fn contains(&self, at: Millis, wait: Millis) -> bool {
        (self.from..=self.to + wait).contains(&at)
    }
}

impl RequestTimes {
    pub(super) fn remember(&mut self, time: RequestTime) {
        if self.0.len() == MAX_REQUEST_TIMES {
            self.0.pop_front();
        }
        self.0.push_back(time);
    }

    fn find(&self, requested: Millis) -> Option<RequestTime> {
        self.0.iter().find(|known| known.requested == requested).copied()
    }
}

impl Coordinator {
    /// Finds the fault in the times of the venue's answer to an order. `None` if they are plausible or missing.
    pub(super) fn find_time_fault(
        &self,
        intent: IntentId,
        reply: &Reply<Box<TradeReport>>,
        now: Millis,
    ) -> Option<TimeFault> {
        let terms = self.session.terms(intent)?;
        let TradeReport { request_time, created_time, open_time, .. } = *reply.value;
        let sent = self.doubts.sent_at(&terms);
        let open_wait = match terms.expiry().expiration_type {
            ExpirationType::Unstated | ExpirationType::TimeFixed => Millis::SECOND,
            // The trade may open with the next candle.
            ExpirationType::CandleClose | ExpirationType::NextCandle => {
                terms.expiry().close_type.duration() + Millis::SECOND
            }
        };
        let by_date = window_by_response_date(reply);
        // If only the date of this answer shows the venue's time, that date overrides our clock.
        let is_alone = by_date.is_some() && self.skew.uncertainty().is_none();
        let by_clock = (!is_alone).then(|| self.window_by_local_clock(sent, now));
        let windows: Vec<TimeWindow> = [by_clock, by_date].into_iter().flatten().collect();
        let others = [created_time.map(|at| (at, Millis::SECOND)), open_time.map(|at| (at, open_wait))];
        let far = |(at, wait): (Millis, Millis)| {
            let is_outside = windows.iter().all(|window| !window.contains(at, wait));
            let distances = windows.iter().map(|window| at - window.requested).filter(|_| is_outside);
            distances.min_by_key(|by| by.abs_diff(Millis::ZERO))
        };
        if let Some(by) = others.into_iter().flatten().find_map(far) {
            return Some(TimeFault::OtherTrade { by });
        }
        let requested = request_time?;
        let has_others = others.iter().any(Option::is_some);
        let known = self.request_times.find(requested);
        // The venue's clock set all three times, so they cannot differ by more than the request's duration.
        let took = (reply.received - reply.sent).max(Millis::ZERO);
        let slack = REQUEST_TIME_SLACK + REQUEST_TIME_SLACK;
        let apart = |(at, wait)| {
            let window = TimeWindow { requested: at, from: at - wait - took - slack, to: at + slack };
            (!window.contains(requested, Millis::ZERO)).then(|| requested - at)
        };
        let by = far((requested, Millis::ZERO));
        let Some(by) = by.or_else(|| others.into_iter().flatten().find_map(apart)) else {
            // Two orders that were sent at clearly different times cannot have the same request time.
            let repeated = known.filter(|known| known.sent.abs_diff(sent) > REQUEST_TIME_SLACK)?;
            let by = requested - sent;
            return Some(if has_others {
                TimeFault::Frozen { order: repeated.order }
            } else {
                TimeFault::OtherTrade { by }
            });
        };
        let frozen = known.filter(|_| has_others);
        Some(frozen.map_or(TimeFault::OtherTrade { by }, |known| TimeFault::Frozen { order: known.order }))
    }

    pub(super) fn remove_frozen_request_time(
        &mut self,
        intent: IntentId,
        (report, fault): (TradeReport, Option<TimeFault>),
        step: &mut Step<'_>,
    ) -> TradeReport {
        if let Some(TimeFault::Frozen { order }) = fault {
            let text = format!(
                "the venue's requestTime is frozen: it is the same for trade #{intent} ({}) and trade #{order}. \
                 Only the other times are used",
                report.id
            );
            self.session.alarm(text, step);
            return TradeReport { request_time: None, ..report };
        }
        if let (Some(requested), Some(terms)) = (report.request_time, self.session.terms(intent)) {
            let sent = self.doubts.sent_at(&terms);
            self.request_times.remember(RequestTime { order: intent, requested, sent });
        }
        report
    }

    pub(super) fn clock_uncertainty(&self) -> Millis {
        self.skew.uncertainty().map_or(MIN_CLOCK_UNCERTAINTY, |known| known.max(MIN_CLOCK_UNCERTAINTY))
    }

    pub(super) fn clock_slack(&self) -> Millis {
        self.skew
            .uncertainty()
            .map_or(UNMEASURED_CLOCK_SLACK, |known| known.max(MIN_CLOCK_UNCERTAINTY) + REQUEST_TIME_SLACK)
    }

    fn window_by_local_clock(&self, sent: Millis, now: Millis) -> TimeWindow {
        let slack = self.clock_slack();
        // A simulated venue puts the order's arrival time, which is in the future, into its answer.
        let latency = if self.is_simulated { MAX_TIME_OFFSET } else { Millis::ZERO };
        TimeWindow { requested: sent, from: sent - slack, to: now.max(sent) + slack + latency }
    }
}

fn window_by_response_date(reply: &Reply<Box<TradeReport>>) -> Option<TimeWindow> {
    let date = reply.date?;
    let took = (reply.received - reply.sent).max(Millis::ZERO);
    Some(TimeWindow {
        requested: date - took,
        from: date - took - REQUEST_TIME_SLACK,
        to: date + Millis::SECOND + REQUEST_TIME_SLACK,
    })
}

pub(super) fn describe_time_distance(by: Millis) -> String {
    let seconds = (by.abs_diff(Millis::ZERO).get() + 500) / 1_000;
    let span = if seconds >= 120 { format!("{} min", (seconds + 30) / 60) } else { format!("{seconds} s") };
    let side = if by < Millis::ZERO { "before" } else { "after" };
    format!("{span} {side} the request")
}
