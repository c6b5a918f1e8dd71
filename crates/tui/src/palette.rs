//! Colours, or none.

use ratatui::style::{Color, Modifier, Style};

/// How things look: in colours, or in weights alone.
#[derive(Clone, Copy, Debug)]
pub struct Palette {
    has_colours: bool,
}

impl Palette {
    /// What is beside the point.
    pub(crate) const DIM: Style = Style::new().add_modifier(Modifier::DIM);
    pub(crate) const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
    /// Turned around: what is chosen, and what must be seen.
    pub(crate) const REVERSED: Style = Style::new().add_modifier(Modifier::REVERSED);

    /// With colours, unless nobody wants any.
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

    pub(crate) const fn note(self) -> Style {
        self.colour(Color::Yellow)
    }

    pub(crate) const fn accent(self) -> Style {
        self.colour(Color::Cyan)
    }

    /// Of an amount that was earned or lost.
    pub(crate) const fn signed(self, minor: i64) -> Style {
        match minor {
            1.. => self.good(),
            0 => Style::new(),
            _ => self.bad(),
        }
    }
}
