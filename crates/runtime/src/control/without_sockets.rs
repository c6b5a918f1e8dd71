//! Where the system has no sockets in the file system: nobody listens, and says so.

use super::{ControlAnswer, ControlError, ControlOrder, ControlPaths, ControlRequest};
use crate::events::EventFeed;
use candlewick_journal::OrderToken;
use std::path::Path;
use tokio::sync::mpsc;

/// A socket that takes orders for a run; here there is none.
#[derive(Debug)]
pub struct ControlServer {
    never: std::convert::Infallible,
}

impl ControlServer {
    /// Makes no socket.
    ///
    /// # Errors
    /// Always [`ControlError::NoSocketsHere`].
    pub async fn bind(_paths: &ControlPaths) -> Result<Self, ControlError> {
        Err(ControlError::NoSocketsHere)
    }

    /// Is never called.
    #[must_use]
    pub fn with_events(self, _feed: EventFeed) -> Self {
        self
    }

    /// Is never called.
    pub async fn serve(self, _orders: mpsc::Sender<ControlRequest>, _stop: impl Future<Output = ()>) {
        match self.never {}
    }
}

/// The events of another process's run; here nobody can follow.
#[derive(Debug)]
pub struct FollowedRun {
    never: std::convert::Infallible,
}

impl FollowedRun {
    /// Follows nobody.
    ///
    /// # Errors
    /// Always [`ControlError::NoSocketsHere`].
    pub async fn begin(_path: &Path) -> Result<Self, ControlError> {
        Err(ControlError::NoSocketsHere)
    }

    /// Is never called.
    pub async fn next(&mut self) -> Option<String> {
        match self.never {}
    }
}

/// Gives no order.
///
/// # Errors
/// Always [`ControlError::NoSocketsHere`].
pub async fn send_order(
    _path: &Path,
    _order: &ControlOrder,
    _token: Option<&OrderToken>,
) -> Result<ControlAnswer, ControlError> {
    Err(ControlError::NoSocketsHere)
}
