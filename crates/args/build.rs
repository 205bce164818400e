//! Tells the program which platform it is built for: `--version` says so.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Cargo sets it for every build script.
    if let Ok(target) = std::env::var("TARGET") {
        println!("cargo::rustc-env=SWITCHBOARD_TARGET={target}");
    }
}
