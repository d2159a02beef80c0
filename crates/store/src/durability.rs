//! How much a decision outlives.

/// What a decision outlives that an agent was told. The death of this process, `kill -9` included, is
/// outlived by everything that was committed; and losing power never damages the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Losing power too: it is on the disk before the agent hears it. A disk that fails to keep it
    /// means that nothing is allowed.
    #[default]
    Disk,
    /// No answer waits for the disk. Losing power can lose the last moments: a tool may have run whose
    /// decision is no longer on record.
    Process,
}
