//! Timeouts of the checks.

use super::finding::Finding;
use std::time::Duration;

pub(super) const QUESTION: Duration = Duration::from_secs(15);
pub(super) const LOOK: Duration = Duration::from_secs(10);
pub(super) const READING: Duration = Duration::from_mins(1);

pub(super) async fn within(limit: Duration, late: Finding, check: impl Future<Output = Finding>) -> Finding {
    tokio::time::timeout(limit, check).await.unwrap_or(late)
}

pub(super) async fn blocking(
    limit: Duration,
    late: Finding,
    work: impl FnOnce() -> Finding + Send + 'static,
) -> Finding {
    let broken = late.clone();
    within(limit, late, async { tokio::task::spawn_blocking(work).await.unwrap_or(broken) }).await
}

#[cfg(test)]
mod tests {
    use super::super::finding::Check;
    use super::*;

    #[tokio::test]
    async fn what_does_not_end_is_reported_as_late() {
        let late = || Check::Disk.fail("late", "look");
        assert_eq!(within(Duration::from_millis(1), late(), std::future::pending()).await, late());
        assert_eq!(
            within(LOOK, late(), async { Check::Disk.ok("in time") }).await,
            Check::Disk.ok("in time")
        );
        assert_eq!(blocking(LOOK, late(), || panic!("broken")).await, late());
    }
}
