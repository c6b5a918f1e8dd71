//! Endpoints of the symbol price API (contract 4.2).

use super::ServerState;
use super::extract::{KeyCheck, Parameters, PathSegment, error_response, read_parameter, read_parameter_or};
use crate::body::{
    AggregatedCandle, AssetType, CandleInterval, Pair, PlainError, PriceRecord, PriceSlot, format_iso8601,
};
use crate::chance::{IdKind, generate_id};
use crate::market::{CandleWindow, OneSecondCandle, PriceBoard};
use axum::Json;
use axum::extract::{Query, State};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use candlewick_sdk::{Interval, Millis};
use std::sync::Arc;

pub(super) const DEFAULT_SLOT: &str = "default";
/// Maximum number of candles per response, to which `limit` is clamped. Contract section 8 sets no maximum.
const MAX_CANDLES: usize = 1_000;

pub(super) enum PriceError {
    BadRequest(String),
    NotFound,
}

/// Returns the newest price record of a pair or, if `limitTime` is set, the newest one at or before this time.
#[utoipa::path(
    get, path = "/symbol-price/last", tag = "symbol price API",
    security(("key" = [])),
    params(
        ("pair" = Pair, Query, description = "The trading pair"),
        ("slot" = Option<PriceSlot>, Query, description = "Slot (named set of price records). Only `default` is available"),
        ("limitTime" = Option<i64>, Query, description = "Upper limit for the record's time, in ms since 1970"),
    ),
    responses(
        (status = 200, description = "The price record, or the text `OK` if `limitTime` is in the future", content(
            (PriceRecord = "application/json"),
            (String = "text/plain"),
        )),
        (status = 400, description = "A parameter is missing or invalid", body = PlainError),
        (status = 401, description = "Credential missing or invalid", body = PlainError),
        (status = 404, description = "The pair does not exist or has no price yet", body = PlainError),
        (status = 500, description = "Unexpected server error", body = PlainError),
    )
)]
pub(crate) async fn last_price(
    State(state): State<Arc<ServerState>>,
    _: KeyCheck,
    Query(parameters): Query<Parameters>,
    uri: Uri,
) -> Response {
    let now = state.now();
    let answer = || {
        let board = find_board(&state, &parameters)?;
        let limit = read_parameter_or(&parameters, "limitTime", now.get()).map_err(PriceError::BadRequest)?;
        if limit > now.get() {
            return Ok("OK".into_response());
        }
        Ok(Json(build_record(board, Millis::new(limit), now)?).into_response())
    };
    answer().unwrap_or_else(|objection: PriceError| objection.to_response(now, &uri))
}

/// Returns the newest price record of a pair in the default slot.
#[utoipa::path(
    get, path = "/symbol-price/default/{pair}", tag = "symbol price API",
    security(("key" = [])),
    params(
        ("pair" = Pair, Path, description = "The trading pair"),
    ),
    responses(
        (status = 200, description = "The record", body = PriceRecord),
        (status = 400, description = "The path is not UTF-8", body = PlainError),
        (status = 401, description = "Credential missing or invalid", body = PlainError),
        (status = 404, description = "The pair does not exist or has no price yet", body = PlainError),
        (status = 500, description = "Unexpected server error", body = PlainError),
    )
)]
pub(crate) async fn default_price(
    State(state): State<Arc<ServerState>>,
    _: KeyCheck,
    PathSegment(pair): PathSegment,
    uri: Uri,
) -> Response {
    let now = state.now();
    let board = state.boards.get(&pair).ok_or(PriceError::NotFound);
    match board.and_then(|board| build_record(board, now, now)) {
        Ok(record) => Json(record).into_response(),
        Err(objection) => objection.to_response(now, &uri),
    }
}

