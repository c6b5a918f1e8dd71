//! Monitoring settings: metrics for a scraper and a heartbeat.

use super::password::cover_path;
use super::{Loaded, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::SocketAddr;

/// The `[metrics]` section: figures of a live run for Prometheus at `/metrics`, `/healthz` and `/readyz`. In a program built with
/// `--features metrics` or `full`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MetricsSettings {
    /// Where they are served, such as `127.0.0.1:9184`; left out: nowhere. Port 0 takes a free port, and says which.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub listen: Option<SocketAddr>,
    /// Whether that may be an address that other machines reach: whoever reaches it reads balance, profit and the bots' names.
    pub allow_remote: bool,
    /// Names under which it is asked for, such as that of a container, beside addresses and `localhost`; other names are refused,
    /// since a page in a browser can make one lead here.
    pub allowed_hosts: Vec<String>,
}

/// The `[heartbeat]` section: a sign of life to an address of your own, which misses it when the process is dead.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HeartbeatSettings {
    /// What is asked for (GET) while the run is healthy; left out: nothing. Its path is taken for a secret, and redirects are not
    /// followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// How often, in seconds of real time.
    #[schemars(range(min = 1, max = 86_400))]
    pub every_s: u32,
}

impl Default for HeartbeatSettings {
    fn default() -> Self {
        Self { url: None, every_s: 60 }
    }
}

impl fmt::Debug for HeartbeatSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = self.url.as_deref().map(cover_path);
        f.debug_struct("HeartbeatSettings").field("url", &url).field("every_s", &self.every_s).finish()
    }
}

pub fn monitoring_problems(loaded: &Loaded) -> Vec<Problem> {
    let (metrics, heartbeat) = (&loaded.config.metrics, &loaded.config.heartbeat);
    let mut problems = Vec::new();
    if let Some(listen) = metrics.listen {
        let key = "metrics.listen";
        if !cfg!(feature = "metrics") {
            let problem = "this program is built without metrics: build it with --features metrics, or full";
            problems.push(loaded.problem(key, problem));
        }
        if !listen.ip().is_loopback() && !metrics.allow_remote {
            let problem = "other machines reach this address, and read balance, profit and the bots' names there: use 127.0.0.1, or set \
                           metrics.allow_remote = true";
            problems.push(loaded.problem(key, problem).value(format!("\"{listen}\"")));
        }
    }
    if let Some(url) = &heartbeat.url
        && !(url.starts_with("https://") || url.starts_with("http://"))
    {
        problems.push(loaded.problem("heartbeat.url", "it begins with https:// or http://"));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::{Base, Flag};
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bot.toml");
        std::fs::write(&file, text).unwrap();
        let loaded = Loaded::read(&[file], Base::Bare, Vec::<Flag>::new()).unwrap();
        let problems: Vec<String> = monitoring_problems(&loaded).iter().map(ToString::to_string).collect();
        let problems: Vec<&String> = problems.iter().filter(|text| !text.contains("built without")).collect();
        assert_eq!(problems.len(), expected.len(), "{text}: {problems:?}");
        for (problem, part) in problems.iter().zip(expected) {
            assert!(problem.contains(part), "{problem}");
        }
    }

    #[test]
    fn an_address_that_others_reach_takes_a_second_setting() {
        check("", &[]);
        for listen in ["127.0.0.1:9184", "[::1]:0"] {
            check(&format!("[metrics]\nlisten = \"{listen}\""), &[]);
        }
        for listen in ["0.0.0.0:9184", "192.0.2.7:9184", "[::]:9184"] {
            check(&format!("[metrics]\nlisten = \"{listen}\""), &["allow_remote"]);
            check(&format!("[metrics]\nlisten = \"{listen}\"\nallow_remote = true"), &[]);
        }
        check("[heartbeat]\nurl = \"ftp://example.org\"", &["heartbeat.url"]);
        check("[heartbeat]\nurl = \"https://example.org/ping\"", &[]);
    }

    #[test]
    fn the_path_of_a_sign_of_life_is_shown_nowhere() {
        let url = "https://ann:hush@ping.example/b1f5-secret?key=secret".to_owned();
        let shown = format!("{:?}", HeartbeatSettings { url: Some(url), every_s: 60 });
        assert!(shown.contains("https://ping.example/********") && shown.contains("60"), "{shown}");
        assert!(!shown.contains("secret") && !shown.contains("hush"), "{shown}");
    }
}
