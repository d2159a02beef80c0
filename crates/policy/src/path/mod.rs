//! Paths as text: joined, normalised, followed along known links.

mod doubt;
mod lexical;
mod links;
mod mentioned;
mod protected;

pub(crate) use doubt::{MAX_BYTES, doubt};
pub(crate) use lexical::{absolute, is_within};
pub(crate) use links::{joined, resolve};
pub use mentioned::mentioned;
pub(crate) use protected::{holds_credentials, is_protected};
