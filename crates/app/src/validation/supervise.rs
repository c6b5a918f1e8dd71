//! Runs this program in a process of its own, with a time limit.
//!
//! A strategy under check may end its process, crash, or never return. So the checks run in a child process, and only a complete
//! reply counts. Replies are lines on the child's stdout that begin with a random nonce: whatever else the strategy prints there is
//! not taken for one. A child whose parent is gone cannot write any more, and ends.

use super::unfinished::{Stage, Unfinished};
use candlewick_broker::clock::Stopwatch;
use candlewick_sdk::testkit::{Check, Position};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// Interval between two messages about the position.
const HEARTBEAT: Duration = Duration::from_millis(100);
/// Longest wait for a child that has replied, or for the output of one that has ended.
const GRACE: Duration = Duration::from_secs(1);
/// Longest line that is read at once.
const MAX_LINE_BYTES: u64 = 256 << 20;

/// A message of the child.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Message<T> {
    /// A check begins.
    Begun(Check),
    /// How far the checks are.
    At(Position),
    /// The reply, which is the last message.
    Done(T),
}

/// What becomes of what the strategy prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Printed {
    /// Goes to stderr.
    Shown,
    /// Only the last line is kept, for errors.
    Hidden,
}

/// A line or the end of what the child writes.
enum Output<T> {
    Message(Message<T>),
    Text(String),
    Closed,
}

/// A child process that ends with its owner.
struct Guarded(Child);

impl Drop for Guarded {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A supervised child process.
struct Supervised<'a, T> {
    child: Guarded,
    output: Receiver<Output<T>>,
    printed: Printed,
    watch: Stopwatch,
    stage: Stage,
    last_line: String,
    /// Called with the number of checks that have begun.
    progress: &'a mut dyn FnMut(u64),
    begun: u64,
}

/// Starts the command, hands it the request and waits for its reply, for `limit` at most. `progress` is called with the number of
/// checks that have begun, several times a second.
pub(super) fn supervise<T: DeserializeOwned + Send + 'static>(
    mut command: Command,
    request: Vec<u8>,
    nonce: &str,
    limit: Duration,
    printed: Printed,
    progress: &mut dyn FnMut(u64),
) -> Result<T, Unfinished> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Guarded(command.spawn().map_err(Unfinished::NotStarted)?);
    let (sender, output) = mpsc::channel();
    if let Some(mut input) = child.0.stdin.take() {
        // A child that ends before it has read all says so by how it ended.
        thread::spawn(move || input.write_all(&request));
    }
    if let Some(stdout) = child.0.stdout.take() {
        let (sender, nonce) = (sender.clone(), nonce.to_owned());
        thread::spawn(move || read_lines(stdout, Some(&nonce), &sender));
    }
    if let Some(stderr) = child.0.stderr.take() {
        thread::spawn(move || read_lines(stderr, None, &sender));
    }
    let supervised = Supervised {
        child,
        output,
        printed,
        watch: Stopwatch::start(),
        stage: Stage::default(),
        last_line: String::new(),
        progress,
        begun: 0,
    };
    supervised.wait(limit)
}

