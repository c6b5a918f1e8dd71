//! The two HTTP clients: one for reads, one for opens.
//!
//! Neither follows redirects (a credential must not reach another host) nor uses a proxy from the
//! environment. An open must reach the venue at most once, so its client disables everything that
//! could resend a request: redirects, protocol retries, HTTP/2 with its refused streams, and
//! connection reuse (the library silently resends when a *reused* connection turns out closed).
//! Each open costs a handshake.

use super::address::{Address, Payload};
use crate::Settings;
use candlewick_broker::BrokerError;
use reqwest::header::{
    CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING,
};
use reqwest::{Client, ClientBuilder, Proxy, redirect, retry};

pub(super) fn reading_client(settings: &Settings) -> Result<Client, BrokerError> {
    build(bounded(settings)?.pool_max_idle_per_host(settings.max_connections))
}

pub(super) fn opening_client(settings: &Settings) -> Result<Client, BrokerError> {
    build(bounded(settings)?.retry(retry::never()).http1_only().pool_max_idle_per_host(0))
}

pub(super) fn client_without_certificates(settings: &Settings) -> Result<Client, BrokerError> {
    build(bounded(settings)?.tls_certs_only([]))
}

pub(super) fn proxy_address(settings: &Settings) -> Result<Option<Address>, BrokerError> {
    settings.proxy.as_deref().map(|text| Address::new("proxy", text, Payload::Nothing, None)).transpose()
}

/// Installs the process-wide TLS crypto provider; call it before building a client.
pub fn prepare_tls() {
    // Refused where the process has chosen one: that one is as good.
    drop(rustls::crypto::ring::default_provider().install_default());
}

fn bounded(settings: &Settings) -> Result<ClientBuilder, BrokerError> {
    prepare_tls();
    let builder = Client::builder()
        .user_agent(concat!("candlewick/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .no_proxy()
        .connect_timeout(settings.connect_timeout())
        .timeout(settings.timeout())
        .default_headers(extra_headers(settings)?);
    // A bare system or container has no root certificates, and needs none for a venue on its own host. No certificate is trusted then.
    let builder = if is_plain(settings) { builder.tls_certs_only([]) } else { builder };
    let Some(text) = &settings.proxy else { return Ok(builder) };
    let proxy = Proxy::all(text).map_err(|error| BrokerError::settings("proxy", text, &error.to_string()))?;
    Ok(builder.proxy(proxy))
}

fn is_plain(settings: &Settings) -> bool {
    let Settings { base_url, price_url, proxy, .. } = settings;
    let is_plain =
        |url: &String| url.trim_start().get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http://"));
    [base_url, price_url].into_iter().chain(proxy).all(is_plain)
}

fn build(builder: ClientBuilder) -> Result<Client, BrokerError> {
    builder.build().map_err(|error| {
        let cause = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
        let problem = format!("no HTTP client: {cause}; is the system's package ca-certificates installed, or SSL_CERT_FILE set?");
        BrokerError::settings("base_url", "", &problem)
    })
}

pub(super) fn extra_headers(settings: &Settings) -> Result<HeaderMap, BrokerError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &settings.headers {
        let key = format!("headers.{name}");
        let refused = |problem: &str| BrokerError::settings(&key, value, problem);
        let name: HeaderName = name.parse().map_err(|_| refused("is not the name of a header"))?;
        if matches!(name.as_str(), "api-token" | "api-key") {
            let problem = "a credential comes from the environment (CANDLEWICK_BROKER__API_TOKEN, ...API_KEY) or a file";
            return Err(BrokerError::settings(&key, "[hidden]", problem));
        }
        let ours =
            name == "x-timestamp" || [HOST, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING].contains(&name);
        if ours {
            return Err(refused("is set by the program"));
        }
        let value: HeaderValue =
            value.parse().map_err(|_| refused("holds characters that no header can carry"))?;
        headers.insert(name, value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, value: &str, problem: Option<&str>) {
        let headers = [(name.to_owned(), value.to_owned())].into();
        let made = reading_client(&Settings { headers, ..Settings::default() }).map(|_| ());
        match (made, problem) {
            (Ok(()), None) => {}
            (Err(error), Some(problem)) => {
                let message = error.to_string();
                assert!(message.starts_with(&format!("broker.headers.{name} = ")), "{message}");
                assert!(message.contains(problem), "{message}");
            }
            (made, _) => panic!("{name}: {made:?}"),
        }
    }

    #[test]
    fn extra_headers_are_checked_and_credentials_are_not_among_them() {
        check("x-partner", "7", None);
        check("Origin", "https://venue.example", None);
        check("x partner", "7", Some("not the name of a header"));
        check("x-partner", "7\n8", Some("no header can carry"));
        check("X-Timestamp", "0", Some("set by the program"));
        check("API-Token", "tok-123", Some("comes from the environment"));
        let headers = [("api-key".to_owned(), "tok-123".to_owned())].into();
        let error = reading_client(&Settings { headers, ..Settings::default() }).unwrap_err();
        assert!(!error.to_string().contains("tok-123"));
    }

    #[test]
    fn certificates_are_done_without_where_nothing_is_encrypted() {
        let settings = |base_url: &str, price_url: &str, proxy: Option<&str>| Settings {
            base_url: base_url.into(),
            price_url: price_url.into(),
            proxy: proxy.map(Into::into),
            ..Settings::default()
        };
        let (plain, encrypted) = ("HTTP://127.0.0.1:1", "https://venue.example");
        assert!(is_plain(&settings(plain, plain, None)) && is_plain(&settings(plain, plain, Some(plain))));
        for [base_url, price_url, proxy] in
            [[encrypted, plain, plain], [plain, encrypted, plain], [plain, plain, encrypted]]
        {
            assert!(!is_plain(&settings(base_url, price_url, Some(proxy))), "{base_url} {price_url} {proxy}");
        }
    }

    #[test]
    fn a_proxy_must_be_a_url() {
        let settings = Settings { proxy: Some("not a url".into()), ..Settings::default() };
        assert!(matches!(proxy_address(&settings), Err(BrokerError::Settings { key, .. }) if key == "proxy"));
    }
}
