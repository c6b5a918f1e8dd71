//! Bodies of answers other than 200 (contract 5, `observed: opening a trade`).

use super::fields::Field;
use candlewick_sdk::Millis;
use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FailureBody {
    /// The venue's message in one line; `HTTP <status>` if it has none.
    pub(crate) text: String,
    /// Value of `error` in the body or its `data`: a status name or a code.
    pub(crate) code: Option<String>,
    pub(crate) venue_time: Option<Millis>,
}

/// Maximum length of the message, in bytes.
const TEXT_LENGTH: usize = 300;

impl FailureBody {
    /// Reads a body as existing clients do.
    ///
    /// The order is `data.message`, `message`, `error`, then the status. `data` may be a string,
    /// `message` an object or an array.
    pub(crate) fn read(status: u16, body: &[u8]) -> Self {
        let json: Value = serde_json::from_slice(body).unwrap_or_default();
        let data = json.get("data").unwrap_or(&Value::Null);
        let candidates =
            [data.get("message"), data.as_str().map(|_| data), json.get("message"), json.get("error")];
        let text = candidates.into_iter().flatten().find_map(words);
        let code = [data.get("error"), json.get("error")].into_iter().flatten().find_map(Value::as_str);
        Self {
            code: code.map(one_line),
            text: text.map_or_else(|| format!("HTTP {status}"), |text| one_line(&text)),
            venue_time: json.get("timestamp").and_then(Millis::from_value),
        }
    }
}

fn words(message: &Value) -> Option<String> {
    let text = match message {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(words).collect::<Vec<_>>().join("; "),
        Value::Object(object) => match object.get("message").and_then(Value::as_str) {
            Some(text) => text.to_owned(),
            None if object.is_empty() => return None,
            None => message.to_string(),
        },
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) => return None,
    };
    Some(text).filter(|text| !text.trim().is_empty())
}

pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<_> =
        text.split(|c: char| c.is_control() || c == ' ').filter(|word| !word.is_empty()).collect();
    let mut line = words.join(" ");
    line.truncate(line.floor_char_boundary(TEXT_LENGTH));
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(body: &Value, expected: &str) {
        assert_eq!(FailureBody::read(400, body.to_string().as_bytes()).text, expected, "{body}");
    }

    #[test]
    fn the_text_is_found_wherever_the_venue_puts_it() {
        check(&json!({"data": {"message": "a"}, "message": "b", "error": "c"}), "a");
        check(&json!({"data": {"error": "x"}, "message": "b", "error": "c"}), "b");
        check(&json!({"error": "c"}), "c");
        check(&json!({"data": "d", "message": "b"}), "d");
        check(
            &json!({"data": {"message": ["amount too low", "symbol not active"]}}),
            "amount too low; symbol not active",
        );
        check(&json!({"message": {"message": "inner", "code": 7}}), "inner");
        check(&json!({"message": {"code": 7}}), "{\"code\":7}");
        check(&json!({"message": []}), "HTTP 400");
        check(&json!({"message": null, "error": "  "}), "HTTP 400");
        check(&json!("text"), "HTTP 400");
        check(&json!({"message": "two\r\n lines\u{7}"}), "two lines");
        assert_eq!(FailureBody::read(502, b"<html>").text, "HTTP 502");
        assert_eq!(
            FailureBody::read(400, json!({"message": "é".repeat(900)}).to_string().as_bytes()).text.len(),
            300
        );
    }

    #[test]
    fn both_401_bodies_of_the_contract_are_read() {
        let json = json!({
            "statusCode": 401, "status": "error", "timestamp": "2026-11-20T12:00:00.000Z",
            "path": "/token/trades",
            "data": {"message": "Invalid token", "error": "Unauthorized", "statusCode": 401},
        });
        let read = FailureBody::read(401, json.to_string().as_bytes());
        let expected = FailureBody {
            text: "Invalid token".into(),
            code: Some("Unauthorized".into()),
            venue_time: Some(Millis::new(1_795_176_000_000)),
        };
        assert_eq!(read, expected);

        let json = json!({"statusCode": 401, "message": "Unauthorized"});
        let read = FailureBody::read(401, json.to_string().as_bytes());
        assert_eq!(read, FailureBody { text: "Unauthorized".into(), code: None, venue_time: None });
    }
}
