//! The `OpenAPI` document describes the actual answers.

use crate::harness::{Premises, TestVenue, assert_holds, request, venue};
use candlewick_sandbox::TradedWallet;
use serde_json::{Value, json};

async fn schemas_of(venue: &TestVenue) -> Value {
    let mut document = venue.send(request("GET", "/openapi.json", &[], &Value::Null)).await.json();
    document["components"]["schemas"].take()
}

#[tokio::test]
async fn the_document_names_every_endpoint_parameter_and_status() {
    let answer = venue().send(request("GET", "/openapi.json", &[], &Value::Null)).await;
    assert_eq!(answer.status, 200);
    let document = answer.json();
    let (token, window) = ("x-timestamp", "pair slot type interval skip limit startTime endTime");
    for (method, path, parameters, statuses) in [
        ("get", "/token/wallets", token.to_owned(), "200 400 401 500"),
        ("get", "/token/trades", format!("{token} page pageSize userId"), "200 400 401 500"),
        ("get", "/token/trades/{id}", format!("id {token}"), "200 400 401 404 500"),
        ("post", "/token/trades/open", token.to_owned(), "200 400 401 408 413 500"),
        ("post", "/token/trades/open-async", token.to_owned(), "200 400 401 408 413 500"),
        ("get", "/token/users/me", String::new(), "200 401 500"),
        ("get", "/symbol-price/last", "pair slot limitTime".to_owned(), "200 400 401 404 500"),
        ("get", "/symbol-price/default/{pair}", "pair".to_owned(), "200 400 401 404 500"),
        ("get", "/aggregated-prices/prices", window.to_owned(), "200 400 401 404 500"),
    ] {
        let operation = &document["paths"][path][method];
        let listed = operation["parameters"].as_array().into_iter().flatten();
        let named: Vec<&str> = listed.map(|one| one["name"].as_str().unwrap()).collect();
        assert_eq!(named, parameters.split_whitespace().collect::<Vec<_>>(), "{path}");
        let credential = if path.starts_with("/token") { "token" } else { "key" };
        assert_eq!(operation["security"], json!([{ credential: [] }]), "{path}");
        let answered: Vec<&String> = operation["responses"].as_object().unwrap().keys().collect();
        assert_eq!(answered, statuses.split(' ').collect::<Vec<_>>(), "{path}");
        assert_eq!(operation["requestBody"].is_object(), method == "post", "{path}");
    }
    let schemes = &document["components"]["securitySchemes"];
    for (scheme, header) in [("token", "api-token"), ("key", "api-key")] {
        assert_eq!(schemes[scheme], json!({ "type": "apiKey", "in": "header", "name": header }));
    }
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let names = "FullTrade Acknowledgement OpenBody ShortTrade ListItem TradePage User Wallet PriceRecord \
                 AggregatedCandle ErrorEnvelope PlainError";
    for schema in names.split(' ') {
        assert!(schemas.contains_key(schema), "{schema}");
    }
    assert!(schemas["FullTrade"]["properties"]["closePriceTime"].is_object());
}

#[tokio::test]
async fn no_body_matches_two_branches_of_the_document() {
    let schemas = schemas_of(&venue()).await;
    assert_eq!(schemas["TradePage"]["properties"]["data"]["type"], "array");
    for (choice, branches) in [
        ("TradeRow", ["ListItem", "FullTrade"]),
        ("OpenAnswer", ["Acknowledgement", "FullTrade"]),
        ("OpenBody", ["ShortOrder", "FullOrder"]),
    ] {
        assert_eq!(schemas[choice]["oneOf"].as_array().unwrap().len(), 2, "{choice}");
        let [small, large] = branches.map(|name| &schemas[name]);
        let fields = |schema: &Value| schema["properties"].as_object().unwrap().clone();
        let required = |schema: &Value| schema["required"].as_array().unwrap().clone();
        // The large form has fields that the small form does not allow.
        let all = required(large).into_iter();
        let strange: Vec<_> = all.filter(|key| !fields(small).contains_key(key.as_str().unwrap())).collect();
        assert!(!strange.is_empty(), "{choice}");
        let closed = small["additionalProperties"] == json!(false);
        let excluded = small["not"]["required"].as_array().is_some_and(|named| strange.contains(&named[0]));
        assert!(closed || excluded, "{choice}: {small}");
    }
    assert_eq!(schemas["FullOrder"]["not"], json!({ "required": ["volume"] }));
}

#[tokio::test]
async fn document_lists_the_offer_of_this_sandbox() {
    let schemas = schemas_of(&venue()).await;
    assert_eq!(schemas["Pair"]["enum"], json!(["A&B/C D", "BTCUSDT", "ETHUSDT", "EURUSD", "XRPUSDT"]));
    assert_eq!(schemas["CandleInterval"]["enum"], json!(["1m", "2m", "5m", "15m", "30m", "1h", "12h", "1d"]));
    assert_eq!(schemas["IsDemo"]["enum"], json!([true]));
    assert_holds(&schemas["Stake"], &json!({ "exclusiveMinimum": 0, "maximum": null, "multipleOf": 0.01 }));
    assert!(schemas["CloseType"]["pattern"].as_str().unwrap().starts_with("^((01|02|"));
    for (name, values) in [
        ("Direction", json!(["BUY", "SELL"])),
        ("ExpirationType", json!(["TIME_FIXED", "CANDLE_CLOSE", "NEXT_CANDLE"])),
        ("WalletType", json!(["DEMO", "REAL"])),
        ("AssetType", json!(["crypto", "forex", "otc"])),
        ("TradeStatus", json!(["PROCESSING", "OPEN", "COMPLETED", "CANCELLED"])),
        ("TradeResult", json!(["HOLD", "PENDING", "WON", "LOST", "DRAW", "CANCELLED"])),
    ] {
        assert_eq!(schemas[name]["enum"], values, "{name}");
    }

    let mut premises = Premises::default();
    premises.settings.wallet = TradedWallet::Real;
    premises.settings.min_amount = "5".parse().unwrap();
    premises.settings.max_amount = "250.5".parse().unwrap();
    premises.settings.close_types = vec!["01:00".parse().unwrap(), "05:00".parse().unwrap()];
    let schemas = schemas_of(&premises.venue()).await;
    assert_eq!(schemas["IsDemo"]["enum"], json!([false]));
    assert_eq!((&schemas["Stake"]["minimum"], &schemas["Stake"]["maximum"]), (&json!(5.0), &json!(250.5)));
    assert_eq!(schemas["CloseType"]["enum"], json!(["01:00", "05:00"]));
}
