//! The `OpenAPI` document describes what is served.

use crate::harness::{Premises, request};
use serde_json::Value;

#[tokio::test]
async fn the_document_names_every_endpoint_parameter_and_status() {
    let venue = Premises::default().venue();
    let answer = venue.send(request("GET", "/openapi.json", &[], &Value::Null)).await;
    assert_eq!(answer.status, 200);
    let document = answer.json();
    let token = "api-token x-timestamp";
    for (method, path, parameters, statuses) in [
        ("get", "/token/wallets", token.to_owned(), "200 400 401 500"),
        ("get", "/token/trades", format!("{token} page pageSize userId"), "200 400 401 500"),
        ("get", "/token/trades/{id}", format!("id {token}"), "200 401 404 500"),
        ("post", "/token/trades/open", token.to_owned(), "200 400 401 500"),
        ("post", "/token/trades/open-async", token.to_owned(), "200 400 401 500"),
        ("get", "/token/users/me", "api-token".to_owned(), "200 401 500"),
        ("get", "/symbol-price/last", "api-key pair slot limitTime".to_owned(), "200 400 401 404 500"),
        ("get", "/symbol-price/default/{pair}", "pair api-key".to_owned(), "200 401 404 500"),
        (
            "get",
            "/aggregated-prices/prices",
            "api-key pair slot type interval skip limit startTime endTime".to_owned(),
            "200 400 401 404 500",
        ),
    ] {
        let operation = &document["paths"][path][method];
        let named: Vec<&str> = operation["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["name"].as_str().unwrap())
            .collect();
        assert_eq!(named, parameters.split(' ').collect::<Vec<_>>(), "{path}");
        let answered: Vec<&String> = operation["responses"].as_object().unwrap().keys().collect();
        assert_eq!(answered, statuses.split(' ').collect::<Vec<_>>(), "{path}");
        assert_eq!(operation["requestBody"].is_object(), method == "post", "{path}");
    }
    let schemas = document["components"]["schemas"].as_object().unwrap();
    for schema in [
        "FullTrade",
        "Acknowledgement",
        "OpenBody",
        "ShortTrade",
        "ListItem",
        "TradePage",
        "User",
        "Wallet",
        "PriceRecord",
        "AggregatedCandle",
        "ErrorEnvelope",
        "PlainError",
    ] {
        assert!(schemas.contains_key(schema), "{schema}");
    }
    assert!(
        schemas["FullTrade"]["properties"]["closePriceTime"].is_object(),
        "fields have the contract's names"
    );
}
