//! Event followers on a run's socket. Each reads at its own pace and is dropped if it stalls.

use super::line::PATIENCE;
use super::{ControlError, client};
use crate::events::{Followed, Follower};
use std::path::Path;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::UnixStream;

pub(super) const MAX_FOLLOWERS: usize = 16;
const FOLLOW: &str = r#"{"order":"follow"}"#;

pub(super) fn is_follow(line: &[u8]) -> bool {
    let told: Result<serde_json::Value, _> = serde_json::from_slice(line);
    told.is_ok_and(|told| told == serde_json::json!({ "order": "follow" }))
}

pub(super) async fn give(mut stream: UnixStream, mut events: Follower) {
    let (mut reader, mut writer) = stream.split();
    let mut said = [0; 64];
    loop {
        let followed = tokio::select! {
            followed = events.next() => followed,
            // Whoever follows has nothing more to say: what comes is passed over, and without anything it has gone.
            read = reader.read(&mut said) => match read {
                Ok(1..) => continue,
                Ok(0) | Err(_) => return,
            },
        };
        let (text, is_end) = match &followed {
            None => return,
            Some(Followed::Line(text)) => (text.as_ref(), false),
            Some(Followed::End(text)) => (text.as_ref(), true),
            Some(Followed::Missed(text)) => (text.as_str(), false),
        };
        let line = [text.as_bytes(), b"\n"].concat();
        let written = tokio::time::timeout(PATIENCE, writer.write_all(&line)).await;
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
    pub async fn begin(path: &Path) -> Result<Self, ControlError> {
        let mut stream = client::connect(path).await?;
        let line = format!("{FOLLOW}\n");
        let written = tokio::time::timeout(PATIENCE, stream.write_all(line.as_bytes())).await;
        if !matches!(written, Ok(Ok(()))) {
            return Err(ControlError::NoAnswer {
                path: path.to_owned(),
                problem: "it takes nothing".to_owned(),
            });
        }
        Ok(Self { lines: BufReader::new(stream).lines() })
    }

    /// Waits for the next event as JSON, `None` once the run ends or refuses followers.
    pub async fn next(&mut self) -> Option<String> {
        self.lines.next_line().await.ok().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ControlOrder, ControlPaths, ControlRequest, ControlServer, send_order};
    use super::*;
    use crate::events::{EventFeed, RunEvent};
    use candlewick_sdk::Millis;
    use tokio::sync::{mpsc, oneshot};

    #[tokio::test]
    async fn many_follow_and_keep_nobody_from_giving_an_order() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ControlPaths::beside(&folder.path().join("run.db"));
        let feed = EventFeed::default();
        let server = ControlServer::bind(&paths).await.unwrap().with_events(feed.clone());
        let (orders, mut taken) = mpsc::channel::<ControlRequest>(1);
        let (stop, stopped) = oneshot::channel::<()>();
        let served = tokio::spawn(server.serve(orders, async {
            let _ = stopped.await;
        }));
        let mut following = Vec::new();
        for _ in 0..MAX_FOLLOWERS {
            following.push(FollowedRun::begin(&paths.socket).await.unwrap());
        }
        while feed.followers() < MAX_FOLLOWERS {
            tokio::task::yield_now().await;
        }
        let mut late = FollowedRun::begin(&paths.socket).await.unwrap();
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
