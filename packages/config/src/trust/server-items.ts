import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { isObject, parseJson } from "@cem/core";
import { isWithin, textOfFile } from "@cem/core/files";
import { redactConfig } from "../redact.ts";
import type { Secret } from "../redact.ts";
import type { McpServerSetting, ServerAuthSetting, StdioServerSetting } from "../schema/mcp-servers.ts";
import { digestFiles, realPath } from "./places.ts";
import { type TrustItem, trustItem } from "./items.ts";

const REFERENCE = /\$\{(?:env:)?(?<name>[A-Za-z_]\w*)(?::-(?<fallback>[^{}]*))?\}/gu;
/** Commands that download what they run, and that read files of the folder to decide how. */
const RUNNERS = new Set("npx npm pnpm pnpx yarn bun bunx corepack uv uvx pipx deno make".split(" "));
const RUNNER_FILES = (
  ".npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs bunfig.toml pnpm-workspace.yaml uv.toml pyproject.toml " +
  ".python-version deno.json deno.jsonc Makefile"
).split(" ");
/** Programs that resolve imports by tsconfig.json. */
const TYPESCRIPT_RUNNER = /^(?:tsx|ts-node|ts-node-esm|bun|bunx)(?:@.*|\.cmd|\.exe)?$/u;
/** Programs to which databases and JSON lines can be nothing but data, and MCP servers by their name. */
const KEEPS_DATA = /^(?:node|npx|bunx?|deno|tsx|uvx)(?:\.(?:cmd|exe))?$|mcp/iu;
/** Programs that these start, which find code in other text, and the variable by which a shell is given such. */
const INTERPRETER =
  /^(?:(?:ba|da|z|k|c|fi)?sh|cmd|powershell|pwsh|perl|php|python|ruby)[\d.]*(?:\.exe)?$|^BASH_ENV$/u;
/** The fields of package.json that decide which program a runner starts. */
const RUNNER_KEYS = ["name", "bin", "scripts", "workspaces", "packageManager", "directories"];

/** Where an MCP server of a folder would run. */
export interface ServerPlace {
  /** The real path of the folder. */
  folder: string;
  /** The folder that commands start in. */
  cwd: string;
  /** Looks up a variable where the server's settings would find it. */
  variable: (name: string) => string | undefined;
  /** The same, in files of the folder alone. */
  folderVariable: (name: string) => string | undefined;
}

/** The access that an MCP server of the folder requests: to be started, or to be contacted as this user. */
export function serverItem(server: McpServerSetting, place: ServerPlace): TrustItem {
  const settings = reachOf(server);
  const names = variablesOfServer(server);
  const ofFolder = names.map((name) => [name, place.folderVariable(name)]);
  const isCommand = server.connectionType === "stdio";
  const { files, implicitFiles } = isCommand
    ? filesOf(server, place)
    : { files: new Map<string, string>(), implicitFiles: [] };
  const sent = new Set([...names, ...Object.keys(isCommand ? server.env : server.headers)]);
  const withNames = sent.size === 0 ? "" : `  with ${[...sent].join(", ")}`;
  const named = { kind: "server", name: server.name, text: describeReach(server) + withNames } as const;
  const { concurrency, connections, maxConnections, timeout, writes } = server;
  const limits = [concurrency, connections, maxConnections, timeout, writes];
  return { ...trustItem(named, [settings, limits, ofFolder], files), implicitFiles };
}

/** The names of the variables that the settings of a server take values from. */
export function variablesOfServer(server: McpServerSetting): string[] {
  const found = [...JSON.stringify(reachOf(server)).matchAll(REFERENCE)];
  return [...new Set(found.map(({ groups }) => groups?.["name"] ?? ""))];
}

/** The settings that decide what is started or contacted, with their secrets. */
function reachOf(server: McpServerSetting): unknown[] {
  return server.connectionType === "stdio"
    ? [server.command, server.args, reveal(server.env), server.cwd]
    : [server.connectionType, server.url, reveal(server.headers), revealAuth(server.auth)];
}

