//! Sends orders to a run in another process.

use super::line::{NoLine, PATIENCE, read_line, write_line};
use super::order::MarkedOrder;
use super::{ControlAnswer, ControlError, ControlOrder};
use candlewick_journal::OrderToken;
use std::io;
use std::path::Path;
use std::time::Duration;
use tokio::io::BufReader;
use tokio::net::UnixStream;

/// Response timeout. It exceeds the run's own.
const ANSWER_PATIENCE: Duration = Duration::from_secs(15);

/// Sends an order to the run that listens at `path` and waits for the response.
///
/// An order that is also sent another way must carry the same token.
pub async fn send_order(
    path: &Path,
    order: &ControlOrder,
    token: Option<&OrderToken>,
) -> Result<ControlAnswer, ControlError> {
    order.check_length()?;
    let unanswered = |problem: String| ControlError::NoAnswer { path: path.to_owned(), problem };
    let stream = connect(path).await?;
    let (reader, mut writer) = stream.into_split();
    let message = MarkedOrder { order: order.clone(), token: token.cloned() };
    write_line(&mut writer, &message).await.map_err(|error| unanswered(error.to_string()))?;
    let line = match read_line(&mut BufReader::new(reader), ANSWER_PATIENCE).await {
        Ok(line) => line,
        Err(NoLine::End) => return Err(unanswered("it ended".to_owned())),
        Err(NoLine::TooLong) => return Err(unanswered("its answer is too long".to_owned())),
        Err(NoLine::Late) => {
            return Err(unanswered(format!("nothing came within {} s", ANSWER_PATIENCE.as_secs())));
        }
        Err(NoLine::Broken(error)) => return Err(unanswered(error.to_string())),
    };
    serde_json::from_slice(&line).map_err(|error| unanswered(format!("its answer cannot be read: {error}")))
}

pub(super) async fn connect(path: &Path) -> Result<UnixStream, ControlError> {
    let path = || path.to_owned();
    let unanswered = |problem| ControlError::NoAnswer { path: path(), problem };
    match tokio::time::timeout(PATIENCE, UnixStream::connect(path())).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) => Err(match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::ConnectionRefused => {
                ControlError::NoBotListens { path: path() }
            }
            io::ErrorKind::PermissionDenied => ControlError::OtherOwner { path: path() },
            // The system says so of a path that is too long: no bot can listen there either.
            io::ErrorKind::InvalidInput => ControlError::NoBotListens { path: path() },
            _ => unanswered(error.to_string()),
        }),
        Err(_) => Err(unanswered(format!("it took no connection within {} s", PATIENCE.as_secs()))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::order::MAX_BYTES;
    use super::*;
    use tokio::io::AsyncWriteExt;
    use tokio::net::UnixListener;

    #[tokio::test]
    async fn nobody_listens_where_there_is_no_socket_or_a_dead_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.db.sock");
        let missing = send_order(&path, &ControlOrder::Status, None).await;
        assert!(matches!(missing, Err(ControlError::NoBotListens { .. })), "{missing:?}");
        drop(UnixListener::bind(&path).unwrap());
        let dead = send_order(&path, &ControlOrder::Status, None).await;
        assert!(matches!(dead, Err(ControlError::NoBotListens { .. })), "{dead:?}");
    }

    async fn check(answer: &[u8], part: &str) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.db.sock");
        let listener = UnixListener::bind(&path).unwrap();
        let run = async {
            let (stream, _) = listener.accept().await.unwrap();
            let (reader, mut writer) = stream.into_split();
            read_line(&mut BufReader::new(reader), PATIENCE).await.unwrap();
            writer.write_all(answer).await.unwrap();
        };
        let ((), answer) = tokio::join!(run, send_order(&path, &ControlOrder::Status, None));
        let is_unclear =
            matches!(&answer, Err(ControlError::NoAnswer { problem, .. }) if problem.contains(part));
        assert!(is_unclear, "{answer:?}");
    }

    #[tokio::test]
    async fn a_run_that_says_nothing_sensible_leaves_the_order_open() {
        check(b"", "it ended").await;
        check(b"what?\n", "cannot be read").await;
        check(&[b'x'; MAX_BYTES * 2], "too long").await;
    }
}
