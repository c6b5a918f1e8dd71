//! Alerts to people and programs.
//!
//! An [`Alert`] is handed to a [`Notifier`], which never waits: rules decide which channels it goes to, and each channel has a bounded
//! queue and a task of its own that sends what waits there. A receiver that is down is tried again with growing pauses, or when it
//! asks for; many alerts in a short time become one message that counts them. What finds no room in a queue is dropped, the least
//! severe first, counted, and told with the next message.
//!
//! This crate knows nothing of trading: an alert is text with a time and a severity. A [`Chat`] takes questions the other way, from named
//! chats only, and can ask for no more than the state of a run and its halt.

mod alert;
mod rules;
// What is sent.
mod message;
mod repeats;
// How it is sent.
mod channel;
mod chat;
mod failure;
mod http;
mod notifier;
mod queue;
mod secret;
mod worker;

pub use alert::{Alert, Severity};
pub use channel::{Channel, Delivery, EmailPlace, Place, WallClock};
pub use chat::{Chat, ChatQuestion, ChatRequest};
pub use failure::{ChannelError, Failure};
pub use message::Message;
pub use notifier::{ChannelCounts, Notifier, Pace};
pub use rules::Rules;
pub use secret::Secret;
