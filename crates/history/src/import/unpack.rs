//! Decompression of gzip and zip files with size limits, and decoding of UTF-16.

use super::format::{WORKBOOK_PROBLEM, is_workbook};
use super::row::Problem;
use crate::Progress;
use crate::csv::{LineError, Lines, ProgressReader};
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::Path;
use zip::ZipArchive;
use zip::read::ZipFile;

const BUFFER_BYTES: usize = 256 * 1024;
const GZIP_MAGIC: &[u8] = b"\x1F\x8B";
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";
/// Maximum compression ratio. Even the candles of a flat market compress only to about a tenth.
const MAX_RATIO: u64 = 50;
const MAX_UNCHECKED_BYTES: u64 = 64 << 20;
const ENDINGS: [&str; 5] = ["csv", "txt", "json", "feather", "parquet"];

pub(super) type ContentFn<'a, T> = &'a mut dyn FnMut(Option<&str>, &mut dyn BufRead) -> Result<T, Problem>;

pub(super) fn unpack<T>(
    path: &Path,
    entry: Option<&str>,
    max_bytes: u64,
    progress: &mut dyn FnMut(Progress),
    read_content: ContentFn<'_, T>,
) -> Result<T, Problem> {
    let file = File::open(path)?;
    let total_bytes = file.metadata()?.len();
    let packed = BufReader::with_capacity(BUFFER_BYTES, file);
    unpack_from(packed, total_bytes, entry, max_bytes, progress, read_content)
}

pub(super) fn unpack_from<T>(
    mut packed: impl BufRead + Seek,
    total_bytes: u64,
    entry: Option<&str>,
    max_bytes: u64,
    progress: &mut dyn FnMut(Progress),
    read_content: ContentFn<'_, T>,
) -> Result<T, Problem> {
    let start = packed.fill_buf()?;
    let (is_gzip, is_zip) = (start.starts_with(GZIP_MAGIC), start.starts_with(ZIP_MAGIC));
    if entry.is_some() && !is_zip {
        return Err(Problem::File("this is not a zip archive: omit --entry".to_owned()));
    }
    if is_zip {
        return open_archive(packed, entry, max_bytes, progress, read_content);
    }
    let watched = ProgressReader { inner: packed, state: Progress { read_bytes: 0, total_bytes }, progress };
    if is_gzip {
        let unpacked = MultiGzDecoder::new(BufReader::with_capacity(BUFFER_BYTES, watched));
        return read_content(None, &mut limit_size(unpacked, SizeLimit::new(total_bytes, max_bytes)));
    }
    read_content(None, &mut BufReader::with_capacity(BUFFER_BYTES, watched))
}

fn open_archive<T>(
    packed: impl Read + Seek,
    entry: Option<&str>,
    max_bytes: u64,
    progress: &mut dyn FnMut(Progress),
    read_content: ContentFn<'_, T>,
) -> Result<T, Problem> {
    let mut archive = ZipArchive::new(packed).map_err(|error| zip_problem(&error))?;
    let name = choose_entry(&archive, entry)?;
    let file = archive.by_name(&name).map_err(|error| zip_problem(&error))?;
    let (total_bytes, bound) = (file.size(), SizeLimit::new(file.compressed_size(), max_bytes));
    let watched: ProgressReader<'_, ZipFile<'_, _>> =
        ProgressReader { inner: file, state: Progress { read_bytes: 0, total_bytes }, progress };
    read_content(Some(&name), &mut limit_size(watched, bound))
}

fn zip_problem(error: &zip::result::ZipError) -> Problem {
    Problem::File(format!("the zip archive cannot be read: {error}"))
}

fn choose_entry<R: Read + Seek>(archive: &ZipArchive<R>, entry: Option<&str>) -> Result<String, Problem> {
    let all = archive.file_names().collect::<Result<Vec<_>, _>>().map_err(|error| zip_problem(&error))?;
    let names: Vec<&str> = all.iter().map(AsRef::as_ref).filter(|name| !name.ends_with('/')).collect();
    if let Some(wanted) = entry {
        return names.iter().find(|name| **name == wanted).map(|name| (*name).to_owned()).ok_or_else(|| {
            Problem::ambiguous(format!("the archive has {}, not \"{wanted}\"", join(&names)), "one of these")
        });
    }
    for ending in ENDINGS {
        let fitting: Vec<&str> = names.iter().copied().filter(|name| has_ending(name, ending)).collect();
        match fitting[..] {
            [] => {}
            [only] => return Ok(only.to_owned()),
            _ => {
                let seen = format!("the archive holds {}", join(&fitting));
                return Err(Problem::ambiguous(seen, format!("--entry, such as --entry {}", fitting[0])));
            }
        }
    }
    if is_workbook(&names) {
        return Err(Problem::File(WORKBOOK_PROBLEM.to_owned()));
    }
    Err(Problem::File(format!("the archive holds no candle file, only {}", join(&names))))
}

