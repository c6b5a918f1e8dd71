//! Which intent a request is made for, so that a record of requests can say it.

tokio::task_local! {
    static INTENT: u64;
}

/// Runs a future; every request that it makes is for this intent.
pub async fn for_intent<F: Future>(number: u64, future: F) -> F::Output {
    INTENT.scope(number, future).await
}

/// The intent that the present task makes requests for, for an adapter that keeps a record of its exchanges.
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
