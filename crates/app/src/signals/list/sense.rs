//! Lines that change the meaning of those below, such as afternoon times or cancelled trades.

use super::plain::folded;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sense {
    Afternoon,
    /// The entries below may be cancelled, inverted, past or on another clock.
    Other,
}

const AFTERNOON: [&str; 7] = ["pm", "p.m", "tarde", "noite", "noche", "afternoon", "evening"];
const OTHER: [&str; 6] = ["ontem", "yesterday", "ayer", "ny", "nyc", "u.t.c"];
/// Substrings with the same effect as the tokens of `OTHER`.
const PARTS: [&str; 15] = [
    "cancel",
    "invert",
    "invers",
    "reverse",
    "contrari",
    "opposite",
    "resultad",
    "results",
    "not trade",
    "no trade",
    "don't trade",
    "nao oper",
    "no oper",
    "nao entr",
    "no entr",
];

pub(super) fn sense_of(text: &str) -> Option<Sense> {
    let text = folded(text);
    let token = |sign: char| !(sign.is_alphanumeric() || sign == '.');
    let has = |words: &[&str]| {
        text.split(token).map(|word| word.trim_matches('.')).any(|word| words.contains(&word))
    };
    if has(&OTHER) || PARTS.iter().any(|part| text.contains(part)) {
        return Some(Sense::Other);
    }
    has(&AFTERNOON).then_some(Sense::Afternoon)
}

pub(super) fn struck_out(line: &str) -> Option<String> {
    let has_stroke = line.chars().any(|sign| ('\u{335}'..='\u{338}').contains(&sign));
    let has_tilde = line.contains('~') && line.chars().any(char::is_alphanumeric);
    let sign = if has_stroke { "the stroke through its letters" } else { "~" };
    (has_stroke || has_tilde)
        .then(|| format!("{sign} strikes it out: take it away to have it traded, or the line"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_may_change_the_sense_of_those_below_it() {
        for text in ["PM", "SINAIS DA TARDE", "Afternoon session", "9 p.m."] {
            assert_eq!(sense_of(text), Some(Sense::Afternoon), "{text}");
        }
        for text in [
            "LISTA CANCELADA",
            "DO NOT TRADE",
            "NÃO OPERAR",
            "Inverter sinais",
            "RESULTADOS",
            "ONTEM",
            "LISTA NY",
            "U.T.C-5",
        ] {
            assert_eq!(sense_of(text), Some(Sense::Other), "{text}");
        }
        for text in ["VIP room", "players only", "company", "100 % sure", "EURUSD", "-----", ""] {
            assert_eq!(sense_of(text), None, "{text}");
        }
    }

    #[test]
    fn a_line_is_struck_out_in_the_ways_of_phones_and_chats() {
        for text in ["M\u{336}5\u{336} EURUSD 10:50 PUT", "~~ M5 EURUSD 10:50 PUT ~~", "~10:50 EURUSD PUT~"] {
            assert!(struck_out(text).is_some(), "{text}");
        }
        for text in ["10:50 EURUSD PUT", "~~~~~~", "terc\u{327}a"] {
            assert_eq!(struck_out(text), None, "{text}");
        }
    }
}
