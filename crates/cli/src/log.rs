//! Writes the log to stderr from a separate thread.
//!
//! A stalled terminal (Ctrl-S, a pager) never blocks the program. Every event is printed as a single line.

use crate::arguments::GlobalArguments;
use crate::repeats::WarningFilter;
use crate::terminal::{escape_json, sanitize_coloured_line, sanitize_lines};
use anstream::adapter::strip_str;
use candlewick_broker::clock::{Clock, Stopwatch};
use candlewick_records::format_utc;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::fmt::format::{Format, Full, Json, Writer};
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, MakeWriter};
use tracing_subscriber::registry::LookupSpan;

/// Maximum number of queued lines. Excess lines are dropped and counted.
const MAX_QUEUED_LINES: usize = 4_096;
const MAX_STORED_LINES: usize = 200;
const IDLE_TIMEOUT: Duration = Duration::from_hours(1);
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub(crate) struct LogWriter {
    queue: SyncSender<LogMessage>,
    dropped: Arc<AtomicU64>,
    pub(crate) format: LineFormat,
}

pub(crate) enum LogMessage {
    Text(String),
    Warning(String),
    /// Sends later lines to the full-screen view. If stderr is a terminal, `Restore` prints the latest of them there.
    #[cfg_attr(not(feature = "tui"), expect(dead_code, reason = "used by the full-screen view"))]
    Divert(SyncSender<String>),
    #[cfg_attr(not(feature = "tui"), expect(dead_code, reason = "used by the full-screen view"))]
    Restore,
    Flush(SyncSender<()>),
}

impl LogWriter {
    fn start(target: impl Write + Send + 'static, form: LineFormat) -> Self {
        let (queue, lines) = sync_channel(MAX_QUEUED_LINES);
        let dropped = Arc::new(AtomicU64::new(0));
        let log = Log {
            target,
            dropped: Arc::clone(&dropped),
            form: form.clone(),
            repeats: WarningFilter::default(),
            watch: Stopwatch::start(),
            view: None,
            stored: VecDeque::new(),
        };
        std::thread::spawn(move || log.run(&lines));
        Self { queue, dropped, format: form }
    }

    pub(crate) fn print(&self, text: &str) {
        let text = if self.format.is_json() {
            self.format.format_json_line("INFO", text.trim_end())
        } else {
            sanitize_lines(text).into_owned()
        };
        self.send(LogMessage::Text(text));
    }

    /// Prints a failure as a log line if the log format is JSON. Returns whether the failure was printed.
    pub(crate) fn print_failure(&self, text: &str) -> bool {
        let is_json = self.format.is_json();
        if is_json {
            self.send(LogMessage::Text(self.format.format_json_line("ERROR", text)));
        }
        is_json
    }

    /// Prints a JSON log line that contains the fields of the JSON object `event`.
    pub(crate) fn print_event(&self, name: &str, event: &str) {
        let line = self.format.format_json_line("INFO", &name.replace('_', " "));
        let (line, event) = (line.trim_end().trim_end_matches('}'), escape_json(event));
        self.send(LogMessage::Text(format!("{line},{}\n", event.trim_start_matches('{'))));
    }

