//! Stub for builds without alerts.

use super::{ChannelTest, notify_problems};
use crate::configuration::{LoadedConfig, Problems};
use crate::error::AppError;
use candlewick_broker::clock::Clock;
use candlewick_runtime::control::ControlRequest;
use candlewick_runtime::{NoticeSender, StopReason};
use std::sync::Arc;
use tokio::sync::mpsc;

pub(crate) struct Alerts;

impl Alerts {
    pub(crate) fn begin(
        loaded: &LoadedConfig,
        _watchers: &mut Vec<NoticeSender>,
        _run: (&Arc<dyn Clock>, &mpsc::WeakSender<ControlRequest>),
    ) -> Result<Self, AppError> {
        Problems::check(notify_problems(loaded))?;
        Ok(Self)
    }

    #[allow(clippy::unused_async, reason = "asynchronous with alerts")]
    pub(crate) async fn end(self, _how: Result<StopReason, &AppError>) {}
}

#[allow(clippy::unused_async, reason = "asynchronous with alerts")]
pub async fn send_test_messages(
    _loaded: &LoadedConfig,
    _channel: Option<&str>,
) -> Result<Vec<ChannelTest>, AppError> {
    Err(AppError::invalid("this program was built without the notify feature").with_help(
        "build the program with --features notify or full, or install a package (docs/installing.md)",
    ))
}
