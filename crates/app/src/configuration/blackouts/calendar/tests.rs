//! Handwritten calendars. Expected times are from `date -u -d ... +%s`, or `TZ=ZONE date -d` for zones.

use super::*;

fn calendar(lines: &str) -> String {
    format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//example//EN\r\nBEGIN:VEVENT\r\nUID:1@example\r\n{}END:VEVENT\r\nEND:VCALENDAR\r\n",
        lines.lines().flat_map(|line| [line, "\r\n"]).collect::<String>()
    )
}

/// Returns the start and end of the only event, in seconds since 1970.
fn span(lines: &str) -> (i64, i64) {
    let spans = parse_spans(calendar(lines).as_bytes()).unwrap();
    let [span] = &spans[..] else { panic!("{spans:?}") };
    assert!(span.symbols.is_empty(), "all symbols");
    (span.from.get() / 1_000, span.to.get() / 1_000)
}

const NEWS: i64 = 1_767_619_500; // 2026-01-05 13:25 UTC
const DAY: i64 = 86_400;

#[test]
fn reads_times_in_utc_or_their_zone() {
    let ten = (NEWS, NEWS + 600);
    for (lines, expected) in [
        ("DTSTART:20260105T132500Z\nDTEND:20260105T133500Z", ten),
        ("DTSTART;TZID=Europe/Berlin:20260105T142500\nDTEND;TZID=America/New_York:20260105T083500", ten),
        ("dtstart;tzid=\"Europe/Berlin\":20260105T142500\nduration:PT10M", ten),
        ("DTSTART;X-A=\"a;b:c\";TZID=Asia/Tokyo:20260105T222500\nDURATION:P1DT1H2M3S", (NEWS, NEWS + 90_123)),
        ("DURATION:+P2W\nDTSTART:20260105T132500Z", (NEWS, NEWS + 14 * DAY)),
    ] {
        assert_eq!(span(lines), expected, "{lines}");
    }
}

#[test]
fn reads_days_in_utc_with_exclusive_end() {
    let midnight = 1_767_571_200; // 2026-01-05
    for (lines, days) in [
        ("DTSTART;VALUE=DATE:20260105", 1),
        ("DTSTART;VALUE=DATE:20260105\nDTEND;VALUE=DATE:20260108", 3),
        ("DTSTART;VALUE=DATE:20260105\nDURATION:P1W", 7),
    ] {
        assert_eq!(span(lines), (midnight, midnight + days * DAY), "{lines}");
    }
}

/// Berlin clocks go from 02:00 to 03:00 at 2026-03-29 01:00 UTC, and from 03:00 to 02:00 at 2026-10-25 01:00 UTC.
#[test]
fn reads_times_at_clock_changes() {
    let (spring, autumn) = (1_774_746_000, 1_792_890_000);
    let berlin = |from: &str, end: &str| span(&format!("DTSTART;TZID=Europe/Berlin:{from}\n{end}"));
    let until = |time: &str| format!("DTEND;TZID=Europe/Berlin:{time}");
    // 01:30 to 03:30 is one hour in spring.
    assert_eq!(berlin("20260329T013000", &until("20260329T033000")), (spring - 1_800, spring + 1_800));
    // 02:30 is skipped. With the offset before the gap, it is 03:30.
    assert_eq!(berlin("20260329T023000", &until("20260329T040000")), (spring + 1_800, spring + 3_600));
    // 02:30 is ambiguous in autumn; the first occurrence counts. 01:30 to 03:30 is three hours.
    assert_eq!(berlin("20261025T023000", &until("20261025T033000")), (autumn - 1_800, autumn + 5_400));
    assert_eq!(berlin("20261025T013000", &until("20261025T033000")), (autumn - 5_400, autumn + 5_400));
    // P1D ends at the same local time, PT24H after 24 hours.
    assert_eq!(berlin("20260328T120000", "DURATION:P1D"), (spring - 50_400, spring + 32_400));
    assert_eq!(berlin("20260328T120000", "DURATION:PT24H"), (spring - 50_400, spring + 36_000));
}

#[test]
fn handles_folded_lines_reminders_zones_and_cancelled_events() {
    let text = "\u{feff}BEGIN:VCALENDAR\nBEGIN:VTIMEZONE\nTZID:Europe/Berlin\nBEGIN:STANDARD\nDTSTART:19701025T030000\n\
                RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\nEND:STANDARD\nEND:VTIMEZONE\nBEGIN:VEVENT\n\
                SUMMARY:US jobs\\, monthly\\; \\\"big\\\"\\nM\u{fc}\n nchen \\\\o\nDTSTART;TZID=Europe\n\t/Berlin:20260105\n T142500\n\
                BEGIN:VALARM\nTRIGGER:-PT15M\nDURATION:PT15M\nREPEAT:2\nEND:VALARM\nDURATION:PT10M\nEND:VEVENT\n\n\
                BEGIN:VEVENT\nSTATUS:CANCELLED\nDTSTART:20260106T132500Z\nEND:VEVENT\n\
                BEGIN:VEVENT\nSTATUS:TENTATIVE\nDTSTART;VALUE=DATE:20260107\nEND:VEVENT\nEND:VCALENDAR";
    let spans = parse_spans(text.as_bytes()).unwrap();
    let [first, second] = &spans[..] else { panic!("{spans:?}") };
    assert_eq!((first.from.get(), first.to.get()), (NEWS * 1_000, (NEWS + 600) * 1_000));
    assert_eq!(first.reason, "US jobs, monthly; \"big\" M\u{fc}nchen \\o");
    assert_eq!((second.to - second.from, second.reason.as_str()), (Millis::DAY, ""));
    // Line folding may split a character.
    let folded = [
        &b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART:20260107\r\nSUMMARY:M\xc3\r\n \xbc\r\n"[..],
        b"END:VEVENT\r\nEND:VCALENDAR",
    ];
    assert_eq!(parse_spans(&folded.concat()).unwrap()[0].reason, "M\u{fc}");
    assert_eq!(parse_spans(b"BEGIN:VCALENDAR\nEND:VCALENDAR\n").unwrap(), []);
}

