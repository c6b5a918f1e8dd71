//! HTTP server of the dashboard: access control and responses.

mod asked;
mod assets;
#[cfg(test)]
mod attacks;
mod connections;
mod data;
mod events;
mod failure;
mod guard;
mod hosts;
mod orders;
mod routes;
mod sign_in;
mod stalled;

pub use sign_in::Link;

use crate::error::DashboardError;
use crate::settings::{DashboardSettings, Watched};
use crate::watch::{Shared, follow_bot, follow_journal};
use connections::{LIMITS, serve};
use hosts::Hosts;
use routes::router;
use sign_in::{Sessions, secret};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

pub struct Dashboard {
    pub address: SocketAddr,
    pub links: watch::Receiver<Link>,
    tasks: JoinSet<()>,
}

struct Serving {
    shared: Arc<Shared>,
    sessions: Sessions,
    hosts: Hosts,
    ordering: tokio::sync::Mutex<()>,
    /// Allows one explanation at a time, because each may read the whole journal.
    explaining: Arc<tokio::sync::Mutex<()>>,
}

impl Dashboard {
    /// Starts following the journal and serving the page. Needs a running tokio runtime.
    pub async fn start(settings: &DashboardSettings, watched: Watched) -> Result<Self, DashboardError> {
        settings.check()?;
        let address = settings.listen;
        let cannot = |source| DashboardError::CannotListen { address, source };
        let listener = TcpListener::bind(address).await.map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        let hosts = Hosts::new(address, settings);
        let (sessions, links) = Sessions::new(&hosts)?;
        let shared = Shared::new(watched, secret()?[..16].to_owned(), settings.read_only);
        let mut tasks = JoinSet::new();
        tasks.spawn(follow_journal(Arc::clone(&shared)));
        tasks.spawn(follow_bot(Arc::clone(&shared)));
        let serving = Serving {
            shared,
            sessions,
            hosts,
            ordering: tokio::sync::Mutex::new(()),
            explaining: Arc::new(tokio::sync::Mutex::new(())),
        };
        tasks.spawn(serve(listener, router(Arc::new(serving)), LIMITS));
        Ok(Self { address, links, tasks })
    }

    /// Waits for the end of a task, which only a bug can cause.
    pub async fn ended(&mut self) {
        self.tasks.join_next().await;
    }
}
