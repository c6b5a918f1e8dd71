//! Text styles, with or without colours, and formats of times, amounts and rates.

use candlewick_records::format_time;
use candlewick_runtime::control::Phase;
use candlewick_sdk::{Millis, Money, MoneyScale};
use ratatui::style::{Color, Modifier, Style};

#[derive(Clone, Copy, Debug)]
pub struct Palette {
    has_colours: bool,
}

impl Palette {
    pub(crate) const DIM: Style = Style::new().add_modifier(Modifier::DIM);
    pub(crate) const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
    pub(crate) const REVERSED: Style = Style::new().add_modifier(Modifier::REVERSED);

    pub const fn new(has_colours: bool) -> Self {
        Self { has_colours }
    }

    const fn colour(self, colour: Color) -> Style {
        if self.has_colours { Style::new().fg(colour) } else { Style::new() }
    }

    pub(crate) const fn good(self) -> Style {
        self.colour(Color::Green)
    }

    pub(crate) const fn bad(self) -> Style {
        self.colour(Color::Red)
    }

    pub(crate) const fn warn(self) -> Style {
        self.colour(Color::Yellow)
    }

    pub(crate) const fn accent(self) -> Style {
        self.colour(Color::Cyan)
    }

    pub(crate) const fn for_sign(self, minor: i64) -> Style {
        match minor {
            1.. => self.good(),
            0 => Style::new(),
            _ => self.bad(),
        }
    }
}

/// Formats a time as `12:03:22` (UTC).
pub(crate) fn format_clock_time(at: Millis) -> String {
    format_time(at, "%H:%M:%S")
}

/// Formats a time as `01-05 12:03:22` (UTC).
pub(crate) fn format_date_time(at: Millis) -> String {
    format_time(at, "%m-%d %H:%M:%S")
}

/// Formats the time left until `until`, such as `0:38`, `12:05` or `1:02:03`. The result is never negative.
pub(crate) fn format_countdown(until: Millis, now: Millis) -> String {
    let seconds = ((until - now).get().max(0) + 999) / 1_000;
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

pub(crate) fn format_age(start: Millis, now: Millis) -> String {
    let seconds = (now - start).get().max(0) / 1_000;
    match seconds {
        ..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3_600),
    }
}

pub(crate) fn format_signed(scale: MoneyScale, money: Money) -> String {
    let sign = if money.is_positive() { "+" } else { "" };
    format!("{sign}{}", scale.format(money))
}

pub(crate) fn format_percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

pub(crate) const fn phase_label(phase: Phase) -> &'static str {
    match phase {
        Phase::Trading => "TRADING",
        Phase::Halted => "HALTED",
        Phase::Suspended => "SUSPENDED",
        Phase::Stopping => "STOPPING",
    }
}

pub(crate) fn progress_bar(share: f64, columns: usize) -> String {
    let full = (share.clamp(0.0, 1.0) * columns as f64).round() as usize;
    format!("{}{}", "█".repeat(full), "░".repeat(columns - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn countdown_rounds_up_and_stops_at_zero() {
        let now = Millis::HOUR;
        for (left, expected) in
            [(38_000, "0:38"), (37_001, "0:38"), (725_000, "12:05"), (3_723_000, "1:02:03"), (-5, "0:00")]
        {
            assert_eq!(format_countdown(now + Millis::new(left), now), expected, "{left}");
        }
    }
}
