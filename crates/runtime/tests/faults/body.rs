//! Requests and records under their contract names, independent of the client.

use crate::prelude::*;
use crate::records::{Page, UNKNOWN_RESULT};
use candlewick_api::{Body, RawResponse, TransportError};
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use serde_json::{Number, Value};
use std::fmt::Display;
use std::str::FromStr;

pub(crate) fn complete_answer(status: StatusCode, body: &str) -> RawResponse {
    RawResponse { status, headers: HeaderMap::new(), body: Body::Whole(body.as_bytes().to_vec()) }
}

pub(crate) fn ok(json: &Value) -> RawResponse {
    complete_answer(StatusCode::OK, &json.to_string())
}

pub(crate) fn failed(status: StatusCode, message: &str) -> RawResponse {
    complete_answer(status, &json!({ "statusCode": status.as_u16(), "message": message }).to_string())
}

pub(crate) fn word(url: &Url, name: &str) -> Option<String> {
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

pub(crate) fn parsed<T: FromStr<Err: std::fmt::Debug>>(url: &Url, name: &str) -> T {
    word(url, name).unwrap_or_else(|| panic!("{url} lacks {name}")).parse().unwrap()
}

pub(crate) fn moment(url: &Url, name: &str) -> Millis {
    Millis::new(parsed(url, name))
}

pub(crate) fn read_order(body: &[u8]) -> TradeOrder {
    let body: Value = serde_json::from_slice(body).unwrap();
    let text = |key: &str| body[key].as_str();
    TradeOrder {
        symbol: text("symbol").unwrap().parse().unwrap(),
        direction: text("direction").unwrap().parse().unwrap(),
        amount: body["amount"].to_string().parse::<Decimal>().unwrap().normalize(),
        close_type: text("closeType").unwrap().parse().unwrap(),
        expiration_type: text("expirationType")
            .map_or(ExpirationType::Unstated, |text| text.parse().unwrap()),
        account: if body["isDemo"].as_bool().unwrap() { Account::Demo } else { Account::Real },
    }
}

fn number(amount: Decimal) -> Value {
    Number::from_f64(amount.to_string().parse().unwrap()).map_or(Value::Null, Value::Number)
}

fn reported<T: Display>(value: Option<&ReportedValue<T>>) -> Option<String> {
    value.map(ToString::to_string)
}

fn status_and_result(progress: &TradeProgress) -> (&'static str, Option<&'static str>) {
    match progress {
        TradeProgress::Running => ("OPEN", Some("PENDING")),
        TradeProgress::Over(Outcome::Won) => ("COMPLETED", Some("WON")),
        TradeProgress::Over(Outcome::Lost) => ("COMPLETED", Some("LOST")),
        TradeProgress::Over(Outcome::Draw) => ("COMPLETED", Some("DRAW")),
        TradeProgress::Over(Outcome::Cancelled) => ("CANCELLED", Some("PENDING")),
        TradeProgress::OverWithoutOutcome => ("COMPLETED", None),
        TradeProgress::Unrecognised(_) => ("AUDITED", Some(UNKNOWN_RESULT)),
    }
}

pub(crate) fn full_record(report: &TradeReport) -> Value {
    let moment = |at: Option<Millis>| at.map(Millis::get);
    let (status, result) = status_and_result(&report.progress);
    let is_cancelled =
        report.progress.outcome() == Some(Outcome::Cancelled) && !report.is_outcome_from_status;
    let result = if is_cancelled { Some("CANCELLED") } else { result };
    let payout = report.payout.map(|payout| json!(payout.to_percent()));
    let payout = payout.or_else(|| report.invalid_payout.map(number));
    let mut record = json!({
        "id": report.id,
        "status": status,
        "result": result,
        "symbol": report.symbol,
        "direction": reported(report.direction.as_ref()),
        "expirationType": reported(report.expiration_type.as_ref()),
        "closeType": reported(report.close_type.as_ref()),
        "amount": report.amount.map(number),
        "payout": payout,
        "pnl": report.profit.map_or(json!(0), number),
        "requestTime": moment(report.request_time),
        "openTime": moment(report.open_time).unwrap_or(0),
        "openPrice": report.open_price.unwrap_or(0.0),
        "closeTime": moment(report.close_time).unwrap_or(0),
        "closePrice": report.close_price.unwrap_or(0.0),
        "isDemo": report.account.map(|account| account == Account::Demo),
        "fromApiToken": report.is_opened_with_token,
        "createdAt": moment(report.created_time),
    });
    if let Some(paid) = report.payment.paid {
        record["wallets"] =
            json!([{ "id": "w-1", "type": "DEMO", "amount": number(paid), "balance": 1_000 }]);
    }
    if !report.payment.fee.is_zero() {
        record["tenantFeeAmount"] = number(report.payment.fee);
    }
    if report.is_reverted {
        record["reverted"] = json!(true);
    }
    record
}

pub(crate) fn short_record(report: &TradeReport) -> Value {
    json!({ "id": report.id, "status": status_and_result(&report.progress).0, "symbol": report.symbol })
}

pub(crate) fn wallets(balances: &Balances) -> Value {
    let record = |name: &WalletIdentity, balance: Decimal| {
        json!({
            "id": name.id, "type": name.type_name, "balance": number(balance), "userId": name.user,
            "currency": name.currency,
        })
    };
    let part = Decimal::from(5);
    let records = balances.wallets.iter().filter_map(|name| {
        let balance = balances.balance(name.account?)?;
        let second = WalletIdentity { id: format!("{}-2", name.id), ..name.clone() };
        Some([record(name, balance - part), record(&second, part)])
    });
    records.flatten().collect()
}

pub(crate) fn price(symbol: Symbol, record: &PriceRecord) -> Value {
    let prices = record.prices;
    json!({
        "pair": symbol.to_string(), "slot": "default", "time": record.time.get(), "volume": 0,
        "openPrice": prices.open, "closePrice": prices.close, "highPrice": prices.high, "lowPrice": prices.low,
    })
}

pub(crate) fn candles(rows: &[CandleRow]) -> Value {
    let row = |row: &CandleRow| {
        let prices = row.prices;
        json!({
            "time": row.time.get(), "volume": prices.volume, "openPrice": prices.open, "closePrice": prices.close,
            "highPrice": prices.high, "lowPrice": prices.low,
        })
    };
    rows.iter().rev().map(row).collect()
}

pub(crate) fn page(page: &Page) -> Value {
    let unreadable = [json!(null), json!({ "status": "OPEN" }), json!({ "id": "" }), json!("trade-0001")];
    let mut data: Vec<Value> = page.rows.iter().map(full_record).collect();
    let place = data.len() % unreadable.len();
    data.extend(unreadable.into_iter().cycle().skip(place).take(page.unreadable));
    json!({
        "currentPage": page.number,
        "perPage": page.size,
        "lastPage": page.last,
        "nextPage": (page.number < page.last).then_some(page.number + 1),
        "prevPage": null,
        "pages": page.last,
        "total": page.total,
        "count": page.count,
        "data": data,
    })
}

const PROXY_PAGE: &str = "<html><body>one moment please</body></html>";

/// Statuses that mean "no trade was made" (the rules of opening).
const REJECTIONS: [u16; 5] = [400, 401, 403, 404, 422];
const SAYING_NOTHING: [u16; 13] = [201, 202, 204, 302, 307, 402, 408, 409, 429, 500, 502, 503, 504];
const NO_TRADES: [&str; 8] = [
    "",
    "OK",
    PROXY_PAGE,
    r#"{"id": "trade-00"#,
    r#"{"status": "OPEN", "result": "PENDING"}"#,
    r#"{"id": "", "status": "OPEN"}"#,
    r#"[{"id": "trade-9999"}]"#,
    r#"{"statusCode": 400, "message": "no"}"#,
];

fn answer(status: u16, body: &str) -> RawResponse {
    complete_answer(StatusCode::from_u16(status).unwrap(), body)
}

fn with_header(status: u16, name: HeaderName, value: &'static str) -> RawResponse {
    let headers = [(name, HeaderValue::from_static(value))].into_iter().collect();
    RawResponse { headers, ..answer(status, "") }
}

fn cut(why: &str) -> RawResponse {
    RawResponse { body: Body::Cut(why.to_owned()), ..answer(200, "") }
}

fn too_long(body: &str) -> RawResponse {
    RawResponse { body: Body::TooLong(body.as_bytes().to_vec()), ..answer(200, "") }
}

pub(crate) fn failed_open(dice: &mut Dice) -> Result<RawResponse, TransportError> {
    Ok(match dice.between(0, 6) {
        0 => return Err(TransportError::Lost("connection reset".to_owned())),
        1 => cut("the connection ended"),
        2 => too_long(r#"{"id": "trade-0001", "status": "OPEN"}"#),
        3 => with_header(307, LOCATION, "/token/trades/open"),
        4 => answer(dice.pick(&SAYING_NOTHING), PROXY_PAGE),
        5 => {
            let message = json!({ "statusCode": 500, "data": { "message": "Internal server error" } });
            answer(dice.pick(&SAYING_NOTHING), &message.to_string())
        }
        _ => answer(200, dice.pick(&NO_TRADES)),
    })
}

pub(crate) fn rejection(dice: &mut Dice) -> RawResponse {
    let status = dice.pick(&REJECTIONS);
    let body = match dice.between(0, 3) {
        0 => json!({ "statusCode": status, "data": { "message": "Outdated price", "error": "NO_PRICE" } })
            .to_string(),
        1 => json!({ "statusCode": status, "message": ["Outdated price"] }).to_string(),
        2 => PROXY_PAGE.to_owned(),
        _ => String::new(),
    };
    answer(status, &body)
}

pub(crate) fn failed_reading(dice: &mut Dice) -> Result<RawResponse, TransportError> {
    Ok(match dice.between(0, 7) {
        0 => return Err(TransportError::Lost("connection reset".to_owned())),
        1 => return Err(TransportError::NotConnected("connection refused".to_owned())),
        2 => cut("the connection ended"),
        3 => too_long("["),
        4 => with_header(429, RETRY_AFTER, "3"),
        5 => with_header(503, RETRY_AFTER, "1"),
        6 => answer(dice.pick(&[401, 403, 500, 502]), PROXY_PAGE),
        _ => answer(200, dice.pick(&["", PROXY_PAGE, r#"{"message": "no"}"#, "[7, null"])),
    })
}
