//! JSON endpoints of the dashboard page. Every response has a limited size.

use super::Server;
use crate::model::{Model, TailLine};
use crate::view::{
    Bars, EdgeCurve, EquityCurve, Lines, Mark, Problem, State as View, Trades, build_bars, build_marks,
    build_trades, edge_curve, equity_curve,
};
use axum::Json;
use axum::extract::{FromRequestParts, Path, Query, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use candlewick_app::AppError;
use candlewick_app::recent::read_recent;
use candlewick_journal::Reader;
use candlewick_records::explain::{MomentQuery, MomentRequest, TradeRequest, read_moment, read_trade};
use candlewick_records::{RecordsError, TradePage};
use candlewick_sdk::{Millis, Symbol};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use utoipa::IntoParams;

const MAX_PAGE_ROWS: usize = 200;
/// Timeout for an explanation. Without a snapshot, the whole journal must be read.
const EXPLAIN_TIMEOUT: Duration = Duration::from_secs(50);

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct CandleQuery {
    /// 0-based index of the candle series in `feeds`.
    #[serde(default, rename = "series")]
    place: usize,
    /// Level of detail, 0 for the finest.
    #[serde(default)]
    level: usize,
    /// Start time of the earliest bar to return, in milliseconds of venue time.
    #[serde(default)]
    from: i64,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct TradeQuery {
    /// Upper bound (exclusive) of the trade number.
    before: Option<u64>,
    /// Maximum number of trades, up to 200. The default is 50.
    limit: Option<usize>,
    /// Name of the bot that placed the trades. All bots by default.
    bot: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct LineQuery {
    /// Upper bound (exclusive) of the line number.
    before: Option<u64>,
    /// Maximum number of lines, up to 200. The default is 100.
    limit: Option<usize>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct BotQuery {
    /// 0-based index of the bot.
    #[serde(default)]
    bot: usize,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct EquityQuery {
    /// 0-based index of the bot. All bots by default.
    bot: Option<usize>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct WhyQuery {
    /// Venue time at which no trade was opened, in milliseconds since 1970.
    #[serde(deserialize_with = "parse_venue_time")]
    at: i64,
    /// Symbol of the bots to check. All symbols by default.
    symbol: Option<String>,
    /// Name of the bot to check. All bots by default.
    bot: Option<String>,
}

fn parse_venue_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(|_| {
        let text: String = text.chars().take(32).collect();
        D::Error::custom(format!(
            "`at` is {text:?}, but must be venue time in milliseconds since 1970, such as 1767609000000"
        ))
    })
}

pub(crate) type AppState = State<Arc<Server>>;
pub(crate) type ApiResult<T> = Result<Json<T>, Failure>;

/// Returns the current state of the bot and its journal, without curves, candles and past trades.
#[utoipa::path(get, path = "/api/state", responses((status = 200, body = View), (status = 400, body = Problem), (status = 401, body = Problem)))]
pub(crate) async fn state(State(serving): AppState, _: Parameters<NoParameters>) -> Response {
    ([(CONTENT_TYPE, "application/json")], serving.shared.state_json().to_string()).into_response()
}

/// Singular noun for a kind of item, such as `bot`, and the names of all such items.
type NameList = (&'static str, Vec<String>);

fn bot_names(model: &Model) -> NameList {
    ("bot", model.run.settings.bots.iter().map(|bot| bot.name.clone()).collect())
}

fn series_names(model: &Model) -> NameList {
    ("series", model.feeds.iter().map(|feed| feed.series.to_string()).collect())
}

fn read_model<T>(
    serving: &Server,
    listed: fn(&Model) -> NameList,
    read: impl FnOnce(&Model) -> Option<T>,
) -> ApiResult<T> {
    let known = serving.shared.lock_state();
    let not_yet = || Failure::new(StatusCode::SERVICE_UNAVAILABLE, "the journal is loading: retry later");
    let model = known.model.as_ref().ok_or_else(not_yet)?;
    read(model).map(Json).ok_or_else(|| {
        let (one, all) = listed(model);
        let all = all.iter().enumerate().map(|(place, name)| format!("{place} is {name}"));
        Failure::not_found(match all.collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => format!("the journal does not contain a {one} yet"),
            all => format!("no such {one} in the journal; known: {all}"),
        })
    })
}

/// Returns the candles of a series at one level of detail.
#[utoipa::path(get, path = "/api/candles", params(CandleQuery), responses((status = 400, body = Problem), (status = 200, body = Bars), (status = 404, body = Problem)))]
pub(crate) async fn candles(
    State(serving): AppState,
    Parameters(asked): Parameters<CandleQuery>,
) -> ApiResult<Bars> {
    read_model(&serving, series_names, |model| {
        build_bars(model.feeds.get(asked.place)?, asked.level, Millis::new(asked.from))
    })
}

/// Returns the latest rejected signals of the bots on a series.
#[utoipa::path(get, path = "/api/marks", params(CandleQuery), responses((status = 400, body = Problem), (status = 200, body = Vec<Mark>), (status = 404, body = Problem)))]
pub(crate) async fn marks(
    State(serving): AppState,
    Parameters(asked): Parameters<CandleQuery>,
) -> ApiResult<Vec<Mark>> {
    read_model(&serving, series_names, |model| Some(build_marks(model, model.feeds.get(asked.place)?.series)))
}

/// Returns the equity over time, or the profit of one bot over time.
#[utoipa::path(
    get, path = "/api/equity", params(EquityQuery),
    responses((status = 400, body = Problem), (status = 200, body = EquityCurve), (status = 404, body = Problem))
)]
pub(crate) async fn equity(
    State(serving): AppState,
    Parameters(asked): Parameters<EquityQuery>,
) -> ApiResult<EquityCurve> {
    read_model(&serving, bot_names, |model| equity_curve(model, asked.bot))
}

/// Returns the confidence intervals of a bot's edge, by number of trades.
#[utoipa::path(get, path = "/api/edge", params(BotQuery), responses((status = 400, body = Problem), (status = 200, body = EdgeCurve), (status = 404, body = Problem)))]
pub(crate) async fn edge(
    State(serving): AppState,
    Parameters(asked): Parameters<BotQuery>,
) -> ApiResult<EdgeCurve> {
    read_model(&serving, bot_names, |model| model.bots.get(asked.bot).map(edge_curve))
}

/// Returns a page of trades and orders, newest first.
#[utoipa::path(get, path = "/api/trades", params(TradeQuery), responses((status = 400, body = Problem), (status = 200, body = Trades), (status = 404, body = Problem), (status = 502, body = Problem)))]
pub(crate) async fn trades(
    State(serving): AppState,
    Parameters(asked): Parameters<TradeQuery>,
) -> ApiResult<Trades> {
    let most = asked.limit.unwrap_or(50).clamp(1, MAX_PAGE_ROWS);
    let (before, bot) = (asked.before.unwrap_or(u64::MAX), asked.bot.as_deref());
    let Json((mut page, earlier)) =
        read_model(&serving, bot_names, |model| build_trades(model, before, most, bot))?;
    if let Some(earlier) = earlier {
        let mut reader = open_reader(&serving).await?;
        let asked = (most - page.trades.len(), bot);
        let read = Box::pin(TradePage::read(&mut reader, earlier, asked)).await;
        reader.close().await;
        let read = read.map_err(|error| to_failure(&error.into()))?;
        page.trades.extend(read.trades);
        page.before = read.next_cursor;
    }
    Ok(Json(page))
}

async fn open_reader(serving: &Server) -> Result<Reader, Failure> {
    Reader::open(&serving.shared.watched.journal).await.map_err(|error| to_failure(&error.into()))
}

/// Returns a page of journal lines, newest first.
#[utoipa::path(get, path = "/api/lines", params(LineQuery), responses((status = 400, body = Problem), (status = 200, body = Lines), (status = 502, body = Problem)))]
pub(crate) async fn lines(
    State(serving): AppState,
    Parameters(asked): Parameters<LineQuery>,
) -> ApiResult<Lines> {
    let most = asked.limit.unwrap_or(100).clamp(1, MAX_PAGE_ROWS);
    let end = asked.before.unwrap_or(u64::MAX).min(serving.shared.clock().seq.saturating_add(1)).max(1);
    let first = end.saturating_sub(most as u64).max(1);
    let mut reader = open_reader(&serving).await?;
    let read = reader
        .lines(first, u32::try_from(end - first).unwrap_or(u32::MAX))
        .await
        .map_err(|error| to_failure(&error.into()))?;
    reader.close().await;
    let lines = read.iter().rev().map(TailLine::from_stored).collect();
    Ok(Json(Lines { lines, before: Some(first).filter(|first| *first > 1) }))
}

/// Explains a trade like `candlewick explain`. The response has JSON in `data` and text in `text`.
#[utoipa::path(
    get, path = "/api/trades/{intent}", params(("intent" = u64, Path, description = "Number of the trade")),
    responses((status = 400, body = Problem), (status = 200, body = Object), (status = 404, body = Problem))
)]
pub(crate) async fn explanation(
    State(serving): AppState,
    Path(intent): Path<u64>,
    _: Parameters<NoParameters>,
) -> ApiResult<Value> {
    explain(serving, Lookup::Trade(intent.to_string())).await
}

/// Explains why no trade was opened at a given time, like `candlewick why`.
#[utoipa::path(
    get, path = "/api/why", params(WhyQuery),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 404, body = Problem))
)]
pub(crate) async fn why(
    State(serving): AppState,
    Parameters(asked): Parameters<WhyQuery>,
) -> ApiResult<Value> {
    let symbol = asked.symbol.filter(|symbol| !symbol.is_empty()).map(|symbol| symbol.parse::<Symbol>());
    let symbol =
        symbol.transpose().map_err(|error| Failure::new(StatusCode::BAD_REQUEST, error.to_string()))?;
    explain(serving, Lookup::Moment(MomentQuery { time: Millis::new(asked.at), symbol, bot: asked.bot }))
        .await
}

