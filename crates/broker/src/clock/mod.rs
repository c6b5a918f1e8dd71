//! The one place that reads a clock. Everybody else is handed the time.
//!
//! All times here are *venue time*. A live run's venue time is the system's; an embedded venue and its bot share
//! one [`VirtualClock`], which stands still while anybody holds it ([`Hold`]). That is what makes a simulated
//! session exact: a request takes no venue time, however long it takes in the real world.

mod awake;
mod stopwatch;
mod system;
mod virtual_clock;

pub use awake::AwakeClock;
pub use stopwatch::Stopwatch;
pub use system::SystemClock;
pub use virtual_clock::{Speed, VirtualClock};

use async_trait::async_trait;
use candlewick_sdk::Millis;
use std::fmt;
use std::sync::Arc;

/// Venue time, and waiting for it.
#[async_trait]
pub trait Clock: Send + Sync {
    /// What the venue's time is.
    fn now(&self) -> Millis;

    /// Waits until venue time is `at` or later. The caller wakes up holding the clock: on a virtual clock no
    /// time passes until the returned [`Hold`] is dropped.
    async fn sleep_until(&self, at: Millis) -> Hold;

    /// Holds the clock from now on.
    fn hold(&self) -> Hold;

    /// Moves a clock that stood still while the machine slept forward to the present; answers by how much. A clock
    /// never goes back, and one that is made here has nothing to catch up with.
    fn catch_up(&self) -> Millis {
        Millis::ZERO
    }

    /// Whether venue time is made here and not the world's.
    fn is_virtual(&self) -> bool;

    /// Whether venue time stands still while somebody holds it and jumps when nobody does.
    fn is_lock_step(&self) -> bool;
}

/// Keeps a virtual clock still until dropped; nothing on the system's clock.
///
/// Whoever passes work on (through a channel, to a task) passes its hold along, so that time cannot move
/// between the giver and the taker.
pub struct Hold(Option<Arc<dyn Release>>);

trait Release: Send + Sync {
    fn take(self: Arc<Self>) -> Arc<dyn Release>;
    fn release(self: Arc<Self>);
}

impl Hold {
    /// A hold on nothing.
    pub const fn none() -> Self {
        Self(None)
    }
}

impl Clone for Hold {
    fn clone(&self) -> Self {
        Self(self.0.as_ref().map(|clock| Arc::clone(clock).take()))
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if let Some(clock) = &self.0 {
            Arc::clone(clock).release();
        }
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Hold" } else { "Hold(nothing)" })
    }
}
