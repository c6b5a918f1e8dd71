//! A sandbox from its settings to its routes, and from its routes to a port.

use crate::chance::Chance;
use crate::market::{Boards, paths_of};
use crate::server::{Connection, ConnectionListener, ServerState, router};
use crate::venue::{OrderRules, Venue};
use crate::{SandboxError, SandboxSettings, Switchboard};
use axum::Router;
use candlewick_broker::clock::Clock;
#[cfg(feature = "stream")]
use candlewick_sdk::Millis;
use candlewick_sdk::{CandleSeries, Money, MoneyScale};
use candlewick_simulator::{Market, SimulationSettings};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How long requests that are under way may take when the sandbox stops.
const FAREWELL: Duration = Duration::from_secs(3);

/// What a sandbox stands on.
pub struct Foundation {
    /// Venue time. A bot beside it shares it.
    pub clock: Arc<dyn Clock>,
    /// The candles to serve.
    pub series: Vec<CandleSeries>,
    /// The candles that price trades: one market for each symbol of `series` ([`crate::markets_of`]).
    pub markets: Vec<Market>,
    /// How trades are opened, priced and settled.
    pub simulation: SimulationSettings,
    /// What the demo wallet holds at the start.
    pub balance: Money,
    /// How many decimals it keeps.
    pub scale: MoneyScale,
}

/// A venue that is ready to be served.
pub struct Sandbox {
    settings: SandboxSettings,
    state: Arc<ServerState>,
    stop: watch::Sender<bool>,
}

/// A sandbox that listens. Dropping it stops it.
pub struct RunningSandbox {
    /// Both APIs' base URL.
    pub base_url: String,
    /// Where it listens.
    pub address: SocketAddr,
    /// The accepted `api-token`.
    pub token: String,
    /// The accepted `api-key`.
    pub api_key: String,
    /// Its faults.
    pub switchboard: Arc<Switchboard>,
    /// Venue time of the last push of prices: what was due on that stream by then has been sent, or struck by a fault.
    #[cfg(feature = "stream")]
    pub pushed: watch::Receiver<Millis>,
    stop: watch::Sender<bool>,
    /// Until it has ended.
    server: Option<JoinHandle<()>>,
}

impl Sandbox {
    /// Puts a venue on its foundation. Its time starts when the clock does.
    ///
    /// # Errors
    /// [`SandboxError`] names the first setting, market or series that cannot be used.
    pub fn new(settings: SandboxSettings, foundation: Foundation) -> Result<Self, SandboxError> {
        settings.check()?;
        let Foundation { clock, series, markets, simulation, balance, scale } = foundation;
        let paths = paths_of(&markets, &simulation)?;
        let boards = Boards::new(&series, &settings, &simulation, &paths)?;
        boards.check_symbols(markets.iter().map(Market::symbol))?;
        let chance = Chance::new(settings.seed);
        let switchboard = Arc::new(Switchboard::new(settings.faults.clone(), settings.seed));
        let (start, shared) = (clock.now(), Arc::clone(&switchboard));
        let venue = Venue::new(
            simulation,
            (settings.wallet, balance, scale),
            settings.keep_trades,
            (markets, paths),
            start,
            chance,
            shared,
        )?;
        let rules = OrderRules {
            scale,
            wallet: settings.wallet,
            short_close_type: settings.short_close_type,
            close_types: settings.close_types.clone(),
            min_amount: settings.min_amount,
            max_amount: settings.max_amount,
        };
        let (stop, stopping) = watch::channel(false);
        let state = Arc::new(ServerState::new(&settings, rules, clock, boards, venue, switchboard, stopping));
        Ok(Self { settings, state, stop })
    }

    /// The routes, for callers in the same process. A fault that drops the connection breaks the answer's body.
    pub fn router(&self) -> Router {
        router(Arc::clone(&self.state))
    }

    /// The faults, to change and count while it runs.
    pub fn switchboard(&self) -> Arc<Switchboard> {
        Arc::clone(&self.state.switchboard)
    }

    /// Listens, and serves until `shutdown` ends (or the running sandbox is stopped or dropped).
    ///
    /// # Errors
    /// [`SandboxError::AddressInUse`] when the address cannot be listened on.
    pub async fn bind(
        self,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<RunningSandbox, SandboxError> {
        let asked = self.settings.listen;
        let refused = |source| SandboxError::AddressInUse { address: asked, source };
        let listener = TcpListener::bind(asked).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let (router, state) = (self.router(), Arc::clone(&self.state));
        let stop = self.stop.clone();
        let server = tokio::spawn(async move {
            let ending = Arc::clone(&state);
            let service = router.into_make_service_with_connect_info::<Connection>();
            let serving = axum::serve(ConnectionListener::new(listener), service)
                .with_graceful_shutdown(async move { ending.stopped().await });
            let mut serving = std::pin::pin!(serving.into_future());
            tokio::select! {
                () = shutdown => {}
                () = state.stopped() => {}
                served = &mut serving => return tracing::debug!(?served, "the server ended by itself"),
            }
            stop.send_replace(true);
            if tokio::time::timeout(FAREWELL, serving).await.is_err() {
                tracing::warn!("the sandbox stopped before every request was answered");
            }
        });
        Ok(RunningSandbox {
            base_url: format!("http://{address}"),
            address,
            token: self.settings.token,
            api_key: self.settings.api_key,
            switchboard: Arc::clone(&self.state.switchboard),
            #[cfg(feature = "stream")]
            pushed: self.state.pushed.subscribe(),
            stop: self.stop,
            server: Some(server),
        })
    }
}

impl RunningSandbox {
    /// Stops it; requests under way get a moment to end.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        self.stopped().await;
    }

    /// Ends when it has stopped, by its shutdown future.
    pub async fn stopped(&mut self) {
        let Some(server) = &mut self.server else { return };
        if let Err(error) = server.await {
            tracing::warn!(%error, "the sandbox did not end well");
        }
        self.server = None;
    }
}

impl Drop for RunningSandbox {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}
