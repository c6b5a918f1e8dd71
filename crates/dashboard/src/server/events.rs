//! Server-sent events: state changes, new journal lines, and the clock.

use super::Server;
use crate::watch::SharedState;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, Sse};
use futures_util::Stream;
use futures_util::stream::unfold;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Interval between clock events. A client that receives no event for much longer has lost its connection.
const CLOCK_INTERVAL: Duration = Duration::from_secs(2);
const MIN_EVENT_INTERVAL: Duration = Duration::from_millis(200);
const MAX_EVENT_LINES: usize = 100;

struct EventFeed {
    shared: Arc<SharedState>,
    changes: watch::Receiver<u64>,
    lines: Option<u64>,
    waiting: VecDeque<Event>,
    is_first: bool,
}

/// Streams state changes, new journal lines, and the clock.
/// Events with journal lines have an id. If a client sends the id as `Last-Event-ID`, the stream continues
/// after that event. The field `missed` of a `lines` event is the number of omitted lines.
#[utoipa::path(
    get, path = "/api/events",
    params(("last-event-id" = Option<String>, Header, description = "Id of the last event that the client received")),
    responses((status = 200, description = "`state`, `lines` and `clock` events", content_type = "text/event-stream", body = String))
)]
pub(crate) async fn events(
    State(serving): State<Arc<Server>>,
    headers: HeaderMap,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let shared = Arc::clone(&serving.shared);
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let lines = last.and_then(|id| parse_event_id(id, &shared.generation));
    let changes = shared.version.subscribe();
    let told = EventFeed { shared, changes, lines, waiting: VecDeque::new(), is_first: true };
    Sse::new(unfold(told, |mut told| async move { Some((Ok(told.next_event().await), told)) }))
}

/// Parses the line count in an event id. Returns `None` if the id is from another server process.
fn parse_event_id(id: &str, generation: &str) -> Option<u64> {
    let (start, count) = id.split_once('-')?;
    (start == generation).then(|| count.parse().ok())?
}

impl EventFeed {
    async fn next_event(&mut self) -> Event {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return event;
            }
            let has_changed = if std::mem::take(&mut self.is_first) {
                true
            } else {
                tokio::time::sleep(MIN_EVENT_INTERVAL).await;
                matches!(tokio::time::timeout(CLOCK_INTERVAL, self.changes.changed()).await, Ok(Ok(())))
            };
            self.queue_events(has_changed);
        }
    }

    fn queue_events(&mut self, has_changed: bool) {
        if has_changed {
            self.changes.mark_unchanged();
            // Sends only the newest state, so that slow readers skip outdated states.
            self.waiting.push_back(Event::default().event("state").data(&*self.shared.state_json()));
            if let Some(news) =
                self.shared.lines_after(self.lines, MAX_EVENT_LINES).filter(|news| !news.lines.is_empty())
            {
                self.lines = Some(news.total);
                let text = serde_json::to_string(&news).unwrap_or_else(|_| "null".to_owned());
                let id = format!("{}-{}", self.shared.generation, news.total);
                self.waiting.push_back(Event::default().event("lines").id(id).data(text));
            }
        }
        let clock = serde_json::to_string(&self.shared.clock()).unwrap_or_else(|_| "{}".to_owned());
        self.waiting.push_back(Event::default().event("clock").data(clock));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignores_event_ids_of_another_start() {
        assert_eq!(parse_event_id("ab12-77", "ab12"), Some(77));
        for id in ["ab13-77", "77", "", "ab12-", "ab12--1", "ab12-18446744073709551616"] {
            assert_eq!(parse_event_id(id, "ab12"), None, "{id}");
        }
    }
}
