//! Test message to each channel.

use super::Tested;
use super::channels::{OpenChannel, name_of, open_all};
use crate::configuration::{AlertEvent, Loaded, Problems, section_problems};
use crate::error::AppError;
use candlewick_broker::clock::{Clock, Stopwatch, SystemClock};
use candlewick_notify::{Alert, Message, Severity};
use candlewick_sdk::suggest;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(15);

pub async fn test(loaded: &Loaded, channel: Option<&str>) -> Result<Vec<Tested>, AppError> {
    Problems::check(section_problems(loaded))?;
    let settings = &loaded.config.notify;
    if settings.channels.is_empty() {
        let problem = "no channel of alerts is configured";
        return Err(AppError::invalid(problem)
            .help("add [notify.channels.NAME] to the configuration: docs/alerts.md"));
    }
    if let Some(wanted) = channel.filter(|wanted| !settings.channels.contains_key(*wanted)) {
        let names: Vec<&str> = settings.channels.keys().map(String::as_str).collect();
        return Err(AppError::invalid(format!("there is no channel {wanted:?}; {}", suggest(wanted, names))));
    }
    let mut tested = Vec::new();
    for open in open_all(loaded)? {
        let is_of = |name: &str| {
            open.name == name || open.name.strip_prefix(name).is_some_and(|rest| rest.starts_with(' '))
        };
        if channel.is_none_or(is_of) {
            tested.push(send(&open, &settings.sender).await);
        }
    }
    Ok(tested)
}

async fn send(open: &OpenChannel, sender: &str) -> Tested {
    let (now, stopwatch) = (SystemClock::new().now().get(), Stopwatch::start());
    let text = format!("A test of the channel {}: what you read arrived.", open.name);
    let alert = Alert::new(now, Severity::Notice, &name_of(AlertEvent::Test), text);
    let message = Message {
        id: format!("test_{now}_{}", open.name.replace(' ', "_")),
        sender: sender.to_owned(),
        alerts: vec![alert],
        dropped: 0,
    };
    let sent = tokio::time::timeout(DEADLINE, open.delivery.deliver(&message)).await;
    let problem = match sent {
        Ok(Ok(())) => None,
        Ok(Err(failure)) => Some(failure.to_string()),
        Err(_) => Some("no answer in time".to_owned()),
    };
    let took_ms = u64::try_from(stopwatch.elapsed().as_millis()).unwrap_or(u64::MAX);
    Tested { channel: open.name.clone(), kind: open.kind.as_str(), problem, took_ms }
}
