//! Writes the settings that differ from the default.

use std::time::Duration;

use crate::limits::Deadline;
use crate::spec::Settings;
use serde_json::{Map, Value};

use super::WriteError;
use super::values::ValueWriter;

/// Writes the settings of a server that differ from the default.
pub(super) fn write(
    settings: &Settings,
    values: &mut ValueWriter<'_>,
    out: &mut Map<String, Value>,
) -> Result<(), WriteError> {
    let usual = Settings::default();
    // Only differences are written, so that later defaults reach existing files.
    let mut put = |key: &str, differs: bool, value: Value| {
        if differs {
            out.insert(key.to_owned(), value);
        }
    };
    let (new, old) = (&settings.timeouts, &usual.timeouts);
    for (key, new, old) in [
        ("connect_timeout", new.connect, old.connect),
        ("discovery_timeout", new.discovery, old.discovery),
        ("execution_timeout", new.execution, old.execution),
    ] {
        put(key, new != old, deadline(new).into());
    }
    let retries = settings.max_retries;
    put("max_retries", retries.is_some(), retries.into());
    let backoff = settings.retry_backoff;
    put(
        "retry_backoff",
        backoff.is_some(),
        backoff.map(duration).into(),
    );
    let most = settings.message_bytes;
    put("message_bytes", most.is_some(), most.into());
    for (key, new, old) in [
        (
            "cache_tools_list",
            settings.cache_tools_list,
            usual.cache_tools_list,
        ),
        ("reconnect", settings.reconnect, usual.reconnect),
        (
            "fail_if_no_tools",
            settings.fail_if_no_tools,
            usual.fail_if_no_tools,
        ),
        (
            "clean_arguments",
            settings.clean_arguments,
            usual.clean_arguments,
        ),
        ("sampling", settings.sampling, usual.sampling),
    ] {
        put(key, new != old, new.into());
    }
    let attempts = settings.max_reconnect_attempts;
    put(
        "max_reconnect_attempts",
        attempts != usual.max_reconnect_attempts,
        attempts.into(),
    );
    put(
        "protocol",
        settings.protocol != usual.protocol,
        settings.protocol.to_string().into(),
    );
    let style = settings.name_style;
    put(
        "name_style",
        style.is_some(),
        style.map(|style| style.to_string()).into(),
    );
    // An empty list permits nothing, unlike an absent one.
    if let Some(allow) = &settings.tools.allow {
        put("include_tools", true, values.list("include_tools", allow)?);
    }
    for (key, list) in [
        ("exclude_tools", &settings.tools.block),
        ("idempotent_tools", &settings.idempotent_tools),
    ] {
        put(key, !list.is_empty(), values.list(key, list)?);
    }
    let roots = settings.roots.iter();
    let roots: Value = roots
        .map(|root| values.path("roots", root))
        .collect::<Result<_, _>>()?;
    put("roots", !settings.roots.is_empty(), roots);
    Ok(())
}

/// Writes a deadline. A file has one number for both limits, the idle time. A longer total is not written.
fn deadline(deadline: Deadline) -> String {
    duration(deadline.idle.min(deadline.total))
}

/// Writes a duration in seconds if that is exact, and otherwise in milliseconds, rounded up.
fn duration(time: Duration) -> String {
    if time.subsec_nanos() == 0 {
        return format!("{}s", time.as_secs());
    }
    let millis = time.as_nanos().div_ceil(1_000_000);
    if millis.is_multiple_of(1000) {
        format!("{}s", millis / 1000)
    } else {
        format!("{millis}ms")
    }
}
