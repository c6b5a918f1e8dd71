//! Orders in the journal's database: stored in order, answered once, together with their lines.

use super::fixture::{Fixture, line};
use candlewick_journal::{
    JournalError, OperatorOrder, OrderToken, close_operator_orders, submit_operator_order,
};

fn order(body: &str) -> OperatorOrder {
    OperatorOrder { token: OrderToken::random().unwrap(), issuer: "operator".into(), body: body.into() }
}

async fn pending(fixture: &Fixture) -> Vec<OperatorOrder> {
    fixture.reader().await.pending_operator_orders().await.unwrap()
}

async fn answer_to(fixture: &Fixture, order: &OperatorOrder) -> Option<String> {
    fixture.reader().await.read_answer(&order.token).await.unwrap()
}

pub(crate) async fn order_is_pending_until_its_answer_is_durable(fixture: &Fixture) {
    let mut store = fixture.open().await.unwrap();
    let (first, second) = (order("halt"), order("resume"));
    // Gives the orders like an operator: while another process holds the lease.
    for order in [&first, &second] {
        submit_operator_order(&fixture.url, order).await.unwrap();
    }
    assert_eq!(pending(fixture).await, [first.clone(), second.clone()]);
    store.record(line("halted"));
    store.answer_order(first.token.clone(), "done".into());
    assert_eq!(store.pending_count(), 2);
    assert_eq!(answer_to(fixture, &first).await, None);
    store.commit().await.unwrap();
    assert_eq!(fixture.bodies().await, ["halted"]);
    assert_eq!(answer_to(fixture, &first).await.as_deref(), Some("done"));
    assert_eq!(pending(fixture).await, [second]);
    // An answer is final. Answering an unknown order is not an error.
    for token in [first.token.clone(), OrderToken::random().unwrap()] {
        store.answer_order(token, "done twice".into());
    }
    store.commit().await.unwrap();
    assert_eq!(answer_to(fixture, &first).await.as_deref(), Some("done"));
}

pub(crate) async fn order_survives_a_holder_that_did_not_answer(fixture: &Fixture) {
    let mut store = fixture.open().await.unwrap();
    let given = order("halt");
    submit_operator_order(&fixture.url, &given).await.unwrap();
    store.record(line("halted"));
    store.answer_order(given.token.clone(), "done".into());
    // The holder dies before the commit, so neither the line nor the answer is stored.
    drop(store);
    assert_eq!(pending(fixture).await, std::slice::from_ref(&given));
    assert_eq!(close_operator_orders(&fixture.url, Some(&order("other").token), "no").await.unwrap(), 0);
    assert_eq!(close_operator_orders(&fixture.url, None, "taken back").await.unwrap(), 1);
    assert_eq!(pending(fixture).await, []);
    assert_eq!(answer_to(fixture, &given).await.as_deref(), Some("taken back"));
}

pub(crate) async fn orders_need_a_journal_that_takes_them(fixture: &Fixture) {
    assert_fails!(submit_operator_order(&fixture.url, &order("halt")).await, JournalError::NotFound { .. });
    super::refusing::make_schema_1(fixture).await;
    assert_fails!(
        submit_operator_order(&fixture.url, &order("halt")).await,
        JournalError::OlderSchema { .. }
    );
    assert_eq!(pending(fixture).await, []);
}
