//! Handles the venue's answers: passes events to the session and sends the next requests.

use super::Coordinator;
use super::agenda::Job;
use super::command::{Answer, Command, Step};
use super::ending::Phase;
use super::open_answer::{TimeFault, describe_time_distance};
use super::plausibility::with_rounded_amount;
use super::trade_watch::TradeMismatch;
use super::warm_up::WarmedSeries;
use crate::Notice;
use crate::audit::Audit;
use crate::resolver::{Match, compare_terms};
use crate::skew::{ClockSample, ClockSource};
use candlewick_broker::{
    BrokerError, Candles, OpenOutcome, PriceAnswer, RejectionReason, Reply, TradeReport,
};
use candlewick_engine::{EventKind, IntentId, Origin, RefusalReason, Rejection, SeriesId, SymbolId};
use candlewick_sdk::{Millis, Price, Text};
use std::time::Duration;

/// Maximum plausible difference between the venue time in an answer and the local time of its arrival.
pub(super) const MAX_TIME_OFFSET: Millis = Millis::from_seconds(300);

pub(super) struct ClockJump {
    by: Millis,
    offset: Option<Millis>,
    answer: Answer,
}

impl Coordinator {
    pub(super) fn on_answer(&mut self, answer: Answer, step: &mut Step<'_>) {
        if !self.requests.end(answer.id()) {
            return;
        }
        self.record_response(&answer, step.now);
        let mut leap = None;
        // If the times are implausible or belong to another trade, they give no information about the clock.
        let proves_nothing = match &answer {
            Answer::Open(intent, OpenOutcome::Opened(reply)) => {
                self.is_report_of_other_trade(*intent, &reply.value)
                    || self.find_time_fault(*intent, reply, step.now).is_some()
            }
            _ => false,
        };
        for sample in clock_samples(&answer) {
            // A simulated venue adds the order latency to an open's time. Such a time shows no clock offset.
            if (self.is_simulated || proves_nothing) && sample.source == ClockSource::Open {
                continue;
            }
            let change = self.skew.add_sample(sample, step.now);
            match change.jump {
                Some(by) if by > Millis::ZERO => leap = Some((by, change.offset)),
                Some(by) => {
                    self.report_clock_jump(by, step);
                    self.apply_clock_offset(change.offset, step);
                }
                None => self.apply_clock_offset(change.offset, step),
            }
        }
        match leap {
            None => self.handle_answer(answer, step),
            // The machine slept, or the venue's clock was changed. The answer is handled once our clock has caught up.
            Some((by, offset)) => {
                self.jump = Some(ClockJump { by, offset, answer });
                step.commands.push(Command::CatchUpClock);
            }
        }
    }

    fn is_report_of_other_trade(&self, intent: IntentId, report: &TradeReport) -> bool {
        let order = self.session.terms(intent).map(|terms| self.session.to_trade_order(&terms));
        let report = &with_rounded_amount(report.clone(), self.session.scale());
        let is_other = order.is_some_and(|order| compare_terms(&order, report) == Match::Different);
        is_other || self.doubts.is_claimed(&report.id)
    }

    pub(super) fn on_clock_moved(&mut self, by: Millis, step: &mut Step<'_>) {
        let leap = self.jump.take();
        if leap.is_none() && self.phase.is_over() {
            return;
        }
        let mut offset = leap.as_ref().and_then(|leap| leap.offset);
        if by > Millis::ZERO {
            offset = self.skew.on_local_clock_moved(by, step.now).offset;
            let text = format!("this machine was suspended for {by} ms. The run continues");
            self.session.alarm(text, step);
        } else if let Some(leap) = &leap {
            self.report_clock_jump(leap.by, step);
        }
        self.apply_clock_offset(offset, step);
        if let Some(leap) = leap {
            self.handle_answer(leap.answer, step);
        }
    }

    fn report_clock_jump(&mut self, by: Millis, step: &mut Step<'_>) {
        if let Some(text) = self.skew.jumps.report_jump(by, step.now) {
            self.session.alarm(text, step);
        }
    }

    fn apply_clock_offset(&mut self, offset: Option<Millis>, step: &mut Step<'_>) {
        if let Some(offset) = offset {
            self.handle(step.now, EventKind::Skew { offset }, step);
        }
    }

