//! What is read from requests, and how records are written, by the names of the contract and independently of the
//! client that reads them.

use crate::prelude::*;
use crate::records::{Page as TradePage, UNKNOWN_RESULT};
use reqwest::Url;
use serde_json::{Number, Value};
use std::fmt::Display;
use std::str::FromStr;

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

pub(crate) struct TradeQuery {
    pub(crate) page: u64,
    pub(crate) page_size: u64,
    pub(crate) user_id: Option<String>,
}

pub(crate) struct CandleQuery {
    pub(crate) symbol: Symbol,
    pub(crate) interval: Interval,
    pub(crate) start: Millis,
    pub(crate) end: Millis,
}

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
    let _: (String, u64, u64) = (parsed(url, "type"), parsed(url, "skip"), parsed(url, "limit"));
    CandleQuery {
        symbol: parsed(url, "pair"),
        interval: parsed(url, "interval"),
        start: moment(url, "startTime"),
        end: moment(url, "endTime"),
    }
}

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

fn reported<T: Display>(value: Option<&Reported<T>>) -> Option<String> {
    value.map(ToString::to_string)
}

fn words(progress: &Progress) -> (&'static str, Option<&'static str>) {
    match progress {
        Progress::Running => ("OPEN", Some("PENDING")),
        Progress::Over(Outcome::Won) => ("COMPLETED", Some("WON")),
        Progress::Over(Outcome::Lost) => ("COMPLETED", Some("LOST")),
        Progress::Over(Outcome::Draw) => ("COMPLETED", Some("DRAW")),
        Progress::Over(Outcome::Cancelled) => ("CANCELLED", Some("PENDING")),
        Progress::OverUnreported => ("COMPLETED", None),
        Progress::Unrecognised(_) => ("AUDITED", Some(UNKNOWN_RESULT)),
    }
}

/// A trade's record; what it leaves out is null, or as the venue writes what is not known yet: 0.
pub(crate) fn trade(report: &TradeReport) -> Value {
    let moment = |at: Option<Millis>| at.map(Millis::get);
    let (status, result) = words(&report.progress);
    let is_cancelled = report.progress.outcome() == Some(Outcome::Cancelled) && !report.is_by_status;
    let result = if is_cancelled { Some("CANCELLED") } else { result };
    let payout = report.payout.map(|payout| json!(payout.to_percent()));
    let payout = payout.or_else(|| report.impossible_payout.map(number));
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
        "fromApiToken": report.from_token,
        "createdAt": moment(report.created_time),
    });
    if let Some(paid) = report.funding.paid {
        record["wallets"] =
            json!([{ "id": "w-1", "type": "DEMO", "amount": number(paid), "balance": 1_000 }]);
    }
    if !report.funding.fee.is_zero() {
        record["tenantFeeAmount"] = number(report.funding.fee);
    }
    if report.is_reverted {
        record["reverted"] = json!(true);
    }
    record
}

/// The short projection, which never says how a trade ended.
pub(crate) fn short(report: &TradeReport) -> Value {
    json!({ "id": report.id, "status": words(&report.progress).0, "symbol": report.symbol })
}

pub(crate) fn wallets(balances: &Balances) -> Value {
    let record = |name: &WalletName, balance: Decimal| {
        json!({
            "id": name.id, "type": name.type_name, "balance": number(balance), "userId": name.user,
            "currency": name.currency,
        })
    };
    let part = Decimal::from(5);
    let records = balances.wallets.iter().filter_map(|name| {
        let balance = balances.of(name.account?)?;
        let second = WalletName { id: format!("{}-2", name.id), ..name.clone() };
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

pub(crate) fn page(page: &TradePage) -> Value {
    let unreadable = [json!(null), json!({ "status": "OPEN" }), json!({ "id": "" }), json!("trade-0001")];
    let mut data: Vec<Value> = page.rows.iter().map(trade).collect();
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