impl<T> Supervised<'_, T> {
    fn wait(mut self, limit: Duration) -> Result<T, Unfinished> {
        let mut open_pipes = 2;
        let mut ended: Option<(ExitStatus, Duration)> = None;
        loop {
            (self.progress)(self.begun);
            match self.output.recv_timeout(HEARTBEAT) {
                Ok(Output::Message(Message::Done(reply))) => {
                    self.let_end();
                    return Ok(reply);
                }
                Ok(Output::Message(Message::Begun(check))) => {
                    self.begun += 1;
                    self.stage.check = Some(check);
                }
                Ok(Output::Message(Message::At(position))) => {
                    self.stage.update(position, self.watch.elapsed());
                }
                Ok(Output::Text(line)) => self.print(line),
                Ok(Output::Closed) => open_pipes -= 1,
                Err(RecvTimeoutError::Timeout) => {}
                // It has closed its output and goes on.
                Err(RecvTimeoutError::Disconnected) => thread::sleep(HEARTBEAT),
            }
            let now = self.watch.elapsed();
            if ended.is_none() {
                let status = self.child.0.try_wait().map_err(Unfinished::NotStarted)?;
                ended = status.map(|status| (status, now));
            }
            match ended {
                // A process that the strategy left behind may hold the pipes.
                Some((status, at)) if open_pipes == 0 || now > at + GRACE => {
                    return Err(Unfinished::Ended { status, stage: self.stage, said: self.last_line });
                }
                None if now > limit => {
                    return Err(Unfinished::TimedOut { limit, elapsed: now, stage: self.stage });
                }
                Some(_) | None => {}
            }
        }
    }

    /// Gives a child that has replied the time to end by itself.
    fn let_end(&mut self) {
        let watch = Stopwatch::start();
        while watch.elapsed() < GRACE && matches!(self.child.0.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn print(&mut self, line: String) {
        if self.printed == Printed::Shown {
            // Nobody may be there to read it.
            let _ = writeln!(std::io::stderr(), "{line}");
        }
        self.last_line = line;
    }
}

/// Sends the lines of a pipe: messages where they begin with the nonce, other lines that are not empty as text.
fn read_lines<T: DeserializeOwned>(pipe: impl Read, nonce: Option<&str>, sender: &Sender<Output<T>>) {
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
            Some(message) => Output::Message(message),
            None if line.is_empty() => continue,
            None => Output::Text(String::from_utf8_lossy(line).into_owned()),
        };
        if sender.send(output).is_err() {
            return;
        }
    }
    // The receiver may be gone.
    let _ = sender.send(Output::Closed);
}

/// Sends a message to the parent, on a line of its own whatever the strategy has printed.
pub(super) fn send<T: Serialize>(nonce: &str, message: &Message<T>) -> std::io::Result<()> {
    let mut line = format!("\n{nonce}").into_bytes();
    serde_json::to_writer(&mut line, message)?;
    line.push(b'\n');
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(&line)?;
    stdout.flush()
}

/// Reports the position of the checks for as long as this process lives, and ends the process when its parent is gone.
pub(super) fn report_position(nonce: String) {
    thread::spawn(move || {
        loop {
            thread::sleep(HEARTBEAT);
            if send::<()>(&nonce, &Message::At(Position::now())).is_err() {
                std::process::exit(1);
            }
        }
    });
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    const NONCE: &str = "n0nce";

    fn run(script: &str, limit: Duration) -> Result<u32, Unfinished> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        supervise(command, b"request\n".to_vec(), NONCE, limit, Printed::Hidden, &mut |_| {})
    }

    fn reason(script: &str) -> String {
        let run = run(script, Duration::from_secs(20));
        run.map_or_else(|unfinished| unfinished.to_string(), |reply| format!("replied {reply}"))
    }

    #[test]
    fn only_a_line_with_the_nonce_is_a_reply() {
        let script = r#"read request; echo '{"Done":1}'; printf 'half a line'; printf '\nn0nce{"Done":7}\n'"#;
        assert_eq!(run(script, Duration::from_secs(20)).unwrap(), 7);
        let script = r#"echo 'nonce{"Done":1}'; exit 0"#;
        assert_eq!(
            reason(script),
            "the strategy ended the process with code 0 in its first run; it printed last: nonce{\"Done\":1}"
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
            let said = reason(&format!("{begun}{end}"));
            assert_eq!(said, expected);
        }
    }

    #[test]
    fn kills_what_does_not_finish_in_time() {
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
    fn a_process_left_behind_does_not_hold_it_up() {
        let watch = Stopwatch::start();
        let said = reason("sleep 600 & exit 0");
        assert_eq!(said, "the strategy ended the process with code 0 in its first run");
        assert!(watch.elapsed() < Duration::from_secs(10));
    }
}
