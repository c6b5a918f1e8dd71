//! What is read from requests, and how records are written, by the names of the contract and independently of the
//! client that reads them.

use candlewick_api::model::{
    CandleQuery, Tolerant, TradePage, TradeQuery, TradeRecord, TradeResult, TradeStatus,
};
use candlewick_api::{Account, OpenOrder};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{ExpirationType, Millis, Symbol};
use reqwest::{StatusCode, Url};
use serde_json::{Number, Value, json};
use std::fmt::Display;
use std::str::FromStr;

/// A status with a whole body.
pub(crate) struct Page {
    pub(crate) status: StatusCode,
    pub(crate) body: Vec<u8>,
}

impl Page {
    pub(crate) fn ok(json: &Value) -> Self {
        Self { status: StatusCode::OK, body: json.to_string().into_bytes() }
    }

    pub(crate) fn text(body: &str) -> Self {
        Self { status: StatusCode::OK, body: body.as_bytes().to_vec() }
    }

    pub(crate) fn failed(status: StatusCode, message: &str) -> Self {
        let body = json!({ "statusCode": status.as_u16(), "message": message });
        Self { status, body: body.to_string().into_bytes() }
    }
}

/// Which price is asked for, of which moment.
pub(crate) struct PriceQuery {
    pub(crate) symbol: Symbol,
    pub(crate) at: Millis,
}

fn word(url: &Url, name: &str) -> Option<String> {
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

fn parsed<T: FromStr<Err: std::fmt::Debug>>(url: &Url, name: &str) -> T {
    word(url, name).unwrap_or_else(|| panic!("{url} lacks {name}")).parse().unwrap()
}

fn moment(url: &Url, name: &str) -> Millis {
    Millis::new(parsed(url, name))
}

pub(crate) fn read_trade_query(url: &Url) -> TradeQuery {
    TradeQuery { page: parsed(url, "page"), page_size: parsed(url, "pageSize"), user_id: word(url, "userId") }
}

pub(crate) fn read_price_query(url: &Url) -> PriceQuery {
    PriceQuery { symbol: parsed(url, "pair"), at: moment(url, "limitTime") }
}

pub(crate) fn read_candle_query(url: &Url) -> CandleQuery {
    CandleQuery {
        symbol: parsed(url, "pair"),
        asset_type: parsed(url, "type"),
        interval: parsed(url, "interval"),
        skip: parsed(url, "skip"),
        limit: parsed(url, "limit"),
        start_time: moment(url, "startTime"),
        end_time: moment(url, "endTime"),
    }
}

/// What an open asks for.
pub(crate) fn read_order(body: &[u8]) -> OpenOrder {
    let body: Value = serde_json::from_slice(body).unwrap();
    let text = |key: &str| body[key].as_str();
    OpenOrder {
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
    let float = amount.to_string().parse().unwrap();
    Number::from_f64(float).map_or(Value::Null, Value::Number)
}

fn tolerant<T: Display>(value: Option<&Tolerant<T>>) -> Option<String> {
    value.map(|value| match value {
        Tolerant::Known(known) => known.to_string(),
        Tolerant::Unknown(text) => text.clone(),
    })
}

/// A trade's record; what it leaves out is null, or as the venue writes what is not known yet: 0.
pub(crate) fn trade(record: &TradeRecord) -> Value {
    let moment = |at: Option<Millis>| at.map(Millis::get);
    json!({
        "id": record.id,
        "userId": record.user_id,
        "status": record.status.as_ref().map(TradeStatus::as_str),
        "result": record.result.as_ref().map(TradeResult::as_str),
        "symbol": record.symbol,
        "direction": tolerant(record.direction.as_ref()),
        "expirationType": tolerant(record.expiration_type.as_ref()),
        "closeType": tolerant(record.close_type.as_ref()),
        "amount": record.amount.map(number),
        "payout": record.payout.map(number),
        "pnl": record.pnl.map_or(json!(0), number),
        "requestTime": moment(record.request_time),
        "openTime": moment(record.open_time).unwrap_or(0),
        "openPrice": record.open_price.unwrap_or(0.0),
        "closeTime": moment(record.close_time).unwrap_or(0),
        "closePrice": record.close_price.unwrap_or(0.0),
        "isDemo": record.is_demo,
        "fromApiToken": record.from_api_token,
        "createdAt": moment(record.created_at),
    })
}

/// A page of the list; rows that cannot be read are of every kind.
pub(crate) fn page(page: &TradePage) -> Value {
    let unreadable = [json!(null), json!({ "status": "OPEN" }), json!({ "id": "" }), json!("trade-0001")];
    let mut data: Vec<Value> = page.data.iter().map(trade).collect();
    let place = data.len() % unreadable.len();
    data.extend(unreadable.into_iter().cycle().skip(place).take(page.unreadable));
    json!({
        "currentPage": page.current_page,
        "perPage": page.per_page,
        "lastPage": page.last_page,
        "nextPage": page.next_page,
        "prevPage": page.prev_page,
        "pages": page.pages,
        "total": page.total,
        "count": page.count,
        "data": data,
    })
}
