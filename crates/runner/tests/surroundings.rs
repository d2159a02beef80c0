//! What a runner makes of its folder, its socket and the files it was born with.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy knows test functions, but not the helpers of an integration test"
)]

mod common;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use common::{Rig, line, next, process, rest, spec, until, until_gone, write};
use pretty_assertions::assert_eq;
use sayso_runner::{
    ConnectError, Connection, Event, FailureKind, LaunchSpec, PROTOCOL_VERSION, RunnerState,
    StartError, find,
};

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[tokio::test]
async fn nobody_else_can_read_or_connect() {
    let rig = Rig::start(&spec("cat", &[])).await;
    let mut connection = rig.connect(0).await;
    write(&mut connection, "secret").await;
    next(&mut connection).await;
    line(&mut connection).await;
    assert_eq!(mode(&rig.folder()), 0o700);
    for entry in std::fs::read_dir(rig.folder()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[tokio::test]
async fn what_is_started_is_found() {
    let rig = Rig::start(&spec("cat", &[])).await;
    std::fs::create_dir(rig.data().join("something else")).unwrap();
    let found = find(rig.data()).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(
        (&found[0].folder, found[0].state),
        (&rig.folder(), RunnerState::Alive)
    );
    let record = found[0].record.clone().unwrap();
    assert_eq!(
        (record.pid, record.agent_pid, record.protocol_version),
        (rig.runner(), rig.agent(), PROTOCOL_VERSION)
    );
    assert_eq!(find(&rig.data().join("not there")).unwrap(), []);
}

#[tokio::test]
async fn a_runner_has_its_own_session_and_its_agent_its_own_group() {
    let rig = Rig::start(&spec("cat", &[])).await;
    let session = |pid: u32| rustix::process::getsid(Some(common::pid(pid))).unwrap();
    assert_eq!(session(rig.runner()), common::pid(rig.runner()));
    assert_eq!(session(rig.agent()), common::pid(rig.runner()));
    let (_, parent, group) = process(rig.agent()).unwrap();
    assert_eq!((parent, group), (rig.runner(), rig.agent()));
}

#[tokio::test]
async fn no_secret_is_in_an_argument_an_environment_or_a_file() {
    let spec = LaunchSpec {
        environment: vec![("TOKEN".into(), "hunter2".into())],
        ..spec("/bin/cat", &[])
    };
    let rig = Rig::start(&spec).await;
    let proc = format!("/proc/{}", rig.runner());
    for file in ["cmdline", "environ"] {
        let content = std::fs::read(format!("{proc}/{file}")).unwrap();
        assert!(
            !String::from_utf8_lossy(&content).contains("hunter2"),
            "{file}"
        );
    }
    for entry in std::fs::read_dir(rig.folder()).unwrap() {
        let path = entry.unwrap().path();
        let content = std::fs::read(&path).unwrap_or_default();
        assert!(
            !String::from_utf8_lossy(&content).contains("hunter2"),
            "{}",
            path.display()
        );
    }
    let environment = environment_of(rig.agent()).await;
    let mut variables: Vec<&str> = environment.split_terminator('\0').collect();
    variables.sort_unstable();
    assert_eq!(variables.len(), 2, "{variables:?}");
    assert!(variables[0].starts_with("SAYSO_AGENT="), "{variables:?}");
    assert_eq!(variables[1], "TOKEN=hunter2");
}

/// A program that is just being loaded has none for a moment.
async fn environment_of(process: u32) -> String {
    for _ in 0..1000 {
        let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap();
        if !environment.is_empty() {
            return String::from_utf8_lossy(&environment).into_owned();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("{process} has no environment");
}

fn files_of(process: u32) -> Vec<(String, String)> {
    let folder = format!("/proc/{process}/fd");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let target = std::fs::read_link(entry.path()).unwrap();
            (
                entry.file_name().into_string().unwrap(),
                target.display().to_string(),
            )
        })
        .collect();
    files.sort();
    files
}

#[tokio::test]
async fn an_agent_has_three_pipes_and_no_other_file() {
    let rig = Rig::start(&spec("cat", &[])).await;
    let _connection = rig.connect(0).await;
    let files = files_of(rig.agent());
    let kinds: Vec<_> = files
        .iter()
        .map(|(number, target)| (number.as_str(), target.split(':').next().unwrap()))
        .collect();
    assert_eq!(kinds, [("0", "pipe"), ("1", "pipe"), ("2", "pipe")]);
    let runner = files_of(rig.runner());
    assert_eq!(runner[0].1, "/dev/null");
    assert_eq!(runner[1].1, "/dev/null");
}

#[tokio::test]
async fn a_socket_that_was_removed_is_made_anew() {
    let rig = Rig::start(&spec("cat", &[])).await;
    let socket = rig.folder().join("socket");
    // While somebody is connected, and again while nobody is.
    let mut connection = rig.connect(0).await;
    std::fs::remove_file(&socket).unwrap();
    write(&mut connection, "one").await;
    next(&mut connection).await;
    drop(connection);
    until("the socket is back", || socket.exists()).await;
    let mut connection = rig.connect(0).await;
    assert_eq!(line(&mut connection).await, (1, "one".to_owned()));
    drop(connection);
    std::fs::remove_file(&socket).unwrap();
    let gone = Connection::connect(&rig.folder(), 0).await;
    assert!(
        matches!(gone, Err(ConnectError::Unreachable { .. })),
        "{gone:?}"
    );
    until("the socket is back", || socket.exists()).await;
    until("it is private", || mode(&socket) == 0o600).await;
    rig.connect(0).await;
}

#[tokio::test]
async fn what_is_wrong_is_said_and_nothing_is_left() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("r");
    let wrong_folder = LaunchSpec {
        folder: "/does/not/exist".into(),
        ..spec("cat", &[])
    };
    let wrong = [
        (wrong_folder, FailureKind::Folder, "/does/not/exist"),
        (
            spec("/does/not/exist", &[]),
            FailureKind::Program,
            "/does/not/exist",
        ),
        (
            spec("no-such-program", &[]),
            FailureKind::Program,
            "no-such-program",
        ),
        (
            spec("/etc/passwd", &[]),
            FailureKind::Program,
            "/etc/passwd",
        ),
    ];
    for (spec, expected, named) in wrong {
        match common::start(&folder, &spec).await {
            Err(StartError::Refused { error, kind }) => {
                assert_eq!(kind, expected);
                assert!(error.contains(named), "{error}");
            }
            other => panic!("{other:?}"),
        }
        until("the folder is gone", || !folder.exists()).await;
    }
}

#[tokio::test]
async fn a_path_that_is_too_long_is_named() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("x".repeat(100));
    let error = common::start(&folder, &spec("cat", &[])).await.unwrap_err();
    assert!(matches!(error, StartError::SocketPath(_)), "{error:?}");
    let socket = folder.join("socket").display().to_string();
    assert!(error.to_string().contains(&socket), "{error}");
    assert!(!folder.exists());
}

