//! Questions to the venue, each in a task of its own, and the reports that come back.

use crate::RuntimeError;
use crate::adoption::confirm_adoption;
use crate::agenda::Job;
use crate::audit::{Recomputed, Settlement};
use crate::control::ControlAnswer;
use crate::resolver::{Listing, ListingBuilder};
use crate::skew::Testimony;
use candlewick_api::clock::Clock;
use candlewick_api::model::{CandleQuery, LastPrice, LimitTime, TradeRecord, Wallet};
use candlewick_api::{ApiError, OpenOrder, OpenReply, Reply, Venue, about, closed_candles};
use candlewick_engine::{IntentId, SeriesId, SymbolId, VenueId};
use candlewick_sdk::{Candle, Interval, Millis, Symbol};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// A question's last deadline, in real time: above every deadline of the client itself, so that a client that
/// forgets its own cannot stop a run.
const LAST_DEADLINE: Duration = Duration::from_mins(1);
/// Candles asked for at once (`observed: prices and candles`).
const CANDLE_PAGE: u64 = 500;

/// What came of a question.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) question: Question,
    /// What the answer proves about the venue's clock.
    pub(crate) testimonies: Vec<Testimony>,
}

/// A question with its answer.
#[derive(Debug)]
pub(crate) enum Question {
    Candles(SeriesId, Result<Fetched, ApiError>),
    Price(SymbolId, Result<(Millis, LastPrice), ApiError>),
    Trade(IntentId, Source, Result<Box<TradeRecord>, ApiError>),
    Wallets(Result<Vec<Wallet>, ApiError>),
    List(Result<Looked, ApiError>),
    Open(IntentId, Result<OpenReply, ApiError>),
    /// None when it could not be asked for.
    Audit(Option<Box<Recomputed>>),
    /// None when it could not be asked for.
    Adoption(Option<Box<Adoption>>),
}

/// A person says that a trade is an intent's, and waits for the answer.
#[derive(Debug)]
pub(crate) struct Claim {
    pub(crate) intent: IntentId,
    pub(crate) venue_id: VenueId,
    /// How the person knows.
    pub(crate) reason: String,
    pub(crate) answer: oneshot::Sender<ControlAnswer>,
}

/// What the venue says of that trade.
#[derive(Debug)]
pub(crate) struct Adoption {
    pub(crate) claim: Claim,
    pub(crate) confirmed: Result<TradeRecord, RuntimeError>,
}

/// Where a trade's record comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Get-by-id, which may have only the short projection.
    ById,
    /// The list by user, which has the full one (contract 4.1, endpoint 2).
    List,
}

/// What a running request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Job(Job),
    Open(IntentId),
    Adoption(IntentId),
}

impl Report {
    /// Of a request whose own code broke: an open is in doubt then, anything else can be asked again.
    pub(crate) fn broken(asked: Asked, text: String) -> Self {
        let unavailable = |text| ApiError::Unavailable { text };
        let question = match asked {
            Asked::Job(Job::Candles(series)) => Question::Candles(series, Err(unavailable(text))),
            Asked::Job(Job::Price(symbol)) => Question::Price(symbol, Err(unavailable(text))),
            Asked::Job(Job::Trade(intent)) => Question::Trade(intent, Source::ById, Err(unavailable(text))),
            Asked::Job(Job::List) => Question::List(Err(unavailable(text))),
            Asked::Job(Job::Audit) => Question::Audit(None),
            Asked::Job(Job::Wallets) => Question::Wallets(Err(unavailable(text))),
            Asked::Open(intent) => Question::Open(intent, Err(ApiError::Ambiguous { text })),
            Asked::Adoption(_) => Question::Adoption(None),
        };
        Self { question, testimonies: Vec::new() }
    }
}

/// Closed candles, sorted, and how many rows were none.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Fetched {
    pub(crate) candles: Vec<Candle>,
    pub(crate) rejected: usize,
}

/// Which candles are wanted: those that open from `start` on and have closed by `now`.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) symbol: Symbol,
    pub(crate) asset_type: String,
    pub(crate) interval: Interval,
    pub(crate) start: Millis,
    pub(crate) now: Millis,
}