fn has_ending(name: &str, ending: &str) -> bool {
    let found = Path::new(name).extension();
    found.is_some_and(|found| found.eq_ignore_ascii_case(ending)) && !name.starts_with("__MACOSX/")
}

fn join(names: &[&str]) -> String {
    const MAX_NAMES: usize = 6;
    let mut sorted = names.to_vec();
    sorted.sort_unstable();
    match sorted.len() {
        0 => "nothing".to_owned(),
        count if count > MAX_NAMES => {
            format!("{} and {} more", sorted[..MAX_NAMES].join(", "), count - MAX_NAMES)
        }
        _ => sorted.join(", "),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SizeLimit {
    Size(u64),
    Ratio(u64),
}

impl SizeLimit {
    fn new(packed_bytes: u64, max_bytes: u64) -> Self {
        let by_ratio = packed_bytes.saturating_mul(MAX_RATIO).max(MAX_UNCHECKED_BYTES);
        if by_ratio < max_bytes { Self::Ratio(by_ratio) } else { Self::Size(max_bytes) }
    }

    const fn bytes(self) -> u64 {
        match self {
            Self::Size(bytes) | Self::Ratio(bytes) => bytes,
        }
    }

    fn problem(self) -> String {
        match self {
            Self::Size(bytes) => {
                format!("the file unpacks to more than {bytes} bytes; split it and import the parts")
            }
            Self::Ratio(bytes) => format!(
                "the file unpacks to more than {bytes} bytes, over {MAX_RATIO} times its size, which is implausible for candles; unpack it \
                 yourself and check it"
            ),
        }
    }
}

fn limit_size<R: Read>(inner: R, bound: SizeLimit) -> BufReader<LimitedReader<R>> {
    BufReader::with_capacity(BUFFER_BYTES, LimitedReader { inner, left: bound.bytes(), bound })
}

struct LimitedReader<R> {
    inner: R,
    left: u64,
    bound: SizeLimit,
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)? as u64;
        let Some(left) = self.left.checked_sub(length) else {
            return Err(io::Error::other(self.bound.problem()));
        };
        self.left = left;
        Ok(length as usize)
    }
}

pub(super) fn next_line<R: BufRead>(lines: &mut Lines<R>) -> Result<Option<(u64, &[u8])>, Problem> {
    lines.next().map_err(|error| match error {
        LineError::Io(error) => Problem::Io(error),
        LineError::TooLong { line } => Problem::Line { line, problem: LineError::too_long_message() },
    })
}

type Decoder = fn(&[u8]) -> Result<String, Problem>;

/// Returns a decoder if `start` is the start of UTF-16 text. Windows terminals and spreadsheets write UTF-16.
pub(super) fn utf16_decoder(start: &[u8]) -> Option<Decoder> {
    match start {
        [0xFF, 0xFE, ..] => Some(|content| decode_utf16(content, u16::from_le_bytes)),
        [0xFE, 0xFF, ..] => Some(|content| decode_utf16(content, u16::from_be_bytes)),
        _ => None,
    }
}

