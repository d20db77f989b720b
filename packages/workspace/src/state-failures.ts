import { CemError } from "@cem/core";
import { nameInFormat } from "./state-format.ts";

/** The version of a file that is not there. */
export const NO_VERSION = "";

/** `STATE_CONFLICT`: the file is not of the version that a save is based on. */
export function stateConflict(
  file: string,
  { expected, found, keys }: { expected: string; found: string; keys: readonly string[] | undefined },
): CemError {
  const now = found === NO_VERSION ? "it was removed" : `it has version ${found} now`;
  const based = expected === NO_VERSION ? "no file" : `version ${expected}`;
  const both = keys === undefined ? "" : ` Both changes set ${keys.slice(0, MAX_SHOWN_KEYS).join(", ")}.`;
  return new CemError(
    "STATE_CONFLICT",
    `${file} was changed by someone else: ${now}, the new state is based on ${based}.${both} Read it again, and save what both changes make.`,
    { details: { file, expected, found, ...(keys && { keys: keys.slice(0, MAX_SHOWN_KEYS) }) } },
  );
}

const MAX_SHOWN_KEYS = 10;

/** Refuses a name that ends as a Python pickle's does. */
export function refusePickle(file: string | undefined): void {
  if (file !== undefined && /\.(?:pkl|pickle)$/.test(file)) throw pickleRefused(file);
}

/** `STATE_UNREADABLE`: the file is a Python pickle. */
export function pickleRefused(file: string): CemError {
  const last = file.slice(file.lastIndexOf("/") + 1);
  // It stands in a command.
  const name = /^[\w.-]{1,200}$/.test(last) ? last : "state.pkl";
  const target = nameInFormat(name, "json");
  return new CemError(
    "STATE_UNREADABLE",
    `${name} is a Python pickle, which runs code when it is read, so it is not read here. Where you trust it, convert it once: python3 -c "import json, pickle; json.dump(pickle.load(open('${name}', 'rb')), open('${target}', 'w'))"`,
    { details: { file: name, reason: "a Python pickle" } },
  );
}
