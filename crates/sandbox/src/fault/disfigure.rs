//! Malformed answers that a client must survive: undocumented values and fields, invalid JSON.

use serde_json::{Value, json};

pub(crate) fn disfigure(body: &mut Value) {
    match body {
        Value::Array(items) => {
            items.extend(unknown_wallet(items));
            items.iter_mut().for_each(disfigure);
        }
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                match name.as_str() {
                    "status" | "result" if value.is_string() => *value = json!("UNDER_REVIEW"),
                    "expirationType" if value.is_string() => *value = json!("UNKNOWN_KIND"),
                    _ => disfigure(value),
                }
            }
            fields.insert("withBonus".to_owned(), json!(false));
            fields.insert("reviewedBy".to_owned(), json!({ "team": null, "steps": [1, "two"] }));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn unknown_wallet(items: &[Value]) -> Option<Value> {
    let mut wallet = items.first()?.clone();
    let is_wallet = ["id", "userId", "type", "balance"].iter().all(|field| wallet.get(field).is_some());
    if !is_wallet {
        return None;
    }
    wallet["id"] = json!("00000000000000000000000000");
    wallet["type"] = json!("UNKNOWN_KIND");
    Some(wallet)
}

pub(crate) fn garbage(index: u64) -> &'static [u8] {
    const BODIES: [&[u8]; 5] = [
        b"",
        b"<html><head><title>502</title></head><body>upstream</body></html>",
        b"{\"id\":\"01ARZ3NDEK",
        b"{\"data\":{\"nothing\":[null]}}",
        b"\xff\xfe\x00\x01[[[[",
    ];
    BODIES[(index % BODIES.len() as u64) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_become_unknown_and_numbers_stay() {
        let mut body = json!({ "data": [{ "id": "A", "status": "OPEN", "amount": 10.0, "result": "WON" }] });
        disfigure(&mut body);
        let row = &body["data"][0];
        assert_eq!((&row["status"], &row["result"]), (&json!("UNDER_REVIEW"), &json!("UNDER_REVIEW")));
        assert_eq!((&row["id"], &row["amount"]), (&json!("A"), &json!(10.0)));
        assert_eq!(row["withBonus"], json!(false));
        assert!(body["reviewedBy"].is_object());
    }

    #[test]
    fn the_list_of_wallets_gets_one_that_nobody_knows() {
        let mut body = json!([{ "id": "A", "userId": "U", "type": "DEMO", "balance": 7.0 }]);
        disfigure(&mut body);
        assert_eq!((&body[0]["type"], &body[1]["type"]), (&json!("DEMO"), &json!("UNKNOWN_KIND")));
        assert_eq!(body.as_array().map(Vec::len), Some(2));
    }
}
