//! A host that has closed its own standard streams, as some that run in the background do.
//!
//! In a process of its own, because it closes them for the whole process.

use std::os::fd::{AsFd, FromRawFd, OwnedFd};

use rustix::io::{dup2, fcntl_dupfd_cloexec};
use switchboard::CallError;
use switchboard::session::Session;

use crate::support::alone::is_alone;
use crate::support::process::{sh, until};
use crate::support::{call, legacy_options, text_of};

/// The standard streams, put away while this lives.
struct PutAway([OwnedFd; 3]);

impl PutAway {
    #[allow(unsafe_code)]
    fn now() -> Self {
        let kept = [
            fcntl_dupfd_cloexec(std::io::stdin().as_fd(), 10).unwrap(),
            fcntl_dupfd_cloexec(std::io::stdout().as_fd(), 10).unwrap(),
            fcntl_dupfd_cloexec(std::io::stderr().as_fd(), 10).unwrap(),
        ];
        for number in 0..3 {
            // SAFETY: nobody reads or prints in this process until they are back.
            drop(unsafe { OwnedFd::from_raw_fd(number) });
        }
        Self(kept)
    }
}

impl Drop for PutAway {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        for (kept, number) in self.0.iter().zip(0..) {
            // SAFETY: whoever got the number in the meantime is gone; the new file stays open.
            let mut place = unsafe { OwnedFd::from_raw_fd(number) };
            dup2(kept, &mut place).unwrap();
            std::mem::forget(place);
        }
    }
}

async fn talk() -> Result<(String, Vec<String>), CallError> {
    let stdio = sh(
        "greet; echo heard >&2; read -r line; reply \"$(id_of \"$line\")\" \"$done\"; cat >/dev/null",
    );
    let session = Session::connect(&stdio, legacy_options()).await.unwrap();
    let result = call(&session, "x").await?;
    until("it was heard", || !session.peer().stderr().is_empty()).await;
    let stderr = session.peer().stderr();
    session.close().await;
    Ok((text_of(&result).to_owned(), stderr))
}

#[test]
fn a_host_without_standard_streams_talks_to_its_servers() {
    if !is_alone(&a_host_without_standard_streams_talks_to_its_servers) {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let away = PutAway::now();
    // The next files to be opened are the pipes, and they get the numbers.
    let said = runtime.block_on(async { tokio::spawn(talk()).await });
    drop(runtime);
    drop(away);
    let (text, stderr) = said.unwrap().unwrap();
    assert_eq!((text.as_str(), stderr), ("done", vec!["heard".to_owned()]));
}
