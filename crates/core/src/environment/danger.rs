//! Classifies environment variables that affect more than the program they are set for.

/// The effect of a variable beyond configuring the program that reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Danger {
    /// Makes programs load or run other code.
    Code,
    /// Redirects network traffic.
    Traffic,
    /// Changes the set of trusted certificates, or disables checking them.
    Certificates,
    /// Changes the folders in which programs look for settings, keys and packages.
    Places,
    /// Changes the behaviour of an interpreter or of git.
    Runtime,
}

impl Danger {
    /// The effect as a phrase that follows the name of the variable.
    pub fn text(self) -> &'static str {
        match self {
            Self::Code => "changes which code runs",
            Self::Traffic => "redirects traffic",
            Self::Certificates => "changes which certificates are trusted",
            Self::Places => "changes where programs find their settings, keys and packages",
            Self::Runtime => "changes how the runtime or git works",
        }
    }
}

/// Prefixes of variables that load or run code.
const CODE_PREFIXES: &[&str] = &[
    // The dynamic loader.
    "LD_",
    "DYLD_",
    // Functions that bash imports.
    "BASH_FUNC_",
    // Any setting of git and npm: pagers, helpers, the shell for scripts, the source of packages.
    "GIT_CONFIG",
    "NPM_CONFIG_",
    "PIP_",
    "UV_",
    "YARN_",
    "COREPACK_",
    // Profilers that .NET loads.
    "CORECLR_",
    "COR_",
    "LUA_INIT",
];

/// Other variables that load or run code, grouped by the programs that read them.
const CODE: &[&str] = &[
    // Shells.
    "BASH_ENV",
    "COMSPEC",
    "ENV",
    "IFS",
    "PATH",
    "PATHEXT",
    "PROMPT_COMMAND",
    "PS4",
    "SHELL",
    "SHELLOPTS",
    "ZDOTDIR",
    "PSMODULEPATH",
    // The C library, the linker, GTK and TLS.
    "GCONV_PATH",
    "GLIBC_TUNABLES",
    "GTK_MODULES",
    "LIBRARY_PATH",
    "OPENSSL_CONF",
    "OPENSSL_ENGINES",
    "OPENSSL_MODULES",
    // Node.
    "ELECTRON_RUN_AS_NODE",
    "NODE_OPTIONS",
    "NODE_PATH",
    // Python.
    "PYTHONBREAKPOINT",
    "PYTHONEXECUTABLE",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONPLATLIBDIR",
    "PYTHONSTARTUP",
    "PYTHONUSERBASE",
    // Perl, Ruby, PHP, R.
    "BUNDLE_GEMFILE",
    "GEM_HOME",
    "GEM_PATH",
    "PERL5DB",
    "PERL5LIB",
    "PERL5OPT",
    "PERLLIB",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "RUBYLIB",
    "RUBYOPT",
    "R_PROFILE",
    "R_PROFILE_USER",
    // Erlang, Go, Cargo, Make, Lua.
    "ERL_AFLAGS",
    "ERL_LIBS",
    "CARGO_BUILD_RUSTC",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "GOFLAGS",
    "LUA_CPATH",
    "LUA_PATH",
    "MAKEFLAGS",
    "RUSTC",
    "RUSTC_WORKSPACE_WRAPPER",
    // Java and .NET.
    "CLASSPATH",
    "DOTNET_ADDITIONAL_DEPS",
    "DOTNET_STARTUP_HOOKS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    // Programs that others start.
    "BROWSER",
    "EDITOR",
    "GIT_ASKPASS",
    "GIT_EDITOR",
    "GIT_EXEC_PATH",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_TEMPLATE_DIR",
    "LESSOPEN",
    "PAGER",
    "RUSTC_WRAPPER",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "VISUAL",
];

/// Prefixes of variables that an interpreter or git reads.
const RUNTIMES: &[&str] = &[
    "PYTHON", "NODE", "GIT_", "PERL", "RUBY", "BUNDLE_", "GEM_", "JAVA_", "JDK_", "DOTNET_",
    "DENO_", "BUN_", "NPM_", "SSH_",
];

/// Variables that locate settings, keys and packages, besides `*_HOME`, `XDG_*` and `*_CONFIG*`.
const PLACES: &[&str] = &[
    "APPDATA",
    "CDPATH",
    "DOCKER_CERT_PATH",
    "GOPATH",
    "GOROOT",
    "HOME",
    "HOMEDRIVE",
    "HOMEPATH",
    "KUBECONFIG",
    "LOCALAPPDATA",
    "NETRC",
    "PROGRAMDATA",
    "TEMP",
    "TMP",
    "TMPDIR",
    "USERPROFILE",
    "VIRTUAL_ENV",
];

