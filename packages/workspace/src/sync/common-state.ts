import { appendFileSync, lstatSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { bootId, replaceFile } from "@cem/core/files";
import { isSame } from "./file-content.ts";
import type { Files, LocalFiles } from "./file-content.ts";
import type { Head, ReadHead } from "./shared-copy.ts";

/** The last state in which this machine and the shared copy were equal: the base of the next merge. */
export interface CommonState {
  /** The head and its version in the store. */
  head: Head | undefined;
  version: string;
  /** The files, with the names of their pieces and their local signatures. */
  files: LocalFiles;
  /** The identities of their root folders. */
  roots: Record<string, string>;
}

/** The newest state that this machine may have reached and that matches a head. */
export function pickCommon(
  states: readonly CommonState[],
  { head, version }: ReadHead,
): CommonState | undefined {
  const found = states.find(
    (state) =>
      (state.version === version && states.length === 1) ||
      (head?.manifest !== undefined && String(state.head?.manifest) === String(head.manifest)),
  );
  return found === undefined ? states.at(-1) : { ...found, head, version };
}

/**
 * Whether the store lost a head that this machine reached, such as in a failover: the new one goes on from a head before
 * that. Files that it lacks were then deleted by nobody.
 */
export function isSetBack({ head }: ReadHead, common: CommonState | undefined): boolean {
  const [reached, ...before] = common?.head?.line ?? [];
  const line = new Set(head?.line);
  return reached !== undefined && !line.has(reached) && before.some((one) => line.has(one));
}

/** Whether this machine's workspace was deleted. */
export function isGone({ head, version }: ReadHead, common: CommonState | undefined): boolean {
  if (head === undefined || common === undefined || version === common.version) return false;
  const salt = common.head?.salt ?? "";
  return head.manifest === undefined || (salt !== "" && head.buried.includes(salt));
}

/** The files that equal the shared copy here, and the base state of all others. */
export function sharedHere(files: LocalFiles, remote: Files, base: Files): LocalFiles {
  const here: LocalFiles = new Map(base);
  for (const [path, entry] of remote) {
    const file = files.get(path);
    if (isSame(file, entry)) here.set(path, { ...entry, signature: file?.signature });
  }
  for (const path of base.keys()) if (!files.has(path) && !remote.has(path)) here.delete(path);
  return here;
}

/** The files of unchanged root folders. A recreated folder was not emptied by a user, so its files don't count as deleted. */
export function filesIn({ files, roots: before }: CommonState, roots: Record<string, string>): LocalFiles {
  const same = new Set(Object.keys(roots).filter((name) => roots[name] === before[name]));
  return new Map([...files].filter(([path]) => same.has(path.split("/", 1)[0] ?? "")));
}

export function isUnchanged(before: Files, now: Files): boolean {
  return before.size === now.size && [...now].every(([path, file]) => isSame(before.get(path), file));
}

/** Whether more signatures are reliable than before. */
export function hasNewSignature(before: LocalFiles, now: LocalFiles): boolean {
  return [...now].some(([path, { signature }]) => signature !== before.get(path)?.signature);
}

/** Adds the names of pieces to this machine's files. */
export function withNames(named: LocalFiles, now: LocalFiles): LocalFiles {
  return new Map(
    [...now].map(([path, file]) => [path, { ...file, pieces: named.get(path)?.pieces ?? file.pieces }]),
  );
}

const FORMAT = 1;
/** Above this size the record is rewritten. */
const MAX_RECORD_BYTES = 262_144;

interface Written extends Omit<CommonState, "files"> {
  format: number;
  boot: string;
  files: [path: string, size: number, pieces: readonly string[], signature: string | null][];
}

export type LocalRecord = ReturnType<typeof createLocalRecord>;

/**
 * The file that records the common state of this machine and the shared copy, out of reach of code in the sandbox. Without
 * it, or after a reboot, which may have lost the last writes, both versions of differing files are kept. The last complete
 * line applies. Each run appends two lines, since appending does not wait for the disk, unlike replacing the file.
 */
export function createLocalRecord(file: string) {
  let known: { states: CommonState[]; identity: string; bytes: number } | undefined;

  function identity(): string {
    const found = lstatSync(file, { bigint: true, throwIfNoEntry: false });
    return found === undefined ? "" : `${found.ino}.${found.size}.${found.ctimeNs}`;
  }

  return {
    /** The last states, newest first. If a process was killed, it is unknown whether the newest was reached. */
    async read(): Promise<readonly CommonState[]> {
      const now = identity();
      if (known?.identity === now) return known.states;
      const text = await readFile(file, "utf8").catch(() => "");
      known = { states: parse(text), identity: now, bytes: Buffer.byteLength(text) };
      return known.states;
    },
    async write(states: CommonState[]): Promise<void> {
      const boot = bootId();
      const written = states.map(({ files, ...rest }): Written => ({
        ...rest,
        format: FORMAT,
        boot,
        files: [...files].map(([path, { size, pieces, signature }]) => [
          path,
          size,
          pieces,
          signature ?? null,
        ]),
      }));
      const line = Buffer.from(`${JSON.stringify(written)}\n`);
      const before = known?.identity === identity() ? known.bytes : 0;
      const isAdded = before > 0 && before + line.length < MAX_RECORD_BYTES;
      // Starts with a line break, in case the previous line was truncated by a full disk.
      if (isAdded) appendFileSync(file, Buffer.concat([Buffer.from("\n"), line]));
      else await replaceFile(file, line);
      const bytes = isAdded ? before + 1 + line.length : line.length;
      known = { states, identity: identity(), bytes };
    },
  };
}

function parse(text: string): CommonState[] {
  const bootNow = bootId();
  for (const line of text.split("\n").toReversed()) {
    try {
      const written = (JSON.parse(line) as Written[]).filter(
        ({ boot, format }) => format === FORMAT && boot === bootNow,
      );
      return written.map(({ files: rows, head, version, roots }) => {
        const files: LocalFiles = new Map();
        for (const [path, size, pieces, signature] of rows)
          files.set(path, { size, pieces, signature: signature ?? undefined });
        return { head, version, roots, files };
      });
    } catch {
      // Empty or truncated; the previous line applies.
    }
  }
  return [];
}
