//! Checks of the configuration: credentials, control channel, signal sources and time zones.

use super::finding::{Check, Finding};
use crate::configuration::{
    BaseLayer, LoadedConfig, RealMoneyRequest, check_secrets, configured_secrets, control_paths,
    signal_problems,
};
use crate::control::describe;
use crate::inspection::{describe_ladders, estimate_request_demand, find_problems, network_problem};
use crate::lints::{self, LintInput, Stage};
use crate::signals::describe_list;
use candlewick_engine::{RiskSettings, parse_time_zone};
use candlewick_runtime::control::{ControlAnswer, ControlError, ControlOrder, ControlPaths, send_order};
use candlewick_sdk::{Millis, Registry};
use chrono::{DateTime, Duration, Offset, TimeZone, Utc};
use std::net::SocketAddr;
use std::path::PathBuf;
use tokio::net::TcpListener;

const CONFIG_HINT: &str =
    "fix the configuration; `candlewick config check` lists all problems, and `config show` lists all values";

const EXAMPLE_HINT: &str = "no --config given: `backtest`, `sandbox` and `live --sandbox` use example bots; \
                        `live` and `paper` need --config";

/// Loads and checks the configuration. For real money, it requires `CANDLEWICK_ALLOW_REAL`, but not `--real`.
pub(super) fn check_configuration(files: &[PathBuf], registry: &Registry) -> (Option<LoadedConfig>, Finding) {
    let loaded = match LoadedConfig::read(files, BaseLayer::Sandbox, Vec::new()) {
        Ok(loaded) => loaded,
        Err(error) => {
            return (None, Check::Configuration.fail(error.text(), CONFIG_HINT));
        }
    };
    let mut problems = find_problems(&loaded, RealMoneyRequest::Requested, registry);
    if problems.is_empty() {
        problems.extend(network_problem(&loaded));
    }
    let finding = if problems.is_empty() {
        describe_configuration(files, &loaded, registry)
    } else {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Check::Configuration.fail(problems.join("; "), CONFIG_HINT)
    };
    (Some(loaded), finding)
}

fn describe_configuration(files: &[PathBuf], loaded: &LoadedConfig, registry: &Registry) -> Finding {
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let from = if names.is_empty() { EXAMPLE_HINT.to_owned() } else { names.join(", ") };
    let bots = loaded.config.bots.len();
    let text = format!("{from}; {bots} bot{}", if bots == 1 { "" } else { "s" });
    let mut notices = describe_ladders(loaded);
    notices.extend(lints::collect_texts(&LintInput::new(loaded, registry), Stage::Doctor));
    if notices.is_empty() {
        Check::Configuration.ok(text)
    } else {
        Check::Configuration.warn(text, notices.join("; "))
    }
}

pub(super) fn check_request_rate(loaded: &LoadedConfig, registry: &Registry) -> Option<Finding> {
    let (demand, limit) =
        (estimate_request_demand(loaded, registry)?, loaded.config.broker.client.requests_per_second);
    let summary = demand.summary(limit);
    Some(match demand.describe_shortage(limit) {
        Some(shortage) => Check::Requests.warn(summary, shortage),
        None => Check::Requests.ok(summary),
    })
}

const CREDENTIALS: [(&str, &str, &str); 2] = [
    ("api_token", "api-token", "`backtest`, `paper` and `live --sandbox` need no token"),
    ("api_key", "api-key", "`backtest` and `live --sandbox` need no key"),
];

pub(super) fn check_credentials(loaded: &LoadedConfig) -> Vec<Finding> {
    let problems = check_secrets(loaded);
    if !problems.is_empty() {
        let fail = |problem: &crate::configuration::Problem| {
            Check::Credentials
                .fail(problem.to_string(), "set the secret in the environment, or in a file with mode 600")
        };
        return problems.iter().map(fail).collect();
    }
    let given = configured_secrets(&loaded.config.broker);
    let mut found = Vec::new();
    let mut missing = Vec::new();
    for (key, header, without) in CREDENTIALS {
        match given.iter().find(|(name, _)| *name == key) {
            Some((_, origin)) => found.push(format!("{header} from {origin}")),
            None => missing.push(Check::Credentials.fail(
                format!("no {header} is set"),
                format!("set CANDLEWICK_BROKER__{} or broker.{key}_file; {without}", key.to_uppercase()),
            )),
        }
    }
    if missing.is_empty() { vec![Check::Credentials.ok(found.join(", "))] } else { missing }
}

