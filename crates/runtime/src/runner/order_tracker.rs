//! Executes each operator order only once, even if the order arrives by several routes.

use crate::control::{ControlAnswer, ControlOrder, ControlRequest};
use crate::coordinator::ControlOrderId;
use candlewick_journal::OrderToken;
use std::collections::{HashMap, VecDeque};
use tokio::sync::oneshot;

const MAX_REMEMBERED_ANSWERS: usize = 256;

#[derive(Default)]
pub(crate) struct OrderTracker {
    count: u64,
    under_way: HashMap<ControlOrderId, PendingOrder>,
    answered: VecDeque<(OrderToken, ControlAnswer)>,
}

struct PendingOrder {
    token: Option<OrderToken>,
    waiting: Vec<oneshot::Sender<ControlAnswer>>,
}

pub(crate) enum OrderRegistration {
    New(ControlOrderId, ControlOrder),
    UnderWay,
    /// The sender of the signal has stopped waiting and assumes that the signal had no effect.
    Abandoned,
    /// The order has already arrived by another route and was answered. The answer may not be in the journal yet.
    Answered(OrderToken, ControlAnswer),
}

impl OrderTracker {
    pub(crate) fn register(&mut self, request: ControlRequest) -> OrderRegistration {
        let ControlRequest { order, token, answer, .. } = request;
        if matches!(order, ControlOrder::Signal(_)) && answer.is_closed() {
            return OrderRegistration::Abandoned;
        }
        if let Some(token) = &token {
            let same = |under_way: &&mut PendingOrder| under_way.token.as_ref() == Some(token);
            if let Some(under_way) = self.under_way.values_mut().find(same) {
                under_way.waiting.retain(|waiting| !waiting.is_closed());
                under_way.waiting.push(answer);
                return OrderRegistration::UnderWay;
            }
            if let Some((token, answered)) = self.answered.iter().find(|(known, _)| known == token) {
                drop(answer.send(answered.clone()));
                return OrderRegistration::Answered(token.clone(), answered.clone());
            }
        }
        self.count += 1;
        let id = ControlOrderId(self.count);
        self.under_way.insert(id, PendingOrder { token, waiting: vec![answer] });
        OrderRegistration::New(id, order)
    }

    pub(crate) fn answer(&mut self, id: ControlOrderId, answer: &ControlAnswer) -> Option<OrderToken> {
        let PendingOrder { token, waiting } = self.under_way.remove(&id)?;
        for asked in waiting {
            drop(asked.send(answer.clone()));
        }
        let token = token?;
        if self.answered.len() >= MAX_REMEMBERED_ANSWERS {
            self.answered.pop_front();
        }
        self.answered.push_back((token.clone(), answer.clone()));
        Some(token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(token: Option<&OrderToken>) -> (ControlRequest, oneshot::Receiver<ControlAnswer>) {
        let (answer, answered) = oneshot::channel();
        let request = ControlRequest::new(ControlOrder::Resume, answer);
        (ControlRequest { token: token.cloned(), ..request }, answered)
    }

    fn done() -> ControlAnswer {
        ControlAnswer::Refused { problem: "not now".to_owned() }
    }

    #[test]
    fn order_sent_twice_runs_once_and_answers_both() {
        let (token, mut tracker) = (OrderToken::random().unwrap(), OrderTracker::default());
        let (by_socket, mut first) = request(Some(&token));
        let OrderRegistration::New(id, ControlOrder::Resume) = tracker.register(by_socket) else {
            panic!("it is new")
        };
        let (by_journal, mut second) = request(Some(&token));
        assert!(matches!(tracker.register(by_journal), OrderRegistration::UnderWay));
        assert_eq!(tracker.answer(id, &done()).as_ref(), Some(&token));
        assert_eq!((first.try_recv().unwrap(), second.try_recv().unwrap()), (done(), done()));
        let (again, mut third) = request(Some(&token));
        let OrderRegistration::Answered(known, answer) = tracker.register(again) else {
            panic!("it is answered")
        };
        assert_eq!((known, answer, third.try_recv().unwrap()), (token, done(), done()));
        for token in [None, None, OrderToken::random().ok()] {
            assert!(matches!(tracker.register(request(token.as_ref()).0), OrderRegistration::New(..)));
        }
    }
}
