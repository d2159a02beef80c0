//! The native protocol: what a client sends to Sayso and what it receives.
//!
//! These types are the wire and nothing else. They are exported to TypeScript
//! (`ui/src/protocol.gen.ts`), and `docs/protocol.md` explains them to people.
//! The domain types live in `sayso-broker`; the conversions live in `sayso`.

mod access;
mod baseline;
mod client;
mod error;
mod folder;
mod history;
mod notification;
mod request;
mod rule;
mod server;
mod session;
mod sparse;
mod transcript;

pub use access::*;
pub use baseline::*;
pub use client::*;
pub use error::*;
pub use folder::*;
pub use history::*;
pub use notification::*;
pub use request::*;
pub use rule::*;
pub use server::*;
pub use session::*;
pub use transcript::*;

/// Free-form JSON, kept byte for byte: tool inputs, schemas, agent messages.
pub type RawJson = std::sync::Arc<serde_json::value::RawValue>;

#[cfg(test)]
mod typescript;