    fn handle_answer(&mut self, answer: Answer, step: &mut Step<'_>) {
        match answer {
            Answer::Candles(series, answer) => self.on_candles(series, answer, step),
            Answer::Price(symbol, at, answer) => self.on_price(symbol, at, answer, step),
            Answer::Subscription(symbol, answer) => self.on_subscription(symbol, answer, step),
            Answer::Trade(intent, answer) => self.on_trade(intent, answer, step),
            Answer::Trades(listing) => self.on_trades(listing, step),
            Answer::BalancesAfterTrades(answer) => self.on_balances_after_trades(answer.ok().as_ref(), step),
            Answer::Balances(answer) => self.on_balances(answer, step),
            Answer::User(answer) => self.on_user(answer, step),
            Answer::SettlementPrice(answer) => self.on_settlement_price(answer, step),
            Answer::TradeToAdopt(order, answer) => {
                self.on_trade_to_adopt(order, answer.map(|reply| reply.value), step);
            }
            Answer::Settings(read) => self.on_settings(read, step),
            Answer::Open(intent, outcome) => self.on_open(intent, outcome, step),
        }
    }

    fn on_candles(&mut self, id: SeriesId, answer: Result<Reply<Candles>, BrokerError>, step: &mut Step<'_>) {
        if let Phase::Starting(_) = self.phase {
            return self.on_past_candles(answer, step);
        }
        let (now, series) = (step.now, self.market.series(id));
        match answer {
            Ok(Reply { value: candles, .. }) => {
                if candles.unusable_rows > 0 {
                    self.rejected_rows += candles.unusable_rows as u64;
                    let rows = candles.unusable_rows;
                    step.warn(format!("{series}: {rows} candle rows were invalid and count as gaps"));
                }
                let (seen, findings) = self.audits.revisions.check(series, &candles.candles);
                self.report_findings(Audit::Revision, seen, findings, step);
                let parts = (&mut self.events, &mut self.agenda);
                for candle in self.market.on_candles(id, &candles, now, parts) {
                    let (checked, findings) = self.audits.prices.check(series, &candle);
                    self.report_findings(Audit::Price, checked, findings, step);
                }
            }
            Err(error) => {
                self.market.on_candle_failure(id, now, (&mut self.events, &mut self.agenda));
                step.warn(format!("{series}: the candle request failed: {error}"));
            }
        }
    }

    /// Passes warm-up candles directly to the session, without the gate and the event queue.
    fn on_past_candles(&mut self, answer: Result<Reply<Candles>, BrokerError>, step: &mut Step<'_>) {
        let Phase::Starting(warm_up) = &mut self.phase else { return };
        let warmed = match answer {
            Ok(reply) => warm_up.on_candles(reply.value, self.session.session()),
            Err(error) => {
                let failure = warm_up.request_error(error);
                return self.fail(failure, step);
            }
        };
        if let Some(WarmedSeries { id, candles, watch }) = warmed {
            let interval = self.market.series(id).interval;
            for candle in candles {
                let kind = EventKind::Candle { series: id, candle, origin: Origin::Backfill };
                self.handle(candle.close_time(interval), kind, step);
            }
            self.market.watch_candles(id, watch, &mut self.agenda);
        }
        self.continue_start(step);
    }

    fn on_price(
        &mut self,
        id: SymbolId,
        at: Millis,
        answer: Result<Reply<PriceAnswer>, BrokerError>,
        step: &mut Step<'_>,
    ) {
        let symbol = self.market.symbol(id);
        let mut price = None;
        match answer {
            Ok(Reply { value: PriceAnswer::Record(record), .. }) => {
                self.market.on_price_record(symbol, record.time, step.now);
                let value = record.prices.close;
                price = self.plausible_price(id, (record.time, at, value), step);
                if price.is_some() {
                    self.audits.prices.record_price(symbol, record.time, value);
                }
            }
            Ok(Reply { value: PriceAnswer::NotYet, .. }) => {}
            Err(error) => step.warn(format!("{symbol}: the price request failed: {error}")),
        }
        self.on_scheduled_price(id, price, step);
    }

    fn on_scheduled_price(&mut self, id: SymbolId, price: Option<Price>, step: &mut Step<'_>) {
        let parts = (&mut self.events, &mut self.agenda);
        if let Some((symbol, price)) = self.market.on_scheduled_price(id, price, step.now, parts) {
            step.commands.push(Command::Notify(Notice::Price(symbol, price)));
        }
    }

    pub(super) fn apply_streamed_price(&mut self, id: SymbolId, is_over: bool, step: &mut Step<'_>) {
        let Some((at, tick)) = self.market.take_streamed_price(id, is_over) else { return };
        let symbol = self.market.symbol(id);
        let price = tick.and_then(|tick| self.plausible_price(id, (tick.time, at, tick.price), step));
        if let Some(tick) = tick.filter(|_| price.is_some()) {
            self.audits.prices.record_price(symbol, tick.time, tick.price);
        }
        self.on_scheduled_price(id, price, step);
    }

