//! Alerts to operators and programs, and chat commands from configured chats.
//!
//! A [`Notifier`] routes each [`Alert`] by rules and never blocks. Each channel has a bounded queue and a task
//! that retries with backoff. A burst becomes one digest. A full queue drops its least severe alerts and reports
//! their number. A [`ChatClient`] can only show the status and halt a run. This crate knows nothing about trading.

mod alert;
mod channel;
mod chat;
mod email;
mod http;
mod notifier;
mod worker;

pub use alert::{Alert, AlertFilter, Message, Severity};
pub use channel::{Channel, EmailSettings, Endpoint, MessageSender, WallClock};
pub use chat::{ChatClient, ChatQuestion, ChatRequest};
pub use http::{ChannelError, Failure, Secret};
pub use notifier::{ChannelCounts, DeliverySettings, Notifier};
