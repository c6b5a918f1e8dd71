//! Delivers commands through both the socket and the journal. The first answer is used.

use super::expect_state;
use crate::error::{AppError, ErrorKind, Result};
use candlewick_journal::{
    Holder, JournalError, JournalUrl, Lease, LeaseTerms, OperatorOrder, OrderToken, Reader,
    close_operator_orders, submit_operator_order,
};
use candlewick_records::format_utc;
use candlewick_runtime::control::{
    ControlAnswer, ControlError, ControlOrder, ControlPaths, RunState, send_order,
};
use std::error::Error;
use std::pin::pin;
use std::time::Duration;

/// Maximum wait for an answer in the journal. Bots poll the journal every second.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);
const POLL_INTERVAL: Duration = Duration::from_millis(200);

pub(super) enum Delivery {
    Bot(Box<RunState>),
    NoBot,
    NoJournal,
}

pub(super) async fn deliver(
    paths: &ControlPaths,
    url: &JournalUrl,
    order: &ControlOrder,
) -> Result<Delivery> {
    order.check_length()?;
    let token = OrderToken::random()?;
    let undelivered = match live_lease(url).await {
        Ok(Some(lease)) => {
            return send_via_socket_and_journal(paths, url, order, (&token, &lease))
                .await
                .map(|state| Delivery::Bot(Box::new(state)));
        }
        Ok(None) => Ok(Delivery::NoBot),
        Err(JournalError::NotFound { .. }) => Ok(Delivery::NoJournal),
        Err(error) => {
            let problem = "cannot determine from the journal whether a bot is running";
            Err(AppError::new(ErrorKind::OrderNotConfirmed, problem).with_source(error))
        }
    };
    match send_order(&paths.socket, order, Some(&token)).await {
        Ok(answer) => Ok(Delivery::Bot(Box::new(expect_state(answer)?))),
        Err(ControlError::NoBotListens { .. } | ControlError::NoSocketsHere) => undelivered,
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn store_order(url: &JournalUrl, order: &ControlOrder) -> Result<()> {
    Ok(submit_operator_order(url, &to_stored_order(order, &OrderToken::random()?)).await?)
}

pub(super) async fn live_lease(url: &JournalUrl) -> Result<Option<Lease>, JournalError> {
    let lease = Reader::open(url).await?.current_lease().await?;
    let us = Holder::current_process("candlewick");
    Ok(lease.filter(|lease| !LeaseTerms::default().may_take_over(lease, &us)))
}

fn to_stored_order(order: &ControlOrder, token: &OrderToken) -> OperatorOrder {
    let giver = Holder::current_process("candlewick").to_string();
    OperatorOrder { token: token.clone(), issuer: giver, body: serde_json::json!(order).to_string() }
}

async fn send_via_socket_and_journal(
    paths: &ControlPaths,
    url: &JournalUrl,
    order: &ControlOrder,
    (token, lease): (&OrderToken, &Lease),
) -> Result<RunState> {
    let entered = submit_operator_order(url, &to_stored_order(order, token)).await;
    let through_journal = async {
        match &entered {
            Ok(()) => await_journal_answer(url, token).await,
            Err(error) => Err(describe_with_cause(error)),
        }
    };
    let through_socket = async {
        match send_order(&paths.socket, order, Some(token)).await {
            Ok(ControlAnswer::Unanswered { problem }) => Err(problem),
            Ok(answer) => Ok(answer),
            Err(error) => Err(describe_with_cause(&error)),
        }
    };
    match await_first_answer(through_socket, through_journal).await {
        Ok(answer) => expect_state(answer),
        Err(problems) => {
            let Lease { holder, since, .. } = lease;
            let (since, problems) = (format_utc(*since), problems.join("; "));
            let problem =
                format!("{holder}, running on {url} since {since}, did not confirm the command: {problems}");
            let next = match (entered, order) {
                (Err(_), _) => "the command is not in the journal; repeat it as the user who runs the bot",
                (Ok(()), ControlOrder::Halt { .. }) => {
                    "the command stays in the journal and takes effect when the process polls the journal"
                }
                (Ok(()), _) => withdraw(url, token).await,
            };
            Err(AppError::new(ErrorKind::OrderNotConfirmed, problem).with_help(next))
        }
    }
}

async fn withdraw(url: &JournalUrl, token: &OrderToken) -> &'static str {
    let answer = ControlAnswer::Refused { problem: "the command was withdrawn".to_owned() };
    match close_operator_orders(url, Some(token), &serde_json::json!(answer).to_string()).await {
        Ok(1..) => "the command was withdrawn; repeat it when the process answers again",
        Ok(0) => "the command was answered just now; `candlewick status` shows the result",
        Err(_) => "the command could not be withdrawn and stays in the journal",
    }
}

async fn await_first_answer(
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

async fn await_journal_answer(url: &JournalUrl, token: &OrderToken) -> Result<ControlAnswer, String> {
    let poll = async {
        let mut reader = Reader::open(url).await?;
        loop {
            if let Some(answer) = reader.read_answer(token).await? {
                return Ok::<_, JournalError>(answer);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    match tokio::time::timeout(ANSWER_TIMEOUT, poll).await {
        Ok(Ok(text)) => {
            serde_json::from_str(&text).map_err(|error| format!("cannot parse the answer: {error}"))
        }
        Ok(Err(error)) => Err(describe_with_cause(&error)),
        Err(_) => Err(format!("no answer in the journal within {} s", ANSWER_TIMEOUT.as_secs())),
    }
}

fn describe_with_cause(error: &dyn Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error} ({cause})"))
}
