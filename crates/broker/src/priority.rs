//! Priorities of requests, for adapters whose number of requests is limited.

tokio::task_local! {
    static PRIORITY: Priority;
}

/// Purpose of a request, in the order of service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// Open trades and doubts, where money is at stake. The default.
    #[default]
    Trades,
    /// Closed candles, from which signals follow.
    Candles,
    /// Prices used by a strategy.
    Prices,
    /// Data for display or audits, which can wait.
    Display,
}

/// Runs a future and assigns this priority to all its requests.
pub async fn at_priority<F: Future>(priority: Priority, future: F) -> F::Output {
    PRIORITY.scope(priority, future).await
}

/// Returns the priority of the current task, for adapters that limit their rate.
pub fn current_priority() -> Priority {
    PRIORITY.try_with(|priority| *priority).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_priority_ends_with_its_future() {
        let current = at_priority(Priority::Display, async { current_priority() }).await;
        assert_eq!((current, current_priority()), (Priority::Display, Priority::Trades));
    }
}
