//! Receivers that are down, slow, busy or flooded, on a paused clock.

use super::*;
use crate::alert::{Alert, AlertFilter};
use crate::notifier::{ChannelCounts, Notifier};
use std::ops::Range;
use std::sync::Mutex;

const PACE: DeliverySettings = DeliverySettings {
    queue_capacity: 1_000,
    digest_after: 5,
    digest_window: Duration::from_mins(1),
    quiet_period: Duration::ZERO,
};

#[derive(Clone)]
struct Receiver {
    log: Arc<Mutex<Vec<(Duration, Message)>>>,
    begin: Instant,
    answer: Arc<dyn Fn(Duration, usize) -> Answer + Send + Sync>,
}

enum Answer {
    Take,
    TakeAfter(Duration),
    Fail(Failure),
    Never,
}

impl Receiver {
    /// `answer` receives the time since the start and the number of the attempt.
    fn start(
        pace: DeliverySettings,
        answer: impl Fn(Duration, usize) -> Answer + Send + Sync + 'static,
    ) -> (Self, Notifier) {
        let receiver = Self { log: Arc::default(), begin: Instant::now(), answer: Arc::new(answer) };
        let rules = AlertFilter { min_severity: Severity::Info, include: Vec::new(), exclude: Vec::new() };
        let delivery: Box<dyn MessageSender> = Box::new(receiver.clone());
        (receiver, Notifier::start("test", vec![("phone".to_owned(), rules, delivery)], pace))
    }

    fn attempts(&self) -> Vec<(Duration, Message)> {
        self.log.lock().unwrap().clone()
    }

    fn messages(&self) -> Vec<Message> {
        let mut messages: Vec<Message> = Vec::new();
        for (_, message) in self.attempts() {
            if messages.iter().all(|known| known.id != message.id) {
                messages.push(message);
            }
        }
        messages
    }

    fn alerts(&self) -> Vec<i64> {
        self.messages().iter().flat_map(|message| &message.alerts).map(|alert| alert.at).collect()
    }
}

#[async_trait::async_trait]
impl MessageSender for Receiver {
    async fn deliver(&self, message: &Message) -> Result<(), Failure> {
        let now = self.begin.elapsed();
        let attempt = {
            let mut log = self.log.lock().unwrap();
            log.push((now, message.clone()));
            log.len()
        };
        match (self.answer)(now, attempt) {
            Answer::Take => Ok(()),
            Answer::TakeAfter(span) => {
                sleep(span).await;
                Ok(())
            }
            Answer::Fail(failure) => Err(failure),
            Answer::Never => std::future::pending().await,
        }
    }
}

fn down() -> Answer {
    Answer::Fail(Failure::try_later("Connection refused"))
}

fn down_until(end_s: u64) -> impl Fn(Duration, usize) -> Answer + Send + Sync + 'static {
    move |now, _| if now < seconds(end_s) { down() } else { Answer::Take }
}

fn first(
    answer: impl Fn() -> Answer + Send + Sync + 'static,
) -> impl Fn(Duration, usize) -> Answer + Send + Sync + 'static {
    move |_, attempt| if attempt == 1 { answer() } else { Answer::Take }
}

fn alert(at: i64, severity: Severity) -> Alert {
    Alert::new(at, severity, "settled", "")
}

async fn send_each(notifier: &Notifier, all: Range<i64>, pause: Duration) {
    for at in all {
        notifier.send(alert(at, Severity::Info));
        sleep(pause).await;
    }
}

fn counts(notifier: &Notifier) -> ChannelCounts {
    notifier.counts().remove(0)
}

