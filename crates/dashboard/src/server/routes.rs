//! Routes, and the `OpenAPI` document of those that return JSON.

use super::assets::ASSETS;
use super::failure::Failure;
use super::{Serving, data, events, guard, orders};
use axum::extract::DefaultBodyLimit;
use axum::routing::get;
use axum::{Json, Router, middleware};
use std::sync::Arc;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

const MAX_BODY: usize = 8 * 1_024;

#[derive(OpenApi)]
#[openapi(info(
    title = "Candlewick dashboard",
    description = "What the page of a running bot is made of. A cookie signs in, which a browser gets for the token in the \
                   link of the terminal; what changes something needs the header `x-candlewick`. Times are milliseconds of \
                   venue time."
))]
struct Document;

pub(crate) fn router(serving: Arc<Serving>) -> Router {
    let (own, document) = OpenApiRouter::with_openapi(Document::openapi())
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
        OpenApiRouter::with_openapi(Document::openapi()).routes(routes!(orders::sign_in)).split_for_parts();
    let document = document.merge_from(signing);
    let own = own
        .route("/api/openapi.json", get(move || std::future::ready(Json(document.clone()))))
        .layer(middleware::from_fn_with_state(Arc::clone(&serving), guard::signed_in));
    let page = ASSETS.iter().fold(Router::new(), |routes, asset| {
        routes.route(asset.path, get(move || std::future::ready(asset.answer())))
    });
    page.merge(own)
        .merge(open)
        .fallback(|| std::future::ready(Failure::not_found("there is no such page")))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::from_fn_with_state(Arc::clone(&serving), guard::from_here))
        .with_state(serving)
}
