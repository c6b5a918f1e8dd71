//! Child process with a time limit, because a checked strategy may exit, crash or never return.
//! Each reply is a line on the child's stdout. A random nonce at the start distinguishes replies from output
//! of the strategy. The child ends when it can no longer write to the parent.

use candlewick_broker::clock::Stopwatch;
use candlewick_sdk::testkit::{Check, Progress};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;
use std::time::Duration;

/// Interval between two position reports of the child, and maximum wait of the parent for output.
const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(100);
/// Maximum wait for a child to exit after the reply, or for output after the child has exited.
const EXIT_GRACE: Duration = Duration::from_secs(1);
const MAX_LINE_BYTES: u64 = 256 << 20;
/// Maximum number of lines in the channel. A child that prints faster than the parent reads has to wait.
const MAX_QUEUED_LINES: usize = 1_024;

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Message<T> {
    Begun(Check),
    At(Progress),
    Done(T),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputMode {
    Shown,
    /// Discards all lines except the last, which error messages quote.
    Hidden,
}

enum PipeOutput<T> {
    Message(Message<T>),
    Text(String),
    Closed,
}

struct ChildGuard(Child);

impl Drop for ChildGuard {
    fn drop(&mut self) {
        // The child may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Supervision<'a, T> {
    child: ChildGuard,
    output: Receiver<PipeOutput<T>>,
    /// Number of pipes that the child or its descendants still hold open.
    open_pipes: u32,
    printed: OutputMode,
    watch: Stopwatch,
    stage: Stage,
    last_line: String,
    progress: &'a mut dyn FnMut(u64),
    begun: u64,
}

pub(super) fn supervise<T: DeserializeOwned + Send + 'static>(
    mut command: Command,
    request: Vec<u8>,
    nonce: &str,
    limit: Duration,
    printed: OutputMode,
    progress: &mut dyn FnMut(u64),
) -> Result<T, UnfinishedCheck> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = ChildGuard(command.spawn().map_err(UnfinishedCheck::NotStarted)?);
    // This sender keeps the channel open after the child has closed its pipes.
    let (sender, output) = mpsc::sync_channel(MAX_QUEUED_LINES);
    if let Some(mut input) = child.0.stdin.take() {
        // A child that ends before it has read everything is reported by its exit status.
        thread::spawn(move || input.write_all(&request));
    }
    if let Some(stdout) = child.0.stdout.take() {
        let (sender, nonce) = (sender.clone(), nonce.to_owned());
        thread::spawn(move || read_lines(stdout, Some(&nonce), &sender));
    }
    if let Some(stderr) = child.0.stderr.take() {
        let sender = sender.clone();
        thread::spawn(move || read_lines(stderr, None, &sender));
    }
    let supervised = Supervision {
        child,
        output,
        open_pipes: 2,
        printed,
        watch: Stopwatch::start(),
        stage: Stage::default(),
        last_line: String::new(),
        progress,
        begun: 0,
    };
    supervised.wait(limit)
}

impl<T> Supervision<'_, T> {
    fn wait(mut self, limit: Duration) -> Result<T, UnfinishedCheck> {
        let mut ended: Option<(ExitStatus, Duration)> = None;
        loop {
            (self.progress)(self.begun);
            match self.output.recv_timeout(HEARTBEAT_INTERVAL) {
                Ok(PipeOutput::Message(Message::Done(reply))) => {
                    self.await_exit();
                    return Ok(reply);
                }
                Ok(PipeOutput::Message(Message::Begun(check))) => {
                    self.begun += 1;
                    self.stage.check = Some(check);
                }
                Ok(PipeOutput::Message(Message::At(position))) => {
                    self.stage.update(position, self.watch.elapsed());
                }
                Ok(PipeOutput::Text(line)) => self.print(line),
                Ok(PipeOutput::Closed) => self.open_pipes -= 1,
                Err(_) => {}
            }
            let now = self.watch.elapsed();
            if ended.is_none() {
                let status = self.child.0.try_wait().map_err(UnfinishedCheck::NotStarted)?;
                ended = status.map(|status| (status, now));
            }
            match ended {
                // A process started by the strategy may still hold the pipes.
                Some((status, at)) if self.open_pipes == 0 || now > at + EXIT_GRACE => {
                    return Err(UnfinishedCheck::Ended {
                        status,
                        stage: self.stage,
                        last_line: self.last_line,
                    });
                }
                None if now > limit => {
                    return Err(UnfinishedCheck::TimedOut { limit, elapsed: now, stage: self.stage });
                }
                Some(_) | None => {}
            }
        }
    }

    fn await_exit(&mut self) {
        let watch = Stopwatch::start();
        while self.open_pipes > 0
            && watch.elapsed() < EXIT_GRACE
            && matches!(self.child.0.try_wait(), Ok(None))
        {
            match self.output.recv_timeout(HEARTBEAT_INTERVAL) {
                Ok(PipeOutput::Text(line)) => self.print(line),
                Ok(PipeOutput::Closed) => self.open_pipes -= 1,
                Ok(PipeOutput::Message(_)) | Err(_) => {}
            }
        }
    }

    fn print(&mut self, line: String) {
        if self.printed == OutputMode::Shown {
            // stderr may be closed.
            let _ = writeln!(std::io::stderr(), "{line}");
        }
        self.last_line = line;
    }
}

