//! Sends the events of a run as JSON lines to any number of followers.
//! [`EventObserver`] queues the run's notices without blocking. If the queue is full, notices are dropped and counted.
//! A separate task converts the notices to numbered lines ([`RunEvent`]) and adds them to a bounded buffer. Each
//! [`Follower`] reads the buffer at its own pace. A follower that is too slow learns how many events it missed.

mod document;
mod feed;
mod translate;

pub use document::{OrderFacts, RunEvent, Totals, TradeFacts, event_schema};
pub use feed::{EventFeed, EventObserver, FollowedEvent, Follower};
pub use translate::EventNames;