    pub(crate) fn send(&self, line: LogMessage) {
        if let Err(TrySendError::Full(_)) = self.queue.try_send(line) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn flush(&self) {
        let (done, is_done) = sync_channel(1);
        let queue = self.queue.clone();
        // The queue may be full. Sending from a separate thread makes the timeout apply to both waits.
        std::thread::spawn(move || queue.send(LogMessage::Flush(done)));
        let _ = is_done.recv_timeout(FLUSH_TIMEOUT);
    }
}

struct Log<T> {
    target: T,
    dropped: Arc<AtomicU64>,
    form: LineFormat,
    repeats: WarningFilter,
    watch: Stopwatch,
    view: Option<SyncSender<String>>,
    stored: VecDeque<String>,
}

impl<T: Write> Log<T> {
    fn run(mut self, lines: &Receiver<LogMessage>) {
        loop {
            let due = self.repeats.next_due();
            let timeout = due.map_or(IDLE_TIMEOUT, |due| due.saturating_sub(self.watch.elapsed()));
            match lines.recv_timeout(timeout) {
                Ok(line) => self.handle(line),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let counts = self.repeats.take_due_summaries(self.watch.elapsed());
            self.write_warnings(&counts);
        }
    }

    fn handle(&mut self, line: LogMessage) {
        match line {
            LogMessage::Text(text) => self.write(&text),
            LogMessage::Warning(line) => {
                if self.repeats.admit(extract_message(&line).trim_end(), self.watch.elapsed()) {
                    self.write(&line);
                }
            }
            LogMessage::Divert(view) => self.view = Some(view),
            LogMessage::Restore => {
                self.view = None;
                for text in std::mem::take(&mut self.stored) {
                    self.write(&text);
                }
            }
            LogMessage::Flush(done) => {
                let counts = self.repeats.take_all_summaries(self.watch.elapsed());
                self.write_warnings(&counts);
                let _ = self.target.flush();
                let _ = done.try_send(());
            }
        }
    }

    fn write_warnings(&mut self, messages: &[String]) {
        for message in messages {
            self.write(&self.form.format_warning(message));
        }
    }

    fn write(&mut self, text: &str) {
        if let Some(view) = &self.view {
            // If the view is slow, it misses lines. The stored lines are written when the view ends.
            for line in strip_str(text).to_string().lines() {
                drop(view.try_send(line.to_owned()));
            }
            if io::stderr().is_terminal() {
                if self.stored.len() == MAX_STORED_LINES {
                    self.stored.pop_front();
                }
                self.stored.push_back(text.to_owned());
                return;
            }
        }
        let count = self.dropped.swap(0, Ordering::Relaxed);
        if count > 0 {
            let message = format!("{count} log lines skipped: the terminal did not keep up");
            let _ = self.target.write_all(self.form.format_warning(&message).as_bytes());
        }
        // The program continues even if the output is closed.
        let _ = self.target.write_all(text.as_bytes());
    }
}

fn extract_message(line: &str) -> String {
    let object = serde_json::from_str::<Value>(line).ok();
    if let Some(message) = object.as_ref().and_then(|object| object["message"].as_str()) {
        return message.to_owned();
    }
    let plain = strip_str(line).to_string();
    plain.split_once(WARN_MARKER).map_or(plain.as_str(), |(_, message)| message).to_owned()
}

pub(crate) struct EventWriter<'a> {
    log: &'a LogWriter,
    to_line: fn(String) -> LogMessage,
}

impl Write for EventWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_end_matches('\n');
        let shown = if self.log.format.is_json() { escape_json(text) } else { sanitize_coloured_line(text) };
        self.log.send((self.to_line)(format!("{shown}\n")));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LogWriter {
    type Writer = EventWriter<'a>;

    fn make_writer(&'a self) -> EventWriter<'a> {
        EventWriter { log: self, to_line: LogMessage::Text }
    }

    fn make_writer_for(&'a self, event: &Metadata<'_>) -> EventWriter<'a> {
        let to_line: fn(String) -> LogMessage =
            if *event.level() == Level::WARN { LogMessage::Warning } else { LogMessage::Text };
        EventWriter { log: self, to_line }
    }
}

const FORMAT_VARIABLE: &str = "CANDLEWICK_LOG__FORMAT";
const WARN_MARKER: &str = " WARN ";

#[derive(Clone, Default)]
pub(crate) struct LineFormat {
    is_json: Arc<AtomicBool>,
    /// Clock of the venue during a run. If `None`, the system clock is used.
    clock: Arc<RwLock<Option<Arc<dyn Clock>>>>,
}

impl LineFormat {
    pub(crate) fn is_json(&self) -> bool {
        self.is_json.load(Ordering::Relaxed)
    }

    pub(crate) fn set_json(&self, is_json: bool) {
        self.is_json.store(is_json, Ordering::Relaxed);
    }

    pub(crate) fn set_clock(&self, clock: Option<Arc<dyn Clock>>) {
        *self.clock.write().unwrap_or_else(PoisonError::into_inner) = clock;
    }

    fn format_json_line(&self, level: &str, message: &str) -> String {
        let line = json!({ "timestamp": self.timestamp(), "level": level, "target": "candlewick", "message": message });
        format!("{}\n", escape_json(&line.to_string()))
    }

    pub(crate) fn format_warning(&self, message: &str) -> String {
        if self.is_json() {
            self.format_json_line("WARN", message)
        } else {
            format!("{WARN_MARKER}{message}\n")
        }
    }

