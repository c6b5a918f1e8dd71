//! The venue as one process meets it: the truth behind a network that loses, delays, repeats and garbles.

use crate::records;
use crate::time::OffClock;
use crate::truth::Fate;
use crate::world::World;
use async_trait::async_trait;
use candlewick_api::clock::Clock;
use candlewick_api::model::{
    CandleQuery, CandleRows, LastPrice, LimitTime, PriceRecord, TradePage, TradeQuery, TradeRecord, User,
    Wallet,
};
use candlewick_api::{ApiError, OpenOrder, OpenReply, Reply, Venue, present};
use candlewick_sdk::{Millis, Symbol};
use std::sync::Arc;

pub(crate) const USER: &str = "user-1";
/// How long the client asks for something at most, with all its repeats.
const READ_DEADLINE_MS: i64 = 15_000;

/// The venue.
pub(crate) struct ModelVenue {
    pub(crate) world: Arc<World>,
    pub(crate) clock: Arc<OffClock>,
}

/// A request on its way; the end of its process may be the end of it.
struct Flight {
    world: Arc<World>,
    ticket: u64,
    survives: bool,
    is_answered: bool,
}

impl Drop for Flight {
    fn drop(&mut self) {
        if !self.is_answered && !self.survives {
            self.world.truth().lose(self.ticket);
        }
    }
}

impl ModelVenue {
    async fn pass(&self, ms: i64) {
        if ms > 0 {
            self.world.time.sleep_until(self.world.time.now() + Millis::new(ms)).await;
        }
    }

    /// A question's way to the venue and its answer's way back, in ms, or how it fails.
    fn draw_way(&self) -> (i64, Result<i64, ApiError>) {
        let habits = &self.world.plan.habits;
        let mut dice = self.world.dice();
        let most = if dice.per_mille(habits.slow) { READ_DEADLINE_MS / 2 } else { 80 };
        let (there, back) = (dice.skewed(1, most), dice.skewed(1, most));
        if !dice.per_mille(habits.failing) {
            return (there, Ok(back));
        }
        let text = || "as it happens".to_owned();
        let error = match dice.between(0, 3) {
            0 => ApiError::Malformed { problem: text(), head: text() },
            1 => ApiError::Unauthorized { text: text() },
            2 => ApiError::RateLimited { text: text(), retry_after: None },
            _ => ApiError::Unavailable { text: text() },
        };
        (there, Err(error))
    }

    /// Asks the venue, which answers by what it knows at that moment.
    async fn ask<T>(
        &self,
        answer: impl FnOnce(&World) -> Result<T, ApiError> + Send,
    ) -> Result<Reply<T>, ApiError> {
        if !self.world.count_question() {
            self.world.require(false, || "questions without end".to_owned());
            return std::future::pending().await;
        }
        let sent = self.clock.now();
        let (there, back) = self.draw_way();
        self.pass(there).await;
        let back = back?;
        let (value, date) = (answer(&self.world)?, self.date());
        self.pass(back).await;
        Ok(Reply { value, date, sent, received: self.clock.now() })
    }

    fn date(&self) -> Option<Millis> {
        self.world.plan.habits.has_dates.then(|| self.world.time.now().floor_to(Millis::SECOND))
    }

    /// One intent, one request; and it was durable before.
    fn check_post(&self) -> Option<u64> {
        let intent = present();
        self.world.require(intent.is_some(), || "an open that no intent asked for".to_owned());
        let number = intent?;
        let is_first = self.world.truth().post(number);
        self.world.require(is_first, || format!("intent {number} was sent twice"));
        let is_durable = self.world.disk().intents.contains(&number);
        self.world.require(is_durable, || format!("intent {number} was sent before it was durable"));
        intent
    }
}

#[async_trait]
impl Venue for ModelVenue {
    async fn wallets(&self) -> Result<Reply<Vec<Wallet>>, ApiError> {
        self.ask(|world| Ok(records::wallets(world))).await
    }

