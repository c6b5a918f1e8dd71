//! Client for the control socket of a run: sends control orders and follows the run's events.

use super::order::{MAX_LINE_BYTES, OrderMessage};
use super::{ControlAnswer, ControlError, ControlOrder};
use crate::events::{FollowedEvent, Follower};
use candlewick_journal::OrderToken;
use serde::Serialize;
use std::io;
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, Lines};
use tokio::net::UnixStream;

const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);

/// Sends a control order to the run that listens on the socket at `path`, and waits for the answer.
/// If the order is also sent through the journal, both copies must carry the same token.
pub async fn send_order(
    path: &Path,
    order: &ControlOrder,
    token: Option<&OrderToken>,
) -> Result<ControlAnswer, ControlError> {
    order.check_length()?;
    let unanswered = |problem: String| ControlError::TransportError { path: path.to_owned(), problem };
    let stream = connect(path).await?;
    let (reader, mut writer) = stream.into_split();
    let message = OrderMessage { order: order.clone(), token: token.cloned() };
    write_line(&mut writer, &message).await.map_err(|error| unanswered(error.to_string()))?;
    let line = match read_line(&mut BufReader::new(reader), ANSWER_TIMEOUT).await {
        Ok(line) => line,
        Err(LineError::End) => return Err(unanswered("the run closed the connection".to_owned())),
        Err(LineError::TooLong) => return Err(unanswered("the answer is too long".to_owned())),
        Err(LineError::Late) => {
            return Err(unanswered(format!("no answer within {} s", ANSWER_TIMEOUT.as_secs())));
        }
        Err(LineError::Broken(error)) => return Err(unanswered(error.to_string())),
    };
    serde_json::from_slice(&line).map_err(|error| unanswered(format!("the answer cannot be read: {error}")))
}

pub(super) async fn connect(path: &Path) -> Result<UnixStream, ControlError> {
    let path = || path.to_owned();
    let unanswered = |problem| ControlError::TransportError { path: path(), problem };
    match tokio::time::timeout(LINE_TIMEOUT, UnixStream::connect(path())).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) => Err(match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::ConnectionRefused => {
                ControlError::NoBotListens { path: path() }
            }
            io::ErrorKind::PermissionDenied => ControlError::OtherOwner { path: path() },
            // The path is too long for a socket, so no bot can listen on it.
            io::ErrorKind::InvalidInput => ControlError::NoBotListens { path: path() },
            _ => unanswered(error.to_string()),
        }),
        Err(_) => Err(unanswered(format!("no connection within {} s", LINE_TIMEOUT.as_secs()))),
    }
}

pub(super) const LINE_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) enum LineError {
    End,
    TooLong,
    Late,
    Broken(io::Error),
}

pub(super) async fn read_line(
    reader: &mut (impl AsyncBufRead + Unpin),
    patience: Duration,
) -> Result<Vec<u8>, LineError> {
    let mut line = Vec::new();
    let mut bounded = reader.take(MAX_LINE_BYTES as u64 + 1);
    let read = bounded.read_until(b'\n', &mut line);
    match tokio::time::timeout(patience, read).await {
        Err(_) => return Err(LineError::Late),
        Ok(Err(error)) => return Err(LineError::Broken(error)),
        Ok(Ok(_)) => {}
    }
    if line.pop_if(|last| *last == b'\n').is_some() {
        Ok(line)
    } else if line.len() > MAX_LINE_BYTES {
        Err(LineError::TooLong)
    } else if line.is_empty() {
        Err(LineError::End)
    } else {
        Ok(line)
    }
}

pub(super) async fn write_line(to: &mut (impl AsyncWrite + Unpin), value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    match tokio::time::timeout(LINE_TIMEOUT, to.write_all(&line)).await {
        Ok(written) => written,
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    }
}

pub(super) const MAX_FOLLOWERS: usize = 16;

fn follow_request() -> serde_json::Value {
    serde_json::json!({ "order": "follow" })
}

pub(super) fn is_follow_request(line: &[u8]) -> bool {
    let parsed: Result<serde_json::Value, _> = serde_json::from_slice(line);
    parsed.is_ok_and(|order| order == follow_request())
}

pub(super) async fn stream_events(mut stream: UnixStream, mut events: Follower) {
    let (mut reader, mut writer) = stream.split();
    let mut input = [0; 64];
    loop {
        let followed = tokio::select! {
            followed = events.next() => followed,
            // A follower's input is ignored. An empty read means that the follower has disconnected.
            read = reader.read(&mut input) => match read {
                Ok(1..) => continue,
                Ok(0) | Err(_) => return,
            },
        };
        let (text, is_end) = match &followed {
            None => return,
            Some(FollowedEvent::Line(text)) => (text.as_ref(), false),
            Some(FollowedEvent::End(text)) => (text.as_ref(), true),
            Some(FollowedEvent::Missed(text)) => (text.as_str(), false),
        };
        let line = [text.as_bytes(), b"\n"].concat();
        let written = tokio::time::timeout(LINE_TIMEOUT, writer.write_all(&line)).await;
        if is_end || !matches!(written, Ok(Ok(()))) {
            return;
        }
    }
}

#[derive(Debug)]
pub struct FollowedRun {
    lines: Lines<BufReader<UnixStream>>,
}