    fn on_trade(
        &mut self,
        intent: IntentId,
        answer: Result<Box<Reply<TradeReport>>, BrokerError>,
        step: &mut Step<'_>,
    ) {
        let (now, job) = (step.now, Job::Trade(intent));
        let Some(trade) = self.trades.find(intent) else {
            self.on_reread_record(intent, &answer, step);
            return self.events.gate.finish_job(job);
        };
        let venue_id = trade.venue_id.clone();
        let report = match answer {
            Ok(reply) => self.remove_implausible_fields(intent, reply.value, step),
            Err(error) => {
                if let BrokerError::NotFound { .. } = error {
                    self.on_unknown_trade(intent, now);
                }
                let again = self.trades.schedule_retry(intent, now);
                self.agenda.add(again.unwrap_or(now), job);
                self.events.gate.finish_job(job);
                let what = format!("trade #{intent}: the result request failed");
                return self.warn_request_failed(&what, &error, step);
            }
        };
        if report.id == venue_id {
            self.audit_reported_terms(intent, &report, step);
        }
        if let Some(TradeMismatch { new_difference: news, next_request_at }) =
            self.trades.check_record(intent, &report, now)
        {
            if let Some(difference) = news {
                let text = format!(
                    "trade #{intent}: the venue's record of {venue_id} describes another trade ({difference}). The \
                     record is ignored and requested again"
                );
                self.session.alarm(text, step);
            }
            self.agenda.add(next_request_at, job);
            return self.events.gate.finish_job(job);
        }
        self.trades.clear_absence(intent);
        let report = self.with_agreed_payout(intent, report, step);
        if self.is_end_confirmed(intent, &report, step) {
            self.apply_report(intent, &report, step);
        }
        self.events.gate.finish_job(job);
    }

    fn on_open(&mut self, intent: IntentId, outcome: OpenOutcome, step: &mut Step<'_>) {
        let now = step.now;
        let (at, kind) = match outcome {
            OpenOutcome::Opened(reply) if self.doubts.is_claimed(&reply.value.id) => {
                let id = &reply.value.id;
                let text = format!(
                    "trade #{intent} is in doubt: the venue answered with trade {id}, which belongs to another order"
                );
                self.session.alarm(text, step);
                self.mark_in_doubt(intent, now)
            }
            OpenOutcome::Opened(reply) => {
                let fault = self.find_time_fault(intent, &reply, now);
                if let Some(TimeFault::OtherTrade { by }) = fault {
                    let text = format!(
                        "trade #{intent} is in doubt: the venue answered with trade {} dated {}, which is implausible",
                        reply.value.id,
                        describe_time_distance(by)
                    );
                    self.session.alarm(text, step);
                    self.audit_terms(intent, &with_rounded_amount(*reply.value, self.session.scale()), step);
                    self.mark_in_doubt(intent, now)
                } else {
                    let report = self.remove_frozen_request_time(intent, (*reply.value, fault), step);
                    self.accept_open(intent, report, step)
                }
            }
            OpenOutcome::Rejected(answer) => {
                self.session.log_rejection(intent, &answer.text, step);
                if answer.reason == RejectionReason::AccountRestricted {
                    self.schedule_user_poll(now);
                }
                self.note_refusal(now);
                let rejection = to_rejection(&answer);
                (venue_time_or_now(answer.venue_time, now), EventKind::Rejected { intent, rejection })
            }
            OpenOutcome::NotSent { reason } => {
                self.session.note_unsent_order(intent, &reason, true, step);
                self.note_refusal(now);
                (now, EventKind::NotSent { intent })
            }
            OpenOutcome::Unknown { reason } => {
                step.log_alarm(format!("trade #{intent} is in doubt: {reason}"));
                self.mark_in_doubt(intent, now)
            }
        };
        self.events.add(at, self.answer_rank(intent, at), kind);
        self.events.gate.finish_job(Job::Departure(intent));
    }

    fn accept_open(&mut self, id: IntentId, report: TradeReport, step: &mut Step<'_>) -> (Millis, EventKind) {
        let report = &self.remove_implausible_fields(id, report, step);
        self.audit_terms(id, report, step);
        self.audit_payout(id, report.payout, step);
        self.begin_tracking(id, report, step.now);
        (
            venue_time_or_now(report.request_time, step.now),
            EventKind::Opened(self.to_opened_trade(id, report)),
        )
    }

