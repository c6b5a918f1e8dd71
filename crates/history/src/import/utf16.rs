//! UTF-16 text, as written by trading terminals and spreadsheets on Windows.

use super::problem::Problem;

type Decoder = fn(&[u8]) -> Result<String, Problem>;

pub(super) fn decoder_of(start: &[u8]) -> Option<Decoder> {
    match start {
        [0xFF, 0xFE, ..] => Some(|content| decoded(content, u16::from_le_bytes)),
        [0xFE, 0xFF, ..] => Some(|content| decoded(content, u16::from_be_bytes)),
        _ => None,
    }
}

fn decoded(content: &[u8], unit_of: fn([u8; 2]) -> u16) -> Result<String, Problem> {
    let broken = || {
        Problem::File("this is text in UTF-16 that is cut off or broken; write it anew, as UTF-8".to_owned())
    };
    let (units, []) = content[2..].as_chunks::<2>() else { return Err(broken()) };
    char::decode_utf16(units.iter().map(|unit| unit_of(*unit)))
        .collect::<Result<String, _>>()
        .map_err(|_| broken())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orders_are_read_and_halves_are_refused() {
        let text = "Eröffnung 😀\n";
        let units = || text.encode_utf16();
        let little: Vec<u8> = [0xFF, 0xFE].into_iter().chain(units().flat_map(u16::to_le_bytes)).collect();
        let big: Vec<u8> = [0xFE, 0xFF].into_iter().chain(units().flat_map(u16::to_be_bytes)).collect();
        for content in [&little, &big] {
            assert_eq!(decoder_of(content).unwrap()(content).unwrap(), text);
            assert!(decoder_of(content).unwrap()(&content[..content.len() - 1]).is_err());
        }
        assert!(decoder_of(b"time,open").is_none() && decoder_of(b"").is_none());
    }
}
