//! Endpoints that open trades (contract 4.1, endpoint 4).

use super::ServerState;
use super::extract::{Payload, Token, error_response_with_code, internal_error_response};
use crate::body::{AsyncTrade, ErrorEnvelope, OpenAnswer, OpenBody};
use crate::settings::Replies;
use crate::venue::{BodyShape, OrderRequest, PricingCheck, Rejection, SYMBOL_NOT_ACTIVE, read_body};
use axum::Json;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use candlewick_sdk::Millis;
use std::sync::Arc;

/// Opens a trade. Returns the full trade for a full order body, or an acknowledgement for a short order body.
#[utoipa::path(
    post, path = "/token/trades/open", tag = "trading token API",
    security(("token" = [])),
    params(
        ("x-timestamp" = Option<String>, Header, description = "Unix time in ms; optional", nullable = false),
    ),
    request_body(content = OpenBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The full trade, or an acknowledgement of a short order body", body = OpenAnswer),
        (status = 400, description = "The order is invalid; `message` gives the reason", body = ErrorEnvelope),
        (status = 401, description = "Credential missing or invalid", body = ErrorEnvelope),
        (status = 408, description = "The body did not arrive within 10 s", body = ErrorEnvelope),
        (status = 413, description = "The body is larger than 64 KiB", body = ErrorEnvelope),
        (status = 500, description = "Unexpected server error", body = ErrorEnvelope),
    )
)]
pub(crate) async fn open(
    State(state): State<Arc<ServerState>>,
    _: Token,
    uri: Uri,
    headers: HeaderMap,
    Payload(body): Payload,
) -> Response {
    let (shape, request) = match parse_order(&state, &headers, &body) {
        Ok(asked) => asked,
        Err(reason) => return rejection_response(&reason, state.now(), &uri),
    };
    let now = state.now();
    let opened = state.venue().open(&request, state.settings.replies, now);
    // Holds the clock, so that the response shows the state at the time when the order arrived.
    let _hold = match state.settings.replies {
        Replies::AtOnce => None,
        Replies::WhenArrived => tokio::select! {
            hold = state.clock.sleep_until(opened.arrival) => Some(hold),
            () = state.wait_until_stopping() => None,
        },
    };
    let now = state.now();
    match (opened.trade, shape) {
        (Err(reason), _) => rejection_response(&reason, opened.arrival, &uri),
        (Ok(number), BodyShape::Full) => {
            let trade = state.venue().opened_trade(number, now);
            trade_response(trade.map(|trade| OpenAnswer::Trade(Box::new(trade))), now, &uri)
        }
        (Ok(number), BodyShape::Short) => {
            let acknowledged = state.venue().acknowledgement(number);
            trade_response(acknowledged.map(OpenAnswer::Acknowledged), now, &uri)
        }
    }
}

/// Opens a trade and responds before the venue has processed the order.
#[utoipa::path(
    post, path = "/token/trades/open-async", tag = "trading token API",
    security(("token" = [])),
    params(
        ("x-timestamp" = Option<String>, Header, description = "Unix time in ms; optional", nullable = false),
    ),
    request_body(content = OpenBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The order was accepted; the trade list has details", body = AsyncTrade, links(
            ("trade" = (operation_id = "trade", parameters(("id" = "$response.body#/id")))),
        )),
        (status = 400, description = "The order is invalid; `message` gives the reason", body = ErrorEnvelope),
        (status = 401, description = "Credential missing or invalid", body = ErrorEnvelope),
        (status = 408, description = "The body did not arrive within 10 s", body = ErrorEnvelope),
        (status = 413, description = "The body is larger than 64 KiB", body = ErrorEnvelope),
        (status = 500, description = "Unexpected server error", body = ErrorEnvelope),
    )
)]
pub(crate) async fn open_async(
    State(state): State<Arc<ServerState>>,
    _: Token,
    uri: Uri,
    headers: HeaderMap,
    Payload(body): Payload,
) -> Response {
    let (_, request) = match parse_order(&state, &headers, &body) {
        Ok(asked) => asked,
        Err(reason) => return rejection_response(&reason, state.now(), &uri),
    };
    let now = state.now();
    let opened = state.venue().open(&request, Replies::AtOnce, now);
    match opened.trade {
        Err(reason) => rejection_response(&reason, opened.arrival, &uri),
        Ok(number) => trade_response(state.venue().async_trade(number), now, &uri),
    }
}

fn parse_order(
    state: &ServerState,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<(BodyShape, OrderRequest), Rejection> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")) {
        return Err(Rejection::new("Content-Type must be application/json"));
    }
    let (shape, request) = read_body(body, &state.settings, state.scale).map_err(Rejection::new)?;
    match state.venue().check_pricing(&request) {
        PricingCheck::NoSuchSymbol => Err(SYMBOL_NOT_ACTIVE),
        PricingCheck::CandlesTooLong if !state.settings.allow_coarse => {
            Err(Rejection::new("closeType must not be shorter than one candle"))
        }
        PricingCheck::CandlesTooLong | PricingCheck::Possible => Ok((shape, request)),
    }
}

fn rejection_response(reason: &Rejection, at: Millis, uri: &Uri) -> Response {
    error_response_with_code(StatusCode::BAD_REQUEST, &reason.message, reason.code, at, uri)
}

fn trade_response<T: serde::Serialize>(trade: Option<T>, now: Millis, uri: &Uri) -> Response {
    // The trade always exists, because the table removes only older trades that have ended.
    trade.map_or_else(|| internal_error_response(now, uri), |trade| Json(trade).into_response())
}
