use std::{
    fs,
    io::{Read, Write},
    os::unix::{fs::PermissionsExt, net::UnixListener},
    thread,
};

use crate::harness::{Kept, Test};

const CALL: [&str; 5] = ["call", "forms", "countdown", "from=1", "--keep"];

/// The call works without a keeper, and says why there is none.
#[track_caller]
fn refused(kept: &Kept, why: &str) {
    let run = kept.run(0, &CALL);
    assert_eq!(run.stdout, "Counted down from 1.\n");
    assert!(run.stderr.contains("it is started only for this command") && run.stderr.contains(why), "{}", run.stderr);
    assert!(kept.keepers.processes().is_empty(), "{:?}", kept.keepers.processes());
}

#[test]
fn a_folder_that_others_can_write_to_is_not_used() {
    let kept = Kept::new(Test::new().demo());
    let folder = kept.keepers.path().join("toolnexus");
    fs::create_dir(&folder).expect("made");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).expect("set");
    refused(&kept, "is accessible to others (mode 777)");
}

#[test]
fn a_folder_behind_a_symbolic_link_is_not_used() {
    let kept = Kept::new(Test::new().demo());
    let other = kept.folder().join("other");
    fs::create_dir(&other).expect("made");
    fs::set_permissions(&other, fs::Permissions::from_mode(0o700)).expect("set");
    std::os::unix::fs::symlink(&other, kept.keepers.path().join("toolnexus")).expect("linked");
    refused(&kept, "is a symbolic link");
}

#[test]
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn a_folder_or_a_socket_of_another_user_is_not_used() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("SKIPPED: only root can give a file to another user");
        return;
    }
    let kept = Kept::new(Test::new().demo());
    let folder = kept.keepers.path().join("toolnexus");
    let other = nix::unistd::Uid::from_raw(12_345);
    fs::create_dir(&folder).expect("made");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).expect("set");
    nix::unistd::chown(&folder, Some(other), None).expect("given away");
    refused(&kept, "belongs to another user");
    nix::unistd::chown(&folder, Some(nix::unistd::geteuid()), None).expect("taken back");
    kept.run(0, &CALL);
    let socket = kept.socket().expect("a socket");
    kept.run(0, &["down", "--all"]);
    let _listener = UnixListener::bind(&socket).expect("bound");
    nix::unistd::chown(&socket, Some(other), None).expect("given away");
    refused(&kept, "belongs to another user");
}

#[test]
fn a_file_in_the_place_of_the_folder_is_not_used() {
    let kept = Kept::new(Test::new().demo());
    fs::write(kept.keepers.path().join("toolnexus"), "").expect("written");
    refused(&kept, "is not a folder");
}

#[test]
fn a_file_in_the_place_of_a_socket_is_not_used() {
    let kept = Kept::new(Test::new().demo());
    kept.run(0, &CALL);
    let socket = kept.socket().expect("a socket");
    kept.run(0, &["down", "--all"]);
    fs::write(&socket, "").expect("written");
    refused(&kept, "is not a socket");
}

#[test]
fn a_program_that_writes_nonsense_on_the_socket_is_not_a_keeper() {
    for words in ["HTTP/1.1 200 OK\r\n\r\nhello", "\x04\0\0\0\0\0\0\0\0\0\0\0null"] {
        let kept = Kept::new(Test::new().demo());
        kept.run(0, &CALL);
        let socket = kept.socket().expect("a socket");
        kept.run(0, &["down", "--all"]);
        let listener = UnixListener::bind(&socket).expect("bound");
        thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                let _ = stream.write_all(words.as_bytes());
                let _ = stream.read(&mut [0; 1024]);
            }
        });
        refused(&kept, "because the message does not come from a keeper");
    }
}

#[test]
fn a_silent_program_on_the_socket_is_waited_for_no_longer_than_5_seconds() {
    let kept = Kept::new(Test::new().demo());
    kept.run(0, &CALL);
    let socket = kept.socket().expect("a socket");
    kept.run(0, &["down", "--all"]);
    let _listener = UnixListener::bind(&socket).expect("bound");
    refused(&kept, "its keeper did not answer within 5 s");
}
