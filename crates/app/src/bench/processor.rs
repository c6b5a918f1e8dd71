//! Description of the processor behind the benchmark figures.

use serde::Serialize;
use std::fmt;
use std::fs;
use std::path::Path;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Processor {
    pub model: String,
    pub vectors: Option<&'static str>,
    pub caches: Vec<String>,
}

impl Processor {
    pub fn of_this_machine() -> Self {
        let described = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let caches = caches_below(Path::new("/sys/devices/system/cpu/cpu0/cache"));
        Self { caches, ..Self::described(&described) }
    }

    fn described(text: &str) -> Self {
        let value = |key: &str| {
            let line =
                text.lines().find(|line| line.split(':').next().is_some_and(|name| name.trim() == key))?;
            Some(line.split_once(':')?.1.trim())
        };
        let flags: Vec<&str> = value("flags").unwrap_or_default().split(' ').collect();
        let vectors =
            [("avx512f", "AVX-512"), ("avx2", "AVX2")].into_iter().find(|(flag, _)| flags.contains(flag));
        let model = value("model name").unwrap_or(std::env::consts::ARCH).to_owned();
        Self { model, vectors: vectors.map(|(_, name)| name), caches: Vec::new() }
    }
}

fn caches_below(folder: &Path) -> Vec<String> {
    let read = |index: usize, file: &str| {
        let text = fs::read_to_string(folder.join(format!("index{index}")).join(file)).ok()?;
        Some(text.trim().to_owned())
    };
    let caches = (0..).map_while(|index| {
        let (level, kind, size) = (read(index, "level")?, read(index, "type")?, read(index, "size")?);
        let suffix = match kind.as_str() {
            "Data" => "d",
            "Instruction" => "i",
            _ => "",
        };
        Some(format!("L{level}{suffix} {size}"))
    });
    caches.collect()
}

impl fmt::Display for Processor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.model)?;
        self.vectors
            .iter()
            .map(|name| (*name).to_owned())
            .chain(self.caches.iter().cloned())
            .try_for_each(|part| write!(formatter, ", {part}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_is_named_with_its_vectors_and_caches() {
        let text = "processor\t: 0\nmodel name\t: Some Processor 3000\nflags\t\t: fpu sse2 avx avx2\n\nprocessor\t: 1\n";
        let folder = tempfile::tempdir().unwrap();
        for (index, level, kind, size) in
            [(0, "1", "Data", "32K"), (1, "1", "Instruction", "64K"), (2, "3", "Unified", "16384K")]
        {
            let cache = folder.path().join(format!("index{index}"));
            fs::create_dir(&cache).unwrap();
            for (file, text) in [("level", level), ("type", kind), ("size", size)] {
                fs::write(cache.join(file), format!("{text}\n")).unwrap();
            }
        }
        let processor = Processor { caches: caches_below(folder.path()), ..Processor::described(text) };
        assert_eq!(processor.to_string(), "Some Processor 3000, AVX2, L1d 32K, L1i 64K, L3 16384K");
        let wide = Processor::described("flags : avx2 avx512f\n");
        assert_eq!((wide.model.as_str(), wide.vectors), (std::env::consts::ARCH, Some("AVX-512")));
    }
}
