//! Intents whose answer was lost: looked for in the venue's list until they are trades, or are none.

use super::Conductor;
use crate::agenda::Job;
use crate::connect;
use crate::queue::Place;
use crate::request::{self, Asked, Looked};
use crate::resolver::{
    Decided, Decision, Doubt, Known, LONGEST_LIST_LAG, Resolution, Undecidable, WalletView, latest_close,
};
use candlewick_api::model::TradeRecord;
use candlewick_api::{ApiError, OpenOrder, OpenReply};
use candlewick_engine::{EventKind, IntentId, IntentState, Opened, OrderTerms, VenueId};
use candlewick_sdk::Millis;
use std::sync::Arc;

/// How far our clock may be wrong at least, whatever the venue's answers prove now: it was another time then.
const UNCERTAINTY: Millis = Millis::from_seconds(2);

/// What a person found out about an intent in doubt.
pub(super) enum Verdict {
    /// It is this trade, by the venue's own record.
    Adopt(Box<TradeRecord>),
    /// It is none.
    NotOpened,
}

impl Conductor {
    /// What earlier runs left unfinished: trades are tracked again, unanswered opens are in doubt, doubts are looked
    /// for.
    pub(super) fn recover(&mut self, now: Millis) {
        let rows = self.book.rows().to_vec();
        for row in rows {
            if let Some(id) = self.book.venue_id(&row) {
                self.claimed.insert(id.as_str().to_owned());
            }
            self.recall_audits(&row, now);
            let approved = row.approved;
            match row.state {
                IntentState::Settled | IntentState::Rejected | IntentState::NotSent => {}
                IntentState::InFlight => {
                    // The crash came between the sending and the answer, or before the sending: nobody knows.
                    self.tell(now, EventKind::InDoubt { intent: approved.intent() });
                    self.begin_doubt(&approved, now);
                }
                IntentState::InDoubt => {
                    let ended = self.doubted.get(&approved.intent()).copied().unwrap_or(now);
                    self.resolver.begin(self.doubt_of(&approved, ended), now);
                }
                IntentState::NotOpened => {
                    let ended = self.doubted.get(&approved.intent()).copied().unwrap_or(now);
                    if now - approved.decision_time() < Millis::DAY {
                        let doubt = self.doubt_of(&approved, ended);
                        self.resolver.recall_not_opened(doubt, now);
                    }
                }
                IntentState::Open => match self.book.venue_id(&row) {
                    Some(id) => {
                        let reply = OpenReply {
                            id: id.as_str().to_owned(),
                            open_time: row.open_time,
                            close_time: row.close_time,
                            ..OpenReply::default()
                        };
                        self.begin_tracking(approved.intent(), &reply, now);
                    }
                    None => self.begin_doubt(&approved, now),
                },
            }
        }
        self.plan_look();
        if self.settings.list_every_s > 0 {
            self.agenda.add(now, Job::List);
        }
    }

    /// Begins to look for an intent's trade.
    pub(super) fn begin_doubt(&mut self, approved: &OrderTerms, now: Millis) {
        let doubt = self.doubt_of(approved, now);
        self.resolver.begin(doubt, now);
        self.plan_look();
    }

    /// What is known of a request that ended, as far as anybody can tell, at `ended`.
    fn doubt_of(&self, approved: &OrderTerms, ended: Millis) -> Doubt {
        let sent = self.sent.get(&approved.intent()).copied().unwrap_or(approved.decision_time());
        Doubt {
            intent: approved.intent(),
            order: self.order_of(approved),
            stake: approved.stake(),
            sent,
            ended,
            expected_close_latest: latest_close(ended, approved.expiry().close_type),
        }
    }

    pub(super) fn order_of(&self, approved: &OrderTerms) -> OpenOrder {
        OpenOrder {
            symbol: self.session.symbols()[approved.symbol().index()],
            direction: approved.direction(),
            amount: self.session.money_scale().to_decimal(approved.stake()).normalize(),
            close_type: approved.expiry().close_type,
            expiration_type: approved.expiry().expiration_type,
            account: self.account.kind,
        }
    }

    /// Puts the next useful look on the agenda.
    fn plan_look(&mut self) {
        if let Some(at) = self.resolver.next_look() {
            self.agenda.add(at, Job::List);
        }
    }

    pub(super) fn ask_list(&mut self) {
        if self.asked.values().any(|asked| *asked == Asked::Job(Job::List)) {
            return;
        }
        let now = self.clock.now();
        self.resolver.begin_look(now);
        let (venue, clock) = (Arc::clone(&self.venue), Arc::clone(&self.clock));
        self.ask(Asked::Job(Job::List), request::look(venue, clock, self.account.user_id.clone()));
    }

    pub(super) fn hear_list(&mut self, answer: Result<Looked, ApiError>) {
        let now = self.clock.now();
        let (looked, failed) = match answer {
            Ok(looked) => (Some(looked), None),
            Err(error) => (None, Some(error)),
        };
        let failed = looked.as_ref().and_then(|looked| looked.failed.as_ref()).or(failed.as_ref());
        if let Some(error) = failed {
            self.warn(&format!("the venue's trades could not be listed: {error}"));
        }
        if let Some(looked) = looked {
            self.resolve(&looked, now);
        }
        if self.settings.list_every_s > 0 {
            self.agenda.add(now + Millis::from_seconds(i64::from(self.settings.list_every_s)), Job::List);
        }
        // A look that did not bring what was hoped for is followed by another, but never at once.
        if let Some(at) = self.resolver.next_look() {
            self.agenda.add(at.max(now + Millis::SECOND), Job::List);
        }
    }

