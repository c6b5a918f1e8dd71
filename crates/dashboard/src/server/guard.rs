//! Access checks for requests: host name, origin, custom header and cookie.
//!
//! The terminal shows a sign-in link with a one-time token. The browser exchanges the token for a cookie. The
//! cookie is valid until this process ends.

use super::Server;
use super::connections::ConnectionSlot;
use super::data::Failure;
use crate::{DashboardError, DashboardSettings};
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, ORIGIN, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use blake3::Hash;
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

const RESPONSE_TIMEOUT: Duration = Duration::from_mins(1);
/// Header of all requests from this page. Other sites cannot send the header without a CORS preflight.
pub(crate) const REQUEST_HEADER: &str = "x-candlewick";
/// Content security policy: only files of this server, no inline code, and no framing by other sites.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(crate) async fn check_origin(
    State(serving): State<Arc<Server>>,
    request: Request,
    next: Next,
) -> Response {
    if let Some(problem) = rejection_reason(&serving, request.method(), request.headers()) {
        return add_security_headers(Failure::new(StatusCode::FORBIDDEN, problem).into_response());
    }
    let answered = tokio::time::timeout(RESPONSE_TIMEOUT, next.run(request)).await;
    let late = |_| Failure::new(StatusCode::GATEWAY_TIMEOUT, "the request timed out").into_response();
    add_security_headers(answered.unwrap_or_else(late))
}

fn rejection_reason(serving: &Server, method: &Method, headers: &HeaderMap) -> Option<&'static str> {
    let text = |name: &HeaderName| {
        headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("?")).collect::<Vec<_>>()
    };
    match text(&HOST)[..] {
        [host] if serving.hosts.allows_host(host) => {}
        _ => return Some("unknown `Host` header: open the link in the terminal, or pass --tls-proxy HOST"),
    }
    if !text(&ORIGIN).iter().all(|origin| serving.hosts.allows_origin(origin)) {
        return Some("the request comes from another site");
    }
    let site = text(&HeaderName::from_static("sec-fetch-site"));
    // It is harmless if another site links to the page, because the other site cannot read the response.
    let is_visit = headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
    if !site.iter().all(|site| ["same-origin", "none"].contains(site)) && !is_visit {
        return Some("the request comes from another site");
    }
    let is_reading = *method == Method::GET || *method == Method::HEAD;
    (!is_reading && !headers.contains_key(REQUEST_HEADER)).then_some("the header x-candlewick is missing")
}

pub(crate) async fn require_sign_in(
    State(serving): State<Arc<Server>>,
    request: Request,
    next: Next,
) -> Response {
    let cookies = request.headers().get_all(COOKIE);
    let is_known =
        cookies.iter().filter_map(|value| value.to_str().ok()).any(|text| serving.sign_ins.has_cookie(text));
    if !is_known {
        let problem = "you are not signed in: open the link that the dashboard printed in its terminal";
        return Failure::new(StatusCode::UNAUTHORIZED, problem).into_response();
    }
    if let Some(place) = request.extensions().get::<Arc<ConnectionSlot>>() {
        place.mark_signed_in();
    }
    next.run(request).await
}

fn add_security_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, PAGE_POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Host names accepted in requests. Other names are rejected to prevent DNS rebinding.
pub(crate) struct AllowedHosts {
    names: Vec<String>,
    any_address: Option<u16>,
    proxy: Option<String>,
    here: SocketAddr,
    pub(crate) port: u16,
}

impl AllowedHosts {
    pub(crate) fn new(address: SocketAddr, settings: &DashboardSettings) -> Self {
        let port = address.port();
        let mut names = vec![address.to_string()];
        if address.ip().is_loopback() || address.ip().is_unspecified() {
            names.extend(["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}")));
        }
        // Browsers omit the port from the host name if it is the default port.
        if port == 80 {
            let portless = names.iter().filter_map(|name| name.strip_suffix(":80").map(str::to_owned));
            names.extend(portless.collect::<Vec<_>>());
        }
        let any_address =
            (address.ip().is_unspecified() && settings.allow_unencrypted_network).then_some(port);
        let here = match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        let here = SocketAddr::new(here, port);
        Self { names, any_address, proxy: settings.tls_proxy.clone(), here, port }
    }

    pub(crate) fn base_url(&self) -> String {
        match &self.proxy {
            Some(name) => format!("https://{name}"),
            None => format!("http://{}", self.here),
        }
    }

    pub(crate) fn allows_host(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        self.names.contains(&host) || self.is_proxy(&host) || self.is_allowed_address(&host)
    }

    pub(crate) fn allows_origin(&self, origin: &str) -> bool {
        match origin.split_once("://") {
            Some(("https", host)) => self.is_proxy(&host.to_ascii_lowercase()),
            Some(("http", host)) => self.proxy.is_none() && self.allows_host(host),
            _ => false,
        }
    }

    fn is_proxy(&self, host: &str) -> bool {
        let proxy = self.proxy.as_ref().map(|name| name.to_ascii_lowercase());
        proxy.is_some_and(|name| host == name || host == format!("{name}:443"))
    }

    /// Returns whether the host is an allowed IP address. Addresses are safe, because DNS rebinding needs a host name.
    fn is_allowed_address(&self, host: &str) -> bool {
        let Some(port) = self.any_address else { return false };
        let address = host.parse::<SocketAddr>().map(|address| (address.ip(), address.port()));
        let portless = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let address = address.or_else(|_| portless.parse::<IpAddr>().map(|ip| (ip, 80)));
        address.is_ok_and(|(_, asked)| asked == port)
    }
}

