//! Delivery of commands through socket and journal database at once; the first answer wins.
//!
//! Never reports that no bot runs while a live process holds the journal.

use super::done;
use crate::error::{AppError, ErrorKind, Result};
use candlewick_journal::{
    Holder, JournalError, JournalUrl, Lease, LeaseTerms, OrderToken, Reader, StoredOrder, close_orders,
    give_order,
};
use candlewick_records::utc;
use candlewick_runtime::control::{
    ControlAnswer, ControlError, ControlOrder, ControlPaths, RunState, send_order,
};
use std::error::Error;
use std::pin::pin;
use std::time::Duration;

/// Timeout for an acknowledgement in the journal, which bots poll every second.
const PATIENCE: Duration = Duration::from_secs(15);
const PACE: Duration = Duration::from_millis(200);

pub(super) enum Reached {
    Bot(Box<RunState>),
    Nobody,
    NoJournal,
}

pub(super) async fn reach(paths: &ControlPaths, url: &JournalUrl, order: &ControlOrder) -> Result<Reached> {
    order.check_length()?;
    let token = OrderToken::random()?;
    let alone = match living_holder(url).await {
        Ok(Some(lease)) => {
            return by_both_ways(paths, url, order, (&token, &lease))
                .await
                .map(|state| Reached::Bot(Box::new(state)));
        }
        Ok(None) => Ok(Reached::Nobody),
        Err(JournalError::NotFound { .. }) => Ok(Reached::NoJournal),
        Err(error) => {
            let problem = "the journal does not say whether a bot runs";
            Err(AppError::new(ErrorKind::OrderNotConfirmed, problem).because(error))
        }
    };
    match send_order(&paths.socket, order, Some(&token)).await {
        Ok(answer) => Ok(Reached::Bot(Box::new(done(answer)?))),
        Err(ControlError::NoBotListens { .. } | ControlError::NoSocketsHere) => alone,
        Err(error) => Err(error.into()),
    }
}

/// Leaves a command in a journal without a holder, for the next bot.
pub(super) async fn leave(url: &JournalUrl, order: &ControlOrder) -> Result<()> {
    Ok(give_order(url, &stored(order, &OrderToken::random()?)).await?)
}

pub(super) async fn living_holder(url: &JournalUrl) -> Result<Option<Lease>, JournalError> {
    let lease = Reader::open(url).await?.holder().await?;
    let us = Holder::of_this_process("candlewick");
    Ok(lease.filter(|lease| !LeaseTerms::default().is_over(lease, &us)))
}

fn stored(order: &ControlOrder, token: &OrderToken) -> StoredOrder {
    let giver = Holder::of_this_process("candlewick").to_string();
    StoredOrder { token: token.clone(), giver, body: serde_json::json!(order).to_string() }
}

async fn by_both_ways(
    paths: &ControlPaths,
    url: &JournalUrl,
    order: &ControlOrder,
    (token, lease): (&OrderToken, &Lease),
) -> Result<RunState> {
    let entered = give_order(url, &stored(order, token)).await;
    let through_journal = async {
        match &entered {
            Ok(()) => answer_in_journal(url, token).await,
            Err(error) => Err(with_causes(error)),
        }
    };
    let through_socket = async {
        match send_order(&paths.socket, order, Some(token)).await {
            Ok(ControlAnswer::Unanswered { problem }) => Err(problem),
            Ok(answer) => Ok(answer),
            Err(error) => Err(with_causes(&error)),
        }
    };
    match first_answer(through_socket, through_journal).await {
        Ok(answer) => done(answer),
        Err(problems) => {
            let Lease { holder, since, .. } = lease;
            let problem = format!(
                "{holder} holds {url} since {} and did not acknowledge the order: {}",
                utc(*since),
                problems.join("; ")
            );
            let next = match (entered, order) {
                (Err(_), _) => "the order is not in the journal: give it as the user who runs the bot",
                (Ok(()), ControlOrder::Halt { .. }) => {
                    "the order stays in the journal, and is carried out as soon as that process looks there"
                }
                (Ok(()), _) => withdraw(url, token).await,
            };
            Err(AppError::new(ErrorKind::OrderNotConfirmed, problem).help(next))
        }
    }
}

/// Withdraws a command, so that one reported as unconfirmed is not executed later.
async fn withdraw(url: &JournalUrl, token: &OrderToken) -> &'static str {
    let answer = ControlAnswer::Refused { problem: "it was withdrawn".to_owned() };
    match close_orders(url, Some(token), &serde_json::json!(answer).to_string()).await {
        Ok(1..) => "the order was taken back from the journal: give it again once that process answers",
        Ok(0) => "the order was answered just now: `candlewick status` shows what came of it",
        Err(_) => "the order stays in the journal, because it could not be taken back",
    }
}

async fn first_answer(
    one: impl Future<Output = Result<ControlAnswer, String>>,
    other: impl Future<Output = Result<ControlAnswer, String>>,
) -> Result<ControlAnswer, [String; 2]> {
    let (mut one, mut other) = (pin!(one), pin!(other));
    let (first, second) = tokio::select! {
        first = &mut one => match first {
            Ok(answer) => return Ok(answer),
            Err(problem) => (problem, other.await),
        },
        first = &mut other => match first {
            Ok(answer) => return Ok(answer),
            Err(problem) => (problem, one.await),
        },
    };
    second.map_err(|second| [first, second])
}

async fn answer_in_journal(url: &JournalUrl, token: &OrderToken) -> Result<ControlAnswer, String> {
    let look = async {
        let mut reader = Reader::open(url).await?;
        loop {
            if let Some(answer) = reader.answer_to(token).await? {
                return Ok::<_, JournalError>(answer);
            }
            tokio::time::sleep(PACE).await;
        }
    };
    match tokio::time::timeout(PATIENCE, look).await {
        Ok(Ok(text)) => {
            serde_json::from_str(&text).map_err(|error| format!("its answer cannot be read: {error}"))
        }
        Ok(Err(error)) => Err(with_causes(&error)),
        Err(_) => Err(format!("nothing came through the journal within {} s", PATIENCE.as_secs())),
    }
}

fn with_causes(error: &dyn Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error} ({cause})"))
}
