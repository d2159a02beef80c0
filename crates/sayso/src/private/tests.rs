use super::*;
use pretty_assertions::assert_eq;
use std::os::unix::fs::symlink;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

fn set(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn data_folder(root: &Path) -> PathBuf {
    let folder = root.join("data");
    fs::create_dir_all(folder.join("agents/one")).unwrap();
    for file in [
        "sayso.db",
        "sayso.db-wal",
        "token",
        "audit.key",
        "tls.pem",
        "vapid.key",
        "agents/one/journal",
    ] {
        fs::write(folder.join(file), "").unwrap();
    }
    folder
}

#[test]
fn what_is_open_is_closed_and_named() {
    let root = tempfile::tempdir().unwrap();
    let folder = data_folder(root.path());
    fs::write(folder.join("notes.txt"), "not ours").unwrap();
    close(&folder).unwrap();
    assert_eq!(close(&folder).unwrap(), [], "nothing is left to close");
    for (name, open, closed) in [
        ("", 0o755, 0o700),
        ("", 0o777, 0o700),
        ("sayso.db", 0o644, 0o600),
        ("sayso.db-wal", 0o660, 0o600),
        ("token", 0o604, 0o600),
        ("audit.key", 0o666, 0o600),
        ("tls.pem", 0o640, 0o600),
        ("vapid.key", 0o644, 0o600),
        ("agents", 0o755, 0o700),
        ("agents/one", 0o750, 0o700),
        ("agents/one/journal", 0o644, 0o600),
    ] {
        let path = match name {
            "" => folder.clone(),
            name => folder.join(name),
        };
        set(&path, open);
        let expected = [Exposed {
            path: path.clone(),
            mode: open,
        }];
        assert_eq!(look(&folder).unwrap(), expected, "{name}");
        assert_eq!(mode(&path), open, "looking changes nothing");
        assert_eq!(close(&folder).unwrap(), expected, "{name}");
        assert_eq!(mode(&path), closed, "{name}");
    }
    set(&folder.join("notes.txt"), 0o644);
    assert_eq!(close(&folder).unwrap(), []);
    assert_eq!(mode(&folder.join("notes.txt")), 0o644);
}

#[test]
fn a_new_folder_is_private_from_the_start() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("a/b");
    assert_eq!(close(&folder).unwrap(), []);
    assert_eq!(
        (mode(&folder), mode(&root.path().join("a"))),
        (0o700, 0o700)
    );
}

#[test]
fn a_folder_of_other_things_is_not_closed() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("documents");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("letter.txt"), "").unwrap();
    set(&folder, 0o755);
    assert!(matches!(close(&folder), Err(NotPrivate::Shared(_))));
    assert_eq!(mode(&folder), 0o755);
    let sticky = data_folder(root.path());
    set(&sticky, 0o1777);
    assert!(matches!(close(&sticky), Err(NotPrivate::Shared(_))));
    assert_eq!(mode(&sticky), 0o1777);
}

#[test]
fn links_inside_are_refused_and_a_link_to_the_folder_is_not() {
    let root = tempfile::tempdir().unwrap();
    let folder = data_folder(root.path());
    let outside = root.path().join("outside");
    fs::write(&outside, "").unwrap();
    set(&outside, 0o644);
    symlink(&folder, root.path().join("link")).unwrap();
    close(&root.path().join("link")).unwrap();
    assert_eq!(mode(&folder), 0o700);
    for name in ["token", "sayso.db-shm", "agents/one/socket"] {
        let path = folder.join(name);
        let _ = fs::remove_file(&path);
        symlink(&outside, &path).unwrap();
        assert!(matches!(close(&folder), Err(NotPrivate::Link(link)) if link == path));
        fs::remove_file(&path).unwrap();
    }
    assert_eq!(mode(&outside), 0o644, "what links point to is not touched");
}

#[test]
fn a_folder_that_anybody_can_replace_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let open = root.path().join("open");
    fs::create_dir(&open).unwrap();
    let folder = data_folder(&open);
    set(&open, 0o777);
    let refused = |folder: &Path| match close(folder) {
        Err(NotPrivate::Replaceable(path)) => path == open,
        _ => false,
    };
    assert!(refused(&folder));
    // The same by way of a link that lies there.
    let elsewhere = data_folder(root.path());
    symlink(&elsewhere, open.join("link")).unwrap();
    assert!(refused(&open.join("link")));
    for mode in [0o1777, 0o775, 0o755] {
        set(&open, mode);
        assert!(close(&folder).is_ok(), "{mode:o}");
    }
}

#[test]
fn nobody_else_owns_the_way() {
    let seen = |owner, mode, link| Seen { owner, mode, link };
    let (me, other) = (1000, 1001);
    for (seen, good) in [
        (seen(me, 0o700, false), true),
        (seen(0, 0o755, false), true),
        (seen(0, 0o1777, false), true),
        (seen(0, 0o777, false), false),
        (seen(me, 0o777, false), false),
        (seen(other, 0o755, false), false),
        (seen(other, 0o700, false), false),
        (seen(me, 0o777, true), true),
        (seen(0, 0o777, true), true),
        (seen(other, 0o777, true), false),
    ] {
        let checked = check_way(Path::new("/x"), &seen, me);
        assert_eq!(checked.is_ok(), good, "{seen:?}");
    }
}

#[test]
fn what_belongs_to_another_user_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let folder = data_folder(root.path());
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(folder.join("token"), Some(12345), None).unwrap();
        assert!(
            matches!(close(&folder), Err(NotPrivate::Strangers(path)) if path.ends_with("token"))
        );
        std::os::unix::fs::chown(&folder, Some(12345), None).unwrap();
        assert!(
            matches!(close(&folder), Err(NotPrivate::Strangers(path)) if path.ends_with("data"))
        );
    } else {
        assert!(matches!(
            close(Path::new("/usr")),
            Err(NotPrivate::Strangers(_))
        ));
    }
}

#[test]
fn the_operator_is_told_what_it_means() {
    let told = |name: &str, mode| {
        let path = Path::new("/data").join(name);
        Exposed { path, mode }.told()
    };
    assert_eq!(
        told("sayso.db", 0o644),
        "Other users of this machine could read /data/sayso.db; it is closed now."
    );
    assert!(told("", 0o777).contains("could change"));
    assert!(told("token", 0o644).contains("delete it"));
}
