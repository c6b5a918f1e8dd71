//! Routes of the sandbox, and the `OpenAPI` document generated from the routes.

use super::ServerState;
use super::extract::error_response;
use super::faults::apply_faults;
use super::listener::mark_in_flight;
use super::{opening, prices, trading};
use crate::TradedWallet;
use axum::extract::{Request, State};
use axum::http::header::DATE;
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::Response;
use axum::routing::get;
use axum::{Json, Router, middleware};
use candlewick_sdk::Millis;
use chrono::DateTime;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use serde_json::{Value, json};
use std::sync::Arc;
use utoipa::OpenApi;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

#[derive(OpenApi)]
#[openapi(
    info(title = "Candlewick sandbox", description = "Local venue with the trading token API and the price API."),
    tags(
        (name = "trading token API", description = "Wallets, trades and the user. Needs the header `api-token`."),
        (name = "symbol price API", description = "Price records and candles. Needs the header `api-key`."),
    ),
    modifiers(&CredentialSchemes),
)]
struct ApiDoc;

pub(crate) fn router(state: Arc<ServerState>) -> Router {
    let (endpoints, document) = OpenApiRouter::with_openapi(ApiDoc::openapi())
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
    let document = with_offered_values(&document, &state);
    let endpoints = endpoints.layer(middleware::from_fn_with_state(Arc::clone(&state), apply_faults));
    #[cfg(feature = "stream")]
    let endpoints = endpoints.route("/socket.io/", get(super::stream::stream));
    endpoints
        .route("/openapi.json", get(move || std::future::ready(Json(document.clone()))))
        .fallback(reject_unknown_path)
        .method_not_allowed_fallback(reject_unknown_method)
        .layer(middleware::from_fn_with_state(Arc::clone(&state), set_date_header))
        .layer(middleware::from_fn(mark_in_flight))
        .with_state(state)
}

async fn reject_unknown_path(State(state): State<Arc<ServerState>>, uri: Uri) -> Response {
    error_response(StatusCode::NOT_FOUND, "Not Found", state.now(), &uri)
}

async fn reject_unknown_method(State(state): State<Arc<ServerState>>, uri: Uri) -> Response {
    error_response(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed", state.now(), &uri)
}

struct CredentialSchemes;

impl utoipa::Modify for CredentialSchemes {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        for (name, header) in [("token", "api-token"), ("key", "api-key")] {
            let scheme = SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new(header)));
            components.add_security_scheme(name, scheme);
        }
    }
}

fn with_offered_values(document: &utoipa::openapi::OpenApi, state: &ServerState) -> Value {
    let mut document = json!(document);
    let schemas = &mut document["components"]["schemas"];
    let (boards, settings) = (&state.boards, &state.settings);
    schemas["Pair"]["enum"] = json!(boards.pair_names());
    schemas["CandleInterval"]["enum"] = json!(boards.intervals());
    schemas["IsDemo"]["enum"] = json!([settings.wallet == TradedWallet::Demo]);
    let stake = &mut schemas["Stake"];
    if settings.min_amount > Decimal::ZERO {
        stake["minimum"] = json!(settings.min_amount.to_f64());
    } else {
        stake["exclusiveMinimum"] = json!(0);
    }
    if settings.max_amount > Decimal::ZERO {
        stake["maximum"] = json!(settings.max_amount.to_f64());
    }
    stake["multipleOf"] = json!(Decimal::new(1, state.scale.decimals()).to_f64());
    if settings.close_types.is_empty() {
        let shortest = if settings.allow_coarse { Millis::SECOND } else { boards.shortest_common_expiry() };
        schemas["CloseType"]["pattern"] = json!(close_type_pattern(shortest));
    } else {
        schemas["CloseType"]["enum"] = json!(settings.close_types);
    }
    // Without this rule, a body with both fields would match both shapes.
    schemas["FullOrder"]["not"] = json!({ "required": ["volume"] });
    schemas["ShortOrder"]["not"] = json!({ "required": ["amount"] });
    document
}

fn close_type_pattern(shortest: Millis) -> String {
    let seconds = shortest.get() / 1_000;
    let two_digits = |from: i64| (from..60).map(|value| format!("{value:02}")).collect::<Vec<_>>().join("|");
    let hours = "([1-9]|1[0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]";
    let (minute, rest) = (seconds / 60, seconds % 60);
    let whole_minutes = two_digits(minute + i64::from(rest > 0));
    let within_one = if rest > 0 { format!("{minute:02}:({})|", two_digits(rest)) } else { String::new() };
    if whole_minutes.is_empty() {
        return format!("^({within_one}{hours})$");
    }
    format!("^({within_one}({whole_minutes}):[0-5][0-9]|{hours})$")
}

/// Sets the `Date` header to the venue time, so that clients can measure their clock offset.
async fn set_date_header(State(state): State<Arc<ServerState>>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    if let Ok(value) = HeaderValue::from_str(&http_date(state.now())) {
        response.headers_mut().insert(DATE, value);
    }
    response
}

fn http_date(moment: Millis) -> String {
    let moment = DateTime::from_timestamp_millis(moment.get()).unwrap_or_default();
    moment.format("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_begin_with_the_length_of_the_candles() {
        for (seconds, start) in [
            (1, "^(00:(01|02|"),
            (30, "^(00:(30|31|"),
            (60, "^((01|02|"),
            (300, "^((05|06|"),
            (3_600, "^(([1-9]|1[0-9]|2[0-3]):"),
        ] {
            let pattern = close_type_pattern(Millis::from_seconds(seconds));
            assert!(pattern.starts_with(start), "{seconds}: {pattern}");
        }
    }
}