enum Lookup {
    Trade(String),
    Moment(MomentQuery),
}

fn to_json<T: Serialize + ToString>(read: &T) -> Value {
    json!({ "text": read.to_string(), "data": json!(read) })
}

/// Runs a lookup on a separate thread, because reading the journal would block other requests.
async fn explain(serving: Arc<Server>, asked: Lookup) -> ApiResult<Value> {
    let one = Arc::clone(&serving.explaining).lock_owned().await;
    let reading = tokio::task::spawn_blocking(move || {
        let _one = one;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::internal(&error))?;
        let read = async { tokio::time::timeout(EXPLAIN_TIMEOUT, read_explanation(&serving, asked)).await };
        match runtime.block_on(read) {
            Ok(Ok(read)) => Ok(Json(read)),
            Ok(Err(error)) => Err(to_failure(&error)),
            Err(_) => Err(Failure::new(
                StatusCode::GATEWAY_TIMEOUT,
                "timed out reading a large journal without snapshots: run `candlewick explain` instead",
            )),
        }
    });
    reading.await.unwrap_or_else(|error| Err(Failure::internal(&error)))
}

async fn read_explanation(serving: &Server, asked: Lookup) -> Result<Value, AppError> {
    let watched = &serving.shared.watched;
    let mut reader = Reader::open(&watched.journal).await?;
    let contents = read_recent(&mut reader).await?;
    let read = match asked {
        Lookup::Trade(name) => {
            let asked = TradeRequest { name: &name, registry: &watched.registry, is_replay_unlimited: false };
            to_json(&read_trade(&mut reader, &contents, &asked).await?)
        }
        Lookup::Moment(query) => {
            let asked =
                MomentRequest { query: &query, registry: &watched.registry, is_replay_unlimited: false };
            to_json(&read_moment(&mut reader, &contents, &asked).await?)
        }
    };
    reader.close().await;
    Ok(read)
}

