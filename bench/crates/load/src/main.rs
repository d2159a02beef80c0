//! Load client: opens sessions on a server under test, starts one job of the
//! fake agent in each, answers every permission request at once, and prints one
//! JSON line with the agents' own figures and the client's.
//!
//!   load run   --dialect D --port P [--host H] --sessions S [--viewers V]
//!              --job JSON [--server-pid PID] [--timeout SECS] [--setup K]
//!              [--repeat R] [--stalled N] [--also TEXT]
//!              V further viewers per session, and N that join and never read.
//!   load hold  --dialect D --port P --sessions S [--viewers V]
//!              [--job JSON --pending N]
//!              opens the sessions, with V further viewers each, optionally
//!              leaves N requests each unanswered, prints {"ready":true,...},
//!              waits for a line or the end of stdin, closes.
//!   load probe --dialect D --port P -- PROGRAM ARGS...
//!              starts the server and times it to the first accepted WebSocket
//!              and to the first open session, then ends it.

mod connection;
mod dialect;
mod hold;
mod options;
mod probe;
mod process;
mod report;
mod run;

use hold::hold;
use options::{options, Opts};
use probe::probe;
use run::run;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

type Res<T> = Result<T, String>;

fn main() {
    let rt = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("runtime");
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mode = args.first().cloned().unwrap_or_default();
    let (opts, rest) = options(&args[args.len().min(1)..]);
    let out = rt.block_on(async {
        match mode.as_str() {
            "run" => run(Arc::new(Opts::from(&opts)?)).await,
            "hold" => hold(Arc::new(Opts::from(&opts)?)).await,
            "probe" => probe(Arc::new(Opts::from(&opts)?), rest).await,
            _ => Err("usage: load run|hold|probe --dialect D --port P ... (see the source)".into()),
        }
    });
    match out {
        Ok(v) => println!("{v}"),
        Err(e) => {
            println!("{}", json!({"error": e}));
            std::process::exit(1);
        }
    }
    // Sockets are closed by exit; the servers see the close.
    rt.shutdown_timeout(Duration::from_millis(200));
}
