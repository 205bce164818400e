//! The platforms that releases are made for.

use crate::tool;

/// A platform, in the words of Rust and of npm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Platform {
    /// Rust's name.
    pub(super) target: &'static str,
    /// npm's name of the operating system.
    pub(super) os: &'static str,
    /// npm's name of the processor.
    pub(super) cpu: &'static str,
}

/// All of them.
pub(super) const ALL: [Platform; 5] = [
    platform("x86_64-unknown-linux-gnu", "linux", "x64"),
    platform("aarch64-unknown-linux-gnu", "linux", "arm64"),
    platform("x86_64-apple-darwin", "darwin", "x64"),
    platform("aarch64-apple-darwin", "darwin", "arm64"),
    platform("x86_64-pc-windows-msvc", "win32", "x64"),
];

const fn platform(target: &'static str, os: &'static str, cpu: &'static str) -> Platform {
    Platform { target, os, cpu }
}

impl Platform {
    /// Finds a platform by Rust's name.
    ///
    /// # Errors
    ///
    /// Lists the platforms there are.
    pub(super) fn named(target: &str) -> Result<Self, String> {
        ALL.into_iter()
            .find(|it| it.target == target)
            .ok_or_else(|| {
                let known = ALL.map(|it| it.target).join(", ");
                format!("there are no releases for `{target}`; there are for {known}")
            })
    }

    /// The platform that the compiler builds for by default.
    ///
    /// # Errors
    ///
    /// Fails without a compiler, or on a platform without releases.
    pub(super) fn of_this_machine() -> Result<Self, String> {
        let told = tool::output(std::process::Command::new("rustc").arg("-vV"))?;
        let host = told.lines().find_map(|line| line.strip_prefix("host: "));
        Self::named(host.ok_or("`rustc -vV` names no host")?)
    }

    /// The file name of the program.
    pub(super) fn program(self) -> &'static str {
        if self.os == "win32" {
            "switchboard.exe"
        } else {
            "switchboard"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_platform_is_answered_with_those_there_are() {
        let error = Platform::named("mips").unwrap_err();
        assert!(error.contains("x86_64-pc-windows-msvc"), "{error}");
        assert_eq!(
            Platform::named("aarch64-apple-darwin").unwrap().cpu,
            "arm64"
        );
    }
}
