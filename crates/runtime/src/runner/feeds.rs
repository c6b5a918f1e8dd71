//! Price subscriptions of a run.

use candlewick_broker::clock::Hold;
use candlewick_broker::{PriceFeed, PriceTick};
use candlewick_engine::SymbolId;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

#[derive(Default)]
pub(crate) struct Feeds(Vec<(SymbolId, PriceFeed)>);

impl Feeds {
    pub(crate) fn add(&mut self, feed: (SymbolId, PriceFeed)) {
        self.0.push(feed);
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.0.iter().map(|(_, feed)| feed.dropped()).sum()
    }

    /// Returns the next price of any symbol, or `None` once a symbol's feed has ended.
    ///
    /// The hold on the clock dates from the sending of the price. Pends forever without a feed.
    /// Cancel-safe.
    pub(crate) async fn next(&mut self) -> (SymbolId, Option<(PriceTick, Hold)>) {
        let (place, tick) = poll_fn(|context| {
            for (place, (_, feed)) in self.0.iter_mut().enumerate() {
                if let Poll::Ready(tick) = pin!(feed.next()).poll(context) {
                    return Poll::Ready((place, tick));
                }
            }
            Poll::Pending
        })
        .await;
        let symbol = self.0[place].0;
        if tick.is_none() {
            self.0.swap_remove(place);
        }
        (symbol, tick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::Millis;

    async fn next(feeds: &mut Feeds) -> (SymbolId, Option<PriceTick>) {
        let (symbol, next) = feeds.next().await;
        (symbol, next.map(|(tick, _)| tick))
    }

    #[tokio::test]
    async fn prices_of_all_feeds_come_and_an_end_comes_once() {
        let tick = |time| PriceTick { time: Millis::new(time), price: 1.0 };
        let (first, second) = (SymbolId::FIRST, SymbolId::new(1).unwrap());
        let (sender, feed) = PriceFeed::channel(4);
        let (other_sender, other_feed) = PriceFeed::channel(4);
        let mut feeds = Feeds::default();
        feeds.add((first, feed));
        feeds.add((second, other_feed));
        other_sender.send(tick(1), Hold::none());
        assert_eq!(next(&mut feeds).await, (second, Some(tick(1))));
        drop(other_sender);
        assert_eq!(next(&mut feeds).await, (second, None));
        sender.send(tick(2), Hold::none());
        assert_eq!(next(&mut feeds).await, (first, Some(tick(2))));
    }
}