impl FollowedRun {
    pub async fn connect(path: &Path) -> Result<Self, ControlError> {
        let mut stream = connect(path).await?;
        let unanswered = |_| ControlError::TransportError {
            path: path.to_owned(),
            problem: "the run did not accept the request".to_owned(),
        };
        write_line(&mut stream, &follow_request()).await.map_err(unanswered)?;
        Ok(Self { lines: BufReader::new(stream).lines() })
    }

    /// Waits for the next event and returns its JSON line. `None` if the run has ended or refuses followers.
    pub async fn next(&mut self) -> Option<String> {
        self.lines.next_line().await.ok().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{ControlPaths, ControlRequest, ControlServer};
    use crate::events::{EventFeed, RunEvent};
    use candlewick_sdk::Millis;
    use tokio::net::UnixListener;
    use tokio::sync::{mpsc, oneshot};

    #[tokio::test]
    async fn missing_or_dead_socket_means_no_bot_listens() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.db.sock");
        for is_dead in [false, true] {
            drop(is_dead.then(|| UnixListener::bind(&path).unwrap()));
            let found = send_order(&path, &ControlOrder::Status, None).await;
            assert!(matches!(found, Err(ControlError::NoBotListens { .. })), "{found:?}");
        }
    }

    async fn check(answer: &[u8], part: &str) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.db.sock");
        let listener = UnixListener::bind(&path).unwrap();
        let run = async {
            let (stream, _) = listener.accept().await.unwrap();
            let (reader, mut writer) = stream.into_split();
            read_line(&mut BufReader::new(reader), LINE_TIMEOUT).await.unwrap();
            writer.write_all(answer).await.unwrap();
        };
        let ((), answer) = tokio::join!(run, send_order(&path, &ControlOrder::Status, None));
        let Err(ControlError::TransportError { problem, .. }) = &answer else { panic!("{answer:?}") };
        assert!(problem.contains(part), "{problem}");
    }

    #[tokio::test]
    async fn invalid_answer_leaves_the_order_unanswered() {
        check(b"", "the run closed the connection").await;
        check(b"what?\n", "cannot be read").await;
        check(&[b'x'; MAX_LINE_BYTES * 2], "too long").await;
    }

    async fn check_lines(bytes: &[u8], expected: &[&str]) {
        let mut reader = bytes;
        let mut lines = Vec::new();
        let end = loop {
            match read_line(&mut reader, LINE_TIMEOUT).await {
                Ok(line) => lines.push(String::from_utf8(line).unwrap()),
                Err(end) => break end,
            }
        };
        assert_eq!(lines, expected);
        assert!(matches!(end, LineError::End), "{end:?}");
    }

    #[tokio::test]
    async fn message_ends_with_its_line_or_connection() {
        check_lines(b"", &[]).await;
        check_lines(b"a\nb\n", &["a", "b"]).await;
        check_lines(b"a\n\nb", &["a", "", "b"]).await;
        let longest = "x".repeat(MAX_LINE_BYTES);
        check_lines(format!("{longest}\n").as_bytes(), &[&longest]).await;
        let long = "x".repeat(MAX_LINE_BYTES * 3);
        let mut reader = long.as_bytes();
        assert!(matches!(read_line(&mut reader, LINE_TIMEOUT).await, Err(LineError::TooLong)));
        assert_eq!(reader.len(), long.len() - MAX_LINE_BYTES - 1);
    }

    #[tokio::test(start_paused = true)]
    async fn slow_message_times_out() {
        let (mut ours, theirs) = tokio::io::duplex(64);
        let mut reader = tokio::io::BufReader::new(theirs);
        let drip = async {
            loop {
                tokio::time::sleep(LINE_TIMEOUT / 4).await;
                if ours.write_all(b"x").await.is_err() {
                    break;
                }
            }
        };
        tokio::select! {
            () = drip => panic!("the connection is open"),
            line = read_line(&mut reader, LINE_TIMEOUT) => assert!(matches!(line, Err(LineError::Late))),
        }
    }

    #[tokio::test]
    async fn followers_do_not_block_orders() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ControlPaths::for_journal(&folder.path().join("run.db"));
        let feed = EventFeed::default();
        let server = ControlServer::bind(&paths).await.unwrap().with_events(feed.clone());
        let (orders, mut taken) = mpsc::channel::<ControlRequest>(1);
        let (stop, stopped) = oneshot::channel::<()>();
        let served = tokio::spawn(server.serve(orders, async {
            let _ = stopped.await;
        }));
        let mut following = Vec::new();
        for _ in 0..MAX_FOLLOWERS {
            following.push(FollowedRun::connect(&paths.socket).await.unwrap());
        }
        while feed.follower_count() < MAX_FOLLOWERS {
            tokio::task::yield_now().await;
        }
        let mut late = FollowedRun::connect(&paths.socket).await.unwrap();
        assert_eq!(late.next().await, None, "there is no place");
        let (order, request) = tokio::join!(send_order(&paths.socket, &ControlOrder::Resume, None), async {
            let ControlRequest { order, answer, .. } = taken.recv().await.unwrap();
            drop(answer);
            order
        });
        assert_eq!((order.is_ok(), request), (true, ControlOrder::Resume));
        feed.publish(Millis::ZERO, &RunEvent::Alarm { text: "a\nb".to_owned() });
        for followed in &mut following {
            assert_eq!(followed.next().await.unwrap(), r#"{"seq":1,"at":0,"event":"alarm","text":"a\nb"}"#);
        }
        stop.send(()).unwrap();
        drop(feed);
        served.await.unwrap();
        assert_eq!(following[0].next().await, None);
    }
}
