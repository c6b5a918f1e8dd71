//! Stubs of the socket functions for systems without Unix sockets.

use super::{ControlAnswer, ControlError, ControlOrder, ControlPaths, ControlRequest};
use crate::events::EventFeed;
use candlewick_journal::OrderToken;
use std::path::Path;
use tokio::sync::mpsc;

#[derive(Debug)]
pub struct ControlServer {
    never: std::convert::Infallible,
}

impl ControlServer {
    pub async fn bind(_paths: &ControlPaths) -> Result<Self, ControlError> {
        Err(ControlError::NoSocketsHere)
    }

    #[must_use]
    pub fn with_events(self, _feed: EventFeed) -> Self {
        self
    }

    pub async fn serve(self, _orders: mpsc::Sender<ControlRequest>, _stop: impl Future<Output = ()>) {
        match self.never {}
    }
}

#[derive(Debug)]
pub struct FollowedRun {
    never: std::convert::Infallible,
}

impl FollowedRun {
    pub async fn connect(_path: &Path) -> Result<Self, ControlError> {
        Err(ControlError::NoSocketsHere)
    }

    pub async fn next(&mut self) -> Option<String> {
        match self.never {}
    }
}

pub async fn send_order(
    _path: &Path,
    _order: &ControlOrder,
    _token: Option<&OrderToken>,
) -> Result<ControlAnswer, ControlError> {
    Err(ControlError::NoSocketsHere)
}