fn read_lines<T: DeserializeOwned>(pipe: impl Read, nonce: Option<&str>, sender: &SyncSender<PipeOutput<T>>) {
    let mut reader = BufReader::new(pipe);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let read = reader.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes);
        let line = bytes.trim_ascii_end();
        if read.is_err() || bytes.is_empty() {
            break;
        }
        let document = nonce.and_then(|nonce| line.strip_prefix(nonce.as_bytes()));
        let message = document.and_then(|document| serde_json::from_slice(document).ok());
        let output = match message {
            Some(message) => PipeOutput::Message(message),
            None if line.is_empty() => continue,
            None => PipeOutput::Text(String::from_utf8_lossy(line).into_owned()),
        };
        if sender.send(output).is_err() {
            return;
        }
    }
    // The receiver may be gone.
    let _ = sender.send(PipeOutput::Closed);
}

/// Sends a message to the parent. Starts a new line, because the strategy may have printed part of a line.
pub(super) fn send_message<T: Serialize>(nonce: &str, message: &Message<T>) -> std::io::Result<()> {
    let mut line = format!("\n{nonce}").into_bytes();
    serde_json::to_writer(&mut line, message)?;
    line.push(b'\n');
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(&line)?;
    stdout.flush()
}

/// Starts a thread that reports the position of the checks, and ends this process if the parent has ended.
pub(super) fn report_position(nonce: String) {
    thread::spawn(move || {
        loop {
            thread::sleep(HEARTBEAT_INTERVAL);
            if send_message::<()>(&nonce, &Message::At(Progress::now())).is_err() {
                std::process::exit(1);
            }
        }
    });
}

/// Time without progress after which messages name the current candle instead of the average speed.
const STALL_THRESHOLD: Duration = Duration::from_millis(500);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stage {
    pub(super) check: Option<Check>,
    position: Progress,
    /// Time from the start to the last change of the position.
    moved: Duration,
}

impl Stage {
    pub(super) fn update(&mut self, position: Progress, at: Duration) {
        if position != self.position {
            (self.position, self.moved) = (position, at);
        }
    }

    fn describe(&self) -> String {
        self.check.map_or_else(|| "in its first run".to_owned(), |check| format!("while checking {check}"))
    }
}

#[derive(Debug, thiserror::Error)]
pub enum UnfinishedCheck {
    #[error("cannot start the process that checks the strategy: {0}")]
    NotStarted(#[source] std::io::Error),
    #[error("the strategy {} {}{}", describe_end(*status), stage.describe(), describe_last_line(last_line))]
    Ended { status: ExitStatus, stage: Stage, last_line: String },
    #[error("the strategy did not finish within {} {}{}", describe_duration(*limit), stage.describe(), describe_pace(stage, *elapsed))]
    TimedOut { limit: Duration, elapsed: Duration, stage: Stage },
}

impl UnfinishedCheck {
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotStarted(_) => "check that this program is executable and may start processes",
            Self::Ended { .. } => "a strategy must return from every call and must not exit or crash",
            Self::TimedOut { stage, elapsed, .. } if elapsed.saturating_sub(stage.moved) > *elapsed / 2 => {
                "look for an endless loop or a blocking call"
            }
            Self::TimedOut { .. } => "use fewer candles or faster code, or raise `strategy check --timeout`",
        }
    }
}

