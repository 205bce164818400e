//! The description of a server as an error shows it: command, URL and entry, with secrets masked.

use std::sync::Arc;

use serde_json::Value;

use super::member::Source;
#[cfg(feature = "config")]
use crate::config::{Entry, edit};
use crate::error::Context;
#[cfg(feature = "config")]
use crate::mask::{self, MaskPolicy};
use crate::secret::{Redactor, Secret, mask_args};
use crate::spec::{Endpoint, ServerSpec};

/// The description of a server, with secrets masked.
#[derive(Debug, Clone, Default)]
pub(super) struct Description {
    command: Option<Vec<String>>,
    url: Option<String>,
    entry: Option<Arc<Value>>,
}

impl Description {
    pub(super) fn of(source: &Source) -> Self {
        match source {
            Source::Spec(spec) => Self::of_spec(spec),
            #[cfg(feature = "config")]
            Source::Entry(entry) => Self::of_entry(entry),
            _ => Self::default(),
        }
    }

    pub(super) fn of_spec(spec: &ServerSpec) -> Self {
        let redactor = |secrets: &[Secret<String>]| -> Redactor {
            secrets
                .iter()
                .map(|secret| secret.expose().as_str())
                .collect()
        };
        let described = match &spec.endpoint {
            Endpoint::Process(process) => {
                let secrets = redactor(&process.secrets);
                let args = mask_args(&process.args);
                let args = args.iter().map(|arg| secrets.redact(arg).into_owned());
                Self {
                    command: Some(
                        std::iter::once(process.command.clone())
                            .chain(args)
                            .collect(),
                    ),
                    ..Self::default()
                }
            }
            Endpoint::Remote(remote) => {
                let url = remote.url.to_string();
                Self {
                    url: Some(redactor(&remote.secrets).redact(&url).into_owned()),
                    ..Self::default()
                }
            }
        };
        Self {
            entry: entry_of(spec),
            ..described
        }
    }

    #[cfg(feature = "config")]
    fn of_entry(entry: &Entry) -> Self {
        let policy = MaskPolicy::Log;
        let args: Vec<&str> = entry.args().collect();
        let args = mask::arguments(&args, policy);
        let command = entry.command().map(|command| {
            let command = std::iter::once(command.to_owned());
            command.chain(args).collect()
        });
        Self {
            command,
            url: entry.url().map(|url| mask::url(url, policy)),
            entry: Some(Arc::new(mask::mask_entry(entry.value(), policy))),
        }
    }

    /// Adds the description to the context of an error.
    pub(super) fn complete(&self, context: Context) -> Context {
        Context {
            command: self.command.clone(),
            url: self.url.clone(),
            entry: self.entry.clone(),
            ..context
        }
    }
}

/// The entry that a description would be written as.
#[cfg(feature = "config")]
fn entry_of(spec: &ServerSpec) -> Option<Arc<Value>> {
    let written = edit::entry(spec, edit::Secrets::AsVariables).ok()?;
    let masked = mask::mask_entry(&written.value, MaskPolicy::Log);
    Some(Arc::new(masked))
}

#[cfg(not(feature = "config"))]
fn entry_of(_: &ServerSpec) -> Option<Arc<Value>> {
    None
}
