//! The packages that provide well-known commands, and the ways to install them.

/// A package that provides a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Installer {
    /// The name of the package.
    pub package: &'static str,
    /// The way to install it: commands between backticks, or a URL.
    pub how: &'static str,
}

/// Returns the package of a command, and the way to install it on Windows or elsewhere.
pub fn installer(command: &str, is_windows: bool) -> Option<Installer> {
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
    let name = [".exe", ".cmd", ".bat"]
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(name);
    let (package, unix, windows) = match name {
        "npx" | "npm" | "node" | "nodejs" => (
            "Node.js",
            "`sudo apt install nodejs npm`, `brew install node`, or https://nodejs.org",
            "`winget install OpenJS.NodeJS.LTS`, or https://nodejs.org",
        ),
        "uvx" | "uv" => (
            "uv",
            "`pip install uv`, `brew install uv`, or https://docs.astral.sh/uv",
            "`winget install astral-sh.uv`, or https://docs.astral.sh/uv",
        ),
        "python" | "python3" | "pip" | "pip3" => (
            "Python 3",
            "`sudo apt install python3 python3-pip`, `brew install python`, or https://www.python.org",
            "`winget install Python.Python.3.13`, or https://www.python.org",
        ),
        "pipx" => (
            "pipx",
            "`pip install pipx`, or `brew install pipx`",
            "`pip install pipx`",
        ),
        "docker" => (
            "Docker",
            "https://docs.docker.com/get-docker",
            "`winget install Docker.DockerDesktop`, or https://docs.docker.com/get-docker",
        ),
        "podman" => (
            "Podman",
            "`sudo apt install podman`, or https://podman.io",
            "`winget install RedHat.Podman`, or https://podman.io",
        ),
        "bunx" | "bun" => (
            "Bun",
            "`npm install -g bun`, or https://bun.sh",
            "`winget install Oven-sh.Bun`, or https://bun.sh",
        ),
        "deno" => (
            "Deno",
            "`npm install -g deno`, or https://deno.com",
            "`winget install DenoLand.Deno`, or https://deno.com",
        ),
        "pnpm" => ("pnpm", "`npm install -g pnpm`", "`npm install -g pnpm`"),
        "yarn" => ("Yarn", "`npm install -g yarn`", "`npm install -g yarn`"),
        "tsx" => ("tsx", "`npm install -g tsx`", "`npm install -g tsx`"),
        "cargo" => ("Rust", "https://rustup.rs", "https://rustup.rs"),
        "go" => (
            "Go",
            "`sudo apt install golang`, or https://go.dev",
            "`winget install GoLang.Go`, or https://go.dev",
        ),
        "java" => (
            "Java",
            "`sudo apt install default-jre`",
            "`winget install EclipseAdoptium.Temurin.21.JRE`",
        ),
        "dotnet" => (
            ".NET",
            "https://dotnet.microsoft.com",
            "`winget install Microsoft.DotNet.SDK.9`",
        ),
        "ruby" | "gem" => (
            "Ruby",
            "`sudo apt install ruby`",
            "`winget install RubyInstallerTeam.Ruby.3.3`",
        ),
        _ => return None,
    };
    let how = if is_windows { windows } else { unix };
    Some(Installer { package, how })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_installed_as_its_system_does() {
        let how = |command, is_windows| installer(command, is_windows).unwrap().how;
        assert!(how("npx", false).contains("apt install nodejs"));
        for command in [
            "npx",
            "npx.cmd",
            r"C:\bin\uvx.exe",
            "docker",
            "python",
            "go",
            "java",
        ] {
            let how = how(command, true);
            assert!(how.contains("winget install"), "{how}");
            assert!(!how.contains("apt") && !how.contains("brew"), "{how}");
        }
        assert_eq!(installer("my-server", false), None);
    }
}