async fn unsent(notifier: Notifier, patience: u64) -> u64 {
    notifier.shut_down(seconds(patience)).await.remove(0).waiting
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[tokio::test(start_paused = true)]
async fn retries_every_five_minutes_and_loses_no_queued_alert() {
    let (receiver, notifier) = Receiver::start(PACE, down_until(3_600));
    send_each(&notifier, 0..500, seconds(7)).await;
    assert_eq!(counts(&notifier).sent, 0);
    sleep(seconds(900)).await;
    assert_eq!(receiver.alerts(), (0..500).collect::<Vec<_>>(), "each once, in order");
    let counts = counts(&notifier);
    assert_eq!((counts.sent, counts.dropped, counts.waiting, counts.messages), (500, 0, 0, 2));
    let attempts: Vec<Duration> = receiver.attempts().into_iter().map(|(at, _)| at).collect();
    assert!((12..60).contains(&attempts.len()), "{attempts:?}");
    let longest = attempts.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).max().unwrap();
    assert!((seconds(300)..seconds(301)).contains(&longest), "{longest:?}");
}

#[tokio::test(start_paused = true)]
async fn counts_and_reports_dropped_alerts() {
    let (receiver, notifier) =
        Receiver::start(DeliverySettings { queue_capacity: 100, ..PACE }, down_until(3_600));
    notifier.send(alert(0, Severity::Critical));
    sleep(seconds(1)).await;
    notifier.send(alert(1, Severity::Critical));
    for at in 2..500 {
        notifier.send(alert(at, Severity::Info));
    }
    assert_eq!((counts(&notifier).dropped, counts(&notifier).waiting), (399, 101));
    sleep(seconds(4_800)).await;
    let expected: Vec<i64> = [0, 1].into_iter().chain(401..500).collect();
    assert_eq!(
        receiver.alerts(),
        expected,
        "the queue and the message in delivery; severe alerts are retained"
    );
    assert_eq!(receiver.messages()[1].dropped, 399);
    assert_eq!(counts(&notifier).sent + counts(&notifier).dropped, 500);
}