    fn mark_in_doubt(&mut self, intent: IntentId, now: Millis) -> (Millis, EventKind) {
        if let Some(terms) = self.session.terms(intent) {
            self.begin_doubt(&terms, now);
        }
        (now, EventKind::InDoubt { intent })
    }
}

fn clock_samples(answer: &Answer) -> Vec<ClockSample> {
    let samples = match answer {
        Answer::Candles(_, Ok(reply)) => [ClockSample::from_date(reply), None],
        Answer::Price(_, asked, Ok(reply)) => {
            [ClockSample::from_date(reply), ClockSample::from_price(reply, *asked)]
        }
        Answer::Trade(_, Ok(reply)) | Answer::TradeToAdopt(_, Ok(reply)) => {
            [ClockSample::from_date(reply), None]
        }
        Answer::Balances(Ok(reply)) | Answer::BalancesAfterTrades(Ok(reply)) => {
            [ClockSample::from_date(reply), None]
        }
        Answer::SettlementPrice(Ok(reply)) => [ClockSample::from_date(reply), None],
        Answer::Open(_, OpenOutcome::Opened(reply)) => {
            [ClockSample::from_date(reply), ClockSample::from_open(reply)]
        }
        _ => [None, None],
    };
    samples.into_iter().flatten().collect()
}

fn venue_time_or_now(venue_time: Option<Millis>, now: Millis) -> Millis {
    venue_time.filter(|at| *at <= now + MAX_TIME_OFFSET && *at >= now - MAX_TIME_OFFSET).unwrap_or(now)
}

fn to_rejection(answer: &candlewick_broker::Rejection) -> Rejection {
    let text = Text::truncated(&answer.text);
    let reason = match answer.reason {
        // Missing prices do not start a pause of the bot, as in a backtest.
        RejectionReason::NoPrice => return Rejection::NoPrice,
        // A pause is not needed, because the rejected token already suspends the opening of trades.
        RejectionReason::Credentials => return Rejection::Other(text),
        RejectionReason::InsufficientBalance => RefusalReason::InsufficientBalance,
        RejectionReason::SymbolInactive => RefusalReason::SymbolInactive,
        RejectionReason::OutdatedPrice => RefusalReason::OutdatedPrice,
        RejectionReason::TradesPerMinute => RefusalReason::TradesPerMinute,
        RejectionReason::TradesPerDay => RefusalReason::TradesPerDay,
        RejectionReason::PendingLimit => RefusalReason::PendingLimit,
        RejectionReason::AmountBelowMinimum => RefusalReason::AmountBelowMinimum,
        RejectionReason::AmountAboveMaximum => RefusalReason::AmountAboveMaximum,
        RejectionReason::AccountRestricted => RefusalReason::AccountRestricted,
        RejectionReason::Other => RefusalReason::Other,
    };
    Rejection::Refused { reason, text }
}

impl Coordinator {
    pub(super) fn on_suspension(&mut self, span: Duration, step: &mut Step<'_>) {
        let span = Millis::new(i64::try_from(span.as_millis()).unwrap_or(i64::MAX));
        if self.phase.is_over() {
            return;
        }
        let candles = match self.market.count_closes(step.now - span, step.now) {
            0 => "no candles were missed".to_owned(),
            1 => "1 candle was missed".to_owned(),
            more => format!("{more} candles were missed"),
        };
        let seconds = span.get() / 1_000;
        let text = format!("this process was suspended for {seconds} s, and {candles}");
        self.session.alarm(text, step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn implausible_venue_time_counts_as_now() {
        let now = Millis::DAY;
        assert_eq!(venue_time_or_now(Some(now + Millis::SECOND), now), now + Millis::SECOND);
        assert_eq!(venue_time_or_now(Some(now + Millis::DAY), now), now);
        assert_eq!(venue_time_or_now(None, now), now);
    }

    #[test]
    fn maps_rejections_by_reason_not_by_text() {
        let words = Text::truncated("no price, no balance");
        let refused = |reason| Rejection::Refused { reason, text: words };
        for (reason, expected) in [
            (RejectionReason::NoPrice, Rejection::NoPrice),
            (RejectionReason::Credentials, Rejection::Other(words)),
            (RejectionReason::InsufficientBalance, refused(RefusalReason::InsufficientBalance)),
            (RejectionReason::PendingLimit, refused(RefusalReason::PendingLimit)),
            (RejectionReason::Other, refused(RefusalReason::Other)),
        ] {
            let text = "no price, no balance".to_owned();
            let rejection = candlewick_broker::Rejection { reason, text, venue_time: None };
            assert_eq!(to_rejection(&rejection), expected);
        }
    }
}
