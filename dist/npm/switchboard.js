#!/usr/bin/env node
// Starts the program that npm has installed for this platform.
"use strict";

const { spawn } = require("node:child_process");

const { name, optionalDependencies = {} } = require("../package.json");

const platform = `${name}-${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "switchboard.exe" : "switchboard";

function find() {
  try {
    return require.resolve(`${platform}/bin/${file}`);
  } catch {
    const known = Object.keys(optionalDependencies);
    const remedy = known.includes(platform)
      ? `the package ${platform} is not installed; install again without --omit=optional`
      : `there is no build for it; there is one for ${known.map((it) => it.slice(name.length + 1)).join(", ")}`;
    console.error(`switchboard: cannot run on ${process.platform} ${process.arch}: ${remedy}`);
    process.exit(1);
  }
}

const child = spawn(find(), process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => {
  console.error(`switchboard: ${error.message}`);
  process.exit(1);
});

// A terminal sends Ctrl-C to both processes: passed on, it would count as the second one.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("exit", (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(code);
  }
});
