//! Planted edge: time spans whose direction is drawn before the path of their prices.

use super::dice::Dice;
use super::step::STEPS_PER_MINUTE;

pub(super) struct PlantedEdge {
    chance: f64,
    minutes: usize,
    direction: i64,
    /// Remaining step closes of the span in ticks, in reverse order.
    ahead: Vec<i64>,
}

impl PlantedEdge {
    pub(super) fn new(chance: f64, minutes: usize) -> Self {
        Self { chance, minutes, direction: 1, ahead: Vec::with_capacity(minutes * STEPS_PER_MINUTE) }
    }

    /// Returns the next minute's step closes. The first minute plans the whole span.
    ///
    /// `deviation` returns the standard deviation, in ticks, of the minute that many minutes ahead.
    pub(super) fn minute(
        &mut self,
        price: i64,
        deviation: impl Fn(usize) -> f64,
        dice: &mut Dice,
    ) -> [i64; STEPS_PER_MINUTE] {
        if self.ahead.is_empty() {
            self.draw(price, deviation, dice);
        }
        std::array::from_fn(|_| self.ahead.pop().unwrap_or(price))
    }

    fn draw(&mut self, price: i64, deviation: impl Fn(usize) -> f64, dice: &mut Dice) {
        if dice.share() >= self.chance {
            self.direction = -self.direction;
        }
        let mut moved = 0.0;
        let path: Vec<f64> = (0..self.minutes * STEPS_PER_MINUTE)
            .map(|step| {
                let reach = deviation(step / STEPS_PER_MINUTE) / (STEPS_PER_MINUTE as f64).sqrt();
                moved += reach * dice.normal();
                moved
            })
            .collect();
        // A walk is as likely as its mirror image, so one that ends on the wrong side is mirrored: all else about it
        // stays that of a random walk.
        let mirror = if (moved < 0.0) == (self.direction < 0) { 1.0 } else { -1.0 };
        self.ahead.extend(path.iter().rev().map(|moved| price + (moved * mirror).round() as i64));
        if let Some(last) = self.ahead.first_mut().filter(|last| (**last - price).signum() != self.direction)
        {
            *last = price + self.direction;
        }
    }
}