pub(crate) async fn ask_candles(venue: Arc<dyn Venue>, series: SeriesId, wanted: Wanted) -> Report {
    let (answer, testimonies) = split(fetch_candles(venue.as_ref(), &wanted).await);
    Report { question: Question::Candles(series, answer), testimonies }
}

pub(crate) async fn ask_price(venue: Arc<dyn Venue>, id: SymbolId, symbol: Symbol, at: Millis) -> Report {
    let answer = within_deadline(venue.last_price(&symbol, LimitTime::At(at))).await;
    let told = answer.as_ref().ok().and_then(Testimony::of_price);
    let (answer, mut testimonies) = split(answer);
    testimonies.extend(told);
    Report { question: Question::Price(id, answer.map(|price| (at, price))), testimonies }
}

pub(crate) async fn ask_trade(venue: Arc<dyn Venue>, intent: IntentId, id: String) -> Report {
    let (answer, testimonies) = split(within_deadline(about(intent.number(), venue.trade(&id))).await);
    Report { question: Question::Trade(intent, Source::ById, answer.map(Box::new)), testimonies }
}

/// Looks a trade up in the list by user, whose projection has the result that get-by-id may lack.
pub(crate) async fn look_up_trade(
    venue: Arc<dyn Venue>,
    intent: IntentId,
    (id, user_id): (String, String),
) -> Report {
    let (answer, testimonies) = split(find_in_list(venue.as_ref(), &id, user_id).await);
    Report { question: Question::Trade(intent, Source::List, answer.map(Box::new)), testimonies }
}

/// The venue's list of trades, and the wallets as they stood after it; none when they could not be read.
#[derive(Debug)]
pub(crate) struct Looked {
    pub(crate) listing: Listing,
    pub(crate) wallets: Option<Vec<Wallet>>,
    /// Why it ended early.
    pub(crate) failed: Option<ApiError>,
}

/// Lists all trades of the user, then reads the wallets. A page that fails leaves the listing incomplete: what it does
/// not show proves nothing, but time passes for whoever waits for it.
pub(crate) async fn look(venue: Arc<dyn Venue>, clock: Arc<dyn Clock>, user_id: String) -> Report {
    let mut listing = ListingBuilder::new(user_id, clock.now());
    let mut failed = None;
    while let Some(query) = listing.query().cloned() {
        match within_deadline(venue.trades(&query)).await {
            Ok(reply) => listing.take(reply.value),
            Err(error) => {
                failed = Some(error);
                break;
            }
        }
    }
    let wallets = match failed {
        None => within_deadline(venue.wallets()).await.ok().map(|reply| reply.value),
        Some(_) => None,
    };
    let looked = Looked { listing: listing.finish(clock.now()), wallets, failed };
    Report { question: Question::List(Ok(looked)), testimonies: Vec::new() }
}

pub(crate) async fn ask_wallets(venue: Arc<dyn Venue>) -> Report {
    let (answer, testimonies) = split(within_deadline(venue.wallets()).await);
    Report { question: Question::Wallets(answer), testimonies }
}

/// Asks for the price records of a settlement's two moments. What is not answered is not audited.
pub(crate) async fn recompute(venue: Arc<dyn Venue>, settlement: Settlement) -> Report {
    let (opened, closed) = settlement.moments();
    let mut records = [None, None];
    for (record, moment) in records.iter_mut().zip([opened, closed]) {
        if let Some(at) = moment {
            let answer = within_deadline(venue.last_price(&settlement.symbol, LimitTime::At(at))).await;
            *record = answer.ok().map(|reply| reply.value);
        }
    }
    let [open, close] = records;
    let recomputed = Recomputed { settlement, open, close };
    Report { question: Question::Audit(Some(Box::new(recomputed))), testimonies: Vec::new() }
}

/// Asks for the record of a trade that a person says is an intent's.
pub(crate) async fn confirm(
    venue: Arc<dyn Venue>,
    order: OpenOrder,
    (claim, user_id): (Claim, String),
) -> Report {
    let names = (claim.venue_id.as_str(), user_id.as_str());
    let confirming = confirm_adoption(venue.as_ref(), &order, names);
    let confirmed = about(claim.intent.number(), confirming).await;
    let adoption = Adoption { claim, confirmed };
    Report { question: Question::Adoption(Some(Box::new(adoption))), testimonies: Vec::new() }
}

