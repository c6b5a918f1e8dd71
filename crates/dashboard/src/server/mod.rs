//! HTTP server of the dashboard: routes, access control and responses.

mod connections;
mod data;
mod events;
mod guard;
mod orders;
#[cfg(test)]
mod tests;

pub use guard::SignInLink;

use crate::watch::{SharedState, follow_bot, follow_journal};
use crate::{DashboardError, DashboardSettings, WatchedBot};
use axum::extract::DefaultBodyLimit;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use axum::{Json, Router, middleware};
use connections::{SERVER_LIMITS, serve};
use data::Failure;
use guard::{AllowedHosts, SignIns, generate_secret};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub struct Dashboard {
    pub address: SocketAddr,
    pub sign_in_links: watch::Receiver<SignInLink>,
    tasks: JoinSet<()>,
}

pub(crate) struct Server {
    shared: Arc<SharedState>,
    sign_ins: SignIns,
    hosts: AllowedHosts,
    ordering: tokio::sync::Mutex<()>,
    /// Lock that allows only one explanation at a time, because each may read the whole journal.
    explaining: Arc<tokio::sync::Mutex<()>>,
}

impl Server {
    fn new(
        address: SocketAddr,
        settings: &DashboardSettings,
        watched: WatchedBot,
    ) -> Result<(Self, watch::Receiver<SignInLink>), DashboardError> {
        let hosts = AllowedHosts::new(address, settings);
        let (sessions, links) = SignIns::new(&hosts)?;
        let shared = SharedState::new(watched, generate_secret()?[..16].to_owned(), settings.read_only);
        let (ordering, explaining) = (tokio::sync::Mutex::default(), Arc::default());
        Ok((Self { shared, sign_ins: sessions, hosts, ordering, explaining }, links))
    }
}

impl Dashboard {
    /// Starts the tasks that follow the journal, poll the bot and serve the page. Requires a tokio runtime.
    pub async fn start(settings: &DashboardSettings, watched: WatchedBot) -> Result<Self, DashboardError> {
        settings.check()?;
        let address = settings.listen;
        let cannot = |source| DashboardError::CannotListen { address, source };
        let listener = TcpListener::bind(address).await.map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        let (serving, links) = Server::new(address, settings, watched)?;
        let mut tasks = JoinSet::new();
        tasks.spawn(follow_journal(Arc::clone(&serving.shared)));
        tasks.spawn(follow_bot(Arc::clone(&serving.shared)));
        tasks.spawn(serve(listener, router(Arc::new(serving)), SERVER_LIMITS));
        Ok(Self { address, sign_in_links: links, tasks })
    }

    /// Waits until a task of the dashboard ends, which happens only because of a bug.
    pub async fn wait_for_end(&mut self) {
        self.tasks.join_next().await;
    }
}

const MAX_BODY_BYTES: usize = 8 * 1_024;

#[derive(OpenApi)]
#[openapi(info(
    title = "Candlewick dashboard",
    description = "Data for the web page of a bot. A browser exchanges the one-time token of the sign-in link for a \
                   session cookie. POST requests need the header `x-candlewick`. All times are venue time in \
                   milliseconds since 1970."
))]
struct ApiDoc;

pub(crate) fn router(serving: Arc<Server>) -> Router {
    let (own, document) = OpenApiRouter::with_openapi(ApiDoc::openapi())
        .routes(routes!(data::state))
        .routes(routes!(data::candles))
        .routes(routes!(data::marks))
        .routes(routes!(data::equity))
        .routes(routes!(data::edge))
        .routes(routes!(data::trades))
        .routes(routes!(data::explanation))
        .routes(routes!(data::why))
        .routes(routes!(data::lines))
        .routes(routes!(events::events))
        .routes(routes!(orders::halt))
        .routes(routes!(orders::resume))
        .split_for_parts();
    let (open, signing) =
        OpenApiRouter::with_openapi(ApiDoc::openapi()).routes(routes!(orders::sign_in)).split_for_parts();
    let document = document.merge_from(signing);
    let own = own
        .route("/api/openapi.json", get(move || std::future::ready(Json(document.clone()))))
        .layer(middleware::from_fn_with_state(Arc::clone(&serving), guard::require_sign_in));
    let page = ASSETS.iter().fold(Router::new(), |routes, asset| {
        let answer = move || std::future::ready(([(CONTENT_TYPE, asset.kind)], asset.text));
        routes.route(asset.path, get(answer))
    });
    page.merge(own)
        .merge(open)
        .fallback(|| std::future::ready(Failure::not_found("no such page")))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(middleware::from_fn_with_state(Arc::clone(&serving), guard::check_origin))
        .with_state(serving)
}

pub(crate) struct Asset {
    pub(crate) path: &'static str,
    kind: &'static str,
    pub(crate) text: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";

const fn asset(path: &'static str, kind: &'static str, text: &'static str) -> Asset {
    Asset { path, kind, text }
}

pub(crate) const ASSETS: &[Asset] = &[
    asset("/", HTML, include_str!("../page/page.html")),
    asset("/icon.svg", "image/svg+xml", include_str!("../page/icon.svg")),
    asset("/look.css", CSS, candlewick_report::look::STYLE),
    asset("/page.css", CSS, include_str!("../page/page.css")),
    asset("/charts.js", JS, candlewick_report::look::CHARTS_SCRIPT),
    asset("/page.js", JS, include_str!("../page/page.js")),
    asset("/connection.js", JS, include_str!("../page/connection.js")),
    asset("/live_charts.js", JS, include_str!("../page/live_charts.js")),
    asset("/views.js", JS, include_str!("../page/views.js")),
    asset("/known_trades.js", JS, include_str!("../page/known_trades.js")),
    asset("/journal_lines.js", JS, include_str!("../page/journal_lines.js")),
    asset("/lists.js", JS, include_str!("../page/lists.js")),
    asset("/orders.js", JS, include_str!("../page/orders.js")),
    asset("/clock.js", JS, include_str!("../page/clock.js")),
];
