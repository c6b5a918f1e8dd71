//! The only module that reads a clock; all other code receives the time.
//!
//! All times are *venue time*. In a live run, venue time is the system time. An embedded venue and its bots share a
//! [`VirtualClock`], which stops while a [`Hold`] exists.

mod elapsed;
mod system;
mod virtual_clock;

pub use elapsed::{BootClock, Stopwatch};
pub use system::SystemClock;
pub use virtual_clock::{Speed, VirtualClock};

use async_trait::async_trait;
use candlewick_sdk::Millis;
use std::fmt;
use std::sync::Arc;

/// Clock that shows venue time. Tasks can wait for a given venue time.
#[async_trait]
pub trait Clock: Send + Sync {
    /// Returns the current venue time.
    fn now(&self) -> Millis;

    /// Waits until venue time is `at` or later and returns a [`Hold`] on the clock.
    async fn sleep_until(&self, at: Millis) -> Hold;

    /// Stops a virtual clock until the returned hold is dropped.
    fn hold(&self) -> Hold;

    /// Moves the clock forward after system sleep. Returns how far the clock was moved.
    fn catch_up(&self) -> Millis {
        Millis::ZERO
    }

    /// Returns whether venue time is simulated instead of real.
    fn is_virtual(&self) -> bool;

    /// Returns whether venue time jumps to the next awaited time instead of running continuously.
    fn is_lock_step(&self) -> bool;
}

/// Guard that stops a virtual clock until dropped. Keep the guard until all work due at the current time is done.
pub struct Hold(Option<Arc<dyn HoldCounter>>);

trait HoldCounter: Send + Sync {
    fn add_hold(self: Arc<Self>) -> Arc<dyn HoldCounter>;
    fn remove_hold(self: Arc<Self>);
}

impl Hold {
    /// Returns a hold that does not stop any clock.
    pub const fn none() -> Self {
        Self(None)
    }
}

impl Clone for Hold {
    fn clone(&self) -> Self {
        Self(self.0.as_ref().map(|clock| Arc::clone(clock).add_hold()))
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if let Some(clock) = &self.0 {
            Arc::clone(clock).remove_hold();
        }
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Hold" } else { "Hold(nothing)" })
    }
}
