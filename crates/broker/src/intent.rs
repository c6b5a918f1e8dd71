//! The intent for which a task makes requests, for records of exchanges.

tokio::task_local! {
    static INTENT: u64;
}

/// Runs a future and assigns all its requests to an intent.
pub async fn for_intent<F: Future>(number: u64, future: F) -> F::Output {
    INTENT.scope(number, future).await
}

/// Returns the current task's intent, for adapters that record exchanges.
pub fn current_intent() -> Option<u64> {
    INTENT.try_with(|number| *number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_intent_ends_with_its_future() {
        assert_eq!(for_intent(7, async { current_intent() }).await, Some(7));
        assert_eq!(current_intent(), None);
    }
}
