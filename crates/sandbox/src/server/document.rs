//! Adds the names, codes and limits of one sandbox to its `OpenAPI` document.
//!
//! A client that follows the document is then never refused for something it could have read there.

use super::state::ServerState;
use crate::TradedWallet;
use candlewick_sdk::Millis;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use serde_json::{Value, json};
use utoipa::openapi::OpenApi;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityScheme};

pub(crate) struct Credentials;

impl utoipa::Modify for Credentials {
    fn modify(&self, document: &mut OpenApi) {
        let components = document.components.get_or_insert_default();
        for (name, header) in [("token", "api-token"), ("key", "api-key")] {
            let scheme = SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new(header)));
            components.add_security_scheme(name, scheme);
        }
    }
}

pub(crate) fn with_offer(document: &OpenApi, state: &ServerState) -> Value {
    let mut document = json!(document);
    let schemas = &mut document["components"]["schemas"];
    let (boards, rules) = (&state.boards, &state.rules);
    schemas["Pair"]["enum"] = json!(boards.names());
    schemas["CandleInterval"]["enum"] = json!(boards.intervals());
    schemas["IsDemo"]["enum"] = json!([rules.wallet == TradedWallet::Demo]);
    let stake = &mut schemas["Stake"];
    if rules.min_amount > Decimal::ZERO {
        stake["minimum"] = json!(rules.min_amount.to_f64());
    } else {
        stake["exclusiveMinimum"] = json!(0);
    }
    if rules.max_amount > Decimal::ZERO {
        stake["maximum"] = json!(rules.max_amount.to_f64());
    }
    stake["multipleOf"] = json!(Decimal::new(1, rules.scale.decimals()).to_f64());
    if rules.close_types.is_empty() {
        let shortest = if state.allow_coarse { Millis::SECOND } else { boards.coarsest() };
        schemas["CloseType"]["pattern"] = json!(codes_from(shortest));
    } else {
        schemas["CloseType"]["enum"] = json!(rules.close_types);
    }
    // Otherwise a body with both fields would match both shapes.
    schemas["FullOrder"]["not"] = json!({ "required": ["volume"] });
    schemas["ShortOrder"]["not"] = json!({ "required": ["amount"] });
    document
}

fn codes_from(shortest: Millis) -> String {
    let seconds = shortest.get() / 1_000;
    let two_digits = |from: i64| (from..60).map(|value| format!("{value:02}")).collect::<Vec<_>>().join("|");
    let hours = "([1-9]|1[0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]";
    let (minute, rest) = (seconds / 60, seconds % 60);
    let whole_minutes = two_digits(minute + i64::from(rest > 0));
    let within_one = if rest > 0 { format!("{minute:02}:({})|", two_digits(rest)) } else { String::new() };
    if whole_minutes.is_empty() {
        return format!("^({within_one}{hours})$");
    }
    format!("^({within_one}({whole_minutes}):[0-5][0-9]|{hours})$")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_begin_with_the_length_of_the_candles() {
        for (seconds, start) in [
            (1, "^(00:(01|02|"),
            (30, "^(00:(30|31|"),
            (60, "^((01|02|"),
            (300, "^((05|06|"),
            (3_600, "^(([1-9]|1[0-9]|2[0-3]):"),
        ] {
            let pattern = codes_from(Millis::from_seconds(seconds));
            assert!(pattern.starts_with(start), "{seconds}: {pattern}");
        }
    }
}
