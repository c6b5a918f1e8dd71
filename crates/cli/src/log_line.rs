//! Log lines as JSON objects: timestamp, level, target and message.

use crate::terminal::json as visible_json;
use candlewick_broker::clock::Clock;
use candlewick_records::utc;
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{Format, Full, Json, Writer};
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

const VARIABLE: &str = "CANDLEWICK_LOG__FORMAT";
/// Level of a warning in a line of text.
pub(crate) const WARN: &str = " WARN ";

#[derive(Clone, Default)]
pub(crate) struct LineForm {
    is_json: Arc<AtomicBool>,
    /// Clock of the venue during a run, `None` for the system clock.
    clock: Arc<RwLock<Option<Arc<dyn Clock>>>>,
}

impl LineForm {
    pub(crate) fn of_environment() -> Self {
        let is_json = std::env::var(VARIABLE).is_ok_and(|value| value == "json");
        Self { is_json: Arc::new(AtomicBool::new(is_json)), clock: Arc::default() }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.is_json.load(Ordering::Relaxed)
    }

    pub(crate) fn set_json(&self, is_json: bool) {
        self.is_json.store(is_json, Ordering::Relaxed);
    }

    pub(crate) fn set_clock(&self, clock: Option<Arc<dyn Clock>>) {
        *self.clock.write().unwrap_or_else(PoisonError::into_inner) = clock;
    }

    pub(crate) fn json_line(&self, level: &str, message: &str) -> String {
        let line =
            json!({ "timestamp": self.now(), "level": level, "target": "candlewick", "message": message });
        format!("{}\n", visible_json(&line.to_string()))
    }

    /// Appends an event of the run, a JSON object, to the members of a line.
    pub(crate) fn json_event(&self, name: &str, event: &str) -> String {
        let line = self.json_line("INFO", &name.replace('_', " "));
        let event = visible_json(event);
        format!("{},{}\n", line.trim_end().trim_end_matches('}'), event.trim_start_matches('{'))
    }

    /// Formats a warning about the log itself.
    pub(crate) fn warning(&self, message: &str) -> String {
        if self.is_json() { self.json_line("WARN", message) } else { format!("{WARN}{message}\n") }
    }

    fn now(&self) -> String {
        let mut text = String::new();
        let _ = self.format_time(&mut Writer::new(&mut text));
        text
    }
}

impl FormatTime for LineForm {
    fn format_time(&self, writer: &mut Writer<'_>) -> std::fmt::Result {
        let clock = self.clock.read().unwrap_or_else(PoisonError::into_inner).clone();
        match clock {
            Some(clock) => writer.write_str(&utc(clock.now())),
            None => SystemTime.format_time(writer),
        }
    }
}

pub(crate) struct EitherForm {
    form: LineForm,
    text: Format<Full, LineForm>,
    json: Format<Json, LineForm>,
}

impl EitherForm {
    pub(crate) fn new(form: LineForm, with_target: bool) -> Self {
        let json = Format::default().with_timer(form.clone()).json().flatten_event(true);
        let json = json.with_current_span(false).with_span_list(false);
        let text = Format::default().with_timer(form.clone()).with_target(with_target);
        Self { form, text, json }
    }
}

impl<S, N> FormatEvent<S, N> for EitherForm
where
    S: Subscriber + for<'lookup> LookupSpan<'lookup>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        writer: Writer<'_>,
        event: &Event<'_>,
    ) -> std::fmt::Result {
        if self.form.is_json() {
            self.json.format_event(context, writer, event)
        } else {
            self.text.format_event(context, writer, event)
        }
    }
}
