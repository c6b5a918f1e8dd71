//! Answers that are none: what stands between the venue and its client, and what the venue says when it is not well.

use crate::body::whole;
use crate::prelude::*;
use candlewick_api::{Body, NoAnswer, RawAnswer};
use reqwest::header::{HeaderName, HeaderValue, LOCATION, RETRY_AFTER};

const PROXY_PAGE: &str = "<html><body>one moment please</body></html>";

/// Statuses with which a venue says that there is no trade (the rules of opening).
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

fn page(status: u16, body: &str) -> RawAnswer {
    whole(StatusCode::from_u16(status).unwrap(), body)
}

fn with_header(status: u16, name: HeaderName, value: &'static str) -> RawAnswer {
    let headers = [(name, HeaderValue::from_static(value))].into_iter().collect();
    RawAnswer { headers, ..page(status, "") }
}

fn cut(why: &str) -> RawAnswer {
    RawAnswer { body: Body::Cut(why.to_owned()), ..page(200, "") }
}

fn too_long(body: &str) -> RawAnswer {
    RawAnswer { body: Body::TooLong(body.as_bytes().to_vec()), ..page(200, "") }
}

pub(crate) fn of_open(dice: &mut Dice) -> Result<RawAnswer, NoAnswer> {
    Ok(match dice.between(0, 6) {
        0 => return Err(NoAnswer::Lost("connection reset".to_owned())),
        1 => cut("the connection ended"),
        2 => too_long(r#"{"id": "trade-0001", "status": "OPEN"}"#),
        3 => with_header(307, LOCATION, "/token/trades/open"),
        4 => page(dice.pick(&SAYING_NOTHING), PROXY_PAGE),
        5 => {
            let message = json!({ "statusCode": 500, "data": { "message": "Internal server error" } });
            page(dice.pick(&SAYING_NOTHING), &message.to_string())
        }
        _ => page(200, dice.pick(&NO_TRADES)),
    })
}

pub(crate) fn rejection(dice: &mut Dice) -> RawAnswer {
    let status = dice.pick(&REJECTIONS);
    let body = match dice.between(0, 3) {
        0 => json!({ "statusCode": status, "data": { "message": "Outdated price", "error": "NO_PRICE" } })
            .to_string(),
        1 => json!({ "statusCode": status, "message": ["Outdated price"] }).to_string(),
        2 => PROXY_PAGE.to_owned(),
        _ => String::new(),
    };
    page(status, &body)
}

pub(crate) fn of_question(dice: &mut Dice) -> Result<RawAnswer, NoAnswer> {
    Ok(match dice.between(0, 7) {
        0 => return Err(NoAnswer::Lost("connection reset".to_owned())),
        1 => return Err(NoAnswer::NotConnected("connection refused".to_owned())),
        2 => cut("the connection ended"),
        3 => too_long("["),
        4 => with_header(429, RETRY_AFTER, "3"),
        5 => with_header(503, RETRY_AFTER, "1"),
        6 => page(dice.pick(&[401, 403, 500, 502]), PROXY_PAGE),
        _ => page(200, dice.pick(&["", PROXY_PAGE, r#"{"message": "no"}"#, "[7, null"])),
    })
}
