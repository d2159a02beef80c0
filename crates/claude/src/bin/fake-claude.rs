//! The deterministic agent as a program, started like the real CLI.

use std::process::ExitCode;

fn main() -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(_) => return ExitCode::FAILURE,
    };
    let arguments = std::env::args_os().skip(1).collect();
    let end = runtime.block_on(sayso_claude::fake::run(
        arguments,
        tokio::io::stdin(),
        tokio::io::stdout(),
    ));
    // Standard input is read on a thread that may be stuck in it for ever.
    runtime.shutdown_background();
    end.end_process()
}
