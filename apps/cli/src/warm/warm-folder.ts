import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, realpathSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import type { SharedOptions } from "../command-options.ts";

/** Sockets have short names: the whole path may have some 100 bytes. */
const NAME_CHARACTERS = 20;

/** The settings of the command line that an agent is made with. */
export type AgentSettings = Pick<
  SharedOptions,
  "config" | "workspace" | "servers" | "skills" | "customer" | "sandbox" | "minIsolation" | "timeout"
>;

/** Those of the settings that are given. */
export function agentSettingsOf(options: SharedOptions): AgentSettings {
  const { config, workspace, servers, skills, customer, sandbox, minIsolation, timeout } = options;
  return { config, workspace, servers, skills, customer, sandbox, minIsolation, timeout };
}

/**
 * The socket of the process that is kept warm for this user, this folder, these settings and this very program: another
 * version of it, or another Node, has another one.
 *
 * @returns `undefined` where there can be none: on Windows, or where others could reach its folder.
 */
export function socketPath(settings: AgentSettings): string | undefined {
  if (process.getuid === undefined) return undefined;
  const folder = path.join(process.env["XDG_RUNTIME_DIR"] ?? os.tmpdir(), `cem-${process.getuid()}`);
  if (!isPrivate(folder)) return undefined;
  const program = process.argv[1] ?? "";
  const identity = [
    packageJson.version,
    process.version,
    program,
    statSync(program, { throwIfNoEntry: false })?.mtimeMs,
    realpathSync(process.cwd()),
    settings,
  ];
  const name = createHash("sha256").update(JSON.stringify(identity)).digest("hex").slice(0, NAME_CHARACTERS);
  return path.join(folder, `${name}.sock`);
}

/** Makes the folder of the socket, for its owner alone. */
export function makeSocketFolder(socket: string): void {
  mkdirSync(path.dirname(socket), { mode: 0o700, recursive: true });
}

/** Whether a folder is this user's and nobody else can look into it, or is not there yet. */
function isPrivate(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return true;
  return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
}

/** What a terminal sets for itself, and no tool or server goes by. */
const TERMINAL_VARIABLES =
  /^(?:_|COLORTERM|COLUMNS|FORCE_COLOR|LINES|NO_COLOR|OLDPWD|PWD|SHLVL|SSH_(?:CLIENT|CONNECTION|TTY)|TERM(?:_.*)?|TMUX(?:_.*)?|VTE_VERSION|WINDOWID|XDG_SESSION_ID|NODE_COMPILE_CACHE)$/u;

/** A digest of the environment, in which configuration, servers and tools read what they need. */
export function environmentDigest(): string {
  const variables = Object.entries(process.env)
    .filter(([name]) => !TERMINAL_VARIABLES.test(name))
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify([variables, process.umask()]))
    .digest("hex");
}
