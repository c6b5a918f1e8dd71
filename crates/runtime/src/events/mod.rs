//! Sends the events of a run as JSON lines to any number of other programs.
//! While there are followers, the run queues its notices ([`EventObserver`]) without blocking. If the queue is
//! full, a notice is dropped and counted. A separate task converts the notices to numbered lines ([`RunEvent`]).
//! Each [`Follower`] reads at its own pace from one bounded buffer. A follower that is too slow learns how many
//! events it missed.

mod document;
mod feed;
mod translate;

pub use document::{OrderFacts, RunEvent, Totals, TradeFacts, event_schema};
pub use feed::{EventFeed, EventObserver, FollowedEvent, Follower};
pub use translate::EventNames;