    fn resolve(&mut self, looked: &Looked, now: Millis) {
        let scale = self.session.money_scale();
        let balance =
            looked.wallets.as_ref().and_then(|all| connect::money_in(all, self.account.kind, scale));
        let wallet = balance
            .map(|balance| WalletView { balance, explained_without_doubts: self.session.ledger().free() });
        // What waits for the journal has its stake taken off the ledger like what is under way.
        let waiting = self.outbox.iter().map(|approved| approved.intent());
        let in_flight: Vec<Doubt> = self
            .opening()
            .into_iter()
            .chain(waiting)
            .filter_map(|intent| self.book.row(intent).map(|row| self.doubt_of(&row.approved, Millis::MAX)))
            .collect();
        let known = Known {
            claimed: &self.claimed,
            in_flight: &in_flight,
            reserved: &self.session.reserved().collect(),
            wallet,
            uncertainty: self.skew.uncertainty().map_or(UNCERTAINTY, |known| known.max(UNCERTAINTY)),
        };
        // A trade that is over and not listed yet tells of a lag as well: the shortest are over before the list is read.
        let is_young = |at: &Millis| looked.listing.began - *at <= LONGEST_LIST_LAG;
        let accepted: Vec<(String, Millis)> = (self.book.rows().iter())
            .filter_map(|row| {
                let answered_at = row.answered_at.filter(is_young)?;
                Some((self.book.venue_id(row)?.as_str().to_owned(), answered_at))
            })
            .collect();
        self.resolver.measure_lag(&looked.listing, accepted.iter().map(|(id, at)| (id.as_str(), *at)));
        for resolution in self.resolver.take_listing(&looked.listing, &known, now) {
            self.carry_out(resolution, now);
        }
    }

    fn carry_out(&mut self, resolution: Resolution, now: Millis) {
        match resolution {
            Resolution::Adopt { intent, record } => {
                self.warn(&format!("intent {intent} was in doubt and is trade {}", record.id));
                self.adopt(intent, &record, now);
            }
            Resolution::AdoptLate { intent, record } => {
                self.alarm(&format!("intent {intent} was taken as not opened, but is trade {}", record.id));
                self.adopt(intent, &record, now);
            }
            Resolution::NotOpened { intent, reserved_until } => {
                self.warn(&format!("intent {intent} was in doubt: the venue has no trade of it"));
                self.queue.add(now, Place::Answer(intent), EventKind::NotOpened { intent, reserved_until });
            }
            Resolution::AskPerson { intent, why } => {
                self.alarm(&format!(
                    "intent {intent} stays in doubt: {why}; end it with `candlewick resolve {intent} --adopt VENUE_ID` \
                     or `--not-opened`"
                ));
            }
            Resolution::Unexplained { record } => {
                let symbol = record.symbol.as_deref().unwrap_or("an unknown symbol");
                self.warn(&format!("trade {} on {symbol} is explained by no intent", record.id));
                self.journal.note(now, serde_json::json!({ "unexplained": record.id }).to_string());
            }
        }
    }

    fn adopt(&mut self, intent: IntentId, record: &TradeRecord, now: Millis) {
        self.audit_terms(intent, record);
        let reply = OpenReply::from(record.clone());
        self.audit_payout(intent, reply.payout);
        self.begin_tracking(intent, &reply, now);
        let adopted = Opened {
            intent,
            venue_id: Some(VenueId::truncated(&reply.id)),
            open_time: reply.open_time,
            open_price: reply.open_price,
            close_time: reply.close_time,
            payout: reply.payout,
        };
        self.queue.add(now, Place::Answer(intent), EventKind::Adopted(adopted));
    }

    /// A person ends a doubt.
    ///
    /// # Errors
    /// Why it cannot be ended so.
    pub(super) fn decide_doubt(&mut self, intent: IntentId, verdict: Verdict) -> Result<(), String> {
        let now = self.clock.now();
        let (decision, record) = match verdict {
            Verdict::Adopt(record) => (Decision::Adopt { venue_id: record.id.clone() }, *record),
            Verdict::NotOpened => (Decision::NotOpened, TradeRecord::default()),
        };
        let decided = self.resolver.resolve_by_person(intent, decision, &self.claimed);
        let problem = |undecidable| match undecidable {
            Undecidable::NotInDoubt => format!("intent {intent} is not in doubt"),
            Undecidable::TradeTaken => "that trade is another intent's".to_owned(),
        };
        match decided.map_err(problem)? {
            Decided::Adopt { .. } | Decided::AdoptLate { .. } => self.adopt(intent, &record, now),
            Decided::NotOpened { reserved_until } => {
                let kind = EventKind::NotOpened { intent, reserved_until };
                self.queue.add(now, Place::Answer(intent), kind);
            }
        }
        Ok(())
    }
}
