//! What the command line says.

use crate::dialect::{by_name, Dialect};
use crate::Res;
use std::collections::BTreeMap;
use std::time::Duration;

pub(crate) struct Opts {
    pub(crate) dialect: Box<dyn Dialect>,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) sessions: usize,
    pub(crate) viewers: usize,
    pub(crate) job: String,
    pub(crate) pending: usize,
    pub(crate) server_pid: Option<u32>,
    /// Further processes of the server: those with this in their arguments.
    pub(crate) also: Option<String>,
    pub(crate) timeout: Duration,
    pub(crate) setup: usize,
    pub(crate) repeat: usize,
    pub(crate) stalled: usize,
}

impl Opts {
    pub(crate) fn from(o: &BTreeMap<String, String>) -> Res<Self> {
        let num = |k: &str, d: usize| -> Res<usize> {
            o.get(k).map_or(Ok(d), |v| {
                v.parse().map_err(|_| format!("--{k}: not a number"))
            })
        };
        let name = o.get("dialect").ok_or("--dialect missing")?;
        Ok(Opts {
            dialect: by_name(name).ok_or_else(|| format!("unknown dialect {name}"))?,
            host: o.get("host").cloned().unwrap_or_else(|| "127.0.0.1".into()),
            port: num("port", 0)? as u16,
            sessions: num("sessions", 1)?,
            viewers: num("viewers", 0)?,
            job: o.get("job").cloned().unwrap_or_default(),
            pending: num("pending", 0)?,
            also: o.get("also").cloned(),
            server_pid: o.get("server-pid").and_then(|v| v.parse().ok()),
            timeout: Duration::from_secs(num("timeout", 55)? as u64),
            setup: num("setup", 4)?,
            repeat: num("repeat", 1)?,
            stalled: num("stalled", 0)?,
        })
    }
}

pub(crate) fn options(args: &[String]) -> (BTreeMap<String, String>, Vec<String>) {
    let mut o = BTreeMap::new();
    let mut i = 0;
    while i < args.len() {
        if args[i] == "--" {
            return (o, args[i + 1..].to_vec());
        }
        if let Some(k) = args[i].strip_prefix("--") {
            o.insert(k.to_string(), args.get(i + 1).cloned().unwrap_or_default());
            i += 1;
        }
        i += 1;
    }
    (o, vec![])
}
