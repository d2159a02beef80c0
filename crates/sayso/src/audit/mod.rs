//! `sayso audit` and `sayso backup`: they read the data folder themselves, whether a server runs or
//! not, and change nothing in it.

mod arguments;
mod csv;
mod entry;
mod filter;
mod report;
mod sparse;

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::anyhow;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use sayso_store::audit::{AuditReader, Finding, Verified};
use sayso_store::{AuditCursor, AuditFilter, AuditRow, Existing, Store, UnixMillis};

pub use arguments::{
    AuditArguments, AuditCommand, BackupArguments, DataArguments, ExportFormat, FilterArguments,
};
pub use entry::{Secrets, subject};
pub use sparse::{Sparse, record};

/// How many entries are read at once.
const PAGE: u32 = 500;
/// The history was tampered with.
const TAMPERED: u8 = 1;
/// Nothing can be said about the history.
const UNKNOWN: u8 = 2;

pub async fn run(
    arguments: &AuditArguments,
    out: impl Write,
    mut problems: impl Write,
) -> anyhow::Result<ExitCode> {
    let mut out = BufWriter::new(out);
    let done = match &arguments.command {
        AuditCommand::List {
            filter,
            limit,
            json,
            data,
        } => list(&data.database()?, filter, *limit, *json, &mut out).await,
        AuditCommand::Export {
            format,
            out: file,
            masked,
            filter,
            data,
        } => {
            let secrets = if *masked {
                Secrets::Masked
            } else {
                Secrets::Shown
            };
            let database = data.database()?;
            match file {
                Some(file) => {
                    let mut file = BufWriter::new(private_file(file)?);
                    export(&database, filter, *format, secrets, &mut file).await
                }
                None => export(&database, filter, *format, secrets, &mut out).await,
            }
        }
        AuditCommand::Verify { json, data } => {
            return match verify(data).await {
                Ok(result) => {
                    report::write(&result, *json, &mut out)?;
                    out.flush()?;
                    Ok(match result {
                        Ok(_) => ExitCode::SUCCESS,
                        Err(_) => ExitCode::from(TAMPERED),
                    })
                }
                Err(error) => {
                    writeln!(problems, "sayso: {error:#}")?;
                    Ok(ExitCode::from(UNKNOWN))
                }
            };
        }
        AuditCommand::Adopt { data } => adopt(&data.database()?, &mut out).await,
    };
    match done.and_then(|()| Ok(out.flush()?)) {
        // Whoever reads has seen enough.
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error),
        Ok(()) => Ok(ExitCode::SUCCESS),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

async fn list(
    database: &Path,
    arguments: &FilterArguments,
    limit: u32,
    as_json: bool,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let filter = filter::filter(arguments, &Zoned::now())?;
    let reader = AuditReader::open(database).await?;
    let zone = TimeZone::system();
    let mut left = limit;
    let mut cursor = AuditCursor::Newest;
    while left > 0
        && let page = reader.page(&filter, cursor, left.min(PAGE)).await?
        && let Some(last) = page.last()
    {
        cursor = AuditCursor::Before(last.seq);
        left -= u32::try_from(page.len()).unwrap_or(left);
        for row in &page {
            if as_json {
                serde_json::to_writer(&mut *out, &entry::exported(row, Secrets::Masked))?;
                writeln!(out)?;
            } else {
                writeln!(out, "{}", entry::line(row, &zone))?;
            }
        }
    }
    if !as_json && cursor == AuditCursor::Newest {
        let words = if filter == AuditFilter::default() {
            "The history is empty."
        } else {
            "Nothing in the history fits."
        };
        writeln!(out, "{words}")?;
    }
    Ok(())
}

async fn export(
    database: &Path,
    arguments: &FilterArguments,
    format: ExportFormat,
    secrets: Secrets,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let filter = filter::filter(arguments, &Zoned::now())?;
    let reader = AuditReader::open(database).await?;
    exported_header(format, out)?;
    let mut after = 0;
    while let cursor = AuditCursor::After(after)
        && let page = reader.page(&filter, cursor, PAGE).await?
        && let Some(last) = page.last()
    {
        after = last.seq;
        for row in &page {
            exported_row(row, format, secrets, out)?;
        }
    }
    Ok(out.flush()?)
}

/// What comes before the first entry of an export.
pub fn exported_header(format: ExportFormat, out: &mut impl Write) -> io::Result<()> {
    match format {
        ExportFormat::Csv => csv::write_row(entry::COLUMNS, out),
        ExportFormat::Jsonl => Ok(()),
    }
}

/// One entry of an export.
pub fn exported_row(
    row: &AuditRow,
    format: ExportFormat,
    secrets: Secrets,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    match format {
        ExportFormat::Jsonl => {
            serde_json::to_writer(&mut *out, &entry::exported(row, secrets))?;
            writeln!(out)?;
        }
        ExportFormat::Csv => {
            let cells = entry::cells(row, secrets);
            csv::write_row(cells.iter().map(String::as_str), out)?;
        }
    }
    Ok(())
}

/// Never over something that is there: an export is often wanted twice, and compared.
fn private_file(path: &PathBuf) -> anyhow::Result<std::fs::File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => anyhow!(
                "{} is there already, and an export replaces nothing. Choose another name.",
                path.display()
            ),
            io::ErrorKind::NotFound => {
                anyhow!(
                    "{} cannot be made: its folder is not there.",
                    path.display()
                )
            }
            kind => anyhow!("{} cannot be made: {kind}.", path.display()),
        })
}

async fn verify(data: &DataArguments) -> anyhow::Result<Result<Verified, Finding>> {
    let reader = AuditReader::open(&data.database()?).await?;
    Ok(reader.verify().await?)
}

async fn adopt(database: &Path, out: &mut impl Write) -> anyhow::Result<()> {
    anyhow::ensure!(
        database.is_file(),
        "There is no database at {}.",
        database.display()
    );
    let store = Store::open(database).await?;
    let now = UnixMillis(Timestamp::now().as_millisecond());
    let size = store.adopt_audit(now).await;
    store.close().await;
    writeln!(
        out,
        "The history is accepted as it is, up to entry {}. `sayso audit verify` checks from here on, and tells of this.",
        size?
    )?;
    Ok(())
}

pub async fn back_up(arguments: &BackupArguments, mut out: impl Write) -> anyhow::Result<ExitCode> {
    let database = arguments.data.database()?;
    let existing = if arguments.force {
        Existing::Replace
    } else {
        Existing::Keep
    };
    let made = sayso_store::backup(&database, &arguments.file, existing).await;
    let size = made.map_err(|error| match error {
        sayso_store::BackupError::Exists(_) => {
            anyhow!("{error} Choose another name, or replace it with --force.")
        }
        error => error.into(),
    })?;
    let (file, database) = (arguments.file.display(), database.display());
    writeln!(
        out,
        "{file} has all sessions, rules and the history, {}. Keep it as safe as the original: it holds whatever agents have read.\n\
         To restore it: stop Sayso, copy it to {database}, remove {database}-wal and {database}-shm, and run `sayso audit adopt`, \
         because the key and the checkpoints of the history are not part of it.",
        in_words(size)
    )?;
    Ok(ExitCode::SUCCESS)
}

fn in_words(bytes: u64) -> String {
    match bytes {
        0..10_240 => format!("{bytes} bytes"),
        10_240..10_485_760 => format!("{} KiB", bytes / 1024),
        _ => format!("{} MiB", bytes / (1024 * 1024)),
    }
}