pub(super) async fn check_control(loaded: &LoadedConfig, report: &mut dyn FnMut(Finding)) {
    // Missing paths are reported as configuration problems.
    let Ok(paths) = control_paths(loaded) else { return };
    if paths.halt_file.exists() {
        let remedy = "bots open no trades until `candlewick resume` removes the halt file";
        report(Check::Control.warn(paths.halt_file.reason(), remedy));
    }
    report(query_bot(&paths).await);
}

async fn query_bot(paths: &ControlPaths) -> Finding {
    let socket = paths.socket.display();
    match send_order(&paths.socket, &ControlOrder::Status, None).await {
        Ok(ControlAnswer::Done { state }) => Check::Control.ok(describe(&state)),
        Ok(ControlAnswer::Signal { .. }) => Check::Control
            .warn(format!("a bot is listening on {socket}, but sent an unexpected answer"), "check that bot"),
        Ok(
            ControlAnswer::Refused { problem }
            | ControlAnswer::VenueFailed { problem }
            | ControlAnswer::Unanswered { problem },
        ) => Check::Control.warn(format!("a bot is listening on {socket}, but {problem}"), "check that bot"),
        Err(ControlError::NoBotListens { .. }) => {
            Check::Control.ok(format!("no bot is listening on {socket}"))
        }
        Err(error @ ControlError::NoSocketsHere) => {
            let path = paths.halt_file.path().display();
            Check::Control.warn(error.to_string(), format!("create the file {path} to halt a bot"))
        }
        Err(error) => {
            let remedy = "set control.socket to a private path, so that `candlewick halt` can reach a bot";
            Check::Control.warn(error.to_string(), remedy)
        }
    }
}

pub(super) async fn check_signals(loaded: &LoadedConfig, report: &mut dyn FnMut(Finding)) {
    let signals = &loaded.config.signals;
    // An unreadable list is reported as a configuration problem.
    if let Some(summary) = describe_list(loaded, None) {
        let zone = &signals.timezone;
        let is_over = summary.contains("; no entry is pending");
        report(if is_over {
            Check::Signals.warn(
                format!("list {summary}: all entries are in the past"),
                "add future entries, or use a backtest or a sandbox that starts before the entries",
            )
        } else {
            Check::Signals.ok(format!("list {summary}; times without a zone are in {zone}"))
        });
    }
    if let Some(address) = signals.listen
        && signal_problems(loaded).is_empty()
    {
        report(check_webhook(loaded, address).await);
    }
    if signals.stdin {
        report(Check::Signals.ok("standard input accepts one JSON object per line"));
    }
}

async fn check_webhook(loaded: &LoadedConfig, address: SocketAddr) -> Finding {
    let signals = &loaded.config.signals;
    let senders = match signals.allowed_addresses.len() {
        0 => "from any address".to_owned(),
        1 => "from 1 address or network".to_owned(),
        count => format!("from {count} addresses or networks"),
    };
    let proxy = if signals.behind_proxy { ", as reported by the proxy" } else { "" };
    let limit = signals.requests_per_minute;
    let webhook = format!(
        "webhook http://{address}/signal accepts {limit} requests per minute {senders}{proxy}; each needs the secret"
    );
    match TcpListener::bind(address).await {
        Ok(_) => Check::Signals.ok(webhook),
        Err(_) if is_bot_running(loaded).await => {
            Check::Signals.ok(format!("{webhook}; the running bot already listens there"))
        }
        Err(error) => Check::Signals.fail(
            format!("the webhook cannot listen at {address}: {error}"),
            "set signals.listen to an address of this machine and a free port, such as 127.0.0.1:7790",
        ),
    }
}

async fn is_bot_running(loaded: &LoadedConfig) -> bool {
    match control_paths(loaded) {
        Ok(paths) => send_order(&paths.socket, &ControlOrder::Status, None).await.is_ok(),
        Err(_) => false,
    }
}

pub(super) fn check_time_zones(risk: &RiskSettings, now: Millis) -> Finding {
    let now = DateTime::from_timestamp_millis(now.get()).unwrap_or_default();
    let mut parts =
        vec![format!("daily limits reset at {} {}", risk.day_start, describe_zone(&risk.day_timezone, now))];
    for hours in &risk.hours {
        let zone = describe_zone(&hours.timezone, now);
        parts.push(format!("trades may open from {} to {} {zone}", hours.from, hours.to));
    }
    if risk.hours.is_empty() {
        parts.push("trades may open at all hours (risk.hours is empty)".to_owned());
    }
    let text = parts.join("; ");
    let zones = std::iter::once(&risk.day_timezone).chain(risk.hours.iter().map(|hours| &hours.timezone));
    let wrong: Vec<&str> = zones.map(String::as_str).filter(|one| parse_time_zone(one).is_none()).collect();
    if wrong.is_empty() {
        Check::TimeZones.ok(text)
    } else {
        let remedy =
            format!("{} is not a time zone: use an IANA name, such as Europe/London", wrong.join(", "));
        Check::TimeZones.fail(text, remedy)
    }
}

