//! Scales that map parameter values to positions, and scores to colors.

use super::format_short;
use crate::markup::escape_html;
use candlewick_search::sweep::{Axis, Objective, Setting};
use std::io::{self, Write};

/// Maximum number of listed values that each have their own position. Longer lists of numbers are binned.
const MAX_POSITIONS: usize = 40;
const BINS: usize = 20;

pub(super) struct Ruler {
    pub(super) name: String,
    values: AxisValues,
}

enum AxisValues {
    Listed(Vec<Setting>),
    Between(f64, f64),
}

pub(super) struct ColourScale {
    pub(super) objective: Objective,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Ruler {
    pub(super) fn from_axis<'a>(axis: &Axis, occurring: impl Iterator<Item = &'a Setting>) -> Self {
        let name = escape_html(axis.name());
        if let Some(list) =
            axis.listed_values().filter(|list| list.len() <= MAX_POSITIONS || !axis.is_numeric())
        {
            return Self { name, values: AxisValues::Listed(list.to_vec()) };
        }
        let (low, high) = min_max(occurring.filter_map(Setting::to_number)).unwrap_or((0.0, 1.0));
        Self { name, values: AxisValues::Between(low, high) }
    }

    pub(super) fn cell_count(&self) -> usize {
        match &self.values {
            AxisValues::Listed(list) => list.len(),
            AxisValues::Between(..) => BINS,
        }
    }

    pub(super) fn cell_index(&self, setting: &Setting) -> usize {
        ((self.position(setting) * self.cell_count() as f64) as usize).min(self.cell_count() - 1)
    }

    pub(super) fn position(&self, setting: &Setting) -> f64 {
        match &self.values {
            AxisValues::Listed(list) => {
                let place = list.iter().position(|one| one == setting).unwrap_or_default();
                (place as f64 + 0.5) / list.len() as f64
            }
            AxisValues::Between(low, high) => fraction(setting.to_number().unwrap_or_default(), *low, *high),
        }
    }

    pub(super) fn labels(&self, max_count: usize) -> Vec<(f64, String)> {
        match &self.values {
            AxisValues::Listed(list) => {
                let every = list.len().div_ceil(max_count).max(1);
                let shown = list.iter().enumerate().step_by(every);
                let at = |place: usize| (place as f64 + 0.5) / list.len() as f64;
                shown.map(|(place, setting)| (at(place), label(setting))).collect()
            }
            AxisValues::Between(low, high) => {
                [0.0, 0.25, 0.5, 0.75, 1.0].map(|at| (at, format_short(low + at * (high - low)))).to_vec()
            }
        }
    }
}

impl ColourScale {
    pub(super) fn new(objective: Objective, scores: impl Iterator<Item = f64>) -> Option<Self> {
        min_max(scores).map(|(low, high)| Self { objective, low, high })
    }

    pub(super) fn label(&self, score: f64) -> String {
        self.objective.format_score(score)
    }

    pub(super) fn position(&self, score: f64) -> f64 {
        fraction(score, self.low, self.high)
    }

    /// Returns a color between dark blue, green and yellow. Higher scores are brighter, even when printed in gray.
    pub(super) fn colour(&self, score: f64) -> String {
        const COLOUR_STOPS: [[f64; 3]; 5] = [
            [68.0, 1.0, 84.0],
            [59.0, 82.0, 139.0],
            [33.0, 145.0, 140.0],
            [94.0, 201.0, 98.0],
            [253.0, 231.0, 37.0],
        ];
        let at = self.position(score) * (COLOUR_STOPS.len() - 1) as f64;
        let first = (at as usize).min(COLOUR_STOPS.len() - 2);
        let mix = |channel: usize| {
            let (from, to) = (COLOUR_STOPS[first][channel], COLOUR_STOPS[first + 1][channel]);
            (from + (to - from) * (at - first as f64)).round() as u8
        };
        format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
    }

    pub(super) fn draw_legend(&self, writer: &mut impl Write) -> io::Result<()> {
        write!(writer, "<svg class=\"legend\" viewBox=\"0 0 400 40\" width=\"400\" role=\"img\">")?;
        for step in 0..50 {
            let score = self.low + (self.high - self.low) * f64::from(step) / 49.0;
            write!(
                writer,
                "<rect x=\"{}\" y=\"0\" width=\"8\" height=\"14\" fill=\"{}\"/>",
                step * 8,
                self.colour(score)
            )?;
        }
        writeln!(
            writer,
            "<text x=\"0\" y=\"32\">{}</text><text x=\"200\" y=\"32\" class=\"middle\">{}</text>\
             <text x=\"400\" y=\"32\" class=\"end\">{}</text></svg>",
            self.label(self.low),
            self.objective.title(),
            self.label(self.high)
        )
    }
}

fn label(setting: &Setting) -> String {
    match setting {
        Setting::Real(number) => format_short(*number),
        other => escape_html(&other.to_string()),
    }
}

fn min_max(numbers: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    numbers.fold(None, |found, number| {
        let (low, high) = found.unwrap_or((number, number));
        Some((number.min(low), number.max(high)))
    })
}

fn fraction(number: f64, low: f64, high: f64) -> f64 {
    if high > low { ((number - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brightness_increases_with_the_score() {
        let shade = ColourScale::new(Objective::Edge, [-1.0, 3.0, 0.5].into_iter()).unwrap();
        assert_eq!((shade.low, shade.high), (-1.0, 3.0));
        assert_eq!([-1.0, 1.0, 3.0].map(|value| shade.colour(value)), ["#440154", "#21918c", "#fde725"]);
        assert_eq!(ColourScale::new(Objective::Edge, [2.0, 2.0].into_iter()).unwrap().colour(2.0), "#21918c");
        assert!(ColourScale::new(Objective::Edge, std::iter::empty()).is_none());
    }
}
