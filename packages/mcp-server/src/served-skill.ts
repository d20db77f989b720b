import type { Skill as StoredSkill } from "@cem/core";
import type { Skill } from "@modelcontextprotocol/server/ext/skills";

const MANIFEST = "SKILL.md";
const MAX_NAME_CHARACTERS = 64;
const MAX_DESCRIPTION_CHARACTERS = 1_024;
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/u;

/** A skill as clients get it: its entry, and its files by their URIs. */
export interface ServedSkill {
  entry: Skill;
  files: ReadonlyMap<string, Uint8Array>;
}

/** Where a skill's files begin. */
export function skillUri(served: string, file = MANIFEST): string {
  return `skill://${served}/${file.split("/").map(encodeSegment).join("/")}`;
}

/** The skill's name and the path below its folder that a URI stands for. */
export function parseSkillUri(uri: string): { served: string; file: string } | undefined {
  const [, served, file] = /^skill:\/\/([^/?#]+)(?:\/([^?#]*))?$/u.exec(uri) ?? [];
  try {
    return served === undefined ? undefined : { served, file: decodeURIComponent(file ?? "") };
  } catch {
    return undefined;
  }
}

/**
 * The names under which clients know skills. The protocol allows no `_`, which folders here may have; a name that fits
 * as it is never gives way to one that was made to fit.
 */
export function servedNames(names: readonly string[]): Map<string, string> {
  const served = new Map(names.filter(fits).map((name) => [name, name]));
  for (const name of names.filter((one) => !fits(one))) {
    const plain = toName(name);
    let free = plain;
    for (let count = 2; served.has(free); count += 1) free = `${plain}-${count}`;
    served.set(free, name);
  }
  return served;
}

function fits(name: string): boolean {
  return name.length <= MAX_NAME_CHARACTERS && NAME.test(name);
}

function toName(name: string): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, "-")
    .slice(0, MAX_NAME_CHARACTERS - 4);
  return plain.replaceAll(/^-|-$/gu, "") || "skill";
}

/**
 * Makes a skill's entry. Its `SKILL.md` is served as it is where the protocol takes it, else with a front matter that the
 * protocol takes and the same text below.
 */
export async function serveSkill(
  served: string,
  stored: StoredSkill,
  files: Record<string, Uint8Array>,
): Promise<ServedSkill> {
  const { skillEntry } = await import("@modelcontextprotocol/server/ext/skills");
  const uris = (all: Record<string, Uint8Array>): ReadonlyMap<string, Uint8Array> =>
    new Map(Object.entries(all).map(([file, bytes]) => [skillUri(served, file), bytes]));
  try {
    return { entry: await skillEntry(served, files), files: uris(files) };
  } catch {
    const fitting = {
      ...files,
      [MANIFEST]: new TextEncoder().encode(fittingManifest(served, stored, files)),
    };
    return { entry: await skillEntry(served, fitting), files: uris(fitting) };
  }
}

function fittingManifest(served: string, stored: StoredSkill, files: Record<string, Uint8Array>): string {
  const { name, description, instructions } = stored;
  const shown = Array.from(description || `The skill ${name}.`)
    .slice(0, MAX_DESCRIPTION_CHARACTERS)
    .join("");
  const index = Object.keys(files).find((file) => /^index\.m?[jt]s$/u.test(file));
  const use = index === undefined ? "" : `Code imports it from "./skills/${name}/${index}".`;
  // JSON is YAML that every reader understands alike.
  const matter = `name: ${served}\ndescription: ${JSON.stringify(shown)}`;
  return `---\n${matter}\n---\n\n${instructions || use}\n`;
}

/** As URLs write it, so that a client's URI is the same text. */
function encodeSegment(segment: string): string {
  return segment.replaceAll(/[^\w!$&'()*+,.:;=@[\]|~-]/gu, (character) => encodeURIComponent(character));
}
