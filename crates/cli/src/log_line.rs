//! A line of the log as a JSON object: when, how severe, from where, and what.

use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{Format, Json, Writer};
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// The variable that sets the format from the first line on.
const VARIABLE: &str = "CANDLEWICK_LOG__FORMAT";

/// Whether lines are JSON. Clones are of one log.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineForm(Arc<AtomicBool>);

impl LineForm {
    /// As the environment says, before any configuration is read.
    pub(crate) fn of_environment() -> Self {
        let is_json = std::env::var(VARIABLE).is_ok_and(|value| value == "json");
        Self(Arc::new(AtomicBool::new(is_json)))
    }

    pub(crate) fn is_json(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn set_json(&self, is_json: bool) {
        self.0.store(is_json, Ordering::Relaxed);
    }
}

/// A line that says this.
pub(crate) fn json_line(level: &str, message: &str) -> String {
    format!("{}\n", json!({ "timestamp": now(), "level": level, "target": "candlewick", "message": message }))
}

/// A line of something that happened, a JSON object itself.
pub(crate) fn json_event(name: &str, event: &str) -> String {
    let message = name.replace('_', " ");
    let begin = json!({ "timestamp": now(), "level": "INFO", "target": "candlewick", "message": message });
    format!("{},{}\n", begin.to_string().trim_end_matches('}'), event.trim_start_matches('{'))
}

/// The time of day, as every other line has it.
fn now() -> String {
    let mut text = String::new();
    let _ = SystemTime.format_time(&mut Writer::new(&mut text));
    text
}

/// Writes events of the program as lines of one form or the other.
pub(crate) struct EitherForm {
    form: LineForm,
    text: Format,
    json: Format<Json>,
}

impl EitherForm {
    /// Lines of this form; of those for people, the place in the program only where that is asked for.
    pub(crate) fn new(form: LineForm, with_target: bool) -> Self {
        let json = Format::default().json().flatten_event(true);
        let json = json.with_current_span(false).with_span_list(false);
        Self { form, text: Format::default().with_target(with_target), json }
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
