//! Faults that tests provoke in a server that is otherwise the real one. Nothing of this is in a release build.
//!
//! `SAYSO_TEST_FAULTS` names a folder. A file in it called like a fault makes that fault happen; `clock` holds the
//! milliseconds by which the wall clock is wrong.

#[cfg(debug_assertions)]
mod provoked {
    use std::path::PathBuf;
    use std::sync::LazyLock;

    static FOLDER: LazyLock<Option<PathBuf>> =
        LazyLock::new(|| std::env::var_os("SAYSO_TEST_FAULTS").map(PathBuf::from));

    pub(crate) fn clock_offset() -> i64 {
        let read = |folder: &PathBuf| std::fs::read_to_string(folder.join("clock")).ok();
        let text = FOLDER.as_ref().and_then(read);
        text.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    }

    /// Panics when this fault is wanted.
    #[expect(clippy::panic, reason = "this is the fault")]
    pub(crate) fn strike(fault: &str) {
        if let Some(folder) = FOLDER.as_ref()
            && folder.join(fault).exists()
        {
            panic!("the fault {fault} was provoked");
        }
    }
}

#[cfg(not(debug_assertions))]
mod provoked {
    pub(crate) fn clock_offset() -> i64 {
        0
    }

    pub(crate) fn strike(_fault: &str) {}
}

pub(crate) use provoked::{clock_offset, strike};
