//! Elapsed real time: a stopwatch for display, and a clock that includes system sleep.

#[cfg(not(target_os = "linux"))]
use std::time::SystemTime;
use std::time::{Duration, Instant};

/// A stopwatch for real time.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts the stopwatch.
    #[allow(clippy::disallowed_methods)] // this module is the clock
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Returns the real time since the start.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Clock for elapsed real time, including the time while the system sleeps. Independent of venue time.
#[derive(Clone, Copy, Debug)]
pub struct BootClock {
    #[cfg(target_os = "linux")]
    began: Duration,
    #[cfg(not(target_os = "linux"))]
    began: (Instant, SystemTime),
}

#[cfg(target_os = "linux")]
fn since_boot() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
}

impl BootClock {
    /// Starts the clock.
    #[cfg(target_os = "linux")]
    pub fn start() -> Self {
        Self { began: since_boot() }
    }

    /// Starts the clock.
    #[cfg(not(target_os = "linux"))]
    #[allow(clippy::disallowed_methods)] // this module is the clock
    pub fn start() -> Self {
        Self { began: (Instant::now(), SystemTime::now()) }
    }

    /// Returns the time since the start.
    #[cfg(target_os = "linux")]
    pub fn elapsed(&self) -> Duration {
        since_boot().saturating_sub(self.began)
    }

    /// Returns the time since the start by the monotonic clock or by the wall clock, whichever is longer.
    #[cfg(not(target_os = "linux"))]
    pub fn elapsed(&self) -> Duration {
        self.began.0.elapsed().max(self.began.1.elapsed().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn measures_real_time_not_the_paused_timer() {
        let clock = BootClock::start();
        let before = clock.elapsed();
        tokio::time::sleep(Duration::from_hours(1)).await;
        let after = clock.elapsed();
        assert!(before <= after && after < Duration::from_mins(30), "{after:?}");
    }
}
