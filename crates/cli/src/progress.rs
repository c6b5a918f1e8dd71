//! Progress on stderr. It is shown only on a terminal, and only for work that takes longer than a second.

use crate::arguments::GlobalArguments;
use crate::host::{HostSession, session};
use candlewick_app as app;
use candlewick_broker::clock::Stopwatch;
use candlewick_sdk::escape_hidden;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

const SHOW_DELAY: Duration = Duration::from_secs(1);
const FRAME_INTERVAL: Duration = Duration::from_millis(120);

pub(crate) struct Progress {
    what: String,
    watch: Stopwatch,
    visible: bool,
    bar: Option<ProgressBar>,
    session: Option<HostSession>,
}

impl Progress {
    pub(crate) fn new(what: impl Into<String>, global: &GlobalArguments) -> Self {
        Self {
            what: escape_hidden(&what.into()).into_owned(),
            watch: Stopwatch::start(),
            visible: is_visible(global),
            bar: None,
            session: session(),
        }
    }

    pub(crate) fn update(&mut self, done: u64, total: u64) {
        if let Some(session) = &self.session {
            session.report_progress(&self.what, done, total);
        }
        if !self.visible || self.watch.elapsed() < SHOW_DELAY {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| build_bar(&self.what, total));
        bar.set_length(total);
        bar.set_position(done);
    }

    pub(crate) fn set_detail(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{}, {}", self.what, escape_hidden(text)));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

pub(crate) struct StderrBars<'a>(pub(crate) &'a GlobalArguments);

impl app::Progress for StderrBars<'_> {
    fn bar(&self, work: &str) -> Box<dyn app::ProgressBar> {
        Box::new(Progress::new(work, self.0))
    }

    fn spinner(&self, work: &str) -> Box<dyn Send> {
        Box::new(Spinner::start(work, self.0))
    }
}

impl app::ProgressBar for Progress {
    fn update(&mut self, done: u64, total: u64) {
        Self::update(self, done, total);
    }

    fn set_text(&mut self, text: String) {
        if !self.visible || self.watch.elapsed() < SHOW_DELAY {
            return;
        }
        let spinner = self.bar.get_or_insert_with(|| {
            let spinner = ProgressBar::new_spinner();
            spinner.enable_steady_tick(FRAME_INTERVAL);
            spinner
        });
        spinner.set_message(escape_hidden(&text).into_owned());
    }
}

pub(crate) struct Spinner {
    /// Stop handle: dropping it ends the spinner's thread.
    _done: Option<mpsc::Sender<()>>,
}

impl Spinner {
    fn start(what: &str, global: &GlobalArguments) -> Self {
        if !is_visible(global) {
            return Self { _done: None };
        }
        let (done, is_done) = mpsc::channel::<()>();
        let what = escape_hidden(what).into_owned();
        std::thread::spawn(move || {
            if is_done.recv_timeout(SHOW_DELAY) == Err(RecvTimeoutError::Timeout) {
                let spinner = ProgressBar::new_spinner().with_message(what);
                spinner.enable_steady_tick(FRAME_INTERVAL);
                // The call returns when the sender is dropped at the end of the work.
                let _ = is_done.recv();
                spinner.finish_and_clear();
            }
        });
        Self { _done: Some(done) }
    }
}

pub(crate) fn with_spinner<T>(what: &str, global: &GlobalArguments, work: impl FnOnce() -> T) -> T {
    let _spinner = Spinner::start(what, global);
    work()
}

fn is_visible(global: &GlobalArguments) -> bool {
    !global.quiet && std::io::stderr().is_terminal()
}

fn build_bar(what: &str, total: u64) -> ProgressBar {
    const BAR_TEMPLATE: &str = "{msg} {wide_bar} {percent:>3} %  {eta} left";
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template(BAR_TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style).with_message(what.to_owned())
}

const LINE_INTERVAL: Duration = Duration::from_secs(15);

pub(crate) struct ReadingProgress<'a> {
    pub(crate) global: &'a GlobalArguments,
    pub(crate) is_full_screen: bool,
}

impl app::Progress for ReadingProgress<'_> {
    fn bar(&self, work: &str) -> Box<dyn app::ProgressBar> {
        if is_visible(self.global) && !self.is_full_screen {
            return StderrBars(self.global).bar(work);
        }
        Box::new(LineProgress { work: work.to_owned(), watch: Stopwatch::start(), next: LINE_INTERVAL })
    }

    fn spinner(&self, work: &str) -> Box<dyn Send> {
        StderrBars(self.global).spinner(work)
    }
}

struct LineProgress {
    work: String,
    watch: Stopwatch,
    next: Duration,
}

impl LineProgress {
    fn next_line(&mut self, elapsed: Duration, (done, total): (u64, u64)) -> Option<String> {
        if elapsed < self.next {
            return None;
        }
        self.next = elapsed + LINE_INTERVAL;
        let (work, percent) = (&self.work, u128::from(done) * 100 / u128::from(total.max(1)));
        let so_far = format!("{work}: {done} of {total} entries, {percent} %");
        if done == 0 {
            return Some(so_far);
        }
        let left = elapsed.as_secs_f64() * total.saturating_sub(done) as f64 / done as f64;
        let (minutes, seconds) = ((left / 60.0).round(), left.round());
        let left = if seconds < 100.0 { format!("{seconds} s") } else { format!("{minutes} min") };
        Some(format!("{so_far}, about {left} left"))
    }
}

impl app::ProgressBar for LineProgress {
    fn update(&mut self, done: u64, total: u64) {
        if let Some(line) = self.next_line(self.watch.elapsed(), (done, total)) {
            tracing::warn!("{line}");
        }
    }

    fn set_text(&mut self, _text: String) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_progress_lines_with_the_remaining_time() {
        let mut lines =
            LineProgress { work: "reading".to_owned(), watch: Stopwatch::start(), next: LINE_INTERVAL };
        let mut at =
            |seconds: u64, done: u64| lines.next_line(Duration::from_secs(seconds), (done, 50_000_000));
        let printed = [at(0, 0), at(14, 999_000), at(15, 1_000_000), at(29, 2_000_000), at(45, 40_000_000)];
        // 49 million left at 1 million per 15 s, and 10 million at 40 million per 45 s.
        let expected = [
            None,
            None,
            Some("reading: 1000000 of 50000000 entries, 2 %, about 12 min left"),
            None,
            Some("reading: 40000000 of 50000000 entries, 80 %, about 11 s left"),
        ];
        assert_eq!(printed, expected.map(|line| line.map(str::to_owned)));
        assert_eq!(at(100, 0).as_deref(), Some("reading: 0 of 50000000 entries, 0 %"));
    }
}