    fn timestamp(&self) -> String {
        let mut text = String::new();
        let _ = self.format_time(&mut Writer::new(&mut text));
        text
    }
}

impl FormatTime for LineFormat {
    fn format_time(&self, writer: &mut Writer<'_>) -> std::fmt::Result {
        let clock = self.clock.read().unwrap_or_else(PoisonError::into_inner).clone();
        match clock {
            Some(clock) => writer.write_str(&format_utc(clock.now())),
            None => SystemTime.format_time(writer),
        }
    }
}

pub(crate) struct TextOrJsonFormat {
    form: LineFormat,
    text: Format<Full, LineFormat>,
    json: Format<Json, LineFormat>,
}

impl TextOrJsonFormat {
    pub(crate) fn new(form: LineFormat, with_target: bool) -> Self {
        let json = Format::default().with_timer(form.clone()).json().flatten_event(true);
        let json = json.with_current_span(false).with_span_list(false);
        let text = Format::default().with_timer(form.clone()).with_target(with_target);
        Self { form, text, json }
    }
}

impl<S, N> FormatEvent<S, N> for TextOrJsonFormat
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

pub(crate) fn start_log(global: &GlobalArguments) -> LogWriter {
    let level = match (global.quiet, global.verbose) {
        (true, _) => LevelFilter::ERROR,
        (false, 0) => LevelFilter::WARN,
        (false, 1) => LevelFilter::INFO,
        (false, 2) => LevelFilter::DEBUG,
        (false, _) => LevelFilter::TRACE,
    };
    let colours =
        std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let form = LineFormat::default();
    form.set_json(std::env::var(FORMAT_VARIABLE).is_ok_and(|value| value == "json"));
    let writer = LogWriter::start(std::io::stderr(), form.clone());
    // Tests may start several apps in one process. Only the first can set the subscriber.
    let _ = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(writer.clone())
        .with_ansi(colours)
        .event_format(TextOrJsonFormat::new(form, global.verbose > 1))
        .try_init();
    writer
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    type Written = Arc<Mutex<Vec<u8>>>;

    struct SlowTarget(Written, Option<Receiver<()>>);

    impl Write for SlowTarget {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.1.as_ref().map(Receiver::recv);
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn written_text(written: &Written) -> String {
        String::from_utf8(written.lock().unwrap().clone()).unwrap()
    }

    #[test]
    fn counts_lines_that_a_stalled_terminal_missed() {
        let ((go, held), written) = (sync_channel(0), Written::default());
        let writer = LogWriter::start(SlowTarget(Arc::clone(&written), Some(held)), LineFormat::default());
        for number in 0..MAX_QUEUED_LINES * 2 {
            writer.make_writer().write_all(format!("line {number}\n").as_bytes()).unwrap();
        }
        drop(go);
        writer.flush();
        let text = written_text(&written);
        let counts = text.lines().filter_map(|line| {
            let count = line.strip_suffix(" log lines skipped: the terminal did not keep up")?;
            count.strip_prefix(WARN_MARKER)?.parse::<usize>().ok()
        });
        let skipped: usize = counts.sum();
        let shown = text.lines().filter(|line| line.starts_with("line ")).count();
        assert!(skipped > 0 && shown + skipped == MAX_QUEUED_LINES * 2, "{shown} shown, {skipped} skipped");
    }

    #[test]
    fn event_is_one_escaped_line() {
        let hostile = "two\nlines \u{1b}]0;title\u{7} \u{9b}2J \u{202e} \u{2028}";
        let text = logged(false, |_| {
            tracing::warn!("{hostile}");
            tracing::info!(what = %hostile, text = hostile, "heard");
        });
        assert_eq!(text.lines().count(), 2, "{text:?}");
        assert_eq!(text.matches("\\u{202e} \\u{2028}").count(), 3, "{text}");
    }

    fn logged(is_json: bool, log: impl FnOnce(&LogWriter)) -> String {
        let (written, form) = (Written::default(), LineFormat::default());
        form.set_json(is_json);
        let writer = LogWriter::start(SlowTarget(Arc::clone(&written), None), form.clone());
        let events = tracing_subscriber::fmt().with_writer(writer.clone()).with_ansi(true);
        let events = events.event_format(TextOrJsonFormat::new(form, false)).finish();
        tracing::subscriber::with_default(events, || log(&writer));
        writer.flush();
        let text = written_text(&written);
        let text = if is_json { text } else { strip_str(&text).to_string() };
        let is_raw = |letter: char| letter != '\n' && candlewick_sdk::is_hidden(letter);
        assert!(!text.chars().any(is_raw), "{text:?}");
        text
    }

    #[test]
    fn json_lines_are_escaped_objects() {
        let hostile = "two\nlines \u{1b}]0;title\u{7} \u{9b}2J \u{202e} \u{2028} \"}";
        let text = logged(true, |log| {
            for number in 0..13 {
                tracing::warn!(number, "EURUSD: no price: {hostile}");
            }
            for _ in 0..2 {
                tracing::error!(text = hostile, "heard");
            }
            log.print("a note\nof two lines\n");
            let event = serde_json::json!({ "event": "in_doubt", "bot": hostile });
            log.print_event("in_doubt", &event.to_string());
            assert!(log.print_failure(&format!("error: {hostile}")));
        });
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let logged =
            lines.iter().map(|line| (line["level"].as_str().unwrap(), line["message"].as_str().unwrap()));
        let price = format!("EURUSD: no price: {hostile}");
        let failure = format!("error: {hostile}");
        let again = format!("... and 12 similar in the last 0 s, latest: {price}");
        let expected = [
            ("WARN", price.as_str()),
            ("ERROR", "heard"),
            ("ERROR", "heard"),
            ("INFO", "a note\nof two lines"),
            ("INFO", "in doubt"),
            ("ERROR", failure.as_str()),
            ("WARN", again.as_str()),
        ];
        assert!(logged.eq(expected), "{lines:?}");
        assert_eq!((&lines[1]["text"], &lines[4]["bot"]), (&hostile.into(), &hostile.into()));
        for line in &lines {
            let time = chrono::DateTime::parse_from_rfc3339(line["timestamp"].as_str().unwrap());
            assert!(time.is_ok() && line["target"].is_string(), "{line}");
        }
    }
}
