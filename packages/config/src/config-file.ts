import { stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { CemError, isObject } from "@cem/core";
import { makeFolder, openHandle, PRIVATE_FOLDER, stillWritten, withFileLock } from "@cem/core/files";
import { bind } from "./bind.ts";
import { FILE_VARIABLE, variableValue, type EnvironmentSource } from "./environment.ts";
import { configInvalid, emptyLayer, problemAt, type Layer, type Origin } from "./layer.ts";
import { configSchema } from "./schema/schema.ts";

/** A larger file can't be a configuration. */
const MAX_FILE_KB = 1024;
const FILE_NAMES = ["config.yaml", "config.yml"] as const;

async function findConfigFile(folder: string): Promise<{ file?: string | undefined; warnings: string[] }> {
  const found: string[] = [];
  for (const name of FILE_NAMES) {
    const file = resolve(folder, name);
    // Docker creates a folder with this name when a mounted file is missing: reading it reports that.
    if ((await stat(file).catch(() => undefined)) !== undefined) found.push(file);
  }
  const [file] = found;
  const warnings =
    found.length > 1 ? [`${FILE_NAMES[1]}  is not read: ${FILE_NAMES[0]} is there too and wins.`] : [];
  return { file, warnings };
}

/** @throws CemError `CONFIG_NOT_FOUND`, or `CONFIG_INVALID` when it can't be read or is not a mapping in YAML. */
export async function readConfigFile(
  { file, namedBy, ofFolder }: ChosenFile & { file: string },
  signal?: AbortSignal,
): Promise<Layer> {
  const origin = originIn(file, ofFolder);
  const invalid = (message: string) => configInvalid([problemAt({ path: "", origin: origin() }, message)]);
  let text: string | undefined;
  try {
    text = await readSmallFile(file, signal);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") {
      const message = `${file}  does not exist${namedBy === undefined ? "" : `; it was named by ${namedBy}`}.`;
      throw new CemError("CONFIG_NOT_FOUND", message, { details: { file, namedBy }, cause });
    }
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") throw invalid("is not text in UTF-8.");
    if (code === undefined || signal?.aborted === true) throw cause;
    throw invalid(
      `can't be read (${code}).${code === "EACCES" ? " Change its permissions: this user may not." : ""}`,
    );
  }
  if (text === undefined)
    throw invalid(`is not a file of at most ${MAX_FILE_KB} KiB, so it is not a configuration.`);
  return parseConfig(text, origin);
}

/** @throws CemError `CONFIG_INVALID` when the text is not a mapping in YAML. */
export async function parseConfig(text: string, origin: (line?: number) => Origin): Promise<Layer> {
  const { readYaml } = await import("./yaml.ts");
  const { value, problems, at } = readYaml(text);
  if (problems.length > 0)
    throw configInvalid(
      problems.map(({ message, ...position }) =>
        problemAt({ path: "", origin: origin(position.line) }, `${message}.`, position),
      ),
    );
  if (value === undefined) return emptyLayer();
  if (!isObject(value)) {
    const message = "is not a mapping of settings, such as  execution:  or  logging: .";
    throw configInvalid([problemAt({ path: "", origin: origin() }, message)]);
  }
  return bind(value, configSchema, { style: "snake", origin, at });
}

export function originIn(file: string, ofFolder?: boolean): (line?: number) => Origin {
  const name = basename(file);
  return (line) => ({
    from: "file",
    label: line === undefined ? name : `${name}:${line}`,
    file,
    line,
    ofFolder,
  });
}

/** Reads a `.env` file. One that is missing or not a regular file sets nothing. */
export async function readEnvFile(file: string, signal?: AbortSignal) {
  const nothing = (...warnings: string[]) => ({ variables: {} as Record<string, string>, warnings });
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() !== true) return nothing();
  try {
    const text = await readSmallFile(file, signal);
    if (text === undefined)
      return nothing(`${basename(file)}  is larger than ${MAX_FILE_KB} KiB and is not read.`);
    const { parseEnv } = await import("node:util");
    return { variables: parseEnv(text) as Record<string, string>, warnings: [] };
  } catch (cause) {
    signal?.throwIfAborted();
    const code = (cause as NodeJS.ErrnoException).code ?? "unreadable";
    return nothing(`${basename(file)}  can't be read (${code}) and sets nothing.`);
  }
}

/** Reads a file as UTF-8; `undefined` when it is too large or not a regular file. */
async function readSmallFile(file: string, signal?: AbortSignal): Promise<string | undefined> {
  signal?.throwIfAborted();
  const found = await stat(file);
  if (!found.isFile()) return undefined;
  await using handle = await openHandle(file, "r");
  const limit = MAX_FILE_KB * 1024;
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(limit + 1), 0, limit + 1, 0);
  if (bytesRead > limit) return undefined;
  return new TextDecoder("utf-8", { fatal: true }).decode(buffer.subarray(0, bytesRead));
}

export interface ChosenFile {
  file?: string | undefined;
  /** The variable that named it, for the error message when it does not exist. */
  namedBy?: string | undefined;
  /** Whether it was found in the folder and not named by the user. */
  ofFolder?: boolean | undefined;
  warnings: string[];
}

/** The file that the caller or else the environment names. Needed before `.env`, which is in the same folder. */
export function namedFile(cwd: string, file: string | false | undefined, environment: EnvironmentSource) {
  if (file === false) return { warnings: [] };
  if (file !== undefined) return { file: resolve(cwd, file), warnings: [] };
  return namedByVariable(cwd, environment);
}

/** The configuration file when neither names one: the one that `.env` names, else the one in the folder. */
export async function fileOfFolder(cwd: string, dotenv: EnvironmentSource): Promise<ChosenFile> {
  return namedByVariable(cwd, dotenv) ?? { ...(await findConfigFile(cwd)), ofFolder: true };
}

function namedByVariable(
  cwd: string,
  { from, variables, ofFolder }: EnvironmentSource,
): ChosenFile | undefined {
  const named = variableValue(variables, FILE_VARIABLE);
  if (named === undefined) return undefined;
  return { file: resolve(cwd, named), namedBy: `${from} ${FILE_VARIABLE}`, ofFolder, warnings: [] };
}

const EDIT_WAIT_MS = 10_000;

/**
 * Runs work that reads and rewrites a file while no other process does so.
 *
 * @throws CemError `STATE_BUSY` when another process keeps the file busy for 10 seconds.
 */
export async function editInTurn<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  makeFolder(dirname(file), PRIVATE_FOLDER);
  const busy = (): Error => stillWritten(file, EDIT_WAIT_MS);
  return withFileLock(`${file}.lock`, work, { waitMs: EDIT_WAIT_MS, busy });
}
