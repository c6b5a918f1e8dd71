//! Turns the venue's answers into events, and into what is to be asked next.

use super::Conductor;
use crate::Notice;
use crate::agenda::Job;
use crate::connect;
use crate::queue::Place;
use crate::request::{self, Asked, Fetched, Question, Report, Source};
use crate::settlement::{self, Reading};
use crate::skew::{Testimony, Witness};
use candlewick_api::model::{LastPrice, TradeRecord, Wallet};
use candlewick_api::{ApiError, OpenReply};
use candlewick_engine::{EventKind, IntentId, Opened, Rejection, SeriesId, SymbolId, VenueId};
use candlewick_sdk::{Millis, Payout, Price, Text};
use std::sync::Arc;

/// An answer's own time may lie in the future by at most this much: on a virtual clock it does, by the order's
/// latency; beyond it the time is nonsense and the answer counts as of now.
const FAR_FUTURE: Millis = Millis::from_seconds(300);

impl Conductor {
    /// Takes the report of a question.
    pub(super) fn hear(&mut self, report: Report) {
        for testimony in report.testimonies {
            self.hear_clock(testimony);
        }
        match report.question {
            Question::Candles(series, answer) => self.hear_candles(series, answer),
            Question::Price(symbol, answer) => self.hear_price(symbol, answer),
            Question::Trade(intent, source, answer) => self.hear_trade(intent, source, answer),
            Question::Wallets(answer) => self.hear_wallets(answer),
            Question::List(answer) => self.hear_list(answer),
            Question::Audit(recomputed) => self.hear_audit(recomputed.map(|one| *one)),
            Question::Adoption(adoption) => self.hear_adoption(adoption.map(|one| *one)),
            Question::Open(intent, answer) => self.hear_open(intent, answer),
        }
    }

    /// Follows the venue's clock. Where it leaps ahead because ours stood still (the machine slept), ours catches up;
    /// any other difference is for the rules and for people.
    fn hear_clock(&mut self, testimony: Testimony) {
        if self.is_simulated && testimony.witness == Witness::Open {
            // A simulated venue takes an order one latency after it arrived.
            return;
        }
        let mut change = self.skew.take(testimony, self.clock.now());
        if let Some(leap) = change.leapt {
            let caught_up = if leap > Millis::ZERO { self.clock.catch_up() } else { Millis::ZERO };
            if caught_up > Millis::ZERO {
                let later = self.skew.our_clock_moved(caught_up, self.clock.now());
                change.offset = later.offset;
                self.alarm(&format!(
                    "the machine stood still for {caught_up} ms; the run goes on at the present"
                ));
            } else {
                self.alarm(&format!("the venue's clock leapt by {leap} ms against this machine's"));
            }
        }
        if let Some(offset) = change.offset {
            let now = self.clock.now();
            self.tell(now, EventKind::Skew { offset });
        }
    }

    fn hear_candles(&mut self, id: SeriesId, answer: Result<Fetched, ApiError>) {
        let now = self.clock.now();
        let job = Job::Candles(id);
        match answer {
            Ok(fetched) => {
                let series = self.session.series()[id.index()];
                if fetched.rejected > 0 {
                    self.counts.rejected_rows += fetched.rejected as u64;
                    self.warn(&format!(
                        "{series}: {} rows were no candles and count as gaps",
                        fetched.rejected
                    ));
                }
                self.audit_candles(series, &fetched.candles);
                let polled = self.candles[id.index()].take(&fetched.candles, now);
                for (close, candle, origin) in polled.news {
                    self.audit_prices(series, &candle);
                    let kind = EventKind::Candle { series: id, candle, origin };
                    self.queue.add(close, Place::Candle(self.ranks[id.index()]), kind);
                }
                if polled.is_settled {
                    self.gate.settle_job(job);
                }
                self.agenda.add(polled.ask_at, job);
            }
            Err(error) => {
                let (ask_at, is_settled) = self.candles[id.index()].ask_again(now);
                if is_settled {
                    self.gate.settle_job(job);
                }
                self.agenda.add(ask_at, job);
                let series = self.session.series()[id.index()];
                self.warn(&format!("{series}: no candles: {error}"));
            }
        }
    }