#[tokio::test]
async fn a_folder_serves_one_life_only() {
    let rig = Rig::shell("echo one").await;
    let again = common::start(&rig.folder(), &spec("cat", &[])).await;
    assert!(matches!(again, Err(StartError::Folder { .. })), "{again:?}");
    let mut connection = rig.connect(0).await;
    rest(&mut connection).await;
}

#[tokio::test]
async fn something_that_is_no_runner_is_told_from_one() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("r");
    let start = |program: &'static str| {
        let folder = folder.clone();
        async move { sayso_runner::start(Path::new(program), &[], &folder, &spec("cat", &[])).await }
    };
    let ended = start("/bin/true").await;
    assert!(matches!(ended, Err(StartError::Ended(_))), "{ended:?}");
    until("the folder is gone", || !folder.exists()).await;
    let missing = start("/does/not/exist").await;
    assert!(
        matches!(missing, Err(StartError::Spawn { .. })),
        "{missing:?}"
    );
    assert!(!folder.exists());
}

#[tokio::test]
async fn a_start_that_nobody_waits_for_is_undone() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("r");
    let spec = spec("cat", &[]);
    for wait in [1, 3, 10, 30] {
        let starting = common::start(&folder, &spec);
        let given_up = tokio::time::timeout(std::time::Duration::from_millis(wait), starting).await;
        if let Ok(started) = given_up {
            let started = started.unwrap();
            common::kill(started.runner_pid, rustix::process::Signal::TERM);
            until_gone(started.runner_pid).await;
            sayso_runner::remove(&folder).unwrap();
        }
        until("the folder is gone", || !folder.exists()).await;
    }
}

#[tokio::test]
async fn strangers_at_the_socket_do_not_disturb() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let rig = Rig::start(&spec("cat", &[])).await;
    let mut connection = rig.connect(0).await;
    for noise in [
        b"".to_vec(),
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        vec![0; 100],
        vec![255; 9],
    ] {
        let mut stream = tokio::net::UnixStream::connect(rig.folder().join("socket"))
            .await
            .unwrap();
        stream.write_all(&noise).await.unwrap();
        let _ = stream.shutdown().await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert_eq!(answer, b"");
    }
    write(&mut connection, "still here").await;
    assert!(matches!(next(&mut connection).await, Event::Written(_)));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_runner_without_room_for_a_connection_waits_until_it_has_some() {
    use rustix::process::{Resource, Rlimit, prlimit};
    let rig = Rig::start(&spec("cat", &[])).await;
    let first = rig.connect(0).await;
    // No number is left for another file.
    let files = files_of(rig.runner());
    let is_free = |number: &u64| files.iter().all(|(file, _)| *file != number.to_string());
    let room = (0..).find(is_free);
    let limit = Rlimit {
        current: room,
        maximum: room,
    };
    prlimit(Some(common::pid(rig.runner())), Resource::Nofile, limit).unwrap();
    let folder = rig.folder();
    let second = tokio::spawn(async move { Connection::connect(&folder, 0).await });
    until("it has failed to accept", || {
        let log = std::fs::read_to_string(rig.folder().join("runner.log")).unwrap();
        log.contains("nobody can connect")
    })
    .await;
    drop(first);
    let mut second = second.await.unwrap().unwrap();
    write(&mut second, "hello").await;
    assert!(matches!(next(&mut second).await, Event::Written(_)));
}
