//! HTTP clients: one for reading and one for opening trades.
//!
//! Neither client follows redirects, because a redirect could leak a credential to another host. Neither client uses a
//! proxy from the environment. The opening client also disables everything else that could resend a request: protocol
//! retries, HTTP/2 and connection reuse.

use crate::Settings;
use candlewick_broker::BrokerError;
use reqwest::header::{
    CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING,
};
use reqwest::{Client, ClientBuilder, Proxy, redirect, retry};
use url::{Host, Url};

pub(super) fn build_read_client(settings: &Settings) -> Result<Client, BrokerError> {
    build_client(client_builder(settings)?.pool_max_idle_per_host(settings.max_connections))
}

pub(super) fn build_open_client(settings: &Settings) -> Result<Client, BrokerError> {
    build_client(client_builder(settings)?.retry(retry::never()).http1_only().pool_max_idle_per_host(0))
}

pub(super) fn build_client_without_certificates(settings: &Settings) -> Result<Client, BrokerError> {
    build_client(client_builder(settings)?.tls_certs_only([]))
}

pub(super) fn parse_proxy(settings: &Settings) -> Result<Option<Address>, BrokerError> {
    settings.proxy.as_deref().map(|text| Address::new("proxy", text, Payload::Nothing, None)).transpose()
}

/// Installs the TLS crypto provider for the whole process. Call this before building a client.
pub fn install_tls_provider() {
    // The call fails if a provider is already installed, which is fine.
    drop(rustls::crypto::ring::default_provider().install_default());
}

fn client_builder(settings: &Settings) -> Result<ClientBuilder, BrokerError> {
    install_tls_provider();
    let builder = Client::builder()
        .user_agent(concat!("candlewick/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .no_proxy()
        .connect_timeout(settings.connect_timeout())
        .timeout(settings.timeout())
        .default_headers(parse_extra_headers(settings)?);
    // A minimal container may have no root certificates, but unencrypted HTTP does not need any.
    let builder = if is_unencrypted(settings) { builder.tls_certs_only([]) } else { builder };
    let Some(text) = &settings.proxy else { return Ok(builder) };
    let proxy = Proxy::all(text).map_err(|error| BrokerError::settings("proxy", text, &error.to_string()))?;
    Ok(builder.proxy(proxy))
}

fn is_unencrypted(settings: &Settings) -> bool {
    let Settings { base_url, price_url, proxy, .. } = settings;
    let is_plain =
        |url: &String| url.trim_start().get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http://"));
    [base_url, price_url].into_iter().chain(proxy).all(is_plain)
}

fn build_client(builder: ClientBuilder) -> Result<Client, BrokerError> {
    builder.build().map_err(|error| {
        let cause = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
        let problem =
            format!("cannot create an HTTP client: {cause}; install ca-certificates or set SSL_CERT_FILE");
        BrokerError::settings("base_url", "", &problem)
    })
}

pub(super) fn parse_extra_headers(settings: &Settings) -> Result<HeaderMap, BrokerError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &settings.headers {
        let key = format!("headers.{name}");
        let refused = |problem: &str| BrokerError::settings(&key, value, problem);
        let name: HeaderName = name.parse().map_err(|_| refused("this is not a valid header name"))?;
        if matches!(name.as_str(), "api-token" | "api-key") {
            let problem =
                "set credentials in the environment, such as CANDLEWICK_BROKER__API_TOKEN, or in a file";
            return Err(BrokerError::settings(&key, "[hidden]", problem));
        }
        if name == "x-timestamp" || [HOST, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING].contains(&name) {
            return Err(refused("remove this header: the program sets it"));
        }
        let value: HeaderValue =
            value.parse().map_err(|_| refused("the value has characters that are invalid in a header"))?;
        headers.insert(name, value);
    }
    Ok(headers)
}

#[derive(Clone, Debug)]
pub(super) struct Address(Url);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Payload {
    /// Requests contain a credential, so they must be encrypted.
    Credential,
    Nothing,
}

impl Address {
    pub(super) fn new(
        key: &str,
        text: &str,
        payload: Payload,
        proxy: Option<&Self>,
    ) -> Result<Self, BrokerError> {
        let refused = |problem: &str| Err(BrokerError::settings(key, text, problem));
        let url = match Url::parse(text) {
            Ok(url) => url,
            Err(_) if !text.is_ascii() => {
                return refused("write the host name in ASCII (Punycode), such as https://xn--...");
            }
            Err(error) => return refused(&format!("{error}; use a URL such as https://host/prefix")),
        };
        if !url.username().is_empty() || url.password().is_some() {
            // The error message must not contain a password.
            let problem = "the URL must not contain a user name or password";
            return Err(BrokerError::settings(key, "[hidden]", problem));
        }
        if !matches!(url.scheme(), "http" | "https") {
            return refused("use https:// (or http:// for a server on this machine)");
        }
        if url.query().is_some() || url.fragment().is_some() {
            return refused("the URL must not have a query or fragment: remove everything from ? or #");
        }
        let address = Self(url);
        let in_the_clear = address.0.scheme() == "http";
        let stays_here = address.is_loopback() && proxy.is_none_or(Self::is_loopback);
        if payload == Payload::Credential && in_the_clear && !stays_here {
            return refused("a credential would be sent unencrypted: use https://");
        }
        Ok(address)
    }

    /// Appends path segments to the URL. Fails for an empty segment, `.` and `..`.
    pub(super) fn join<'s>(&self, segments: impl IntoIterator<Item = &'s str>) -> Result<Url, BrokerError> {
        let mut path = self.0.path().trim_end_matches('/').to_owned();
        for segment in segments {
            if matches!(segment, "" | "." | "..") {
                return Err(BrokerError::NotFound { text: format!("invalid path segment \"{segment}\"") });
            }
            path.push('/');
            segment.bytes().for_each(|byte| push_encoded(&mut path, byte));
        }
        let mut url = self.0.clone();
        url.set_path(&path);
        Ok(url)
    }

    pub(super) fn is_same_host(&self, other: &Self) -> bool {
        self.0.host() == other.0.host() && self.0.port_or_known_default() == other.0.port_or_known_default()
    }

    fn is_loopback(&self) -> bool {
        match self.0.host() {
            Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        }
    }
}