#[tokio::test(start_paused = true)]
async fn honours_requested_delays_up_to_an_hour() {
    for (wish, expected) in
        [(seconds(120), seconds(120)), (seconds(86_400), seconds(3_600)), (Duration::ZERO, seconds(1))]
    {
        let busy = move || Failure::TryLater { reason: "429".to_owned(), after: Some(wish) };
        let (receiver, notifier) = Receiver::start(PACE, first(move || Answer::Fail(busy())));
        notifier.send(alert(1, Severity::Info));
        sleep(seconds(7_200)).await;
        let attempts = receiver.attempts();
        assert_eq!(attempts.len(), 2);
        // The tokio clock has a resolution of 1 ms.
        let rest = attempts[1].0.saturating_sub(attempts[0].0);
        assert!((expected..expected + Duration::from_millis(5)).contains(&rest), "{rest:?}");
        assert_eq!(attempts[0].1.id, attempts[1].1.id, "a retry has the same id");
        assert_eq!(counts(&notifier).retried, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn condenses_a_flood_into_a_few_digests() {
    let (receiver, notifier) = Receiver::start(PACE, |_, _| Answer::Take);
    send_each(&notifier, 0..300, seconds(1)).await;
    sleep(seconds(60)).await;
    assert_eq!(receiver.alerts(), (0..300).collect::<Vec<_>>());
    let sent: Vec<Duration> = receiver.attempts().iter().map(|(at, _)| *at).collect();
    for window in sent.windows(PACE.digest_after + 1) {
        let span = window[PACE.digest_after].saturating_sub(window[0]);
        assert!(span >= PACE.digest_window, "six messages within {span:?}");
    }
    assert!(receiver.messages()[..5].iter().all(|message| message.alerts.len() == 1));
    assert!(sent.len() < 40, "{} messages", sent.len());
}

#[tokio::test(start_paused = true)]
async fn critical_alerts_do_not_wait_for_a_flood() {
    let (receiver, notifier) = Receiver::start(PACE, |_, _| Answer::Take);
    send_each(&notifier, 0..20, Duration::from_millis(100)).await;
    notifier.send(alert(99, Severity::Critical));
    sleep(Duration::from_millis(100)).await;
    assert_eq!(receiver.alerts().last(), Some(&99));
    assert_eq!(receiver.messages().len(), 6);
}

#[tokio::test(start_paused = true)]
async fn rejected_or_unanswered_message_does_not_block_others() {
    let refused = || Answer::Fail(Failure::Permanent { reason: "400".to_owned() });
    let answers: [fn() -> Answer; 2] = [refused, || Answer::Never];
    for (answer, expected) in answers.into_iter().zip([(1, 1, 2), (0, 2, 3)]) {
        let (receiver, notifier) = Receiver::start(PACE, first(answer));
        send_each(&notifier, 1..3, Duration::ZERO).await;
        sleep(seconds(30)).await;
        let counts = counts(&notifier);
        assert_eq!((counts.refused, counts.sent, receiver.attempts().len()), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn message_rejected_for_an_hour_does_not_block_others() {
    for (until_s, expected) in [(1_800, (0, 2)), (4_000, (1, 1))] {
        let turned_away = || Answer::Fail(Failure::Rejected { reason: "403".to_owned() });
        let (_receiver, notifier) =
            Receiver::start(
                PACE,
                move |now, _| {
                    if now < seconds(until_s) { turned_away() } else { Answer::Take }
                },
            );
        send_each(&notifier, 1..3, seconds(1)).await;
        sleep(seconds(4_500)).await;
        assert_eq!((counts(&notifier).refused, counts(&notifier).sent), expected, "{until_s}");
    }
}

#[tokio::test(start_paused = true)]
async fn next_message_reports_drops_after_a_rejected_one() {
    let refused = || Answer::Fail(Failure::Permanent { reason: "400".to_owned() });
    let (receiver, notifier) =
        Receiver::start(DeliverySettings { queue_capacity: 1, ..PACE }, move |_, attempt| match attempt {
            1 => Answer::TakeAfter(seconds(5)),
            2 => refused(),
            _ => Answer::Take,
        });
    send_each(&notifier, 0..4, seconds(1)).await;
    sleep(seconds(10)).await;
    notifier.send(alert(9, Severity::Info));
    sleep(seconds(10)).await;
    let told: Vec<u64> = receiver.messages().iter().map(|message| message.dropped).collect();
    assert_eq!(told, [0, 2, 2]);
}

#[tokio::test(start_paused = true)]
async fn end_flushes_the_queue_or_counts_unsent_alerts() {
    for (down_s, expected) in [(0, (0, Duration::ZERO)), (3_600, (20, seconds(10)))] {
        let (_receiver, notifier) = Receiver::start(PACE, down_until(down_s));
        send_each(&notifier, 0..20, seconds(1)).await;
        assert!(counts(&notifier).sent <= 5);
        let begin = Instant::now();
        assert_eq!((unsent(notifier, 10).await, begin.elapsed()), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn end_interrupts_a_retry_delay() {
    let (receiver, notifier) = Receiver::start(PACE, down_until(3_000));
    notifier.send(alert(1, Severity::Info));
    sleep(seconds(3_001)).await;
    let rests = receiver.attempts().iter().filter(|(at, _)| *at > seconds(3_000)).count();
    assert_eq!(unsent(notifier, 5).await, 0);
    assert_eq!((rests, receiver.alerts()), (0, vec![1]));
}

#[tokio::test(start_paused = true)]
async fn repeated_alerts_are_sent_once_with_their_count() {
    let (receiver, notifier) =
        Receiver::start(DeliverySettings { quiet_period: seconds(300), ..PACE }, |_, _| Answer::Take);
    for at in 0..30 {
        notifier.send(Alert { repeat_key: Some("token".to_owned()), ..alert(at, Severity::Warning) });
        sleep(seconds(1)).await;
        notifier.tick();
    }
    assert_eq!(receiver.alerts(), [0]);
    sleep(seconds(300)).await;
    notifier.tick();
    sleep(seconds(1)).await;
    let messages = receiver.messages();
    let told: Vec<_> = messages.iter().map(|sent| (sent.alerts[0].at, sent.alerts[0].repeated)).collect();
    assert_eq!(told, [(0, 0), (29, 28)]);
}
