//! Wallets, trades and the user (contract 4.1, endpoints 1, 2, 3 and 5).

use super::credentials::{Timestamp, check_token};
use super::failure::Failure;
use super::query::{Parameters, read_or};
use super::state::ServerState;
use crate::body::{ErrorEnvelope, PlainError, ShortTrade, TradePage, User, Wallet};
use crate::fault::Fault;
use crate::venue::{PageRequest, RowOrder};
use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// The largest page; a larger `pageSize` counts as this (contract 8: not shown).
const LARGEST_PAGE: u64 = 1_000;

/// All wallets of the authenticated user.
#[utoipa::path(
    get, path = "/token/wallets", tag = "trading token API",
    params(
        ("api-token" = String, Header, description = "The token"),
        ("x-timestamp" = String, Header, description = "Unix time in milliseconds"),
    ),
    responses(
        (status = 200, description = "The wallets", body = [Wallet]),
        (status = 400, description = "`x-timestamp` is missing", body = PlainError),
        (status = 401, description = "Credential missing or invalid", body = PlainError),
        (status = 500, description = "Unexpected server error", body = PlainError),
    )
)]
pub(crate) async fn wallets(State(state): State<Arc<ServerState>>, uri: Uri, headers: HeaderMap) -> Response {
    if let Err(failure) = check_token(&state, &headers, &uri, Timestamp::Required) {
        return failure;
    }
    let now = state.now();
    let wallets = state.venue().wallets(now);
    Json(wallets).into_response()
}

/// A page of trades: list items, or with `userId` full ones.
#[utoipa::path(
    get, path = "/token/trades", tag = "trading token API",
    params(
        ("api-token" = String, Header, description = "The token"),
        ("x-timestamp" = String, Header, description = "Unix time in milliseconds"),
        ("page" = Option<u64>, Query, description = "From 1; default 1"),
        ("pageSize" = Option<u64>, Query, description = "Default 10, at most 1000"),
        ("userId" = Option<String>, Query, description = "Restricts the list to one trader; rows are then full"),
    ),
    responses(
        (status = 200, description = "The page", body = TradePage),
        (status = 400, description = "A parameter is unreadable, or `x-timestamp` is missing", body = ErrorEnvelope),
        (status = 401, description = "Credential missing or invalid", body = ErrorEnvelope),
        (status = 500, description = "Unexpected server error", body = ErrorEnvelope),
    )
)]
pub(crate) async fn trades(
    State(state): State<Arc<ServerState>>,
    Query(parameters): Query<Parameters>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    if let Err(failure) = check_token(&state, &headers, &uri, Timestamp::Required) {
        return failure;
    }
    let now = state.now();
    let request = match page_request(&parameters) {
        Ok(request) => request,
        Err(message) => {
            let status = StatusCode::BAD_REQUEST;
            return Failure { status, message: &message, code: None, at: now, uri: &uri }.answer();
        }
    };
    let order = match state.switchboard.strike(Fault::Shuffle) {
        Some(_) => RowOrder::Shuffled { draw: state.next_list() },
        None => RowOrder::NewestFirst,
    };
    let mut page = state.venue().page(&request, order, now);
    if state.switchboard.strike(Fault::Duplicates).is_some() {
        page.duplicate_row();
    }
    Json(page).into_response()
}

fn page_request(parameters: &Parameters) -> Result<PageRequest, String> {
    let page: u64 = read_or(parameters, "page", 1)?;
    let page_size: u64 = read_or(parameters, "pageSize", 10)?;
    if page == 0 || page_size == 0 {
        return Err("page and pageSize start at 1".to_owned());
    }
    let user_id = parameters.get("userId").filter(|user| !user.is_empty()).cloned();
    Ok(PageRequest { page, page_size: page_size.min(LARGEST_PAGE), user_id })
}

/// One trade in the short projection.
#[utoipa::path(
    get, path = "/token/trades/{id}", tag = "trading token API",
    params(
        ("id" = String, Path, description = "The trade's identifier"),
        ("api-token" = String, Header, description = "The token"),
        ("x-timestamp" = Option<String>, Header, description = "Unix time in milliseconds; not enforced"),
    ),
    responses(
        (status = 200, description = "The trade", body = ShortTrade),
        (status = 401, description = "Credential missing or invalid", body = ErrorEnvelope),
        (status = 404, description = "No such trade", body = ErrorEnvelope),
        (status = 500, description = "Unexpected server error", body = ErrorEnvelope),
    )
)]
pub(crate) async fn trade(
    State(state): State<Arc<ServerState>>,
    Path(id): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    if let Err(failure) = check_token(&state, &headers, &uri, Timestamp::Optional) {
        return failure;
    }
    let now = state.now();
    let found = state.venue().short_trade(&id, state.short_form, now);
    match found {
        Some(trade) => Json(trade).into_response(),
        None => Failure {
            status: StatusCode::NOT_FOUND,
            message: "Trade not found",
            code: None,
            at: now,
            uri: &uri,
        }
        .answer(),
    }
}

/// The profile of the authenticated user.
#[utoipa::path(
    get, path = "/token/users/me", tag = "trading token API",
    params(("api-token" = String, Header, description = "The token")),
    responses(
        (status = 200, description = "The user", body = User),
        (status = 401, description = "Credential missing or invalid", body = ErrorEnvelope),
        (status = 500, description = "Unexpected server error", body = ErrorEnvelope),
    )
)]
pub(crate) async fn user(State(state): State<Arc<ServerState>>, uri: Uri, headers: HeaderMap) -> Response {
    if let Err(failure) = check_token(&state, &headers, &uri, Timestamp::Optional) {
        return failure;
    }
    let now = state.now();
    let user = state.venue().user(now);
    Json(user).into_response()
}
