// Facts about the host that tests act upon: on another host their results may differ, so they are part of turbo's hash.
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import os from "node:os";

/** Commands that tests use where they are there, and skip or do without where they are not. */
const COMMANDS = ["bwrap", "prlimit", "unshare", "docker", "chromium", "redis-server", "valkey-server"];

/** One line, the same on the same host. */
export function hostFacts() {
  const commands = COMMANDS.filter(
    (name) => spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0,
  );
  const user = process.getuid?.() === 0 ? "root" : "user";
  return [
    os.platform(),
    os.arch(),
    user,
    ...commands,
    ...(opens("/dev/kvm") ? ["kvm"] : []),
    ...(existsSync("/usr/lib/postgresql") ? ["postgresql"] : []),
  ].join(" ");
}

function opens(file) {
  try {
    accessSync(file, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
