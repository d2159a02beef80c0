//! Makes hostile input out of good input, for tests.
//!
//! A target is a function that is given bytes, panics when something is wrong, and says what it saw. It gets
//! every file of its corpus, then mutations of them. What made it say something new is kept as a further
//! beginning, so that the search goes deeper without an instrumented build. What made it panic is made small
//! and printed; as a file in the corpus it is tried in every later run.
//!
//! This crate knows none of ours, and is a dependency of tests only.

mod dice;
mod mutation;
mod shrink;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub use dice::Dice;
use mutation::mutated;

/// How long a target is run when nothing else is said.
const USUAL_SECONDS: f64 = 5.0;

/// Nothing that is read is allowed to take this long, even on a machine that is busy with other things.
const LONGEST_FOR_ONE: Duration = Duration::from_secs(30);

/// How many beginnings are kept besides the corpus; a new one takes the place of an older one.
const KEPT: usize = 4096;

/// How many of these a search on demand leaves in the corpus.
const KEPT_AS_FILES: usize = 16;

/// One target: where its corpus is and what its language is made of.
#[derive(Debug, Clone)]
pub struct Target {
    corpus: PathBuf,
    seeds: Vec<Vec<u8>>,
    dictionary: Vec<Vec<u8>>,
    longest: usize,
}

impl Target {
    /// `corpus` is a folder in which each file is one input.
    pub fn new(corpus: impl Into<PathBuf>) -> Self {
        Self {
            corpus: corpus.into(),
            seeds: Vec::new(),
            dictionary: Vec::new(),
            longest: 4096,
        }
    }

    /// Further beginnings, such as fixtures that are kept elsewhere.
    #[must_use]
    pub fn seeds(mut self, seeds: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        let seeds = seeds.into_iter().map(|seed| seed.as_ref().to_vec());
        self.seeds.extend(seeds);
        self
    }

    /// Words that are put into the input as they are.
    #[must_use]
    pub fn dictionary(mut self, words: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        let words = words.into_iter().map(|word| word.as_ref().to_vec());
        self.dictionary.extend(words);
        self
    }

    /// No mutation makes an input longer than this.
    #[must_use]
    pub fn longest(mut self, bytes: usize) -> Self {
        self.longest = bytes;
        self
    }

    /// Runs the corpus, then mutations for as long as `SAYSO_FUZZ_SECONDS` says. `SAYSO_FUZZ_SEED` repeats a
    /// run, as far as it got in its time.
    pub fn run<Seen: Hash>(&self, check: impl Fn(&[u8]) -> Seen) {
        let seed = setting("SAYSO_FUZZ_SEED").unwrap_or_else(dice::any_seed);
        let seconds = setting("SAYSO_FUZZ_SECONDS").unwrap_or(USUAL_SECONDS);
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        let mut run = Run {
            target: self,
            check,
            seed,
            seen: HashSet::new(),
            pool: Vec::new(),
            count: 0,
        };
        for input in self.beginnings() {
            run.try_one(&input);
            run.pool.push(input);
        }
        let given = run.pool.len();
        let mut dice = Dice::new(seed);
        while Instant::now() < end {
            let input = mutated(&run.pool, &self.dictionary, self.longest, &mut dice);
            if run.try_one(&input) {
                if run.pool.len() < given + KEPT {
                    run.pool.push(input);
                } else {
                    let place = given + dice.below(KEPT);
                    run.pool[place] = input;
                }
            }
        }
        let (count, kept) = (run.count, run.pool.len() - given);
        report(&format!(
            "{count} inputs (SAYSO_FUZZ_SEED={seed}), {kept} beyond the {given} in the corpus were new"
        ));
        if keeps() {
            self.keep_shortest(run.pool.split_off(given));
        }
    }

    /// A longer search leaves something for the shorter ones: the short inputs say the most.
    fn keep_shortest(&self, mut found: Vec<Vec<u8>>) {
        found.sort_by_key(Vec::len);
        for input in found.iter().take(KEPT_AS_FILES) {
            if let Err(error) = self.keep("new", input) {
                report(&format!("an input could not be kept: {error}"));
            }
        }
    }

    /// Puts an input into the corpus, under a name that is always the same.
    fn keep(&self, why: &str, input: &[u8]) -> std::io::Result<PathBuf> {
        let mut hasher = DefaultHasher::new();
        input.hash(&mut hasher);
        let path = self.corpus.join(format!("{why}-{:016x}", hasher.finish()));
        std::fs::write(&path, input)?;
        Ok(path)
    }

