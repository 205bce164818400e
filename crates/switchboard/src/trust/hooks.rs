//! Variables that make a program run something else than itself.

/// How the names of such variables begin.
const PREFIXES: &[&str] = &[
    // The dynamic loader.
    "LD_",
    "DYLD_",
    // Functions that bash imports.
    "BASH_FUNC_",
    // Any setting of git and npm: pagers, helpers, the shell for scripts, where packages come from.
    "GIT_CONFIG",
    "NPM_CONFIG_",
    "PIP_",
    "UV_",
    // Profilers that .NET loads.
    "CORECLR_",
    "COR_",
    "LUA_INIT",
];

/// The other names, by what obeys them.
const NAMES: &[&str] = &[
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
    // The C library and TLS.
    "GCONV_PATH",
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

/// Tells whether a variable can make a program run something else than itself.
///
/// Case does not count: Windows and npm do not look at it. A name too many costs a line in a
/// question, one too few may hide what it is really about.
pub(crate) fn is_hook(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    NAMES.contains(&name.as_str()) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::is_hook;

    #[test]
    fn hooks_are_known_in_any_case() {
        for name in [
            "LD_PRELOAD",
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
        ] {
            assert!(is_hook(name), "{name}");
        }
    }

    #[test]
    fn ordinary_variables_are_none() {
        for name in [
            "",
            "TOKEN",
            "DEBUG",
            "LANG",
            "HOME",
            "ENVIRONMENT",
            "OLD_ENV",
            "LDAP_URL",
        ] {
            assert!(!is_hook(name), "{name}");
        }
    }
}
