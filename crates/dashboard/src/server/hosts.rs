//! Accepted host names, as a defence against DNS rebinding.

use crate::settings::DashboardSettings;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

pub(crate) struct Hosts {
    names: Vec<String>,
    any_address: Option<u16>,
    proxy: Option<String>,
    here: SocketAddr,
    pub(crate) port: u16,
}

impl Hosts {
    pub(crate) fn new(address: SocketAddr, settings: &DashboardSettings) -> Self {
        let port = address.port();
        let mut names = vec![address.to_string()];
        if address.ip().is_loopback() || address.ip().is_unspecified() {
            names.extend(["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}")));
        }
        // A browser leaves out the port that it would take anyway.
        if port == 80 {
            let portless = names.iter().filter_map(|name| name.strip_suffix(":80").map(str::to_owned));
            names.extend(portless.collect::<Vec<_>>());
        }
        let any_address =
            (address.ip().is_unspecified() && settings.allow_unencrypted_network).then_some(port);
        // The address that stands for all of them is nobody's.
        let here = match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        let here = SocketAddr::new(here, port);
        Self { names, any_address, proxy: settings.tls_proxy.clone(), here, port }
    }

    pub(crate) fn base(&self) -> String {
        match &self.proxy {
            Some(name) => format!("https://{name}"),
            None => format!("http://{}", self.here),
        }
    }

    pub(crate) const fn is_encrypted(&self) -> bool {
        self.proxy.is_some()
    }

    pub(crate) fn knows(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        self.names.contains(&host) || self.is_proxy(&host) || self.is_any(&host)
    }

    pub(crate) fn knows_origin(&self, origin: &str) -> bool {
        match origin.split_once("://") {
            Some(("https", host)) => self.is_proxy(&host.to_ascii_lowercase()),
            Some(("http", host)) => self.proxy.is_none() && self.knows(host),
            _ => false,
        }
    }

    fn is_proxy(&self, host: &str) -> bool {
        let proxy = self.proxy.as_ref().map(|name| name.to_ascii_lowercase());
        proxy.is_some_and(|name| host == name || host == format!("{name}:443"))
    }

    /// Accepts IP addresses only. A name could be rebound by another site, an address cannot.
    fn is_any(&self, host: &str) -> bool {
        let Some(port) = self.any_address else { return false };
        let address = host.parse::<SocketAddr>().map(|address| (address.ip(), address.port()));
        let portless = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let address = address.or_else(|_| portless.parse::<IpAddr>().map(|ip| (ip, 80)));
        address.is_ok_and(|(_, asked)| asked == port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(listen: &str, proxy: Option<&str>, open: bool) -> Hosts {
        let listen: SocketAddr = listen.parse().unwrap();
        let settings = DashboardSettings {
            listen,
            read_only: false,
            tls_proxy: proxy.map(str::to_owned),
            allow_unencrypted_network: open,
        };
        Hosts::new(listen, &settings)
    }

    #[test]
    fn only_its_own_names_are_known() {
        let own = hosts("127.0.0.1:7070", None, false);
        for (host, expected) in [
            ("127.0.0.1:7070", true),
            ("LOCALHOST:7070", true),
            ("[::1]:7070", true),
            ("127.0.0.1", false),
            ("127.0.0.1:7071", false),
            ("evil.example:7070", false),
            ("127.0.0.1.evil.example:7070", false),
            ("", false),
        ] {
            assert_eq!(own.knows(host), expected, "{host}");
            assert_eq!(own.knows_origin(&format!("http://{host}")), expected, "{host}");
            assert!(!own.knows_origin(&format!("https://{host}")), "{host}");
        }
        assert!(!own.knows_origin("null"));
    }

    #[test]
    fn at_port_80_the_name_without_it_is_the_same() {
        for (listen, name) in [("192.168.0.7:80", "192.168.0.7"), ("[fe80::1]:80", "[fe80::1]")] {
            let own = hosts(listen, None, true);
            assert!(own.knows(name) && own.knows(listen) && own.knows_origin(&format!("http://{name}")));
            assert!(!own.knows("localhost") && !own.knows("192.168.0.8"));
            assert!(hosts("0.0.0.0:80", None, true).knows(name), "{name}");
        }
        assert!(hosts("127.0.0.1:80", None, false).knows("localhost"));
    }

    #[test]
    fn behind_a_proxy_pages_come_from_its_name_alone() {
        let own = hosts("127.0.0.1:7070", Some("bot.example.org"), false);
        assert!(own.knows("bot.example.org") && own.knows("127.0.0.1:7070"));
        assert!(own.knows_origin("https://bot.example.org") && !own.knows_origin("http://bot.example.org"));
        assert!(!own.knows_origin("http://127.0.0.1:7070") && own.base() == "https://bot.example.org");
    }

    #[test]
    fn the_link_leads_to_an_address_that_a_browser_here_can_open() {
        for (listen, base) in [
            ("127.0.0.1:7070", "http://127.0.0.1:7070"),
            ("192.168.0.7:7070", "http://192.168.0.7:7070"),
            ("0.0.0.0:7070", "http://127.0.0.1:7070"),
            ("[::]:7070", "http://[::1]:7070"),
        ] {
            let own = hosts(listen, None, true);
            assert_eq!(own.base(), base);
            assert!(own.knows(base.trim_start_matches("http://")), "{base}");
        }
    }

    #[test]
    fn who_listens_everywhere_answers_to_addresses_and_to_no_name() {
        let own = hosts("0.0.0.0:7070", None, true);
        assert!(own.knows("192.168.0.7:7070") && own.knows("[fe80::1]:7070"));
        assert!(!own.knows("192.168.0.7:80") && !own.knows("evil.example:7070"));
        assert!(!hosts("0.0.0.0:7070", Some("bot.example.org"), false).knows("192.168.0.7:7070"));
    }
}
