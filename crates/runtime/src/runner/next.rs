//! Events that a run waits for. The clock is frozen from their arrival.

use super::journal_writer::Returned;
use super::requests::Came;
use crate::Stop;
use crate::control::ControlRequest;
use crate::coordinator::Input;
use candlewick_broker::clock::{Clock, Hold};
use candlewick_sdk::Millis;
use std::future::poll_fn;
use std::task::Poll;
use tokio::sync::mpsc;
use tokio::time::Interval;

pub(crate) enum Next {
    Answer(Box<Came>),
    Stop(Stop),
    Order(ControlRequest),
    Journal(Returned),
    Input(Input),
}

pub(crate) async fn ordered(
    orders: &mut mpsc::Receiver<ControlRequest>,
    clock: &dyn Clock,
) -> Option<(ControlRequest, Hold)> {
    let request = orders.recv().await?;
    Some((request, clock.hold()))
}

pub(crate) async fn told_to_stop(stop: &mut mpsc::Receiver<Stop>, clock: &dyn Clock) -> Option<(Stop, Hold)> {
    let why = stop.recv().await?;
    Some((why, clock.hold()))
}

pub(crate) async fn renewal_due(renewal: &mut Interval, clock: &dyn Clock) -> Hold {
    renewal.tick().await;
    clock.hold()
}

/// Sleeps, and releases the clock only once the wake-up time is registered.
///
/// Otherwise the virtual clock could jump past that time to the wake-up of another task.
pub(crate) async fn rest(clock: &dyn Clock, wake: Millis, spent: Hold) -> Hold {
    let mut sleep = clock.sleep_until(wake);
    let first = poll_fn(|context| Poll::Ready(sleep.as_mut().poll(context))).await;
    drop(spent);
    match first {
        Poll::Ready(held) => held,
        Poll::Pending => sleep.await,
    }
}