#[test]
fn reports_errors_with_their_line() {
    let start = "DTSTART:20260105T132500Z\n";
    for (lines, expected) in [
        (format!("{start}DURATION:PT1H\nRRULE:FREQ=MONTHLY;BYDAY=1FR"), "line 8: RRULE"),
        (format!("{start}DURATION:PT1H\nRDATE:20260106T132500Z"), "line 8: RDATE"),
        (format!("EXDATE:20260106T132500Z\n{start}"), "line 6: EXDATE"),
        (format!("RECURRENCE-ID:20260106T132500Z\n{start}"), "line 6: RECURRENCE-ID"),
        ("DTSTART:20260105T132500\nDURATION:PT1H".to_owned(), "line 6: 20260105T132500 has no time zone"),
        ("DTSTART;TZID=W. Europe Time:20260105T132500".to_owned(), "line 6: TZID \"W. Europe Time\""),
        ("DTSTART;TZID=Europe/Berlin:20260105T132500Z".to_owned(), "line 6: 20260105T132500Z has both Z"),
        ("DTSTART;TZID=Europe/Berlin:20260105".to_owned(), "line 6: a date cannot have a TZID"),
        ("DTSTART:20260230".to_owned(), "line 6: \"20260230\" is not a date"),
        ("DTSTART:2026-01-05 13:25".to_owned(), "line 6: \"2026-01-05 13:25\" is not a date"),
        ("DTSTART:20260105T992500Z".to_owned(), "line 6: \"20260105T992500Z\" is not a date"),
        (start.to_owned(), "line 7: the event that ends on this line has no length"),
        (format!("{start}DTEND;VALUE=DATE:20260106"), "line 8: DTSTART and DTEND must both be dates"),
        (
            format!("{start}DTEND:20260105T132500Z"),
            "line 8: the end of the event that ends on this line must",
        ),
        (format!("{start}DTEND:20260105T142500Z\nDURATION:PT1H"), "line 9: the event that ends on this line"),
        (format!("{start}{start}"), "line 7: the event has more than one DTSTART"),
        ("SUMMARY:jobs".to_owned(), "line 7: the event that ends on this line has no DTSTART"),
        ("DTSTART:20260105\nDURATION:PT1H".to_owned(), "line 8: an all-day event needs a DURATION of days"),
        (format!("{start}BEGIN:VALARM"), "line 8: END:VEVENT has no BEGIN"),
        (format!("{start}END:VEVENT\nSUMMARY"), "line 8: expected NAME:VALUE, not \"SUMMARY\""),
    ] {
        let problem = parse_spans(calendar(&lines).as_bytes()).unwrap_err();
        assert!(problem.starts_with(expected), "{lines}: {problem}");
    }
    for length in ["PT", "P", "1D", "-PT5M", "P1M", "PT1M2H", "PT1", "PT0S", "P99999999D", "PTxM", "P1H"] {
        let problem = parse_spans(calendar(&format!("{start}DURATION:{length}")).as_bytes()).unwrap_err();
        assert!(problem.starts_with(&format!("line 7: {length:?} is not a duration")), "{problem}");
    }
    for (text, expected) in [
        ("BEGIN:VEVENT\n", "line 1: a calendar must start with BEGIN:VCALENDAR"),
        ("from,to\n2026-01-05,2026-01-06\n", "line 1: expected NAME:VALUE, not \"from,to\""),
        ("X-A:1\n", "line 1: X-A is outside"),
        ("BEGIN:VCALENDAR\nBEGIN:VEVENT\n", "line 1: BEGIN:VCALENDAR has no END"),
        ("BEGIN:VCALENDAR\nBEGIN:VEVENT\nBEGIN:VEVENT\n", "line 3: an event starts inside another"),
        ("BEGIN:VCALENDAR\nEND:VCALENDAR\nEND:VCALENDAR\n", "line 3: END:VCALENDAR has no BEGIN"),
    ] {
        let problem = parse_spans(text.as_bytes()).unwrap_err();
        assert!(problem.starts_with(expected), "{text:?}: {problem}");
    }
    assert_eq!(parse_spans(b"BEGIN:VCALENDAR\nX-A:\xff\n").unwrap_err(), "line 2: not UTF-8");
}