/** The command of a server with its arguments, or its address, without anything that looks like a secret. */
export function describeReach(server: {
  command?: string | undefined;
  args?: readonly string[] | undefined;
  cwd?: string | undefined;
  url?: string | undefined;
}): string {
  const { command, args = [], cwd, url = "" } = redactConfig(server);
  return command === undefined ? addressText(url) : commandText(command, args, cwd);
}

function commandText(command: string, args: readonly string[], cwd: string | undefined): string {
  const words = [command, ...args].map((word) => (/^[^\s"'\\]+$/u.test(word) ? word : JSON.stringify(word)));
  return words.join(" ") + (cwd === undefined ? "" : `  in ${cwd}`);
}

/** Without user name, query and fragment, which may hold secrets. */
function addressText(url: string): string {
  if (!URL.canParse(url)) return url.replace(/[?#].*$/su, "");
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

/** Files of the folder that a command names or that decide what it runs. */
function filesOf({ command, args, cwd, env }: StdioServerSetting, place: ServerPlace) {
  const fill = (text: string): string =>
    text.replace(REFERENCE, (...match) => {
      const { name = "", fallback = "" } = match.at(-1) as Record<string, string | undefined>;
      return place.variable(name) ?? fallback;
    });
  const base = resolve(place.cwd, fill(cwd ?? "."));
  const words = [command, ...args].map(fill);
  // Programs load files that their environment names, as in NODE_OPTIONS.
  const ofEnvironment = reveal(env).flatMap(([, value]) => fill(value).split(/[\s=:,;]+/u));
  const named = [...words.flatMap((word) => [word, word.slice(word.indexOf("=") + 1)]), ...ofEnvironment];
  const [program = ""] = words;
  const isRunner = RUNNERS.has(basename(program).replace(/\.(?:cmd|exe|ps1)$/iu, ""));
  const runner = isRunner ? [...RUNNER_FILES, ...words.slice(1).flatMap(installedAs)] : [];
  const types = words.some((word) => TYPESCRIPT_RUNNER.test(basename(word))) ? ["tsconfig.json"] : [];
  // A server's every write would hold it back. Perl would run the lines of such a file, and Python a zip at its end.
  const mayRunData = [...words, ...Object.keys(env)].some((word) => INTERPRETER.test(basename(word)));
  const start = resolve(base, program);
  const leadsOut = isWithin(place.folder, start) && !isWithin(place.folder, realPath(start));
  const skipsData = KEEPS_DATA.test(basename(program)) && !mayRunData && !leadsOut;
  const digest = (names: readonly string[]): Map<string, string> => {
    const files = names.map((name) => resolve(base, name));
    return digestFiles(place.folder, files, { skipsData });
  };
  const implicit = digest(runner);
  // Whatever is no program for the kernel is one for a shell.
  const started = digestFiles(place.folder, [start]);
  const files = new Map([...implicit, ...digest([...named, ...types]), ...started]);
  const manifest = isRunner ? manifestOf(base) : undefined;
  if (manifest !== undefined) files.set("package.json", manifest);
  return { files, implicitFiles: [...implicit.keys()] };
}

/** Where a package that is installed in the folder is run from, instead of being downloaded. */
function installedAs(word: string): string[] {
  const [, name] = /^((?:@[\w.-]+\/)?[\w.-]+)(?:@[^/]*)?$/u.exec(word) ?? [];
  if (name === undefined || name.startsWith("-")) return [];
  return [join("node_modules", name, "package.json"), join("node_modules", ".bin", basename(name))];
}

function manifestOf(folder: string): string | undefined {
  const file = join(folder, "package.json");
  if (!existsSync(file)) return undefined;
  const manifest = parseJson(textOfFile(file) ?? "");
  return isObject(manifest) ? JSON.stringify(RUNNER_KEYS.map((key) => manifest[key])) : "unreadable";
}

function reveal(secrets: Readonly<Record<string, Secret>>): [string, string][] {
  return Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()]);
}

function revealAuth(auth: ServerAuthSetting | undefined): unknown {
  return auth === undefined ? undefined : { ...auth, clientSecret: auth.clientSecret?.reveal() };
}