    fn hear_price(&mut self, id: SymbolId, answer: Result<(Millis, LastPrice), ApiError>) {
        self.gate.settle_job(Job::Price(id));
        // Only now the next: prices come one at a time, so that none overtakes another.
        self.agenda.add(self.next_grid(self.clock.now()), Job::Price(id));
        let symbol = self.session.symbols()[id.index()];
        if let Ok((_, price)) = &answer {
            self.note_price(symbol, price);
        }
        match answer {
            Ok((at, LastPrice::Record(record))) if record.close_price > 0.0 => {
                let price = Price { time: at, value: record.close_price };
                if self.priced[id.index()] {
                    self.queue.add(at, Place::Price(id.index()), EventKind::Price { symbol: id, price });
                } else {
                    self.observer.see(Notice::Price(symbol, price), self.session.ledger(), &self.book);
                }
            }
            Ok((_, LastPrice::Record(_) | LastPrice::Future)) => {}
            Err(error) => self.warn(&format!("{symbol}: no price: {error}")),
        }
    }

    fn hear_trade(&mut self, intent: IntentId, source: Source, answer: Result<Box<TradeRecord>, ApiError>) {
        let (now, job) = (self.clock.now(), Job::Trade(intent));
        let Some(trade) = self.trades.find(intent) else { return self.gate.settle_job(job) };
        let record = match answer {
            Ok(record) => record,
            Err(error) => {
                let again = self.trades.ask_again(intent, now);
                self.agenda.add(again.unwrap_or(now), job);
                self.gate.settle_job(job);
                return self.warn(&format!("intent {intent}: no answer about its trade: {error}"));
            }
        };
        match settlement::read(&record, intent, trade, self.session.money_scale()) {
            Reading::Final(settled) => {
                let close = settled.close_time.or(trade.close_time).unwrap_or(now);
                self.audit_terms(intent, &record);
                self.audit_settlement(&settled);
                // A trade that was over when it was adopted may end while its adoption still waits to be told.
                let at = self.queue.after_answer(intent).map_or(now, |after| after.max(now));
                self.queue.add(at, Place::Settlement(close, intent), EventKind::Settled(settled));
                self.trades.end(intent);
                self.gate.settle_job(job);
            }
            Reading::EndedSomehow if source == Source::ById => {
                let names = (trade.venue_id.clone(), self.account.user_id.clone());
                self.ask(Asked::Job(job), request::look_up_trade(Arc::clone(&self.venue), intent, names));
            }
            Reading::EndedSomehow | Reading::NotFinal => {
                self.learn_details(intent, &record, now);
                self.gate.settle_job(job);
            }
        }
    }

    /// A trade that is not final may still tell what its open reply left out.
    fn learn_details(&mut self, intent: IntentId, record: &TradeRecord, now: Millis) {
        let known = self.book.row(intent);
        let is_news = known.is_some_and(|row| {
            let has_price = row.open_price.is_none() && record.open_price.is_some();
            has_price || row.close_time.is_none() && record.close_time.is_some()
        });
        if is_news {
            let kind = EventKind::Opened(Opened {
                intent,
                venue_id: None,
                open_time: record.open_time,
                open_price: record.open_price,
                close_time: record.close_time,
                payout: record.payout.and_then(|percent| Payout::from_percent(percent).ok()),
            });
            self.queue.add(now, Place::Answer(intent), kind);
        }
        if let Some(again) = self.trades.detail(intent, record.close_time, now) {
            self.agenda.add(again, Job::Trade(intent));
        }
    }

