//! Both ways to start a process give it the same.

use std::collections::BTreeMap;
use std::path::PathBuf;

use switchboard_core::limits::Limits;
use switchboard_core::secret::Secret;
use tokio::io::AsyncReadExt;

use super::{Child, forked, pipes};
use crate::Exit;
use crate::supervise::Start;

type Way = fn(&Start, pipes::Theirs) -> std::io::Result<Child>;

/// The ways to start a process here. The first falls back to the second if necessary.
const WAYS: [Way; 2] = [super::spawn_with, |start, theirs| {
    forked::spawn(start, theirs).map(Child::Forked)
}];

fn start(program: &str, args: &[&str]) -> Start {
    Start {
        program: PathBuf::from(program),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        network: switchboard_core::environment::NetworkVariables::default(),
        variables: BTreeMap::from([("NAME".to_owned(), Secret::new("a value".to_owned()))]),
        cwd: Some(PathBuf::from("/")),
        limits: Limits::default(),
        keeper: None,
        record: None,
    }
}

/// Runs a program to its end and returns that and what it wrote.
async fn run(way: Way, start: &Start) -> std::io::Result<(Exit, String)> {
    let (mut ours, theirs) = pipes::open()?;
    let mut child = way(start, theirs)?;
    let mut text = String::new();
    ours.reader.read_to_string(&mut text).await?;
    let exit = child.wait().await?;
    // Asked again, it says the same.
    assert_eq!(child.wait().await?, exit);
    Ok((exit, text))
}

#[tokio::test]
async fn a_program_gets_its_name_arguments_variables_and_folder() {
    let script = "echo \"$0|$1|$NAME\"; pwd; exit 7";
    for way in WAYS {
        let (exit, text) = run(way, &start("/bin/sh", &["-c", script, "me", "a b"]))
            .await
            .unwrap();
        assert_eq!(exit, Exit::Code(7));
        assert_eq!(text, "me|a b|a value\n/\n");
    }
}

#[tokio::test]
async fn the_signal_that_ended_a_program_is_known() {
    for way in WAYS {
        let ended = run(way, &start("/bin/sh", &["-c", "kill -TERM $$"])).await;
        assert_eq!(ended.unwrap(), (Exit::Signal(15), String::new()));
    }
}

/// Only in one way: the standard library starts a program such that the C library may try a shell.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[tokio::test]
async fn what_is_no_program_is_an_error_and_not_a_script() {
    use std::os::unix::fs::PermissionsExt;
    assert!(super::linux::System::detect().is_some());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script");
    std::fs::write(&path, "echo run by a shell\n").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let start = start(path.to_str().unwrap(), &[]);
    let error = run(super::spawn_with, &start).await.unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::ENOEXEC));
}

#[tokio::test]
async fn a_nul_anywhere_is_an_invalid_input() {
    let argument = start("/bin/sh", &["-c", "a\0b"]);
    let program = start("/bin/sh\0x", &[]);
    let folder = Start {
        cwd: Some(PathBuf::from("/\0tmp")),
        ..start("/bin/sh", &[])
    };
    let mut variable = start("/bin/sh", &[]);
    let secret = Secret::new("canary\0".to_owned());
    variable.variables.insert("KEY".to_owned(), secret);
    for start in [argument, program, folder, variable] {
        for way in WAYS {
            let error = run(way, &start).await.unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
            assert!(!error.to_string().contains("canary"));
        }
    }
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_an_error() {
    let start = Start {
        cwd: Some(PathBuf::from("/no/such/folder")),
        ..start("/bin/sh", &[])
    };
    for way in WAYS {
        let error = run(way, &start).await.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    }
}

/// Blocks one signal on this thread and ignores another in this process, while it lives.
#[cfg(target_os = "linux")]
struct Deaf {
    before: libc::sigset_t,
    ignored: libc::c_int,
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
impl Deaf {
    fn to(blocked: libc::c_int, ignored: libc::c_int) -> Self {
        let (mut set, mut before) = (
            std::mem::MaybeUninit::uninit(),
            std::mem::MaybeUninit::uninit(),
        );
        // SAFETY: the sets are written before they are read.
        unsafe {
            libc::signal(ignored, libc::SIG_IGN);
            libc::sigemptyset(set.as_mut_ptr());
            libc::sigaddset(set.as_mut_ptr(), blocked);
            libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), before.as_mut_ptr());
            Self {
                before: before.assume_init(),
                ignored,
            }
        }
    }
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
impl Drop for Deaf {
    fn drop(&mut self) {
        // SAFETY: the set is the one that there was before.
        unsafe {
            libc::signal(self.ignored, libc::SIG_DFL);
            let before = &raw const self.before;
            libc::pthread_sigmask(libc::SIG_SETMASK, before, std::ptr::null_mut());
        }
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_program_hears_the_signals_that_the_host_does_not() {
    /// The C library keeps 32 and 33 to itself, and leaves them ignored in what it starts.
    const OF_THE_LIBRARY: u64 = 0b11 << 31;
    let deaf = Deaf::to(libc::SIGUSR1, libc::SIGUSR2);
    let host = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let signals = |status: &str| -> Vec<u64> {
        let lines = status.lines();
        lines
            .filter_map(|line| line.split_once(":\t"))
            .filter(|(name, _)| ["SigBlk", "SigIgn"].contains(name))
            .map(|(_, mask)| u64::from_str_radix(mask, 16).unwrap() & !OF_THE_LIBRARY)
            .collect()
    };
    let bit = |signal: libc::c_int| 1_u64 << (signal - 1);
    let [blocked, ignored] = signals(&host)[..] else {
        panic!("{host}");
    };
    assert_eq!(blocked & bit(libc::SIGUSR1), bit(libc::SIGUSR1));
    // Rust's own beside the one of this test.
    let both = bit(libc::SIGUSR2) | bit(libc::SIGPIPE);
    assert_eq!(ignored & both, both);
    for way in WAYS {
        let status = start("/bin/cat", &["/proc/self/status"]);
        let (_, status) = run(way, &status).await.unwrap();
        assert_eq!(signals(&status), [0, 0], "{status}");
    }
    drop(deaf);
}