    /// A corpus that is not found would make a target that looks at nothing.
    fn beginnings(&self) -> Vec<Vec<u8>> {
        let mut files = files(&self.corpus);
        files.sort();
        let read = files.iter().filter_map(|file| std::fs::read(file).ok());
        let all: Vec<_> = read.chain(self.seeds.iter().cloned()).collect();
        assert!(
            !all.is_empty(),
            "there is nothing in {}",
            self.corpus.display()
        );
        all
    }
}

struct Run<'a, Check> {
    target: &'a Target,
    check: Check,
    seed: u64,
    seen: HashSet<u64>,
    pool: Vec<Vec<u8>>,
    count: u64,
}

impl<Seen: Hash, Check: Fn(&[u8]) -> Seen> Run<'_, Check> {
    /// Whether the target said something that it had not said before.
    fn try_one(&mut self, input: &[u8]) -> bool {
        self.count += 1;
        let started = Instant::now();
        let seen = catch_unwind(AssertUnwindSafe(|| (self.check)(input)));
        let taken = started.elapsed();
        let Ok(seen) = seen else { self.fail(input) };
        assert!(taken < LONGEST_FOR_ONE, "{taken:?} for {}", shown(input));
        let mut hasher = DefaultHasher::new();
        seen.hash(&mut hasher);
        self.seen.insert(hasher.finish())
    }

    #[expect(clippy::panic, reason = "this is how a test fails")]
    fn fail(&self, input: &[u8]) -> ! {
        let small = shrink::shrunk(input, &|input| {
            catch_unwind(AssertUnwindSafe(|| (self.check)(input))).is_err()
        });
        let corpus = self.target.corpus.display();
        let kept = match keeps().then(|| self.target.keep("failed", &small)) {
            Some(Ok(path)) => format!("It is in {} now", path.display()),
            Some(Err(_)) | None => {
                let command = printf(&small);
                format!("As a file in {corpus} it is tried in every run: printf '{command}' > NAME")
            }
        };
        panic!(
            "input {} of SAYSO_FUZZ_SEED={} fails, for the reason above. A small one that fails, too:\n\n{}\n\n{kept}",
            self.count,
            self.seed,
            shown(&small),
        );
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.is_file()).collect()
}

/// Whether what is found becomes part of the corpus; in the suite, which changes no file, it does not.
fn keeps() -> bool {
    setting::<u8>("SAYSO_FUZZ_KEEP") == Some(1)
}

fn setting<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

fn shown(input: &[u8]) -> String {
    let text: String = input.escape_ascii().to_string();
    text.chars().take(4000).collect()
}

/// As a shell's `printf` takes it.
fn printf(input: &[u8]) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b" .,:;/_{}[]()<>=+-".contains(&byte);
    let mut text = String::new();
    for &byte in input.iter().take(2000) {
        if plain(byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("\\{byte:03o}"));
        }
    }
    text
}

#[expect(
    clippy::print_stdout,
    reason = "tests show this when they are asked to"
)]
fn report(line: &str) {
    println!("{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(folder: &Path) -> Target {
        std::fs::write(folder.join("one"), "{\"a\": 1}").unwrap();
        Target::new(folder).dictionary(["secret"])
    }

    /// Three steps, none of which is found without the one before.
    fn depth(input: &[u8]) -> usize {
        let has = |word: &[u8]| input.windows(word.len()).any(|part| part == word);
        let steps: [&[u8]; 3] = [b"secret", b"secretsecret", b"secretsecret\""];
        steps.iter().take_while(|step| has(step)).count()
    }

    #[test]
    fn what_is_new_leads_further_and_what_fails_is_made_small() {
        let folder = tempfile_folder("deep");
        let failed = catch_unwind(AssertUnwindSafe(|| {
            target(&folder).run(|input| {
                let depth = depth(input);
                assert!(depth < 3);
                depth
            });
        }));
        std::fs::remove_dir_all(&folder).unwrap();
        let text = *failed.unwrap_err().downcast::<String>().unwrap();
        assert!(text.contains("\n\nsecretsecret\\\"\n\n"), "{text}");
    }

    #[test]
    fn the_corpus_is_run_as_it_is() {
        let folder = tempfile_folder("corpus");
        let failed = catch_unwind(AssertUnwindSafe(|| {
            target(&folder).run(|input| assert_ne!(input, b"{\"a\": 1}"));
        }));
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(failed.is_err());
    }

    #[test]
    #[should_panic(expected = "there is nothing in")]
    fn a_corpus_that_is_not_there_is_no_success() {
        Target::new("no-such-folder").run(<[u8]>::len);
    }

    fn tempfile_folder(name: &str) -> PathBuf {
        let name = format!("sayso-fuzzing-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }
}