    fn hear_wallets(&mut self, answer: Result<Vec<Wallet>, ApiError>) {
        self.agenda.add(self.clock.now() + self.wallet_pace(), Job::Wallets);
        self.audit_schema();
        match answer {
            Ok(wallets) => {
                let scale = self.session.money_scale();
                if let Some(amount) = connect::money_in(&wallets, self.account.kind, scale) {
                    self.queue.add(self.clock.now(), Place::Balance, EventKind::Balance { amount });
                    self.audit_wallet(amount);
                }
            }
            Err(error) => self.warn(&format!("no wallets: {error}")),
        }
    }

    fn hear_open(&mut self, intent: IntentId, answer: Result<OpenReply, ApiError>) {
        let now = self.clock.now();
        let (at, kind) = match answer {
            Ok(reply) => {
                let at = not_far(reply.request_time, now);
                if let Some(record) = &reply.record {
                    self.audit_terms(intent, record);
                }
                self.audit_payout(intent, reply.payout);
                self.begin_tracking(intent, &reply, now);
                (at, opened(intent, &reply))
            }
            Err(ApiError::Rejected { text, venue_time, .. }) => {
                self.warn(&format!("intent {intent} was refused: {text}"));
                (not_far(venue_time, now), EventKind::Rejected { intent, rejection: read_rejection(&text) })
            }
            Err(ApiError::NotSent { text }) => {
                self.note_not_sent(intent, &text);
                (now, EventKind::NotSent { intent })
            }
            Err(error) => {
                self.warn(&format!("intent {intent} is in doubt: {error}"));
                if let Some(approved) = self.book.row(intent).map(|row| row.approved) {
                    self.begin_doubt(&approved, now);
                }
                (now, EventKind::InDoubt { intent })
            }
        };
        self.queue.add(at, Place::Answer(intent), kind);
    }

    pub(super) fn begin_tracking(&mut self, intent: IntentId, reply: &OpenReply, now: Millis) {
        let approved = self.book.row(intent).map(|row| row.approved);
        let terms = approved.map(|one| (one.stake(), one.expiry().close_type.duration()));
        self.claimed.insert(reply.id.clone());
        let first = self.trades.begin(intent, reply, terms.unwrap_or_default(), now);
        self.agenda.add(first, Job::Trade(intent));
    }
}

fn opened(intent: IntentId, reply: &OpenReply) -> EventKind {
    EventKind::Opened(Opened {
        intent,
        venue_id: Some(VenueId::truncated(&reply.id)),
        open_time: reply.open_time,
        open_price: reply.open_price,
        close_time: reply.close_time,
        payout: reply.payout,
    })
}

/// The venue's own time of a fact, unless it says none or nonsense.
fn not_far(venue_time: Option<Millis>, now: Millis) -> Millis {
    venue_time.filter(|at| *at <= now + FAR_FUTURE && *at >= now - FAR_FUTURE).unwrap_or(now)
}

/// The wording of refusals is not documented (`observed: opening a trade`), so words are looked for.
fn read_rejection(text: &str) -> Rejection {
    let words = text.to_lowercase();
    if words.contains("price") && (words.contains("no ") || words.contains("outdated")) {
        Rejection::NoPrice
    } else if words.contains("balance") {
        Rejection::InsufficientBalance
    } else {
        Rejection::Other(Text::truncated(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_known_by_their_words() {
        assert_eq!(read_rejection("No price for this moment"), Rejection::NoPrice);
        assert_eq!(read_rejection("Outdated price"), Rejection::NoPrice);
        assert_eq!(read_rejection("Insufficient balance"), Rejection::InsufficientBalance);
        assert_eq!(read_rejection("Too many pending"), Rejection::Other(Text::truncated("Too many pending")));
    }

    #[test]
    fn a_nonsensical_venue_time_counts_as_now() {
        let now = Millis::DAY;
        assert_eq!(not_far(Some(now + Millis::SECOND), now), now + Millis::SECOND);
        assert_eq!(not_far(Some(now + Millis::DAY), now), now);
        assert_eq!(not_far(None, now), now);
    }
}
