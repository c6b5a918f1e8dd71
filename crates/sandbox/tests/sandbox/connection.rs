//! A listening sandbox: requests, resets and shutdown.

use crate::harness::{NOON, Premises, body};
use candlewick_sandbox::{FaultProfile, RunningSandbox, SandboxError};
use serde_json::Value;
use std::io::ErrorKind;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

async fn running(profile: &str) -> RunningSandbox {
    Premises::with_faults(profile).running().await.0
}

async fn raw_open(sandbox: &RunningSandbox) -> Result<Vec<u8>, ErrorKind> {
    let body = body("BTCUSDT", "BUY").to_string();
    let request = format!(
        "POST /token/trades/open HTTP/1.1\r\nhost: sandbox\r\napi-token: {}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        sandbox.token,
        body.len(),
    );
    let mut stream = TcpStream::connect(sandbox.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.map_err(|error| error.kind())?;
    Ok(answer)
}

fn client() -> reqwest::Client {
    drop(rustls::crypto::ring::default_provider().install_default());
    reqwest::Client::builder().retry(reqwest::retry::never()).build().unwrap()
}

async fn count_trades(sandbox: &RunningSandbox) -> Value {
    sandbox.switchboard.set_profile(FaultProfile::none());
    let request = client().get(format!("{}/token/trades", sandbox.base_url));
    let request = request.header("api-token", &sandbox.token).header("x-timestamp", "1");
    request.send().await.unwrap().json::<Value>().await.unwrap()["total"].clone()
}

#[tokio::test]
async fn serves_a_real_client_on_a_free_port() {
    let sandbox = running("none").await;
    assert_ne!(sandbox.address.port(), 0);
    assert_eq!(sandbox.base_url, format!("http://{}", sandbox.address));
    let url = format!("{}/symbol-price/default/BTCUSDT", sandbox.base_url);
    let answer = client().get(url).header("api-key", &sandbox.api_key).send().await.unwrap();
    assert_eq!(answer.headers()["date"], "Tue, 14 Nov 2023 22:30:00 GMT");
    assert_eq!(answer.headers().get_all("date").iter().count(), 1);
    assert_eq!(answer.json::<Value>().await.unwrap()["time"], NOON - 1_000);
    sandbox.stop().await;
}

#[tokio::test]
async fn a_drop_is_a_reset_without_a_single_byte() {
    for (profile, trades) in [("drop-before:1", 0), ("drop-after:1", 1)] {
        let sandbox = running(profile).await;
        assert_eq!(raw_open(&sandbox).await, Err(ErrorKind::ConnectionReset), "{profile}");
        let request = client().post(format!("{}/token/trades/open", sandbox.base_url));
        let request = request.header("api-token", &sandbox.token).json(&body("BTCUSDT", "BUY"));
        let error = request.send().await.unwrap_err();
        assert!(error.is_request() && !error.is_connect(), "{error:?}");
        assert_eq!(count_trades(&sandbox).await, trades * 2, "{profile}");
        sandbox.stop().await;
    }
}

#[tokio::test]
async fn stopping_ends_even_a_hanging_request() {
    let (sandbox, _clock) = Premises::with_faults("hang:1:10m").sandbox();
    let (stop, stopped) = oneshot::channel::<()>();
    let mut sandbox = sandbox.bind(async { drop(stopped.await) }).await.unwrap();
    let asking = raw_open(&sandbox);
    let stopping = async {
        while sandbox.switchboard.counts().total() == 0 {
            tokio::task::yield_now().await;
        }
        stop.send(()).unwrap();
    };
    let (answer, ()) = tokio::join!(asking, stopping);
    assert_eq!(answer, Err(ErrorKind::ConnectionReset));
    sandbox.wait_for_stop().await;
    assert!(TcpStream::connect(sandbox.address).await.is_err(), "no longer listening");
    sandbox.stop().await; // once more does no harm
}

#[tokio::test]
async fn names_an_address_in_use() {
    let first = running("none").await;
    let mut premises = Premises::default();
    premises.settings.listen = first.address;
    let (sandbox, _clock) = premises.sandbox();
    let Err(error) = sandbox.bind(std::future::pending()).await else { panic!("bound twice") };
    assert!(matches!(error, SandboxError::AddressInUse { address, .. } if address == first.address));
    first.stop().await;
}
