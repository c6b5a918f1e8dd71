//! Messages as lines of bounded length, read and written with a timeout.

use super::order::MAX_BYTES;
use serde::Serialize;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};

pub(super) const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) enum NoLine {
    End,
    TooLong,
    Late,
    Broken(io::Error),
}

pub(super) async fn read_line(
    reader: &mut (impl AsyncBufRead + Unpin),
    patience: Duration,
) -> Result<Vec<u8>, NoLine> {
    let mut line = Vec::new();
    let mut bounded = reader.take(MAX_BYTES as u64 + 1);
    let read = bounded.read_until(b'\n', &mut line);
    match tokio::time::timeout(patience, read).await {
        Err(_) => return Err(NoLine::Late),
        Ok(Err(error)) => return Err(NoLine::Broken(error)),
        Ok(Ok(_)) => {}
    }
    if line.pop_if(|last| *last == b'\n').is_some() {
        Ok(line)
    } else if line.len() > MAX_BYTES {
        Err(NoLine::TooLong)
    } else if line.is_empty() {
        Err(NoLine::End)
    } else {
        Ok(line)
    }
}

pub(super) async fn write_line(
    writer: &mut (impl AsyncWrite + Unpin),
    message: &impl Serialize,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    match tokio::time::timeout(PATIENCE, writer.write_all(&line)).await {
        Ok(written) => written,
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn check(bytes: &[u8], expected: &[&str]) {
        let mut reader = bytes;
        let mut lines = Vec::new();
        let end = loop {
            match read_line(&mut reader, PATIENCE).await {
                Ok(line) => lines.push(String::from_utf8(line).unwrap()),
                Err(end) => break end,
            }
        };
        assert_eq!(lines, expected);
        assert!(matches!(end, NoLine::End), "{end:?}");
    }

    #[tokio::test]
    async fn messages_end_with_a_line_or_with_the_connection() {
        check(b"", &[]).await;
        check(b"a\nb\n", &["a", "b"]).await;
        check(b"a\n\nb", &["a", "", "b"]).await;
        let longest = "x".repeat(MAX_BYTES);
        check(format!("{longest}\n").as_bytes(), &[&longest]).await;
    }

    #[tokio::test]
    async fn a_message_beyond_the_bound_is_not_read_to_its_end() {
        let long = "x".repeat(MAX_BYTES * 3);
        let mut reader = long.as_bytes();
        assert!(matches!(read_line(&mut reader, PATIENCE).await, Err(NoLine::TooLong)));
        assert_eq!(reader.len(), long.len() - MAX_BYTES - 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_message_that_drips_is_not_waited_for() {
        let (mut ours, theirs) = tokio::io::duplex(64);
        let mut reader = tokio::io::BufReader::new(theirs);
        let drip = async {
            loop {
                tokio::time::sleep(PATIENCE / 4).await;
                if ours.write_all(b"x").await.is_err() {
                    break;
                }
            }
        };
        tokio::select! {
            () = drip => panic!("the connection is open"),
            line = read_line(&mut reader, PATIENCE) => assert!(matches!(line, Err(NoLine::Late))),
        }
    }
}
