//! Contract 2, 4.1, 5, 7 and 8: the trading token API.

use crate::harness::{
    NOON, Premises, assert_close, assert_holds, body, envelope, fields_of, plain, request, sorted, venue,
};
use candlewick_sandbox::MissingTimestamp;
use serde_json::{Value, json};

const FULL: &str = "id affiliateId isDemo isInfluencer fromBot fromApiToken tenantId wallets \
    totalWalletsBalancePercent symbolSlotName extraId symbol userId payout amount fromCopy copyCommissionRate \
    copyCommissionAmount direction expirationType closeType requestTime openTime openPrice pnl closePrice closeTime \
    closePriceTime attemptsToClose result tenantFeeAmount createdAt updatedAt";
const PATHS: [(&str, &str); 6] = [
    ("GET", "/token/wallets"),
    ("GET", "/token/trades?page=1&pageSize=10"),
    ("GET", "/token/trades/01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    ("POST", "/token/trades/open"),
    ("POST", "/token/trades/open-async"),
    ("GET", "/token/users/me"),
];

#[tokio::test]
async fn each_401_has_its_endpoints_shape_and_message() {
    let venue = venue();
    let wrong = [("api-token", "other"), ("x-timestamp", "1")];
    let missing = [("x-timestamp", "1")];
    for (method, path) in PATHS {
        for (headers, message) in [(&wrong[..], "Invalid token"), (&missing[..], "ApiKey not provided")] {
            let answer = venue.send(request(method, path, headers, &Value::Null)).await;
            assert_eq!(answer.status, 401, "{path}");
            if path == "/token/wallets" {
                assert_eq!(answer.json(), plain(401, "Unauthorized"));
                continue;
            }
            let named = path.split('?').next().unwrap();
            assert_eq!(answer.json(), envelope(401, named, message, "Unauthorized"), "{path}");
        }
    }
}

#[tokio::test]
async fn x_timestamp_is_required_on_wallets_and_list_only() {
    let token = [("api-token", "sandbox-token")];
    for (tolerated, setting) in [(false, MissingTimestamp::Refuse), (true, MissingTimestamp::Tolerate)] {
        let venue = Premises::with(|settings| settings.missing_timestamp = setting).venue();
        for (method, path) in PATHS {
            let posted = if method == "POST" { body("BTCUSDT", "BUY") } else { Value::Null };
            let answer = venue.send(request(method, path, &token, &posted)).await;
            let required = path == "/token/wallets" || path.starts_with("/token/trades?");
            let expected = match path {
                "/token/trades/01ARZ3NDEKTSV4RRFFQ69G5FAV" => 404,
                _ if required && !tolerated => 400,
                _ => 200,
            };
            assert_eq!(answer.status, expected, "{path}: {}", answer.text);
        }
    }
}

#[tokio::test]
async fn wallets_are_an_array_of_a_demo_and_a_real_one() {
    let wallets = venue().get("/token/wallets").await.json();
    for wallet in wallets.as_array().unwrap() {
        assert_eq!(fields_of(wallet), sorted("id userId type balance createdAt"));
        assert_eq!(wallet["id"].as_str().map(str::len), Some(26));
        assert_eq!(wallet["createdAt"], "2023-11-14T22:30:00.000Z");
    }
    let balance_of = |kind: &str| {
        let of_kind = wallets.as_array().unwrap().iter().filter(|wallet| wallet["type"] == kind);
        of_kind.map(|wallet| wallet["balance"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(balance_of("DEMO"), [json!(10_000.0)]);
    assert_eq!(balance_of("REAL"), [json!(0.0)]);
}

#[tokio::test]
async fn the_user_has_every_field() {
    let user = venue().get("/token/users/me").await.json();
    let fields = "id tenantId kycLevelId twoFactorId email affiliateId name nickname influencer bot publicProfile \
        passwordV2 country language active banned deleted emailVerified legacy phoneCountryCode phone params \
        copyTradeParams lastLoginAt flags createdAt updatedAt";
    assert_eq!(fields_of(&user), sorted(fields));
    assert_eq!(fields_of(&user["params"]), sorted("maxWithdrawalAmount ignoreTenantUserLimitation"));
    let copy = "copyCommissionRate maxFollowerAmountPerTrade autoApproveCopyFollowers";
    assert_eq!(fields_of(&user["copyTradeParams"]), sorted(copy));
    assert!(user["flags"].is_array());
}

#[tokio::test]
async fn an_open_answers_the_full_projection_without_status() {
    let trade = venue().open("BTCUSDT", "BUY").await;
    assert_eq!(fields_of(&trade), sorted(FULL));
    let expected = json!({
        "pnl": 0.0, "closePrice": 0.0, "closePriceTime": 0, "attemptsToClose": 0, "result": "PENDING",
        "fromApiToken": true, "isDemo": true, "symbolSlotName": "default", "symbol": "BTCUSDT",
        "direction": "BUY", "expirationType": "TIME_FIXED", "closeType": "01:00", "amount": 10.0, "payout": 80.0,
    });
    assert_holds(&trade, &expected);
    assert!(trade["closeTime"].as_i64() > trade["openTime"].as_i64());
    let wallet = &trade["wallets"][0];
    assert_eq!(fields_of(wallet), sorted("id type amount tradePercent balancePercent balance"));
    assert_eq!((&wallet["type"], &wallet["amount"]), (&json!("DEMO"), &json!(10.0)));
    assert_eq!(wallet["balance"], json!(10_000.0), "before the debit");
}

#[tokio::test]
async fn a_short_body_is_acknowledged() {
    let venue = venue();
    let short = json!({ "symbol": "BTCUSDT", "volume": 25, "direction": "BUY" });
    let answer = venue.post("/token/trades/open", short).await;
    assert_eq!((answer.status.as_u16(), answer.fields()), (200, sorted("tradeId status")));
    assert_eq!(answer.json()["status"], "OPEN");
    let rows = venue.full_rows().await;
    assert_eq!((rows.len(), &rows[0]["id"]), (1, &answer.json()["tradeId"]));
    assert_eq!((&rows[0]["amount"], &rows[0]["closeType"]), (&json!(25.0), &json!("01:00")));
}

#[tokio::test]
async fn an_async_open_is_processing_until_it_arrives() {
    let venue = venue();
    let answer = venue.post("/token/trades/open-async", body("BTCUSDT", "SELL")).await;
    let fields = "id openTime closeTime status result openPrice";
    assert_eq!((answer.status.as_u16(), answer.fields()), (200, sorted(fields)));
    let trade = answer.json();
    assert_eq!((&trade["status"], &trade["result"]), (&json!("PROCESSING"), &json!("HOLD")));
    assert_eq!(trade["openPrice"], json!(0.0));
    let path = format!("/token/trades/{}", trade["id"].as_str().unwrap());
    let cases = [(0, "PROCESSING", "HOLD"), (1_999, "PROCESSING", "HOLD"), (2_000, "OPEN", "PENDING")];
    for (after_ms, status, result) in cases {
        venue.clock.set(NOON + after_ms);
        let seen = venue.get(&path).await.json();
        assert_holds(&seen, &json!({ "status": status, "result": result, "openPrice": 0.0 }));
        assert_eq!(venue.full_rows().await[0]["openPriceTime"], json!(0));
    }
    venue.clock.set(NOON + 2_998);
    assert_eq!(venue.get(&path).await.json()["openPrice"], json!(0.0));
    venue.clock.set(NOON + 2_999);
    assert_close(&venue.get(&path).await.json()["openPrice"], 130.05);
    assert_eq!(venue.full_rows().await[0]["openPriceTime"], trade["openTime"]);
}

#[tokio::test]
async fn an_invalid_payload_is_400_with_its_reason() {
    let venue = venue();
    for (field, value, message, code) in [
        ("isDemo", json!(false), "Only demo trades are possible", "Bad Request"),
        ("isDemo", Value::Null, "isDemo must be a boolean", "Bad Request"),
        ("closeType", json!("60"), "closeType must be a code of the form mm:ss or h:mm:ss", "Bad Request"),
        ("closeType", json!("00:05"), "closeType must not be shorter than one candle", "Bad Request"),
        ("direction", json!("CALL"), "direction must be BUY or SELL", "Bad Request"),
        ("symbol", json!("DOGEUSDT"), "Symbol not active", "SYMBOL_NOT_ACTIVE"),
        ("amount", json!(0), "amount must be above zero", "Bad Request"),
        ("amount", json!(10_000.01), "Insufficient balance", "INSUFFICIENT_BALANCE"),
    ] {
        let mut payload = body("BTCUSDT", "BUY");
        payload[field] = value;
        let answer = venue.post("/token/trades/open", payload).await;
        let answered = answer.json();
        assert_eq!(answer.status, 400, "{field}");
        assert_eq!(fields_of(&answered), sorted("statusCode status timestamp path data"));
        let data = json!({ "message": message, "error": code, "statusCode": 400 });
        assert_eq!((&answered["data"], &answered["path"]), (&data, &json!("/token/trades/open")));
    }
    assert!(venue.full_rows().await.is_empty(), "nothing was opened");
}

#[tokio::test]
async fn a_trade_by_id_has_the_short_projection() {
    let contract = "id userId tenantId status symbol amount createdAt";
    let cases = [(false, contract.to_owned()), (true, format!("{contract} result pnl openPrice closePrice"))];
    for (rich, fields) in cases {
        let venue = Premises::with(|settings| settings.rich_short = rich).venue();
        let id = venue.open("BTCUSDT", "BUY").await["id"].as_str().unwrap().to_owned();
        venue.clock.set(NOON + 2_000);
        let trade = venue.get(&format!("/token/trades/{id}")).await;
        assert_eq!(trade.fields(), sorted(&fields));
        let trade = trade.json();
        assert_eq!((&trade["id"], &trade["status"]), (&json!(id), &json!("OPEN")));
        assert_eq!(trade["createdAt"], "2023-11-14T22:30:02.000Z", "when it arrived");
    }
}

#[tokio::test]
async fn rows_are_list_items_without_user_and_full_with_user() {
    let venue = venue();
    venue.open("BTCUSDT", "BUY").await;
    let item = venue.get("/token/trades?page=1&pageSize=10").await.json()["data"][0].clone();
    assert_eq!(fields_of(&item), sorted("id symbol userId amount status createdAt"));
    let full = venue.full_rows().await;
    assert_eq!(fields_of(&full[0]), sorted(&format!("{FULL} status botSynced openPriceTime")));
    let other = venue.get("/token/trades?page=1&pageSize=10&userId=01ARZ3NDEKTSV4RRFFQ69G5FAV").await.json();
    assert_eq!((&other["total"], &other["data"]), (&json!(0), &json!([])), "another trader has no trades");
}

#[tokio::test]
async fn the_list_defaults_to_page_1_of_size_10() {
    let venue = venue();
    for _ in 0..11 {
        venue.open("BTCUSDT", "BUY").await;
    }
    let page = venue.get("/token/trades").await;
    let fields = "currentPage perPage lastPage nextPage prevPage pages total count data";
    assert_eq!(page.fields(), sorted(fields));
    assert_eq!(page.json(), venue.get("/token/trades?page=1&pageSize=10").await.json());
    assert_eq!((&page.json()["perPage"], &page.json()["count"]), (&json!(10), &json!(10)));
}

#[tokio::test]
async fn pages_end_with_nulls_and_hold_every_trade_once() {
    let venue = venue();
    let empty = venue.get("/token/trades?page=1&pageSize=5").await.json();
    let expected = json!({
        "currentPage": 1, "perPage": 5, "lastPage": 1, "nextPage": null, "prevPage": null, "pages": 1, "total": 0,
        "count": 0, "data": [],
    });
    assert_eq!(empty, expected);
    let mut opened = Vec::new();
    for step in 0..12 {
        venue.clock.set(NOON + step * 1_000);
        opened.push(venue.open("BTCUSDT", "BUY").await["id"].clone());
    }
    let mut seen = Vec::new();
    for (page, count, previous, next) in [
        (1, 5, Value::Null, json!(2)),
        (2, 5, json!(1), json!(3)),
        (3, 2, json!(2), Value::Null),
        (4, 0, json!(3), Value::Null),
    ] {
        let listed = venue.get(&format!("/token/trades?page={page}&pageSize=5")).await.json();
        assert_eq!((&listed["prevPage"], &listed["nextPage"]), (&previous, &next), "page {page}");
        assert_eq!((&listed["count"], &listed["total"]), (&json!(count), &json!(12)));
        assert_eq!((&listed["lastPage"], &listed["pages"]), (&json!(3), &json!(3)));
        seen.extend(listed["data"].as_array().unwrap().iter().map(|row| row["id"].clone()));
    }
    opened.reverse();
    assert_eq!(seen, opened, "the latest first");
}

#[tokio::test]
async fn page_numbers_that_cannot_be_read_are_400() {
    let venue = venue();
    for query in ["page=0&pageSize=10", "page=1&pageSize=0", "page=x&pageSize=10", "page=-1&pageSize=10"] {
        let answer = venue.get(&format!("/token/trades?{query}")).await;
        assert_eq!((answer.status.as_u16(), &answer.json()["data"]["error"]), (400, &json!("Bad Request")));
    }
}
