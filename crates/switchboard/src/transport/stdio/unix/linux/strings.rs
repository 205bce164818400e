//! The texts that a child is started with, as the C library wants them.

use std::ffi::{CStr, CString, c_char};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::ptr;

use crate::transport::stdio::tend::Start;

pub(super) struct Strings {
    program: CString,
    args: Vec<CString>,
    variables: Vec<CString>,
    folder: Option<CString>,
}

impl Strings {
    /// Copies the texts; one with a NUL in it would reach the program cut short, and is an error.
    pub(super) fn of(start: &Start) -> io::Result<Self> {
        let args = start
            .args
            .iter()
            .map(|arg| text("an argument", arg.as_str()));
        let variables = start.variables.iter().map(|(name, value)| {
            // Neither of the two may be named: it is not known where a secret was put.
            text("a variable", format!("{name}={}", value.expose()))
        });
        let folder = start.cwd.as_ref().map(|folder| folder.as_os_str());
        Ok(Self {
            program: text("the program", start.program.as_os_str().as_bytes())?,
            args: args.collect::<Result<_, _>>()?,
            variables: variables.collect::<Result<_, _>>()?,
            folder: folder
                .map(|folder| text("the folder", folder.as_bytes()))
                .transpose()?,
        })
    }

    pub(super) fn program(&self) -> &CStr {
        &self.program
    }

    pub(super) fn folder(&self) -> Option<&CStr> {
        self.folder.as_deref()
    }

    /// The program and its arguments, then a null pointer.
    pub(super) fn args(&self) -> Vec<*mut c_char> {
        list(std::iter::once(&self.program).chain(&self.args))
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

/// The type says that the texts may be written to, which nobody does.
fn list<'a>(texts: impl Iterator<Item = &'a CString>) -> Vec<*mut c_char> {
    texts
        .map(|text| text.as_ptr().cast_mut())
        .chain([ptr::null_mut()])
        .collect()
}