fn decode_utf16(content: &[u8], unit_of: fn([u8; 2]) -> u16) -> Result<String, Problem> {
    let broken =
        || Problem::File("this UTF-16 text is cut off or invalid; save it again as UTF-8".to_owned());
    let (units, []) = content[2..].as_chunks::<2>() else { return Err(broken()) };
    char::decode_utf16(units.iter().map(|unit| unit_of(*unit)))
        .collect::<Result<String, _>>()
        .map_err(|_| broken())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ignore_progress;
    use std::io::{Cursor, Write};
    use zip::write::{SimpleFileOptions, ZipWriter};

    fn build_zip(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in files {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(content).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn compress_gzip(content: &[u8]) -> Vec<u8> {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        writer.write_all(content).unwrap();
        writer.finish().unwrap()
    }

    fn check(packed: Vec<u8>, entry: Option<&str>, expected: Result<(Option<&str>, &str), &str>) {
        let read = &mut |name: Option<&str>, reader: &mut dyn BufRead| {
            let mut text = String::new();
            reader.read_to_string(&mut text)?;
            Ok((name.map(str::to_owned), text))
        };
        let length = packed.len() as u64;
        let found = unpack_from(Cursor::new(packed), length, entry, 1_000, &mut ignore_progress, read);
        let found = found.map_err(|problem| match problem.in_file(Path::new("a.zip")) {
            crate::HistoryError::Io { source, .. } => source.to_string(),
            error => error.to_string(),
        });
        let expected = expected.map(|(name, text)| (name.map(str::to_owned), text.to_owned()));
        match (&found, expected) {
            (Err(error), Err(expected)) => assert!(error.starts_with(expected), "{error}"),
            (_, expected) => assert_eq!(found, expected.map_err(str::to_owned)),
        }
    }

    #[test]
    fn unpacks_plain_gzip_and_zip_content() {
        check(b"plain".to_vec(), None, Ok((None, "plain")));
        check(compress_gzip(b"packed"), None, Ok((None, "packed")));
        check([compress_gzip(b"two "), compress_gzip(b"parts")].concat(), None, Ok((None, "two parts")));
        let with_report =
            [("x/DAT_ASCII_EURUSD_M1_2024.txt", &b"gaps"[..]), ("DAT_ASCII_EURUSD_M1_2024.csv", b"candles")];
        check(build_zip(&with_report), None, Ok((Some("DAT_ASCII_EURUSD_M1_2024.csv"), "candles")));
        check(build_zip(&[("a.csv", b"1"), ("b.csv", b"2")]), Some("b.csv"), Ok((Some("b.csv"), "2")));
    }

    #[test]
    fn error_of_ambiguous_archive_lists_its_files() {
        let two = || build_zip(&[("a.csv", b"1"), ("b.csv", b"2")]);
        check(two(), None, Err("a.zip: the archive holds a.csv, b.csv; use --entry, such"));
        check(
            two(),
            Some("c.csv"),
            Err("a.zip: the archive has a.csv, b.csv, not \"c.csv\"; use one of these"),
        );
        check(
            build_zip(&[("a.exe", b"1")]),
            None,
            Err("a.zip: the archive holds no candle file, only a.exe"),
        );
        check(b"plain".to_vec(), Some("a"), Err("a.zip: this is not a zip archive: omit --entry"));
        check(b"PK\x03\x04 no".to_vec(), None, Err("a.zip: the zip archive cannot be read: invalid"));
    }

    #[test]
    fn stops_decompression_bomb_at_the_limit() {
        const STOPPED: &str = "the file unpacks to more than 1000 bytes; split it and import the parts";
        let bomb = vec![b'0'; 1_000_000];
        check(compress_gzip(&bomb), None, Err(STOPPED));
        check(build_zip(&[("a.csv", &bomb)]), None, Err(STOPPED));
        check(compress_gzip(&bomb[..1_000]), None, Ok((None, std::str::from_utf8(&bomb[..1_000]).unwrap())));
    }

    #[test]
    fn limits_the_compression_ratio() {
        assert_eq!(SizeLimit::new(7_000_000, 4 << 30), SizeLimit::Ratio(350_000_000));
        assert_eq!(SizeLimit::new(100, 4 << 30), SizeLimit::Ratio(64 << 20));
        assert_eq!(SizeLimit::new(100_000_000, 4 << 30), SizeLimit::Size(4 << 30));
        assert_eq!(SizeLimit::new(100, 1_000), SizeLimit::Size(1_000));
        assert!(SizeLimit::Ratio(350_000_000).problem().contains("350000000 bytes, over 50 times its size"));
    }

    #[test]
    fn line_numbers_count_all_line_endings() {
        let mut lines = Lines::new(&b"\xEF\xBB\xBFa\r\n\n\r\nb\nc"[..]);
        let mut found = Vec::new();
        while let Some((number, line)) = next_line(&mut lines).unwrap() {
            found.push((number, String::from_utf8(line.to_vec()).unwrap()));
        }
        assert_eq!(found, [(1, "a".to_owned()), (4, "b".to_owned()), (5, "c".to_owned())]);
    }

    #[test]
    fn limits_line_length() {
        let long = vec![b'1'; 10_000];
        let mut lines = Lines::new(&long[..]);
        assert!(matches!(next_line(&mut lines), Err(Problem::Line { line: 1, .. })));
    }

    #[test]
    fn reads_both_utf16_byte_orders_and_rejects_half_units() {
        let text = "Eröffnung 😀\n";
        let units = || text.encode_utf16();
        let little: Vec<u8> = [0xFF, 0xFE].into_iter().chain(units().flat_map(u16::to_le_bytes)).collect();
        let big: Vec<u8> = [0xFE, 0xFF].into_iter().chain(units().flat_map(u16::to_be_bytes)).collect();
        for content in [&little, &big] {
            assert_eq!(utf16_decoder(content).unwrap()(content).unwrap(), text);
            assert!(utf16_decoder(content).unwrap()(&content[..content.len() - 1]).is_err());
        }
        assert!(utf16_decoder(b"time,open").is_none() && utf16_decoder(b"").is_none());
    }
}
