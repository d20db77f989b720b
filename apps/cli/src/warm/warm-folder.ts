import { lstatSync, mkdirSync, realpathSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { AGENT_SETTINGS } from "../command/options.ts";
import type { AgentSettings, SharedOptions } from "../command/options.ts";

/** Those of the settings that are given. */
export function agentSettingsOf(options: SharedOptions): AgentSettings {
  return Object.fromEntries(AGENT_SETTINGS.map((name) => [name, options[name]]));
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
  return path.join(folder, `${shortName(identityOf(settings))}.sock`);
}

function identityOf(settings: AgentSettings): string {
  const program = process.argv[1] ?? "";
  return JSON.stringify([
    packageJson.version,
    process.version,
    program,
    statSync(program, { throwIfNoEntry: false })?.mtimeMs,
    realpathSync(process.cwd()),
    settings,
  ]);
}

const FNV_PRIME = 0x01000193;
const FNV_BEGINNINGS = [0x811c9dc5, 0x9dc5811c];

/**
 * A short name of a text, since the whole path of a socket may have some 100 bytes. Two texts may share one: whoever listens
 * compares the {@link cacheKeyOf} themselves. Loading node:crypto for it takes longer than all else here.
 */
function shortName(text: string): string {
  const parts = FNV_BEGINNINGS.map((beginning) => {
    let value = beginning;
    for (let index = 0; index < text.length; index += 1)
      value = Math.imul(value ^ text.charCodeAt(index), FNV_PRIME);
    return (value >>> 0).toString(36);
  });
  return parts.join("");
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

/** Variables that a terminal sets for itself, and that no tool or server depends on. */
const TERMINAL_VARIABLES =
  /^(?:_|COLORTERM|COLUMNS|FORCE_COLOR|LINES|NO_COLOR|OLDPWD|PWD|SHLVL|SSH_(?:CLIENT|CONNECTION|TTY)|TERM(?:_.*)?|TMUX(?:_.*)?|VTE_VERSION|WINDOWID|XDG_SESSION_ID|NODE_COMPILE_CACHE)$/u;

/**
 * All that the work of a command depends on besides its words: the program, the folder, the settings and the environment, in which
 * configuration, servers and tools read what they need. It goes to a socket of this user alone.
 */
export function cacheKeyOf(settings: AgentSettings): string {
  const variables = Object.entries(process.env)
    .filter(([name]) => !TERMINAL_VARIABLES.test(name))
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([identityOf(settings), variables, process.umask()]);
}
