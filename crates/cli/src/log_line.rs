//! A line of the log as a JSON object: when, how severe, from where, and what.

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

/// The variable that sets the format from the first line on.
const VARIABLE: &str = "CANDLEWICK_LOG__FORMAT";

/// Whether lines are JSON, and by which clock they are dated. Clones are of one log.
#[derive(Clone, Default)]
pub(crate) struct LineForm {
    is_json: Arc<AtomicBool>,
    /// Clock of the venue while a run goes on, `None` for the system's.
    clock: Arc<RwLock<Option<Arc<dyn Clock>>>>,
}

impl LineForm {
    /// As the environment says, before any configuration is read.
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

    /// Dates lines by the venue's clock, as the lines of the screen are. `None` goes back to the system's.
    pub(crate) fn set_clock(&self, clock: Option<Arc<dyn Clock>>) {
        *self.clock.write().unwrap_or_else(PoisonError::into_inner) = clock;
    }

    /// Returns a line with this message.
    pub(crate) fn json_line(&self, level: &str, message: &str) -> String {
        let now = self.now();
        format!(
            "{}\n",
            json!({ "timestamp": now, "level": level, "target": "candlewick", "message": message })
        )
    }

    /// Returns a line of an event that is a JSON object itself.
    pub(crate) fn json_event(&self, name: &str, event: &str) -> String {
        let (now, message) = (self.now(), name.replace('_', " "));
        let begin = json!({ "timestamp": now, "level": "INFO", "target": "candlewick", "message": message });
        format!("{},{}\n", begin.to_string().trim_end_matches('}'), event.trim_start_matches('{'))
    }

    /// The time of day, as every other line has it.
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

/// Writes events of the program as lines of one form or the other.
pub(crate) struct EitherForm {
    form: LineForm,
    text: Format<Full, LineForm>,
    json: Format<Json, LineForm>,
}

impl EitherForm {
    /// Lines of this form; of those for people, the place in the program only where that is asked for.
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
