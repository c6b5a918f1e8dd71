//! Endpoints for wallets, trades and the user (contract 4.1, endpoints 1, 2, 3 and 5).

use super::ServerState;
use super::extract::{Parameters, PathSegment, Token, TokenAndTimestamp, error_response, read_parameter_or};
use crate::body::{ErrorEnvelope, PlainError, ShortTrade, TradePage, User, Wallet};
use crate::fault::Fault;
use crate::venue::{PageRequest, RowOrder};
use axum::Json;
use axum::extract::{Query, State};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Maximum number of trades per page, to which `pageSize` is clamped. Contract section 8 sets no maximum.
const MAX_PAGE_SIZE: u64 = 1_000;

/// Returns all wallets of the authenticated user.
#[utoipa::path(
    get, path = "/token/wallets", tag = "trading token API",
    security(("token" = [])),
    params(("x-timestamp" = String, Header, description = "Unix time in milliseconds", min_length = 1)),
    responses(
        (status = 200, description = "The wallets", body = [Wallet]),
        (status = 400, description = "`x-timestamp` is missing", body = PlainError),
        (status = 401, description = "Credential missing or invalid", body = PlainError),
        (status = 500, description = "Unexpected server error", body = PlainError),
    )
)]
pub(crate) async fn wallets(State(state): State<Arc<ServerState>>, _: TokenAndTimestamp) -> Response {
    let now = state.now();
    Json(state.venue().wallets(now)).into_response()
}

/// Returns a page of trades: full trades if `userId` is set, otherwise list items.
#[utoipa::path(
    get, path = "/token/trades", tag = "trading token API",
    security(("token" = [])),
    params(
        ("x-timestamp" = String, Header, description = "Unix time in milliseconds", min_length = 1),
        ("page" = Option<i64>, Query, description = "Page number. Default 1", minimum = 1),
        ("pageSize" = Option<i64>, Query, description = "Trades per page. Default 10, maximum 1000", minimum = 1),
        ("userId" = Option<String>, Query, description = "Return only trades of this user, as full trades"),
    ),
    responses(
        (status = 200, description = "The page", body = TradePage),
        (status = 400, description = "A parameter is invalid, or `x-timestamp` is missing", body = ErrorEnvelope),
        (status = 401, description = "Credential missing or invalid", body = ErrorEnvelope),
        (status = 500, description = "Unexpected server error", body = ErrorEnvelope),
    )
)]
pub(crate) async fn trades(
    State(state): State<Arc<ServerState>>,
    _: TokenAndTimestamp,
    Query(parameters): Query<Parameters>,
    uri: Uri,
) -> Response {
    let now = state.now();
    let request = match parse_page_request(&parameters) {
        Ok(request) => request,
        Err(message) => return error_response(StatusCode::BAD_REQUEST, &message, now, &uri),
    };
    let order = match state.switchboard.draw_fault(Fault::Shuffle) {
        Some(_) => RowOrder::Shuffled { draw: state.lists.fetch_add(1, Ordering::Relaxed) },
        None => RowOrder::NewestFirst,
    };
    let mut page = state.venue().trade_page(&request, order, now);
    if state.switchboard.draw_fault(Fault::Duplicates).is_some() {
        page.duplicate_row();
    }
    Json(page).into_response()
}

fn parse_page_request(parameters: &Parameters) -> Result<PageRequest, String> {
    let count = |name, default| {
        let count: i64 = read_parameter_or(parameters, name, default)?;
        u64::try_from(count).ok().filter(|count| *count > 0).ok_or_else(|| format!("{name} is less than 1"))
    };
    let (page, page_size) = (count("page", 1)?, count("pageSize", 10)?);
    let user_id = parameters.get("userId").filter(|user| !user.is_empty()).cloned();
    Ok(PageRequest { page, page_size: page_size.min(MAX_PAGE_SIZE), user_id })
}

/// Returns one trade in short form.
#[utoipa::path(
    get, path = "/token/trades/{id}", tag = "trading token API",
    security(("token" = [])),
    params(
        ("id" = String, Path, description = "Id of the trade"),
        ("x-timestamp" = Option<String>, Header, description = "Unix time in ms; optional", nullable = false),
    ),
    responses(
        (status = 200, description = "The trade", body = ShortTrade),
        (status = 400, description = "The path is not UTF-8", body = ErrorEnvelope),
        (status = 401, description = "Credential missing or invalid", body = ErrorEnvelope),
        (status = 404, description = "No such trade", body = ErrorEnvelope),
        (status = 500, description = "Unexpected server error", body = ErrorEnvelope),
    )
)]
pub(crate) async fn trade(
    State(state): State<Arc<ServerState>>,
    _: Token,
    PathSegment(id): PathSegment,
    uri: Uri,
) -> Response {
    let now = state.now();
    let found = state.venue().short_trade(&id, state.settings.rich_short, now);
    match found {
        Some(trade) => Json(trade).into_response(),
        None => error_response(StatusCode::NOT_FOUND, "Trade not found", now, &uri),
    }
}

/// Returns the profile of the authenticated user.
#[utoipa::path(
    get, path = "/token/users/me", tag = "trading token API",
    security(("token" = [])),
    responses(
        (status = 200, description = "The user", body = User),
        (status = 401, description = "Credential missing or invalid", body = ErrorEnvelope),
        (status = 500, description = "Unexpected server error", body = ErrorEnvelope),
    )
)]
pub(crate) async fn user(State(state): State<Arc<ServerState>>, _: Token) -> Response {
    let now = state.now();
    Json(state.venue().user(now)).into_response()
}
