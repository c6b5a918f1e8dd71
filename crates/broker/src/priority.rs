//! What a request is for, so that an adapter that may make only so many of them makes first what is worth most.

tokio::task_local! {
    static PRIORITY: Priority;
}

/// What a request is for, in the order of service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// Open trades and doubts: money is at stake. Also whatever says nothing of itself.
    #[default]
    Trades,
    /// Candles that have closed: signals follow from them.
    Candles,
    /// Prices that a strategy decides by.
    Prices,
    /// What is shown or audited, and is as good a little later.
    Display,
}

/// Runs a future; every request that it makes is of this priority.
pub async fn at_priority<F: Future>(priority: Priority, future: F) -> F::Output {
    PRIORITY.scope(priority, future).await
}

/// The priority of the requests of the present task, for an adapter that keeps to a rate.
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