fn to_failure(error: &AppError) -> Failure {
    let (status, known) = match error {
        AppError::Records(
            RecordsError::UnknownName { known, .. } | RecordsError::UnknownSymbol { known, .. },
        ) => (StatusCode::NOT_FOUND, format!("; known: {}", known.join(", "))),
        AppError::Records(RecordsError::UnknownTrade { .. } | RecordsError::NoRun) => {
            (StatusCode::NOT_FOUND, String::new())
        }
        _ => (StatusCode::BAD_GATEWAY, String::new()),
    };
    Failure::new(status, format!("{error}{known}"))
}

/// Query parameters. Unknown names are rejected, so that a misspelt filter is not silently ignored.
pub(crate) struct Parameters<T>(pub(crate) T);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoParameters {}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        match Query::from_request_parts(parts, state).await {
            Ok(Query(asked)) => Ok(Self(asked)),
            Err(rejection) => {
                let text = rejection.body_text();
                let problem = text.strip_prefix("Failed to deserialize query string: ").unwrap_or(&text);
                Err(Failure::new(StatusCode::BAD_REQUEST, format!("invalid query parameters: {problem}")))
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct Failure(pub(crate) StatusCode, pub(crate) String);

impl Failure {
    pub(crate) fn new(status: StatusCode, problem: impl Into<String>) -> Self {
        Self(status, problem.into())
    }

    pub(crate) fn not_found(problem: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, problem)
    }

    pub(crate) fn internal(error: &impl ToString) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (self.0, Json(Problem { problem: self.1 })).into_response()
    }
}
