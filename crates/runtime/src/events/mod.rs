//! The events of a run as a stream of JSON lines, for any number of other programs.
//! While there are followers, the run forwards its notices ([`EventObserver`]). It never blocks: if the queue is
//! full, a notice is dropped and counted. A separate task converts the notices to numbered lines ([`RunEvent`]).
//! Followers ([`Follower`]) read at their own pace from one bounded buffer. A follower that falls behind learns
//! how many events it missed.

mod document;
mod feed;
mod translate;

pub use document::{OrderFacts, RunEvent, Totals, TradeFacts, event_schema};
pub use feed::{EventFeed, EventObserver, FollowedEvent, Follower};
pub use translate::Names;
