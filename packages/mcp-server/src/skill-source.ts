import path from "node:path";
import { CemError } from "@cem/core";
import type { Redactor, Skill as StoredSkill, SkillStore, SkillSummary } from "@cem/core";
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { Resource, ServerContext } from "@modelcontextprotocol/server";
import type { Skill, SkillReadResult, SkillSource } from "@modelcontextprotocol/server/ext/skills";
import { ownerNameOf } from "./served-client.ts";

const PAGE = 100;
const DIRECTORY = "inode/directory";
const MIME_TYPES: Readonly<Record<string, string>> = {
  ".md": "text/markdown",
  ".txt": "text/plain",
  ".json": "application/json",
  ".ts": "text/typescript",
  ".mts": "text/typescript",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".py": "text/x-python",
};

export interface SkillSourceSettings {
  /** The skills that a request may read. */
  storeOf: (context: ServerContext) => Promise<SkillStore | undefined>;
  /** Keeps personal data from what clients read. */
  redactor?: Redactor | undefined;
  /** Receives why a skill is missing from a list. */
  onMissing?: ((skill: string, error: unknown) => void) | undefined;
}

/**
 * The skills that a client can read (SEP-2640): those that are active, as they are at the time. Every answer is read
 * anew, so a skill that is promoted, changed or removed needs no restart.
 */
export class StoredSkillSource implements SkillSource {
  readonly #settings: SkillSourceSettings;

  constructor(settings: SkillSourceSettings) {
    this.#settings = settings;
  }

  async list({ cursor }: { cursor?: string }, context: ServerContext) {
    const all = await this.#active(context);
    const names = servedNames(all.map(({ name }) => name));
    const served = [...names.keys()].toSorted().filter((name) => cursor === undefined || name > cursor);
    const page = served.slice(0, PAGE);
    const skills = await Promise.all(
      page.map((name) => this.#entryOf(name, names.get(name) ?? name, context)),
    );
    const last = served.length > PAGE ? page.at(-1) : undefined;
    return {
      skills: skills.filter((skill) => skill !== undefined),
      ...(last !== undefined && { nextCursor: last }),
    };
  }

  async get(uri: string, context: ServerContext): Promise<Skill | undefined> {
    const skill = await this.#find(uri, context);
    return skill?.entry.uri === uri ? skill.entry : undefined;
  }

  async read(uri: string, context: ServerContext): Promise<SkillReadResult | undefined> {
    const bytes = (await this.#find(uri, context))?.files.get(uri);
    if (bytes === undefined) return undefined;
    const mimeType = mimeTypeOf(uri);
    const text = textOf(bytes);
    return text === undefined ? { bytes, mimeType } : { text, mimeType };
  }

  async readDirectory(uri: string, _page: { cursor?: string }, context: ServerContext) {
    const folder = uri.endsWith("/") ? uri : `${uri}/`;
    const skill = await this.#find(folder, context);
    const inside = [...(skill?.files ?? [])].filter(([file]) => file.startsWith(folder));
    if (inside.length === 0) return undefined;
    const children = new Map<string, Resource>();
    for (const [file, bytes] of inside) {
      const [child = "", ...rest] = file.slice(folder.length).split("/");
      const name = decodeURIComponent(child);
      const found =
        rest.length > 0
          ? { uri: folder + child, name, mimeType: DIRECTORY }
          : { uri: file, name, mimeType: mimeTypeOf(file), size: bytes.length };
      children.set(child, found);
    }
    return { resources: [...children.values()] };
  }

  async listResources(context: ServerContext): Promise<Resource[]> {
    const all = await this.#active(context);
    const byName = new Map(all.map((skill) => [skill.name, skill]));
    const names = [...servedNames([...byName.keys()])].toSorted(([one], [other]) => (one < other ? -1 : 1));
    return names.map(([served, name]) => ({
      uri: skillUri(served),
      name: served,
      description: this.#redact(byName.get(name)?.description ?? "", context),
      mimeType: "text/markdown",
    }));
  }

  async #active(context: ServerContext): Promise<SkillSummary[]> {
    const all = (await (await this.#settings.storeOf(context))?.list()) ?? [];
    return all.filter(({ status }) => status === "active");
  }

  /** Leaves out a skill that can't be read, so that it does not hide the others. */
  async #entryOf(served: string, name: string, context: ServerContext): Promise<Skill | undefined> {
    try {
      return (await this.#serve(served, name, context))?.entry;
    } catch (error) {
      this.#settings.onMissing?.(name, error);
      return undefined;
    }
  }

  /** Finds the skill that a URI is of. */
  async #find(uri: string, context: ServerContext): Promise<ServedSkill | undefined> {
    const { served } = parseSkillUri(uri) ?? {};
    if (served === undefined) return undefined;
    const all = await this.#active(context);
    const name = servedNames(all.map((skill) => skill.name)).get(served);
    if (name === undefined) return undefined;
    try {
      return await this.#serve(served, name, context);
    } catch (error) {
      if (!CemError.isInstance(error)) throw error;
      if (error.code === "SKILL_NOT_FOUND") return undefined;
      throw new ProtocolError(ProtocolErrorCode.InternalError, error.message);
    }
  }

  async #serve(served: string, name: string, context: ServerContext): Promise<ServedSkill | undefined> {
    const store = await this.#settings.storeOf(context);
    if (store === undefined) return undefined;
    const [skill, files] = await Promise.all([store.get(name, { status: "active" }), store.files(name)]);
    if (this.#settings.redactor === undefined) return serveSkill(served, skill, files);
    const shown = { ...skill, description: "", instructions: "" };
    shown.description = this.#redact(skill.description, context);
    shown.instructions = this.#redact(skill.instructions, context);
    const kept = Object.entries(files).map(
      ([file, bytes]) => [file, this.#redactBytes(bytes, context)] as const,
    );
    return serveSkill(served, shown, Object.fromEntries(kept));
  }

  #redactBytes(bytes: Uint8Array, context: ServerContext): Uint8Array {
    const text = textOf(bytes);
    return text === undefined ? bytes : new TextEncoder().encode(this.#redact(text, context));
  }

  /** Tokens are those of the owner's skills, not of a request, so that a file's digest stays the same. */
  #redact(text: string, context: ServerContext): string {
    const session = JSON.stringify(["skills", ownerNameOf(context)]);
    return this.#settings.redactor?.tokenize(text, { session }) ?? text;
  }
}

function mimeTypeOf(uri: string): string {
  return MIME_TYPES[path.posix.extname(uri).toLowerCase()] ?? "application/octet-stream";
}

/** The text of bytes that are one. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

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
function skillUri(served: string, file = MANIFEST): string {
  return `skill://${served}/${file.split("/").map(encodeSegment).join("/")}`;
}

/** The skill's name and the path below its folder that a URI stands for. */
function parseSkillUri(uri: string): { served: string; file: string } | undefined {
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
function servedNames(names: readonly string[]): Map<string, string> {
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
async function serveSkill(
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
