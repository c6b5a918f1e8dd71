//! Access checks of requests: host name, origin, custom header and cookie.

use super::Serving;
use super::connections::Place;
use super::failure::Failure;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, ORIGIN, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use std::time::Duration;

const ANSWER_DEADLINE: Duration = Duration::from_mins(1);
/// Header that our page sends with orders. Other sites would need a CORS preflight, which is
/// refused.
pub(crate) const OWN_HEADER: &str = "x-candlewick";
/// Allows only the page's own files, nothing inline, and no framing by other sites.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(crate) async fn from_here(State(serving): State<Arc<Serving>>, request: Request, next: Next) -> Response {
    if let Some(problem) = objection(&serving, request.method(), request.headers()) {
        return with_policy(Failure::new(StatusCode::FORBIDDEN, problem).into_response());
    }
    let answered = tokio::time::timeout(ANSWER_DEADLINE, next.run(request)).await;
    let late = |_| Failure::new(StatusCode::GATEWAY_TIMEOUT, "it takes too long").into_response();
    with_policy(answered.unwrap_or_else(late))
}

fn objection(serving: &Serving, method: &Method, headers: &HeaderMap) -> Option<&'static str> {
    let text = |name: &HeaderName| {
        headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("?")).collect::<Vec<_>>()
    };
    match text(&HOST)[..] {
        [host] if serving.hosts.knows(host) => {}
        _ => return Some("this is asked for under another name"),
    }
    if !text(&ORIGIN).iter().all(|origin| serving.hosts.knows_origin(origin)) {
        return Some("this is asked for by a page elsewhere");
    }
    let site = text(&HeaderName::from_static("sec-fetch-site"));
    if !site.iter().all(|site| ["same-origin", "none"].contains(site)) && !is_visit(headers) {
        return Some("this is asked for by a page elsewhere");
    }
    let is_reading = *method == Method::GET || *method == Method::HEAD;
    (!is_reading && !headers.contains_key(OWN_HEADER)).then_some("the header x-candlewick is missing")
}

/// Returns whether the request is a link navigation to the page, which alone reveals nothing.
fn is_visit(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate")
}

pub(crate) async fn signed_in(State(serving): State<Arc<Serving>>, request: Request, next: Next) -> Response {
    let cookies = request.headers().get_all(COOKIE);
    let is_known =
        cookies.iter().filter_map(|cookie| cookie.to_str().ok()).any(|cookie| serving.sessions.knows(cookie));
    if !is_known {
        let problem = "not signed in: open the link that the dashboard printed in its terminal";
        return Failure::new(StatusCode::UNAUTHORIZED, problem).into_response();
    }
    if let Some(place) = request.extensions().get::<Arc<Place>>() {
        place.keep();
    }
    next.run(request).await
}

fn with_policy(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
