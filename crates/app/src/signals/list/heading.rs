//! What a line that is no entry may say of the lines below it: the day they are of.

use super::zone_names::is_one_of;

/// Words that name a day or a month in lists, in English, Portuguese and Spanish.
const DAY_WORDS: &str = " today tomorrow monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun january february march \
    april may june july august september october november december jan feb mar apr jun jul aug sep oct nov dec hoje amanhã amanha segunda terça \
    terca quarta quinta sexta sábado sabado domingo janeiro fevereiro março marco abril maio junho julho agosto setembro outubro novembro \
    dezembro hoy mañana manana lunes martes miércoles miercoles jueves viernes enero febrero marzo mayo junio julio septiembre octubre \
    noviembre diciembre ";

/// Whether a line may say of which day the lines below it are: it has a date, however written, or names a day or a month.
pub(super) fn may_name_a_day(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.split(|sign: char| !(sign.is_alphanumeric() || "./-".contains(sign))).any(|token| {
        let token = token.trim_matches(['.', '/', '-']);
        let parts: Vec<&str> = token.split(['.', '/', '-']).collect();
        is_date(token, &parts) || parts.iter().any(|part| is_one_of(part, DAY_WORDS))
    })
}

/// Two or three numbers of a date. `2.2` is none: so factors are written.
fn is_date(token: &str, parts: &[&str]) -> bool {
    let is_number =
        |part: &&str| part.bytes().all(|digit| digit.is_ascii_digit()) && (1..=4).contains(&part.len());
    let is_short = |part: &&str| part.len() <= 2;
    match parts {
        [first, second] => {
            let is_factor = token.contains('.') && first.len() == 1 && second.len() == 1;
            parts.iter().all(|part| is_number(part) && is_short(part)) && !is_factor
        }
        [_, _, _] => parts.iter().all(is_number) && parts.iter().filter(|part| !is_short(part)).count() <= 1,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_may_name_a_day_in_the_ways_in_which_chats_write_it() {
        for text in [
            "28/11",
            "28.11",
            "28-11",
            "27-11-26",
            "2026.11.28",
            " 28/11/2026 (Sat)",
            "# 28 November",
            "tomorrow",
            "Amanhã",
            "SÁBADO",
            "segunda-feira",
            "Signals of 28.11.",
            "28 nov",
        ] {
            assert!(may_name_a_day(text), "{text}");
        }
        for text in [
            "VIP room 24h",
            "100 % sure",
            "the rest of the day",
            "gale 2.2",
            "1.0850",
            "M5",
            "10:00 EURUSD CALL",
            "-----",
            "",
        ] {
            assert!(!may_name_a_day(text), "{text}");
        }
    }
}
