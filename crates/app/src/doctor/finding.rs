//! Findings and timeouts of the preflight checks.

use anstyle::{AnsiColor, Style};
use candlewick_sdk::escape_hidden;
use serde::Serialize;
use serde_json::json;
use std::fmt;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    Configuration,
    Requests,
    Credentials,
    TradingApi,
    Wallets,
    OpenTrades,
    PriceApi,
    Candles,
    ClockSkew,
    Disk,
    Journal,
    Lease,
    Control,
    Signals,
    Data,
    TimeZones,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingStatus {
    Ok,
    Warn,
    Fail,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    pub check: Check,
    pub mark: FindingStatus,
    pub text: String,
    pub remedy: Option<String>,
}

impl Check {
    pub fn ok(self, text: impl Into<String>) -> Finding {
        Finding { check: self, mark: FindingStatus::Ok, text: text.into(), remedy: None }
    }

    pub fn warn(self, text: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { check: self, mark: FindingStatus::Warn, text: text.into(), remedy: Some(remedy.into()) }
    }

    pub fn fail(self, text: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { check: self, mark: FindingStatus::Fail, text: text.into(), remedy: Some(remedy.into()) }
    }

    fn label(self) -> String {
        json!(self).as_str().unwrap_or_default().replace('_', " ").replace("api", "API")
    }
}

impl FindingStatus {
    const fn label(self) -> (&'static str, Style) {
        match self {
            Self::Ok => ("ok", AnsiColor::Green.on_default()),
            Self::Warn => ("warn", AnsiColor::Yellow.on_default()),
            Self::Fail => ("FAIL", AnsiColor::Red.on_default().bold()),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { check, mark, text, remedy } = self;
        let (label, style) = mark.label();
        // Text from the venue or the system may have line breaks, but a finding is one line.
        let flat = |s: &str| escape_hidden(&s.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned();
        write!(f, "{style}{label:<4}{style:#}  {:<13}  {}", check.label(), flat(text))?;
        match remedy {
            Some(remedy) => write!(f, " → {}", flat(remedy)),
            None => Ok(()),
        }
    }
}

pub(super) const REQUEST_TIMEOUT: Duration = Duration::from_secs(15);
pub(super) const CHECK_TIMEOUT: Duration = Duration::from_secs(10);
pub(super) const READ_TIMEOUT: Duration = Duration::from_mins(1);

pub(super) async fn with_timeout(
    limit: Duration,
    late: Finding,
    check: impl Future<Output = Finding>,
) -> Finding {
    tokio::time::timeout(limit, check).await.unwrap_or(late)
}

pub(super) async fn run_blocking(
    limit: Duration,
    late: Finding,
    work: impl FnOnce() -> Finding + Send + 'static,
) -> Finding {
    let broken = late.clone();
    with_timeout(limit, late, async { tokio::task::spawn_blocking(work).await.unwrap_or(broken) }).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renders_a_finding_on_one_line_with_its_hint() {
        let finding = Check::Disk.fail("full\nto the brim", "make\r\nroom");
        let line = anstream::adapter::strip_str(&finding.to_string()).to_string();
        assert_eq!(line, "FAIL  disk           full to the brim → make room");
        let fine = anstream::adapter::strip_str(&Check::ClockSkew.ok("0 s").to_string()).to_string();
        assert_eq!(fine, "ok    clock skew     0 s");
    }

    #[tokio::test]
    async fn reports_slow_checks_as_late() {
        let late = || Check::Disk.fail("late", "look");
        assert_eq!(with_timeout(Duration::from_millis(1), late(), std::future::pending()).await, late());
        let in_time = Check::Disk.ok("in time");
        assert_eq!(with_timeout(CHECK_TIMEOUT, late(), async { in_time.clone() }).await, in_time);
        assert_eq!(run_blocking(CHECK_TIMEOUT, late(), || panic!("broken")).await, late());
    }
}