/// Percent-encodes a byte of a path (RFC 3986, `pchar`) and appends it. A URL parser would drop whitespace instead.
fn push_encoded(path: &mut String, byte: u8) {
    if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte) {
        path.push(char::from(byte));
    } else {
        path.push('%');
        path.extend([byte >> 4, byte & 15].map(|digit| char::from(b"0123456789ABCDEF"[usize::from(digit)])));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_made<T>(made: Result<T, BrokerError>, key: &str, problem: Option<&str>) {
        let message = made.err().map(|error| error.to_string());
        assert_eq!(message.is_some(), problem.is_some(), "{key}: {message:?}");
        for (message, problem) in message.iter().zip(problem) {
            assert!(message.starts_with(&format!("broker.{key} = ")), "{message}");
            assert!(message.contains(problem), "{message}");
        }
    }

    fn check(name: &str, value: &str, problem: Option<&str>) {
        let headers = [(name.to_owned(), value.to_owned())].into();
        let made = build_read_client(&Settings { headers, ..Settings::default() });
        check_made(made, &format!("headers.{name}"), problem);
    }

    #[test]
    fn checks_extra_headers_and_rejects_credentials() {
        check("x-partner", "7", None);
        check("Origin", "https://venue.example", None);
        check("x partner", "7", Some("not a valid header name"));
        check("x-partner", "7\n8", Some("invalid in a header"));
        check("X-Timestamp", "0", Some("the program sets it"));
        check("API-Token", "tok-123", Some("set credentials in the environment"));
        let headers = [("api-key".to_owned(), "tok-123".to_owned())].into();
        let error = build_read_client(&Settings { headers, ..Settings::default() }).unwrap_err();
        assert!(!error.to_string().contains("tok-123"));
    }

    #[test]
    fn needs_no_certificates_without_encryption() {
        let settings = |base_url: &str, price_url: &str, proxy: Option<&str>| Settings {
            base_url: base_url.into(),
            price_url: price_url.into(),
            proxy: proxy.map(Into::into),
            ..Settings::default()
        };
        let (open, encrypted) = ("HTTP://127.0.0.1:1", "https://venue.example");
        assert!(
            is_unencrypted(&settings(open, open, None)) && is_unencrypted(&settings(open, open, Some(open)))
        );
        for [base_url, price_url, proxy] in
            [[encrypted, open, open], [open, encrypted, open], [open, open, encrypted]]
        {
            assert!(
                !is_unencrypted(&settings(base_url, price_url, Some(proxy))),
                "{base_url} {price_url} {proxy}"
            );
        }
        let settings = Settings { proxy: Some("not a url".into()), ..Settings::default() };
        assert!(matches!(parse_proxy(&settings), Err(BrokerError::Settings { key, .. }) if key == "proxy"));
    }

    fn check_base(text: &str, payload: Payload, problem: Option<&str>) {
        check_made(Address::new("base_url", text, payload, None), "base_url", problem);
    }

    #[test]
    fn rejects_unencrypted_credentials_to_other_machines() {
        for text in ["https://venue.example", "http://127.0.0.1:7701", "http://localhost/x", "http://[::1]:1"]
        {
            check_base(text, Payload::Credential, None);
        }
        for text in ["http://venue.example", "http://localhost.example", "http://10.0.0.1", "http://[::2]"] {
            check_base(text, Payload::Credential, Some("unencrypted"));
            check_base(text, Payload::Nothing, None);
        }
    }

    #[test]
    fn remote_proxy_requires_encryption() {
        let far = Address::new("proxy", "http://proxy.example:3128", Payload::Nothing, None).unwrap();
        let near = Address::new("proxy", "http://127.0.0.1:3128", Payload::Nothing, None).unwrap();
        let base = |text, proxy| Address::new("base_url", text, Payload::Credential, Some(proxy)).is_ok();
        assert!(!base("http://127.0.0.1:7701", &far));
        assert!(base("http://127.0.0.1:7701", &near));
        assert!(base("https://venue.example", &far));
    }

    #[test]
    fn rejects_invalid_base_urls_with_a_hint() {
        check_base("venue.example", Payload::Nothing, Some("use a URL such as https://"));
        check_base("https://b\u{fc}cher.example", Payload::Nothing, Some("xn--"));
        check_base("https://xn--bcher-kva.example", Payload::Nothing, None);
        check_base("ftp://venue.example", Payload::Nothing, Some("use https://"));
        check_base("https://venue.example/?a=b", Payload::Nothing, Some("remove everything"));
        check_base("https://me:pass-1@venue.example", Payload::Nothing, Some("user name"));
        let error =
            Address::new("base_url", "https://me:pass-1@venue.example", Payload::Nothing, None).unwrap_err();
        assert!(!error.to_string().contains("pass-1"));
    }

    fn check_join(base: &str, segments: &[&str], expected: Option<&str>) {
        let address = Address::new("base_url", base, Payload::Nothing, None).unwrap();
        let joined = address.join(segments.iter().copied()).ok().map(String::from);
        assert_eq!(joined.as_deref(), expected, "{base} {segments:?}");
    }

    #[test]
    fn segments_are_encoded_and_the_prefix_is_kept() {
        check_join("https://h", &["token", "wallets"], Some("https://h/token/wallets"));
        check_join("https://h/v1/", &["a"], Some("https://h/v1/a"));
        check_join("https://h/v1/x", &["default", "BTC/USDT"], Some("https://h/v1/x/default/BTC%2FUSDT"));
        for climbing in ["", ".", ".."] {
            check_join("https://h/v1", &["token", climbing], None);
        }
    }
    #[test]
    fn path_segments_survive_decoding() {
        let address = Address::new("base_url", "https://h/v1/", Payload::Nothing, None).unwrap();
        let names = (0..=255).map(|byte: u8| format!("A{}B", char::from(byte)));
        for name in names.chain(["\r", "\n\n", " x ", "\u{feff}y", "é/%41"].map(str::to_owned)) {
            let url = address.join(["trades", &name]).unwrap();
            let sent = url.as_str().strip_prefix("https://h/v1/trades/").unwrap();
            assert!(!sent.contains(['/', '?', '#', '\\']), "{sent} is more than a segment");
            let query = format!("name={}", sent.replace('+', "%2B").replace('&', "%26"));
            let decoded =
                url::form_urlencoded::parse(query.as_bytes()).next().map(|(_, name)| name.into_owned());
            assert_eq!(decoded, Some(name));
        }
    }
}