/// Variables that redirect traffic, besides `*_PROXY`.
const TRAFFIC: &[&str] = &[
    "DOCKER_HOST",
    "GOPROXY",
    "GOSUMDB",
    "HOSTALIASES",
    "LOCALDOMAIN",
    "RESOLV_HOST_CONF",
    "RES_OPTIONS",
];

/// Variables about certificates, besides those that contain `_CA_`, `_CERT` or `SSL_`.
const CERTIFICATES: &[&str] = &[
    "CURL_CA_BUNDLE",
    "GIT_SSL_NO_VERIFY",
    "NODE_EXTRA_CA_CERTS",
    "NODE_TLS_REJECT_UNAUTHORIZED",
    "PYTHONHTTPSVERIFY",
    "REQUESTS_CA_BUNDLE",
    "SSLKEYLOGFILE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
];

/// Returns the effect of a variable beyond its program, or `None` for an ordinary one.
///
/// Case is ignored, because Windows, npm and proxy variables ignore it. The list errs on the side of
/// too many names: a false alarm costs one line of an approval prompt, a miss may hide an attack.
pub fn danger(name: &str) -> Option<Danger> {
    let name = name.to_ascii_uppercase();
    let is_in = |names: &[&str]| names.contains(&name.as_str());
    let begins = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    let has = |part: &str| name.contains(part);
    let ends = |end: &str| name.ends_with(end);
    // The most specific category first: `GIT_SSL_CAINFO` is about certificates, and also one of git's.
    if is_in(CERTIFICATES)
        || has("_CA_")
        || has("_CERT")
        || begins(&["SSL_", "GIT_SSL_"])
        || ends("_CACERT")
    {
        Some(Danger::Certificates)
    } else if is_in(CODE)
        || begins(CODE_PREFIXES)
        || ends("_LIBRARY_PATH")
        || ends("_MODULE_PATH")
        || (begins(&["CARGO_TARGET_"]) && (ends("_RUNNER") || ends("_LINKER")))
    {
        Some(Danger::Code)
    } else if is_in(TRAFFIC)
        || ends("_PROXY")
        || has("_PROXY_")
        || ends("_BASE_URL")
        || ends("_API_URL")
        || has("_ENDPOINT_URL")
    {
        Some(Danger::Traffic)
    } else if is_in(PLACES) || ends("_HOME") || begins(&["XDG_"]) || has("_CONFIG") {
        Some(Danger::Places)
    } else if begins(RUNTIMES) {
        Some(Danger::Runtime)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_are_known_in_any_case() {
        for name in [
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "DYLD_INSERT_LIBRARIES",
            "NODE_OPTIONS",
            "Node_Options",
            "PYTHONSTARTUP",
            "BASH_ENV",
            "ENV",
            "PERL5OPT",
            "RUBYOPT",
            "GIT_SSH_COMMAND",
            "JAVA_TOOL_OPTIONS",
            "npm_config_script_shell",
            "BASH_FUNC_ls%%",
            "Path",
            "PSModulePath",
            "LIBRARY_PATH",
            "GTK_MODULES",
            "GLIBC_TUNABLES",
            "ERL_AFLAGS",
            "ERL_LIBS",
            "YARN_IGNORE_PATH",
            "COREPACK_NPM_REGISTRY",
            "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER",
        ] {
            assert_eq!(danger(name), Some(Danger::Code), "{name}");
        }
    }

    #[test]
    fn what_reaches_beyond_the_program_is_known() {
        for (names, expected) in [
            (
                "HOME XDG_CONFIG_HOME CARGO_HOME AWS_CONFIG_FILE DOCKER_CONFIG MY_CONFIG_DIR home",
                Danger::Places,
            ),
            (
                "HTTP_PROXY https_proxy ALL_PROXY NO_PROXY GLOBAL_AGENT_HTTP_PROXY OPENAI_BASE_URL",
                Danger::Traffic,
            ),
            (
                "SSL_CERT_FILE REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS AWS_CA_BUNDLE GIT_SSL_CAINFO",
                Danger::Certificates,
            ),
            (
                "PYTHONUNBUFFERED NODE_ENV GIT_AUTHOR_NAME GIT_DIR",
                Danger::Runtime,
            ),
        ] {
            for name in names.split(' ') {
                assert_eq!(danger(name), Some(expected), "{name}");
            }
        }
    }

    #[test]
    fn ordinary_variables_are_none() {
        for name in [
            "",
            "TOKEN",
            "DEBUG",
            "LANG",
            "TZ",
            "ENVIRONMENT",
            "OLD_ENV",
            "LDAP_URL",
            "DB_PATH",
            "LOG_LEVEL",
            "GITHUB_TOKEN",
        ] {
            assert_eq!(danger(name), None, "{name}");
        }
    }
}