/// Returns candles of one pair and interval, oldest first.
#[utoipa::path(
    get, path = "/aggregated-prices/prices", tag = "symbol price API",
    security(("key" = [])),
    params(
        ("pair" = Pair, Query, description = "The trading pair"),
        ("slot" = Option<PriceSlot>, Query, description = "Slot (named set of price records). Only `default` is available"),
        ("type" = AssetType, Query, description = "Asset type of the pair"),
        ("interval" = CandleInterval, Query, description = "Candle interval, such as 1m"),
        ("skip" = Option<i64>, Query, description = "Number of candles to skip. Default 0", minimum = 0),
        ("limit" = Option<i64>, Query, description = "Number of candles. Default and maximum 1000", minimum = 0),
        ("startTime" = i64, Query, description = "Earliest open time, in milliseconds since 1970"),
        ("endTime" = i64, Query, description = "Latest open time (inclusive), in milliseconds since 1970"),
    ),
    responses(
        (status = 200, description = "The candles", body = [AggregatedCandle]),
        (status = 400, description = "Parameter missing or invalid, or interval not offered", body = PlainError),
        (status = 401, description = "Credential missing or invalid", body = PlainError),
        (status = 404, description = "The pair does not exist or has another asset type", body = PlainError),
        (status = 500, description = "Unexpected server error", body = PlainError),
    )
)]
pub(crate) async fn candles(
    State(state): State<Arc<ServerState>>,
    _: KeyCheck,
    Query(parameters): Query<Parameters>,
    uri: Uri,
) -> Response {
    let now = state.now();
    match read_candles(&state, &parameters, now) {
        Ok(candles) => Json(candles).into_response(),
        Err(objection) => objection.to_response(now, &uri),
    }
}

fn read_candles(
    state: &ServerState,
    parameters: &Parameters,
    now: Millis,
) -> Result<Vec<AggregatedCandle>, PriceError> {
    let asset_type: String = read_parameter(parameters, "type").map_err(PriceError::BadRequest)?;
    let window = parse_window(parameters).map_err(PriceError::BadRequest)?;
    let board = find_board(state, parameters)?;
    if asset_type != board.asset_type.as_str() {
        return Err(PriceError::NotFound);
    }
    let candles = board.candles(window, state.settings.include_forming, now);
    let candles = candles.map_err(|_| PriceError::BadRequest("interval is not offered".to_owned()))?;
    let row = |candle: &candlewick_sdk::Candle| AggregatedCandle {
        volume: candle.volume(),
        open_price: candle.open(),
        close_price: candle.close(),
        high_price: candle.high(),
        low_price: candle.low(),
        time: candle.time().get(),
    };
    Ok(candles.iter().map(row).collect())
}

fn parse_window(parameters: &Parameters) -> Result<CandleWindow, String> {
    let interval: Interval = read_parameter(parameters, "interval")?;
    let (start, end) = (read_parameter(parameters, "startTime")?, read_parameter(parameters, "endTime")?);
    let count = |name, default: i64| {
        let count: i64 = read_parameter_or(parameters, name, default)?;
        usize::try_from(count).map_err(|_| format!("{name} is less than 0"))
    };
    let (skip, limit) = (count("skip", 0)?, count("limit", i64::MAX)?.min(MAX_CANDLES));
    Ok(CandleWindow { interval, start: Millis::new(start), end: Millis::new(end), skip, limit })
}

fn find_board<'a>(state: &'a ServerState, parameters: &Parameters) -> Result<&'a PriceBoard, PriceError> {
    let pair: String = read_parameter(parameters, "pair").map_err(PriceError::BadRequest)?;
    let slot = parameters.get("slot").map_or(DEFAULT_SLOT, String::as_str);
    state.boards.get(&pair).filter(|_| slot == DEFAULT_SLOT).ok_or(PriceError::NotFound)
}

pub(super) fn build_record(board: &PriceBoard, last: Millis, now: Millis) -> Result<PriceRecord, PriceError> {
    let complete = now - Millis::SECOND;
    let second = board.newest_second(last.min(complete)).ok_or(PriceError::NotFound)?;
    let OneSecondCandle { time, open, high, low, close, volume } = second;
    let stored = format_iso8601(time + Millis::SECOND);
    Ok(PriceRecord {
        id: generate_id(board.random, IdKind::Record, time, [board.symbol_key, time.get().cast_unsigned()]),
        slot: DEFAULT_SLOT.to_owned(),
        pair: board.symbol.to_string(),
        asset_type: board.asset_type.as_str().to_owned(),
        time: time.get(),
        volume,
        open_price: open,
        close_price: close,
        high_price: high,
        low_price: low,
        created_at: stored.clone(),
        updated_at: stored,
    })
}

impl PriceError {
    fn to_response(&self, at: Millis, uri: &Uri) -> Response {
        let (status, message) = match self {
            Self::BadRequest(message) => (StatusCode::BAD_REQUEST, message.as_str()),
            Self::NotFound => (StatusCode::NOT_FOUND, "Not Found"),
        };
        error_response(status, message, at, uri)
    }
}
