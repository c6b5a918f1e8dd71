//! Normalization of styled text: bold or full-width characters and invisible ones.

const DASHES: [char; 9] = [
    '\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2212}', '\u{fe63}', '\u{ff0d}',
    '\u{2796}',
];
const UNSEEN: [char; 7] = ['\u{ad}', '\u{200b}', '\u{200c}', '\u{200e}', '\u{200f}', '\u{2060}', '\u{feff}'];

const ACCENTS: std::ops::RangeInclusive<char> = '\u{300}'..='\u{36f}';

pub(super) fn plain(text: &str) -> String {
    let seen = text.chars().filter(|sign| !UNSEEN.contains(sign) && !ACCENTS.contains(sign));
    seen.map(|sign| usual(sign_of(sign))).collect()
}

pub(super) fn folded(text: &str) -> String {
    text.chars().map(sign_of).collect::<String>().to_lowercase().chars().map(without_accent).collect()
}

fn sign_of(sign: char) -> char {
    match sign {
        sign if DASHES.contains(&sign) => '-',
        '\u{2795}' | '\u{ff0b}' => '+',
        sign => sign,
    }
}

/// Mathematical alphabets have 52 letters or 10 digits each.
fn usual(sign: char) -> char {
    let code = u32::from(sign);
    let usual = match code {
        0x1_d400..=0x1_d6a3 => {
            let place = (code - 0x1_d400) % 52;
            if place < 26 { 0x41 + place } else { 0x61 + place - 26 }
        }
        0x1_d7ce..=0x1_d7ff => 0x30 + (code - 0x1_d7ce) % 10,
        0xff10..=0xff19 | 0xff21..=0xff3a | 0xff41..=0xff5a => code - 0xfee0,
        _ => return sign,
    };
    char::from_u32(usual).unwrap_or(sign)
}

const fn without_accent(sign: char) -> char {
    match sign {
        'á' | 'à' | 'â' | 'ã' | 'ä' => 'a',
        'é' | 'è' | 'ê' | 'ë' => 'e',
        'í' | 'ì' | 'î' | 'ï' => 'i',
        'ó' | 'ò' | 'ô' | 'õ' | 'ö' => 'o',
        'ú' | 'ù' | 'û' | 'ü' => 'u',
        'ç' => 'c',
        'ñ' => 'n',
        _ => sign,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_in_any_dress_are_the_usual_ones() {
        for (text, expected) in [
            // Bold, sans-serif bold and monospace, and in full width.
            ("\u{1d414}\u{1d413}\u{1d402}-\u{1d7d1}", "UTC-3"),
            ("\u{1d5e8}\u{1d5e7}\u{1d5d6}-\u{1d7ef}", "UTC-3"),
            ("\u{1d681}\u{1d68a}\u{1d693}", "Raj"),
            ("\u{ff35}\u{ff34}\u{ff23}-\u{ff13}", "UTC-3"),
            ("UT\u{200b}C\u{2060}-3", "UTC-3"),
            ("UTC\u{2013}03:00 \u{2795}1", "UTC-03:00 +1"),
            ("terc\u{327}a", "terca"),
            ("\u{1f7e2} São", "\u{1f7e2} São"),
        ] {
            assert_eq!(plain(text), expected);
        }
        assert_eq!(folded("HORÁRIO de São Paulo, UTC\u{2212}3"), "horario de sao paulo, utc-3");
    }
}
