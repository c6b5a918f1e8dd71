//! Malformed requests are answered in the error shape of their endpoint (contract 5).

use crate::harness::{CREDENTIALS, body, envelope, plain, request, venue};
use axum::body::{Body, HttpBody};
use axum::http::Request;
use http_body::Frame;
use serde_json::Value;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::time::Instant;

const OPENS: [&str; 2] = ["/token/trades/open", "/token/trades/open-async"];

fn open_of(path: &str, body: Body) -> Request<Body> {
    let mut open = request("POST", path, &CREDENTIALS, &Value::Null);
    open.headers_mut().insert("content-type", "application/json".parse().unwrap());
    *open.body_mut() = body;
    open
}

#[tokio::test]
async fn non_utf8_path_is_400_and_401_without_credentials() {
    let venue = venue();
    for (path, expected) in [
        ("/token/trades/%FF", envelope(400, "/token/trades/%FF", "The path is not UTF-8", "Bad Request")),
        ("/symbol-price/default/%FF", plain(400, "The path is not UTF-8")),
    ] {
        let answer = venue.get(path).await;
        assert_eq!((answer.status.as_u16(), answer.json()), (400, expected));
        assert_eq!(answer.headers["content-type"], "application/json");
        assert_eq!(venue.send(request("GET", path, &[], &Value::Null)).await.status, 401, "{path}");
    }
    // Invalid UTF-8 is neither a pair nor a number.
    for (path, status) in
        [("/symbol-price/last?pair=%FF", 404), ("/symbol-price/last?pair=BTCUSDT&limitTime=%FF", 400)]
    {
        let answer = venue.get(path).await;
        assert_eq!(answer.status.as_u16(), status);
        assert_eq!(answer.json()["statusCode"], status);
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_413_in_shape_and_one_at_the_limit_is_read() {
    let venue = venue();
    for path in OPENS {
        let mut fitting = body("BTCUSDT", "BUY").to_string();
        fitting.push_str(&" ".repeat(65_536 - fitting.len()));
        assert_eq!(venue.send(open_of(path, Body::from(fitting.clone()))).await.status, 200, "{path}");
        for length in [65_537, 1 << 20, 20 << 20] {
            let large = fitting.clone() + &" ".repeat(length - fitting.len());
            let answer = venue.send(open_of(path, Body::from(large))).await;
            let expected = envelope(413, path, "The body is larger than 64 KiB", "Payload Too Large");
            assert_eq!((answer.status.as_u16(), answer.json()), (413, expected), "{length}");
        }
    }
    assert_eq!(venue.full_rows().await.len(), 2, "nothing else was opened");
}

struct Broken {
    first: Option<&'static [u8]>,
    fails: bool,
}

impl HttpBody for Broken {
    type Data = axum::body::Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, io::Error>>> {
        match (self.first.take(), self.fails) {
            (Some(first), _) => Poll::Ready(Some(Ok(Frame::data(axum::body::Bytes::from_static(first))))),
            (None, true) => Poll::Ready(Some(Err(io::ErrorKind::UnexpectedEof.into()))),
            (None, false) => Poll::Pending,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_cut_body_is_400_and_a_slow_one_408_in_shape() {
    let venue = venue();
    for path in OPENS {
        for (fails, status, seconds, message, error) in [
            (true, 400, 0, "The body is shorter than its Content-Length", "Bad Request"),
            (false, 408, 10, "The body did not arrive within 10 s", "Request Timeout"),
        ] {
            let (start, closed) = (Instant::now(), &b"close"[..]);
            let broken = Broken { first: Some(b"{\"isDemo\":"), fails };
            let answer = venue.send(open_of(path, Body::new(broken))).await;
            assert_eq!(start.elapsed().as_secs(), seconds);
            assert_eq!(answer.json(), envelope(status, path, message, error));
            assert_eq!((answer.status.as_u16(), answer.headers["connection"].as_bytes()), (status, closed));
        }
    }
    assert!(venue.full_rows().await.is_empty(), "nothing was opened");
}

#[tokio::test]
async fn a_content_type_other_than_json_is_400_in_shape() {
    let venue = venue();
    for path in OPENS {
        for (kind, status) in [
            (None, 400),
            (Some("text/plain"), 400),
            (Some("application/x-www-form-urlencoded"), 400),
            (Some("multipart/form-data; boundary=x"), 400),
            (Some("application/jsonp"), 400),
            (Some("Application/JSON; charset=utf-8"), 200),
        ] {
            let mut open = request("POST", path, &CREDENTIALS, &body("BTCUSDT", "BUY"));
            open.headers_mut().remove("content-type");
            if let Some(kind) = kind {
                open.headers_mut().insert("content-type", kind.parse().unwrap());
            }
            let answer = venue.send(open).await;
            assert_eq!(answer.status.as_u16(), status, "{kind:?}");
            if status == 400 {
                let message = "Content-Type must be application/json";
                assert_eq!(answer.json(), envelope(400, path, message, "Bad Request"), "{kind:?}");
            }
        }
    }
    assert_eq!(venue.full_rows().await.len(), 2);
}

#[tokio::test]
async fn a_method_that_is_not_allowed_is_405_in_shape_and_names_those_that_are() {
    let venue = venue();
    for (path, allowed) in [
        ("/token/trades", "GET,HEAD"),
        ("/token/trades/open", "POST"),
        ("/token/trades/open-async", "POST"),
        ("/token/trades/01ARZ3NDEKTSV4RRFFQ69G5FAV", "GET,HEAD"),
        ("/token/users/me", "GET,HEAD"),
        ("/token/wallets", "GET,HEAD"),
        ("/symbol-price/last", "GET,HEAD"),
        ("/symbol-price/default/BTCUSDT", "GET,HEAD"),
        ("/aggregated-prices/prices", "GET,HEAD"),
    ] {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY"] {
            if allowed.split(',').any(|name| name == method) {
                continue;
            }
            let answer = venue.send(request(method, path, &CREDENTIALS, &Value::Null)).await;
            let expected = if path.starts_with("/token/") && path != "/token/wallets" {
                envelope(405, path, "Method Not Allowed", "Method Not Allowed")
            } else {
                plain(405, "Method Not Allowed")
            };
            assert_eq!((answer.status.as_u16(), answer.json()), (405, expected), "{method} {path}");
            assert_eq!(answer.headers["allow"], allowed, "{method} {path}");
        }
    }
    assert_eq!(venue.get("/token/nothing").await.json(), plain(404, "Not Found"));
}