fn describe_zone(name: &str, now: DateTime<Utc>) -> String {
    let Some(zone) = parse_time_zone(name) else { return name.to_owned() };
    let local = now.with_timezone(&zone).format("%H:%M");
    let offset = |moment: DateTime<Utc>| zone.offset_from_utc_datetime(&moment.naive_utc()).fix();
    // DST changes occur twice a year, at least three months apart, so three samples detect them.
    let changes = [91, 182, 273].iter().any(|days| offset(now + Duration::days(*days)) != offset(now));
    let summer = if changes { ", with summer time" } else { "" };
    format!("{name} (now {local}{summer})")
}

#[cfg(test)]
mod tests {
    use super::super::finding::FindingStatus;
    use super::*;
    use crate::tests::webhook_secret;
    use candlewick_engine::Hours;

    async fn findings(section: &str, list: &str) -> Vec<Finding> {
        let (folder, secret) = webhook_secret();
        let path = folder.path().join("list.csv");
        std::fs::write(&path, list).unwrap();
        let quoted = |path: &std::path::Path| format!("{:?}", path.display().to_string());
        let section = section.replace("SECRET", &quoted(&secret)).replace("LIST", &quoted(&path));
        let bot = "[[bots]]\nname = \"btc\"\nsymbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"coin\"\nclose_type = \"01:00\"\n";
        let loaded = LoadedConfig::from_text(&format!("[signals]\n{section}\n{bot}")).unwrap();
        let mut found = Vec::new();
        check_signals(&loaded, &mut |finding| found.push(finding)).await;
        found
    }

    #[tokio::test]
    async fn reports_signal_sources_and_fails_for_unusable_ones() {
        assert_eq!(findings("", "").await, []);
        let found =
            findings("list = LIST\ntimezone = \"Europe/Berlin\"\nstdin = true", "10:30;BTCUSDT;CALL").await;
        assert_eq!(
            found.iter().map(|finding| finding.mark).collect::<Vec<_>>(),
            [FindingStatus::Ok, FindingStatus::Ok]
        );
        assert!(found[0].text.contains("1 entry") && found[0].text.contains("Europe/Berlin"), "{found:?}");
        let over = findings("list = LIST", "2020-01-05;10:30;BTCUSDT;CALL").await;
        assert!(
            over[0].mark == FindingStatus::Warn && over[0].text.contains("2020-01-05T10:30:00Z"),
            "{over:?}"
        );
        let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = taken.local_addr().unwrap();
        let webhook =
            format!("listen = \"{address}\"\nsecret_file = SECRET\nallowed_addresses = [\"10.0.0.1\"]");
        let found = findings(&webhook, "").await;
        assert!(
            found[0].mark == FindingStatus::Fail && found[0].text.contains(&address.to_string()),
            "{found:?}"
        );
        drop(taken);
        let found = findings(&webhook, "").await;
        assert!(found[0].mark == FindingStatus::Ok && found[0].text.contains("from 1 address"), "{found:?}");
    }

    fn check_zone(zone: &str, mark: FindingStatus, part: &str) {
        // 2026-01-05 12:00 UTC, and half a year later.
        let risk = RiskSettings { day_timezone: zone.to_owned(), ..RiskSettings::default() };
        let finding = check_time_zones(&risk, Millis::new(1_767_614_400_000));
        assert!(finding.mark == mark && finding.to_string().contains(part), "{finding}");
    }

    #[test]
    fn reports_times_of_day_with_their_zones() {
        check_zone("UTC", FindingStatus::Ok, "reset at 00:00 UTC (now 12:00); trades may open at all hours");
        check_zone("America/New_York", FindingStatus::Ok, "(now 07:00, with summer time)");
        check_zone("Asia/Tokyo", FindingStatus::Ok, "(now 21:00)");
        check_zone("Mars/Base", FindingStatus::Fail, "Mars/Base is not a time zone");
        let (from, to, timezone) = ("09:00".into(), "17:00".into(), "Europe/London".into());
        let hours = Hours { days: Vec::new(), from, to, timezone };
        let risk = RiskSettings { hours: vec![hours], ..RiskSettings::default() };
        let finding = check_time_zones(&risk, Millis::new(1_783_252_800_000));
        assert!(finding.text.contains("open from 09:00 to 17:00 Europe/London (now 13:00"), "{finding}");
    }
}