const MAX_COOKIES: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInLink {
    /// One-time sign-in URL. The token follows the `#`; browsers never send this part to a server.
    pub url: String,
    pub sign_in_count: u64,
}

/// One-time token and issued cookies. They are stored as hashes and compared in constant time.
pub(crate) struct SignIns {
    inner: Mutex<Secrets>,
    links: watch::Sender<SignInLink>,
    base: String,
    cookie: String,
    secure: &'static str,
}

struct Secrets {
    token: Hash,
    cookies: VecDeque<Hash>,
}

impl SignIns {
    pub(crate) fn new(hosts: &AllowedHosts) -> Result<(Self, watch::Receiver<SignInLink>), DashboardError> {
        let (token, base) = (generate_secret()?, hosts.base_url());
        let (links, shown) = watch::channel(SignInLink { url: build_url(&base, &token), sign_in_count: 0 });
        let inner = Mutex::new(Secrets { token: blake3::hash(token.as_bytes()), cookies: VecDeque::new() });
        let secure = if hosts.proxy.is_some() { "; Secure" } else { "" };
        // All ports of an address share their cookies, so the name of the cookie contains the port.
        let cookie = format!("candlewick-{}", hosts.port);
        Ok((Self { inner, links, base, cookie, secure }, shown))
    }

    fn lock(&self) -> MutexGuard<'_, Secrets> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Exchanges the one-time token for a cookie, and creates a new sign-in link. `None` if the token is invalid.
    pub(crate) fn exchange_token(&self, token: &str) -> Result<Option<String>, DashboardError> {
        let (cookie, next) = (generate_secret()?, generate_secret()?);
        {
            let mut inner = self.lock();
            if inner.token != blake3::hash(token.as_bytes()) {
                return Ok(None);
            }
            inner.token = blake3::hash(next.as_bytes());
            inner.cookies.push_back(blake3::hash(cookie.as_bytes()));
            if inner.cookies.len() > MAX_COOKIES {
                inner.cookies.pop_front();
            }
        }
        let url = build_url(&self.base, &next);
        self.links.send_modify(|link| *link = SignInLink { url, sign_in_count: link.sign_in_count + 1 });
        Ok(Some(format!("{}={cookie}; HttpOnly; SameSite=Strict; Path=/{}", self.cookie, self.secure)))
    }

    pub(crate) fn has_cookie(&self, cookies: &str) -> bool {
        let mut own = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
        own.any(|(name, value)| {
            let hash = blake3::hash(value.as_bytes());
            name == self.cookie && self.lock().cookies.iter().any(|known| *known == hash)
        })
    }
}

fn build_url(base: &str, token: &str) -> String {
    format!("{base}/#token={token}")
}

pub(crate) fn generate_secret() -> Result<String, DashboardError> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(DashboardError::NoRandomness)?;
    Ok(bytes.map(|byte| format!("{byte:02x}")).concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::tests::settings;

    #[test]
    fn accepts_only_own_names_addresses_and_the_proxy() {
        let (here, proxy) = ("http://127.0.0.1:7070", Some("bot.example.org"));
        let strangers = "127.0.0.1 127.0.0.1:7071 evil.example:7070 127.0.0.1.evil.example:7070";
        for (listen, proxy, base, own, foreign) in [
            ("127.0.0.1:7070", None, here, "127.0.0.1:7070 LOCALHOST:7070 [::1]:7070", strangers),
            ("192.168.0.7:7070", None, "http://192.168.0.7:7070", "192.168.0.7:7070", "localhost:7070"),
            ("0.0.0.0:7070", None, here, "127.0.0.1:7070 192.168.0.7:7070", "192.168.0.7:80"),
            ("0.0.0.0:7070", None, here, "[fe80::1]:7070", "evil.example:7070"),
            ("[::]:7070", None, "http://[::1]:7070", "[::1]:7070", "evil.example:7070"),
            // Browsers may omit port 80.
            ("192.168.0.7:80", None, "http://192.168.0.7:80", "192.168.0.7:80 192.168.0.7", "localhost"),
            ("[fe80::1]:80", None, "http://[fe80::1]:80", "[fe80::1]:80 [fe80::1]", "localhost 192.168.0.8"),
            ("127.0.0.1:80", None, "http://127.0.0.1:80", "localhost", "192.168.0.7"),
            ("0.0.0.0:80", None, "http://127.0.0.1:80", "192.168.0.7 [fe80::1]", "evil.example"),
            ("127.0.0.1:7070", proxy, "https://bot.example.org", "bot.example.org 127.0.0.1:7070", strangers),
            ("0.0.0.0:7070", proxy, "https://bot.example.org", "bot.example.org", "192.168.0.7:7070"),
        ] {
            let listen: SocketAddr = listen.parse().unwrap();
            let allow_unencrypted_network = proxy.is_none() && !listen.ip().is_loopback();
            let (tls_proxy, usual) = (proxy.map(str::to_owned), settings(listen, false));
            let settings = DashboardSettings { tls_proxy, allow_unencrypted_network, ..usual };
            let hosts = AllowedHosts::new(listen, &settings);
            assert_eq!(hosts.base_url(), base);
            for (names, is_own) in [(own, true), (foreign, false)] {
                for host in names.split(' ') {
                    let of_page = |scheme| hosts.allows_origin(&format!("{scheme}://{host}"));
                    let found = (hosts.allows_host(host), of_page("http"), of_page("https"));
                    let expected = (is_own, is_own && proxy.is_none(), Some(host) == proxy);
                    assert_eq!(found, expected, "{host} at {listen}");
                }
            }
            assert!(!hosts.allows_host("") && !hosts.allows_origin("null"), "{listen}");
        }
    }
}