fn describe_end(status: ExitStatus) -> String {
    if let Some(code) = status.code() {
        return format!("ended the process with code {code}");
    }
    // The standard library prints it as "signal: 11 (SIGSEGV)".
    let text = status.to_string();
    let name = text.split(['(', ')']).nth(1).unwrap_or(&text);
    format!("was killed by {name}")
}

fn describe_last_line(line: &str) -> String {
    if line.is_empty() { String::new() } else { format!("; last output: {line}") }
}

fn describe_pace(stage: &Stage, elapsed: Duration) -> String {
    let Progress { candle, shown } = stage.position;
    let stalled = elapsed.saturating_sub(stage.moved);
    if shown == 0 {
        return String::new();
    }
    let pace = if stalled > STALL_THRESHOLD {
        format!("candle {candle} alone took {}", describe_duration(stalled))
    } else {
        let mean = elapsed.as_secs_f64() / shown as f64;
        format!("{shown} candles took {} each", describe_duration(Duration::from_secs_f64(mean)))
    };
    format!(" (candle {candle}); {pace}")
}

fn describe_duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match seconds {
        _ if seconds >= 10.0 => format!("{seconds:.0} s"),
        _ if seconds >= 0.1 => format!("{} s", (seconds * 10.0).round() / 10.0),
        _ if seconds >= 1e-3 => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{:.1} us", seconds * 1e6),
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &str = "n0nce";

    fn run(script: &str, limit: Duration) -> Result<u32, UnfinishedCheck> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        supervise(command, b"request\n".to_vec(), NONCE, limit, OutputMode::Hidden, &mut |_| {})
    }

    fn reason(script: &str) -> String {
        let run = run(script, Duration::from_secs(20));
        run.map_or_else(|unfinished| unfinished.to_string(), |reply| format!("replied {reply}"))
    }

    #[test]
    fn accepts_only_lines_with_the_nonce_as_replies() {
        let script = r#"read request; echo '{"Done":1}'; printf 'half a line'; printf '\nn0nce{"Done":7}\n'"#;
        assert_eq!(run(script, Duration::from_secs(20)).unwrap(), 7);
        let script = r#"echo 'nonce{"Done":1}'; exit 0"#;
        assert_eq!(
            reason(script),
            "the strategy ended the process with code 0 in its first run; last output: nonce{\"Done\":1}"
        );
    }

    #[test]
    fn names_how_the_process_ended() {
        let begun = r#"printf 'n0nce{"Begun":"Restart"}\n'; "#;
        for (end, expected) in [
            ("exit 3", "the strategy ended the process with code 3 while checking restart"),
            ("kill -SEGV $$", "the strategy was killed by SIGSEGV while checking restart"),
            ("kill -KILL $$", "the strategy was killed by SIGKILL while checking restart"),
        ] {
            assert_eq!(reason(&format!("{begun}{end}")), expected);
        }
    }

    #[test]
    fn kills_a_child_at_the_time_limit() {
        let script =
            r#"printf 'n0nce{"Begun":"Memory"}\nn0nce{"At":{"candle":12,"shown":40}}\n'; exec sleep 600"#;
        let watch = Stopwatch::start();
        let error = run(script, Duration::from_millis(700)).unwrap_err();
        assert!(watch.elapsed() < Duration::from_secs(10));
        let said = error.to_string();
        let begin = "the strategy did not finish within 0.7 s while checking memory (candle 12)";
        assert!(said.starts_with(begin), "{said}");
        assert!(said.contains("candle 12 alone took"), "{said}");
    }

    #[test]
    fn does_not_wait_for_a_process_left_behind() {
        let watch = Stopwatch::start();
        let said = reason("sleep 600 & exit 0");
        assert_eq!(said, "the strategy ended the process with code 0 in its first run");
        assert!(watch.elapsed() < Duration::from_secs(10));
    }
}