/// Sends an open: once, and by a moment or not at all. Whatever is not an answer leaves it in doubt.
pub(crate) async fn open(
    venue: Arc<dyn Venue>,
    intent: IntentId,
    (order, leave_by): (OpenOrder, Millis),
) -> Report {
    let opened = about(intent.number(), venue.open(&order, leave_by));
    let answer = match tokio::time::timeout(LAST_DEADLINE, opened).await {
        Ok(answer) => answer,
        Err(_) => Err(ApiError::Ambiguous { text: "no answer within the last deadline".to_owned() }),
    };
    let told = answer.as_ref().ok().and_then(Testimony::of_open);
    let (answer, mut testimonies) = split(answer);
    testimonies.extend(told);
    Report { question: Question::Open(intent, answer), testimonies }
}

/// Fetches the wanted candles page by page, whichever end the venue's limit cuts.
pub(crate) async fn fetch_candles(venue: &dyn Venue, wanted: &Wanted) -> Result<Reply<Fetched>, ApiError> {
    let length = wanted.interval.length();
    let page = length * i64::try_from(CANDLE_PAGE).unwrap_or(i64::MAX);
    let mut fetched = Fetched::default();
    let mut start = wanted.start;
    loop {
        let end = (start + page - Millis::new(1)).min(wanted.now);
        let query = CandleQuery {
            symbol: wanted.symbol,
            asset_type: wanted.asset_type.clone(),
            interval: wanted.interval,
            skip: 0,
            limit: CANDLE_PAGE + 1,
            start_time: start,
            end_time: end,
        };
        let reply = within_deadline(venue.candles(&query)).await?;
        let closed = closed_candles(&reply.value, wanted.interval, wanted.now);
        fetched.rejected += closed.rejected;
        let inside =
            closed.candles.into_iter().filter(|candle| candle.time() >= start && candle.time() <= end);
        fetched.candles.extend(inside);
        start += page;
        if start + length > wanted.now {
            return Ok(reply.map(|_| fetched));
        }
    }
}

/// The full projection of a trade.
pub(crate) async fn find_in_list(
    venue: &dyn Venue,
    id: &str,
    user_id: String,
) -> Result<Reply<TradeRecord>, ApiError> {
    let mut listing = ListingBuilder::new(user_id, Millis::ZERO);
    while let Some(query) = listing.query().cloned() {
        let reply = within_deadline(venue.trades(&query)).await?;
        if let Some(record) = reply.value.data.iter().find(|record| record.id == id) {
            let record = record.clone();
            return Ok(reply.map(|_| record));
        }
        listing.take(reply.value);
    }
    Err(ApiError::NotFound { text: format!("trade {id} is not in the list") })
}

/// An answer, or the news that there is none within the last deadline.
pub(crate) async fn within_deadline<T>(
    question: impl Future<Output = Result<Reply<T>, ApiError>>,
) -> Result<Reply<T>, ApiError> {
    match tokio::time::timeout(LAST_DEADLINE, question).await {
        Ok(answer) => answer,
        Err(_) => Err(ApiError::Unavailable { text: "no answer within the last deadline".to_owned() }),
    }
}

fn split<T>(answer: Result<Reply<T>, ApiError>) -> (Result<T, ApiError>, Vec<Testimony>) {
    match answer {
        Ok(reply) => {
            let told = Testimony::of_date(&reply);
            (Ok(reply.value), told.into_iter().collect())
        }
        Err(error) => (Err(error), Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_api::MockVenue;
    use candlewick_api::model::TradePage;

    #[tokio::test]
    async fn a_trade_is_found_on_a_later_page_of_a_venue_that_gives_smaller_pages_than_asked_for() {
        let mut venue = MockVenue::new();
        venue.expect_trades().returning(|query| {
            let row = |place| TradeRecord { id: format!("{}-{place}", query.page), ..TradeRecord::default() };
            let (per_page, last_page) = (Some(2), Some(3));
            let data = vec![row(1), row(2)];
            Ok(Reply::at(TradePage { per_page, last_page, data, ..TradePage::default() }, Millis::ZERO))
        });
        for (id, is_found) in [("1-1", true), ("3-2", true), ("4-1", false)] {
            let found = find_in_list(&venue, id, "user".to_owned()).await;
            assert_eq!(found.is_ok(), is_found, "{id}");
        }
    }
}
