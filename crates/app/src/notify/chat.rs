//! Forwarding of chat commands to the run: status and halt.

use crate::control::describe;
use candlewick_notify::{ChatQuestion, ChatRequest};
use candlewick_runtime::control::{ControlAnswer, ControlOrder, ControlRequest};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

const PATIENCE: Duration = Duration::from_secs(10);

pub(super) async fn answer(
    mut questions: mpsc::Receiver<ChatQuestion>,
    orders: mpsc::WeakSender<ControlRequest>,
) {
    while let Some(ChatQuestion { request, answer }) = questions.recv().await {
        // Nothing but these two: a chat neither opens nor resumes.
        let order = match request {
            ChatRequest::Status => ControlOrder::Status,
            ChatRequest::Halt { by } => ControlOrder::Halt { reason: format!("by a chat ({by})") },
        };
        let words = tokio::time::timeout(PATIENCE, ask(order, &orders)).await;
        let words =
            words.unwrap_or_else(|_| "The run has not answered in time: ask for its /status.".to_owned());
        // Whoever asked may have gone.
        let _ = answer.send(words);
    }
}

async fn ask(order: ControlOrder, orders: &mpsc::WeakSender<ControlRequest>) -> String {
    let (answer, answered) = oneshot::channel();
    let asked = async {
        orders.upgrade()?.send(ControlRequest::new(order, answer)).await.ok()?;
        answered.await.ok()
    };
    match asked.await {
        Some(ControlAnswer::Done { state }) => describe(&state),
        Some(
            ControlAnswer::Refused { problem }
            | ControlAnswer::VenueFailed { problem }
            | ControlAnswer::Unanswered { problem },
        ) => problem,
        Some(ControlAnswer::Signal { .. }) => "Taken.".to_owned(),
        None => "The run has ended, or is about to.".to_owned(),
    }
}
