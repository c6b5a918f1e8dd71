//! Strategies that remember something of their own: runs, counts with a declared reset, how their trades ended.

use crate::declare::{list, strategy, toward};
use candlewick_sdk::{Candle, Direction, Millis, Outcome, Settlement, Signal};

list!(Streak, StreakOfTheHour, OnceAnHour, PauseAfterLosses, TurnsAround, GrowsCareful);

fn is_new_hour(candle: &Candle) -> bool {
    candle.time().is_aligned_to(Millis::HOUR)
}

strategy!("h-streak", Streak { run: i32 = 0 }, 4, |this, candle| {
    let colour = if candle.close() > candle.open() { 1 } else { -1 };
    this.run = if this.run.signum() == colour { (this.run + colour).clamp(-4, 4) } else { colour };
    (this.run.abs() == 4).then(|| toward(f64::from(-this.run), "a run")).flatten()
});

strategy!("h-streak-of-the-hour", StreakOfTheHour { rises: u32 = 0 }, 60, |this, candle| {
    if is_new_hour(candle) {
        this.rises = 0;
    }
    this.rises += u32::from(candle.close() > candle.open());
    (this.rises > 0 && this.rises.is_multiple_of(7)).then(|| Signal::sell("so many rises in this hour"))
});

strategy!("h-once-an-hour", OnceAnHour { is_done: bool = false }, 60, |this, candle| {
    if is_new_hour(candle) {
        this.is_done = false;
    }
    let move_ = candle.close() / candle.open() - 1.0;
    let is_due = !this.is_done && move_.abs() > 0.001;
    this.is_done |= is_due;
    is_due.then(|| toward(move_, "the hour's first move")).flatten()
});

strategy!("h-pause-after-losses", PauseAfterLosses { losses: u32 = 0, pause: u32 = 0 }, 1, |this, candle| {
    if this.pause > 0 {
        this.pause -= 1;
        return None;
    }
    toward(candle.close() - candle.open(), "goes on")
}, also {
    fn on_settled(&mut self, settlement: &Settlement) {
        self.losses = if settlement.outcome == Outcome::Lost { self.losses + 1 } else { 0 };
        if self.losses == 3 {
            (self.losses, self.pause) = (0, 10);
        }
    }
});

strategy!("h-turns-around", TurnsAround { with: f64 = 1.0 }, 1, |this, candle| {
    toward(this.with * (candle.close() - candle.open()), "as it went well last")
}, also {
    fn on_settled(&mut self, settlement: &Settlement) {
        if settlement.outcome == Outcome::Lost {
            self.with = -self.with;
        }
    }
});

strategy!("h-grows-careful", GrowsCareful { least: f64 = 0.0005 }, 1, |this, candle| {
    let change = candle.close() / candle.open() - 1.0;
    (change.abs() > this.least).then(|| Signal::new(if change > 0.0 { Direction::Sell } else { Direction::Buy }, "moved enough"))
}, also {
    fn on_settled(&mut self, settlement: &Settlement) {
        let factor = if settlement.outcome == Outcome::Won { 0.95 } else { 1.05 };
        self.least = (self.least * factor).clamp(0.0001, 0.002);
    }
});
