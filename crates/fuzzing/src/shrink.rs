//! A failing input becomes a small one.

/// Enough for what is found; a failure that takes long to repeat must not hold up the run for ever.
const MOST_TRIES: usize = 2000;

/// The shortest that still fails, by leaving out ever smaller parts. Quietly: each try would print the reason.
pub(crate) fn shrunk(input: &[u8], fails: &dyn Fn(&[u8]) -> bool) -> Vec<u8> {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let small = without_parts(input, fails);
    std::panic::set_hook(hook);
    small
}

fn without_parts(input: &[u8], fails: &dyn Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut small = input.to_vec();
    let mut size = small.len().div_ceil(2).max(1);
    let mut tries = 0;
    loop {
        let mut at = 0;
        let before = small.len();
        while at < small.len() && tries < MOST_TRIES {
            let mut shorter = small.clone();
            shorter.drain(at..(at + size).min(small.len()));
            tries += 1;
            if fails(&shorter) {
                small = shorter;
            } else {
                at += size;
            }
        }
        if tries >= MOST_TRIES || (size == 1 && small.len() == before) {
            return small;
        }
        if small.len() == before {
            size = size.div_ceil(2);
        }
    }
}