    async fn trades(&self, query: &TradeQuery) -> Result<Reply<TradePage>, ApiError> {
        let is_own = query.user_id.as_deref() == Some(USER);
        self.world.require(is_own, || "the list asked for without its user".to_owned());
        self.ask(|world| {
            let (from, until) = world.plan.habits.list_outage;
            let elapsed = world.time.elapsed();
            if from <= elapsed && elapsed < until {
                return Err(ApiError::Unavailable { text: "the list is down".to_owned() });
            }
            Ok(records::page(world, query))
        })
        .await
    }

    async fn trade(&self, id: &str) -> Result<Reply<TradeRecord>, ApiError> {
        self.ask(|world| {
            let truth = world.truth();
            let unknown = || ApiError::NotFound { text: format!("no trade {id}") };
            let trade = truth.find(id).ok_or_else(unknown)?;
            Ok(records::by_id(world, trade))
        })
        .await
    }

    async fn open(&self, order: &OpenOrder) -> Result<Reply<OpenReply>, ApiError> {
        let sent = self.clock.now();
        let intent = self.check_post();
        let habits = self.world.plan.habits;
        let text = || "as it happens".to_owned();
        let (is_unsent, is_lost, is_late, is_unanswered, survives, answer_ms) = {
            let mut dice = self.world.dice();
            let mut happens = |often| dice.per_mille(often);
            let draws = (
                happens(habits.unsent),
                happens(habits.lost),
                happens(habits.late),
                happens(habits.unanswered),
            );
            (draws.0, draws.1, draws.2, draws.3, dice.one_in(2), dice.skewed(1, 2_000))
        };
        self.world.tell(|| {
            format!("posted {intent:?} unsent {is_unsent} lost {is_lost} late {is_late} unanswered {is_unanswered}")
        });
        if is_unsent {
            return Err(ApiError::NotSent { text: text() });
        }
        let ambiguous = || Err(ApiError::Ambiguous { text: text() });
        if is_lost {
            self.pass(habits.patience_ms).await;
            return ambiguous();
        }
        // It may lie in a queue for half a minute after the client has given up (the rules of opening).
        let underway_ms = {
            let mut dice = self.world.dice();
            if is_late { dice.between(1, habits.patience_ms + 29_000) } else { dice.skewed(1, 900) }
        };
        let arrival = self.world.time.now() + Millis::new(underway_ms);
        let ticket = {
            let mut truth = self.world.truth();
            truth.send(arrival, intent, order, &self.world.plan, &mut self.world.dice())
        };
        let mut flight = Flight { world: Arc::clone(&self.world), ticket, survives, is_answered: false };
        if underway_ms >= habits.patience_ms {
            self.pass(habits.patience_ms).await;
            flight.is_answered = true;
            return ambiguous();
        }
        self.pass(underway_ms).await;
        let date = self.date();
        let fate = self.world.truth().fate(ticket);
        self.pass(answer_ms.min(habits.patience_ms - underway_ms)).await;
        flight.is_answered = true;
        if is_unanswered || underway_ms + answer_ms > habits.patience_ms {
            return ambiguous();
        }
        let place = match fate {
            Fate::Accepted(place) => place,
            Fate::Refused => {
                return Err(ApiError::Rejected {
                    status: 400,
                    text: "Outdated price".to_owned(),
                    venue_time: None,
                });
            }
            Fate::Underway => return ambiguous(),
        };
        let value = records::reply(&self.world, place);
        Ok(Reply { value, date, sent, received: self.clock.now() })
    }

    async fn me(&self) -> Result<Reply<User>, ApiError> {
        self.ask(|_| Ok(User { id: USER.to_owned(), ..User::default() })).await
    }

    async fn last_price(&self, _pair: &Symbol, _limit: LimitTime) -> Result<Reply<LastPrice>, ApiError> {
        self.world.require(false, || "a price that nobody wants".to_owned());
        Err(ApiError::Unavailable { text: "no price".to_owned() })
    }

    async fn default_price(&self, _pair: &Symbol) -> Result<Reply<PriceRecord>, ApiError> {
        self.world.require(false, || "a price that nobody wants".to_owned());
        Err(ApiError::Unavailable { text: "no price".to_owned() })
    }

    async fn candles(&self, query: &CandleQuery) -> Result<Reply<CandleRows>, ApiError> {
        self.ask(|world| Ok(records::candles(world, query))).await
    }
}
