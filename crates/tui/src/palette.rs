//! Styles with or without colours.

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

    pub(crate) const fn note(self) -> Style {
        self.colour(Color::Yellow)
    }

    pub(crate) const fn accent(self) -> Style {
        self.colour(Color::Cyan)
    }

    pub(crate) const fn signed(self, minor: i64) -> Style {
        match minor {
            1.. => self.good(),
            0 => Style::new(),
            _ => self.bad(),
        }
    }
}
