//! A process of its own for a test that cannot share one.

use std::any::type_name_of_val;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Tells a test whether it has this process to itself. If it has not, runs it in one where it has,
/// one such test at a time, and nothing is left to do here.
pub(crate) fn is_alone<T>(test: &T) -> bool {
    static TURN: Mutex<()> = Mutex::new(());
    // Before the path of the test stands the name of this program.
    let (_, name) = type_name_of_val(test).split_once("::").unwrap();
    let arguments = ["--exact", name];
    if std::env::args().skip(1).eq(arguments) {
        return true;
    }
    // One that has failed leaves nothing half done here.
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let own = std::env::current_exe().unwrap();
    let output = Command::new(own).args(arguments).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let is_passed = output.status.success() && said.contains("1 passed");
    assert!(is_passed, "{}:\n{said}", output.status);
    false
}
