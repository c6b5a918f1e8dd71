//! Table cells with a bar from the middle, to the right for a profit.

pub(super) fn cell(value: f64, largest: f64) -> String {
    let width = (value / largest * 50.0).abs().min(50.0);
    let (class, from) = if value < 0.0 { ("bad", 50.0 - width) } else { ("good", 50.0) };
    format!(
        "<td class=\"bar\" aria-hidden=\"true\"><svg viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\"><rect class=\"{class}\" \
         x=\"{from:.1}\" width=\"{width:.1}\" height=\"10\"/></svg></td>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_reaches_to_the_left() {
        for (value, expected) in [
            (-0.5, "class=\"bad\" x=\"25.0\" width=\"25.0\""),
            (1.0, "class=\"good\" x=\"50.0\" width=\"50.0\""),
            (0.0, "class=\"good\" x=\"50.0\" width=\"0.0\""),
            (-9.0, "class=\"bad\" x=\"0.0\" width=\"50.0\""),
        ] {
            assert!(cell(value, 1.0).contains(expected), "{value}");
        }
    }
}
