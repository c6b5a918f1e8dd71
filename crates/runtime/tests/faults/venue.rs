//! The venue as one process meets it: the truth behind a network that loses, delays, repeats and garbles.

use crate::company::{self, Reach};
use crate::dice::Dice;
use crate::plan::{Habits, Withholding};
use crate::records;
use crate::time::OffClock;
use crate::truth::{Fate, Request, Sender};
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
/// How long a list keeps trades back beyond what it may.
pub(crate) const WITHHELD_MS: i64 = 120_000;
/// For how long after its client has gone a request may lie in a queue (the rules of opening).
const QUEUED: Millis = Millis::from_seconds(29);
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

/// An open's way to the venue and its answer's way back, decided before it leaves.
#[derive(Clone, Copy, Debug)]
struct Way {
    is_unsent: bool,
    is_lost: bool,
    is_unanswered: bool,
    /// Whether it arrives although its process ends.
    survives: bool,
    underway: Millis,
    answer: Millis,
}

impl Drop for Flight {
    fn drop(&mut self) {
        if self.is_answered {
            return;
        }
        if self.survives {
            let by = self.world.time.now() + QUEUED;
            self.world.truth().hasten(self.ticket, by);
        } else {
            self.world.truth().lose(self.ticket);
        }
    }
}

impl Way {
    fn draw(habits: &Habits, dice: &mut Dice) -> Self {
        let is_late = dice.per_mille(habits.late);
        let underway = if is_late {
            dice.between(1, habits.patience_ms + QUEUED.get())
        } else if habits.is_slow_to_open {
            dice.between(1, habits.patience_ms)
        } else {
            dice.skewed(1, 900)
        };
        Self {
            is_unsent: dice.per_mille(habits.unsent),
            is_lost: dice.per_mille(habits.lost),
            is_unanswered: dice.per_mille(habits.unanswered),
            survives: dice.one_in(2),
            underway: Millis::new(underway),
            answer: Millis::new(dice.skewed(1, 2_000)),
        }
    }

    /// When its client knows of it, or gives up.
    fn ends_after(&self, patience: Millis) -> Millis {
        if self.is_lost { patience } else { patience.min(self.underway + self.answer) }
    }

    /// Whether its client will not know what became of it.
    fn is_doubtful(&self, patience: Millis) -> bool {
        self.is_lost || self.is_unanswered || self.underway + self.answer > patience
    }
}

impl ModelVenue {
    async fn pass(&self, span: Millis) {
        if span > Millis::ZERO {
            self.world.time.sleep_until(self.world.time.now() + span).await;
        }
    }

    /// A question's way to the venue and its answer's way back, in ms, or how it fails.
    fn draw_way(&self) -> (Millis, Result<Millis, ApiError>) {
        let habits = &self.world.plan.habits;
        let mut dice = self.world.dice();
        let most = if dice.per_mille(habits.slow) { READ_DEADLINE_MS / 2 } else { 80 };
        let (there, back) = (Millis::new(dice.skewed(1, most)), Millis::new(dice.skewed(1, most)));
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

    /// What reaches the venue, and what else does when its answer gets lost.
    fn request(&self, intent: Option<u64>, order: &OpenOrder, way: &Way) -> Request {
        let (habits, now) = (&self.world.plan.habits, self.world.time.now());
        let sender = intent.map_or(Sender::Program, Sender::Intent);
        let patience = Millis::new(habits.patience_ms);
        let is_doubtful = way.is_doubtful(patience);
        let mut dice = self.world.dice();
        let promised_ms = 30_000 + i64::from(self.world.plan.settings.list_lag_ms);
        let allowed = now + way.ends_after(patience) + Millis::new(promised_ms);
        let listed_from = match habits.withholding {
            Withholding::Both if is_doubtful => allowed + Millis::new(dice.between(-4_000, 6_000)),
            Withholding::List if is_doubtful => allowed + Millis::new(dice.between(0, WITHHELD_MS)),
            _ => now + way.underway + Millis::new(dice.between(0, habits.list_lag_ms)),
        };
        drop(dice);
        let twin =
            if is_doubtful { company::join(&self.world, intent, order, Reach::Underway) } else { None };
        Request { listed_from, twin, ..Request::new(sender, order.clone()) }
    }

    fn date(&self) -> Option<Millis> {
        self.world.plan.habits.has_dates.then(|| self.world.time.now().floor_to(Millis::SECOND))
    }

    /// One intent, one request; and it was durable before.
    fn check_post(&self, order: &OpenOrder) -> Option<u64> {
        let intent = present();
        self.world.require(intent.is_some(), || "an open that no intent asked for".to_owned());
        let number = intent?;
        let is_first = self.world.truth().post(number, order);
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
        let intent = self.check_post(order);
        let text = || "as it happens".to_owned();
        let habits = &self.world.plan.habits;
        let patience = Millis::new(habits.patience_ms);
        let just_now = self.world.time.now() - Millis::from_seconds(3);
        let is_repeated = self.world.truth().has_since(order, just_now);
        let mut way = Way::draw(habits, &mut self.world.dice());
        // Of two that could be taken for each other the second gets lost more often than not.
        way.is_lost |= is_repeated && self.world.dice().one_in(2);
        self.world.tell(|| format!("posted {intent:?} {way:?}"));
        if way.is_unsent {
            return Err(ApiError::NotSent { text: text() });
        }
        let ambiguous = || Err(ApiError::Ambiguous { text: text() });
        if way.is_lost {
            company::join(&self.world, intent, order, Reach::Lost);
            self.pass(patience).await;
            return ambiguous();
        }
        let request = self.request(intent, order, &way);
        let arrival = self.world.time.now() + way.underway;
        let ticket = self.world.truth().send(arrival, request, habits, &mut self.world.dice());
        let (world, survives) = (Arc::clone(&self.world), way.survives);
        let mut flight = Flight { world, ticket, survives, is_answered: false };
        self.pass(way.underway.min(patience)).await;
        if way.underway >= patience {
            flight.is_answered = true;
            return ambiguous();
        }
        let date = self.date();
        let fate = self.world.truth().fate(ticket);
        self.pass(way.answer.min(patience - way.underway)).await;
        flight.is_answered = true;
        if way.is_doubtful(patience) {
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
