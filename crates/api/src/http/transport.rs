//! Transport of requests, the network or a stand-in. The client decides when to send.

use super::client;
use crate::Settings;
use crate::model::one_line;
use async_trait::async_trait;
use candlewick_broker::BrokerError;
use reqwest::header::HeaderMap;
use reqwest::{Client, Request, Response, StatusCode};
use std::error::Error;
use std::time::Duration;
use tokio::net::TcpStream;
use url::Url;

const MAX_PROBE: Duration = Duration::from_millis(500);

#[async_trait]
pub trait Transport: Send + Sync {
    /// Sends a request with its own timeout and reads the answer up to the size limit.
    ///
    /// A request that opens a trade must be sent at most once.
    async fn send(
        &self,
        purpose: Purpose,
        request: Request,
        limit_bytes: usize,
    ) -> Result<RawAnswer, NoAnswer>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Read,
    Open,
}

#[derive(Debug)]
pub struct RawAnswer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Body,
}

#[derive(Debug)]
pub enum Body {
    Whole(Vec<u8>),
    TooLong(Vec<u8>),
    Cut(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// No connection was made, so nothing was sent.
    NotConnected(String),
    /// The connection failed later, so the venue may have received the request.
    Lost(String),
}

pub(super) struct Network {
    reading_client: Client,
    opening_client: Client,
    /// Whether no proxy is used; only then may a port be probed.
    is_direct: bool,
}

impl Network {
    pub(super) fn new(settings: &Settings) -> Result<Self, BrokerError> {
        let (reading_client, opening_client) =
            (client::reading_client(settings)?, client::opening_client(settings)?);
        Ok(Self { reading_client, opening_client, is_direct: settings.proxy.is_none() })
    }

    pub(super) fn without_certificates(settings: &Settings) -> Result<Self, BrokerError> {
        let client = client::client_without_certificates(settings)?;
        let is_direct = settings.proxy.is_none();
        Ok(Self { reading_client: client.clone(), opening_client: client, is_direct })
    }
}

#[async_trait]
impl Transport for Network {
    async fn send(
        &self,
        purpose: Purpose,
        request: Request,
        limit_bytes: usize,
    ) -> Result<RawAnswer, NoAnswer> {
        let client = match purpose {
            Purpose::Read => &self.reading_client,
            Purpose::Open => &self.opening_client,
        };
        let url = request.url().clone();
        let mut response = match client.execute(request).await {
            Ok(response) => response,
            Err(error) if error.is_connect() => {
                let is_timeout = self.is_direct && error.is_timeout();
                let text = describe(&error.without_url());
                return Err(NoAnswer::NotConnected(with_tls_hint(text, is_timeout, &url).await));
            }
            Err(error) => return Err(NoAnswer::Lost(describe(&error.without_url()))),
        };
        let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
        Ok(RawAnswer { status, headers, body: read_body(response, limit_bytes).await })
    }
}

async fn with_tls_hint(text: String, is_timeout: bool, url: &Url) -> String {
    // How rustls names an answer that is not TLS.
    let is_plain_answer = text.contains("InvalidContentType");
    let takes_connections = is_timeout && url.scheme() == "https" && takes_connections(url).await;
    let hint = if is_plain_answer || takes_connections { "; no TLS answer: is it http://?" } else { "" };
    format!("{text}{hint}")
}

async fn takes_connections(url: &Url) -> bool {
    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else { return false };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let connected = tokio::time::timeout(MAX_PROBE, TcpStream::connect((host, port)));
    matches!(connected.await, Ok(Ok(_)))
}

async fn read_body(mut response: Response, limit_bytes: usize) -> Body {
    let mut bytes = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => return Body::Whole(bytes),
            Err(error) => return Body::Cut(describe(&error.without_url())),
        }
        if bytes.len() > limit_bytes {
            return Body::TooLong(bytes);
        }
    }
}

fn describe(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !text.ends_with(&words) {
            text = format!("{text}: {words}");
        }
        cause = error.source();
    }
    one_line(&text)
}
