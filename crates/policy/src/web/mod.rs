//! Hosts of URLs and patterns over them.

mod address;
mod domain;

pub(crate) use address::Address;
pub(crate) use domain::DomainPattern;
