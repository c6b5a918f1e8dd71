//! Construction, start and shutdown of a sandbox.

use crate::chance::RandomSource;
use crate::market::{PriceBoards, build_price_paths};
use crate::server::{Connection, ConnectionListener, ServerState, router};
use crate::venue::Venue;
use crate::{FaultSwitchboard, SandboxSettings};
use axum::Router;
use candlewick_broker::clock::Clock;
#[cfg(feature = "stream")]
use candlewick_sdk::Millis;
use candlewick_sdk::{CandleSeries, Money, MoneyScale, Symbol};
use candlewick_simulator::{Market, SimulationSettings, SimulatorError};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error("the sandbox has no candles: set `data` in [sandbox] to at least one candle file")]
    NoCandles,
    #[error("{symbol} has either no market or no candles: provide both")]
    IncompleteMarket { symbol: Symbol },
    #[error("[sandbox] {key} = {value}: use {allowed}")]
    InvalidSetting { key: &'static str, value: String, allowed: &'static str },
    #[error(transparent)]
    Simulator(#[from] SimulatorError),
    #[error("cannot listen on {address}: choose another address, or port 0 for any free port")]
    AddressInUse { address: SocketAddr, source: std::io::Error },
}

const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

pub struct SandboxInputs {
    pub clock: Arc<dyn Clock>,
    pub series: Vec<CandleSeries>,
    /// Markets that determine the prices of trades, one per symbol (see [`crate::build_markets`]).
    pub markets: Vec<Market>,
    pub simulation: SimulationSettings,
    pub balance: Money,
    pub scale: MoneyScale,
}

pub struct Sandbox {
    state: Arc<ServerState>,
    stop: watch::Sender<bool>,
}

/// A running sandbox server. Dropping this value stops the server.
pub struct RunningSandbox {
    pub base_url: String,
    pub address: SocketAddr,
    pub token: String,
    pub api_key: String,
    pub switchboard: Arc<FaultSwitchboard>,
    #[cfg(feature = "stream")]
    pub prices_pushed_until: watch::Receiver<Millis>,
    stop: watch::Sender<bool>,
    server: Option<JoinHandle<()>>,
}

impl Sandbox {
    pub fn new(settings: SandboxSettings, inputs: SandboxInputs) -> Result<Self, SandboxError> {
        settings.check()?;
        let SandboxInputs { clock, series, markets, simulation, balance, scale } = inputs;
        let paths = build_price_paths(&markets, &simulation)?;
        let boards = PriceBoards::new(&series, &settings, &simulation, &paths)?;
        boards.check_symbols(markets.iter().map(Market::symbol))?;
        let chance = RandomSource::new(settings.seed);
        let switchboard = Arc::new(FaultSwitchboard::new(settings.faults.clone(), settings.seed));
        let start = clock.now();
        let venue = Venue::new(
            simulation,
            (settings.wallet, balance, scale),
            settings.keep_trades,
            (markets, paths),
            start,
            chance,
            Arc::clone(&switchboard),
        )?;
        let (stop, stopping) = watch::channel(false);
        let state = Arc::new(ServerState::new(settings, scale, clock, boards, venue, switchboard, stopping));
        Ok(Self { state, stop })
    }

    /// Returns the router for in-process callers. They see a connection reset as an error while reading the body.
    pub fn router(&self) -> Router {
        router(Arc::clone(&self.state))
    }

    pub fn switchboard(&self) -> Arc<FaultSwitchboard> {
        Arc::clone(&self.state.switchboard)
    }

    pub async fn bind(
        self,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<RunningSandbox, SandboxError> {
        let listen = self.state.settings.listen;
        let listen_error = |source| SandboxError::AddressInUse { address: listen, source };
        let listener = TcpListener::bind(listen).await.map_err(listen_error)?;
        let address = listener.local_addr().map_err(listen_error)?;
        let (router, state) = (self.router(), Arc::clone(&self.state));
        let stop = self.stop.clone();
        let server = tokio::spawn(async move {
            let ending = Arc::clone(&state);
            let service = router.into_make_service_with_connect_info::<Connection>();
            let serving = axum::serve(ConnectionListener::new(listener), service)
                .with_graceful_shutdown(async move { ending.wait_until_stopping().await });
            let mut serving = std::pin::pin!(serving.into_future());
            tokio::select! {
                () = shutdown => {}
                () = state.wait_until_stopping() => {}
                served = &mut serving => return tracing::debug!(?served, "the server stopped unexpectedly"),
            }
            stop.send_replace(true);
            if tokio::time::timeout(SHUTDOWN_TIMEOUT, serving).await.is_err() {
                tracing::warn!("the sandbox stopped before all requests were answered");
            }
        });
        Ok(RunningSandbox {
            base_url: format!("http://{address}"),
            address,
            token: self.state.settings.token.clone(),
            api_key: self.state.settings.api_key.clone(),
            switchboard: Arc::clone(&self.state.switchboard),
            #[cfg(feature = "stream")]
            prices_pushed_until: self.state.prices_pushed_until.subscribe(),
            stop: self.stop,
            server: Some(server),
        })
    }
}

impl RunningSandbox {
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        self.wait_for_stop().await;
    }

    pub async fn wait_for_stop(&mut self) {
        let Some(server) = &mut self.server else { return };
        if let Err(error) = server.await {
            tracing::warn!(%error, "the sandbox server failed");
        }
        self.server = None;
    }
}

impl Drop for RunningSandbox {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}
