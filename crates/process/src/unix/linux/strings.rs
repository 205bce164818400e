//! The C strings that a child is started with.

use std::ffi::{CStr, CString, c_char};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::time::Duration;

use crate::keeper::{MARK, NAME};
use crate::supervise::Start;

/// The program, arguments, variables and folder of a child.
pub(super) struct Strings {
    program: CString,
    /// The first argument (`argv[0]`); the program's path by default.
    name: Option<CString>,
    args: Vec<CString>,
    variables: Vec<CString>,
    folder: Option<CString>,
}

impl Strings {
    /// Converts the texts. A NUL in one of them would truncate it, and is an error.
    pub(super) fn of(start: &Start) -> io::Result<Self> {
        let args = start
            .args
            .iter()
            .map(|arg| text("an argument", arg.as_str()));
        let variables = start.variables.iter().map(|(name, value)| {
            // The error must not name the variable: a secret may be in the name or in the value.
            text("a variable", format!("{name}={}", value.expose()))
        });
        let folder = start.cwd.as_ref().map(|folder| folder.as_os_str());
        Ok(Self {
            program: text("the program", start.program.as_os_str().as_bytes())?,
            name: None,
            args: args.collect::<Result<_, _>>()?,
            variables: variables.collect::<Result<_, _>>()?,
            folder: folder
                .map(|folder| text("the folder", folder.as_bytes()))
                .transpose()?,
        })
    }

    /// The strings of a keeper for this server, and the server's variables separately.
    pub(super) fn of_keeper(
        start: &Start,
        keeper: &Path,
        cgroup: Option<&Path>,
    ) -> io::Result<(Self, Vec<CString>)> {
        let server = Self::of(start)?;
        let milliseconds = |time: Duration| {
            let milliseconds = u32::try_from(time.as_millis()).unwrap_or(u32::MAX);
            text("a duration", milliseconds.to_string())
        };
        let keeper = std::path::absolute(keeper)?;
        let cgroup = cgroup.map(|folder| folder.as_os_str().as_bytes());
        let mut args = vec![
            text("the keeper", MARK)?,
            server.folder.unwrap_or_default(),
            text("the control group", cgroup.unwrap_or_default())?,
            milliseconds(start.limits.end_after_close)?,
            milliseconds(start.limits.end_after_term)?,
            milliseconds(start.limits.end_after_kill)?,
            server.program,
        ];
        args.extend(server.args);
        let strings = Self {
            program: text("the keeper", keeper.as_os_str().as_bytes())?,
            name: Some(text("the keeper", NAME)?),
            args,
            variables: Vec::new(),
            // The server enters the folder; the keeper would only keep it busy.
            folder: None,
        };
        Ok((strings, server.variables))
    }

    pub(super) fn program(&self) -> &CStr {
        &self.program
    }

    pub(super) fn folder(&self) -> Option<&CStr> {
        self.folder.as_deref()
    }

    /// The program and its arguments, then a null pointer.
    pub(super) fn args(&self) -> Vec<*mut c_char> {
        let name = self.name.as_ref().unwrap_or(&self.program);
        list(std::iter::once(name).chain(&self.args))
    }

    /// `NAME=value` for each variable, then a null pointer.
    pub(super) fn variables(&self) -> Vec<*mut c_char> {
        list(self.variables.iter())
    }
}

fn text(what: &str, bytes: impl Into<Vec<u8>>) -> io::Result<CString> {
    CString::new(bytes).map_err(|_| {
        let message = format!("{what} has a NUL byte in it");
        io::Error::new(io::ErrorKind::InvalidInput, message)
    })
}

/// Converts to pointers. The type permits writing to the texts, but the C library does not.
fn list<'a>(texts: impl Iterator<Item = &'a CString>) -> Vec<*mut c_char> {
    texts
        .map(|text| text.as_ptr().cast_mut())
        .chain([ptr::null_mut()])
        .collect()
}
