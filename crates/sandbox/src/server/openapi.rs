//! The routes and the `OpenAPI` document built from them.

use super::connection::mark_under_way;
use super::date::date;
use super::document::{Credentials, with_offer};
use super::failure::Failure;
use super::faults::meet_faults;
use super::state::ServerState;
use super::{opening, prices, trading};
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use axum::routing::get;
use axum::{Json, Router, middleware};
use std::sync::Arc;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

#[derive(OpenApi)]
#[openapi(
    info(title = "Candlewick sandbox", description = "The trading token API and the symbol price API over stored candles."),
    tags(
        (name = "trading token API", description = "Wallets, trades, the user. Header `api-token`."),
        (name = "symbol price API", description = "Price records and candles. Header `api-key`."),
    ),
    modifiers(&Credentials),
)]
struct Document;

pub(crate) fn router(state: Arc<ServerState>) -> Router {
    let (endpoints, document) = OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(trading::wallets))
        .routes(routes!(trading::trades))
        .routes(routes!(opening::open))
        .routes(routes!(opening::open_async))
        .routes(routes!(trading::trade))
        .routes(routes!(trading::user))
        .routes(routes!(prices::last_price))
        .routes(routes!(prices::default_price))
        .routes(routes!(prices::candles))
        .split_for_parts();
    let document = with_offer(&document, &state);
    let endpoints = endpoints.layer(middleware::from_fn_with_state(Arc::clone(&state), meet_faults));
    #[cfg(feature = "stream")]
    let endpoints = endpoints.route("/socket.io/", get(super::stream::stream));
    endpoints
        .route("/openapi.json", get(move || std::future::ready(Json(document.clone()))))
        .fallback(unknown_path)
        .method_not_allowed_fallback(unknown_method)
        .layer(middleware::from_fn_with_state(Arc::clone(&state), date))
        .layer(middleware::from_fn(mark_under_way))
        .with_state(state)
}

async fn unknown_path(State(state): State<Arc<ServerState>>, uri: Uri) -> Response {
    Failure { status: StatusCode::NOT_FOUND, message: "Not Found", code: None, at: state.now(), uri: &uri }
        .answer()
}

async fn unknown_method(State(state): State<Arc<ServerState>>, uri: Uri) -> Response {
    let status = StatusCode::METHOD_NOT_ALLOWED;
    Failure { status, message: "Method Not Allowed", code: None, at: state.now(), uri: &uri }.answer()
}
