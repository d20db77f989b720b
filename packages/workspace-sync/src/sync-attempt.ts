import { CemError } from "@cem/core";
import pMap from "p-map";
import { workspaceGone } from "./errors.ts";
import { digestOf, digestPiece, isSame } from "./file-entry.ts";
import type { FileEntry } from "./file-entry.ts";
import { ChangedMeanwhile } from "./local-files.ts";
import type { LocalFile, LocalFiles, LocalFolders } from "./local-files.ts";
import type { CommonState, LocalRecord } from "./local-record.ts";
import { mergeStates, sharedPieces } from "./merge-states.ts";
import { reconcile } from "./reconcile.ts";
import type { Reconciled } from "./reconcile.ts";
import { newHead } from "./shared-copy.ts";
import type { ReadHead, SharedCopy } from "./shared-copy.ts";

const FILES_AT_ONCE = 8;
const MAX_SHOWN = 10;

/** The sides that are brought together. */
export interface SyncSides {
  shared: SharedCopy;
  local: LocalFolders;
  record: LocalRecord;
}

/** What came of it. */
export interface Synced {
  remarks: string[];
  /** Whether files came from elsewhere. */
  isFetched: boolean;
  /** Whether the shared copy was changed. */
  isWritten: boolean;
}

const NOTHING: Synced = { remarks: [], isFetched: false, isWritten: false };

/** One synchronisation, which is begun again when something changed meanwhile. What was sent is not sent again. */
export class SyncAttempt {
  readonly #sides: SyncSides;
  /** The names of pieces that were sent, by salt and digest. */
  readonly #sent = new Map<string, string>();
  #sweeps: number | undefined;
  /** All that was written, and goes when the workspace is deleted meanwhile. */
  readonly #written: string[] = [];
  readonly #remarks = new Set<string>();

  constructor(sides: SyncSides) {
    this.#sides = sides;
  }

  /**
   * @param isRead - Whether the head has to be read, instead of being taken for the last one that was known.
   * @throws CemError `STORE_CONFLICT` or ChangedMeanwhile where it has to be begun again.
   */
  async run(kind: "fetch" | "put", isRead: boolean): Promise<Synced> {
    const { shared } = this.#sides;
    let version = "";
    try {
      return await this.#run(kind, isRead, (read) => (version = read));
    } catch (error) {
      // A piece of what was the newest when it was read may be gone when it no longer is.
      const isDamaged = CemError.isInstance(error) && error.code === "FILES_DAMAGED";
      if (isDamaged && (await shared.readHead()).version !== version)
        throw new ChangedMeanwhile(error.message);
      throw error;
    }
  }

  async #run(kind: "fetch" | "put", isRead: boolean, tell: (version: string) => void): Promise<Synced> {
    const { local, record, shared } = this.#sides;
    const states = await record.read();
    const [newest] = states;
    const read =
      kind === "put" && !isRead && newest !== undefined && states.length === 1
        ? { head: newest.head, version: newest.version }
        : await shared.readHead();
    tell(read.version);
    // What was sent before may be gone.
    if (this.#sweeps !== read.head?.sweeps) this.#sent.clear();
    this.#sweeps = read.head?.sweeps;
    const common = pickCommon(states, read);
    const roots = await local.identities();
    if (isGone(read, common)) {
      await local.clear();
      await pMap(this.#written, (name) => shared.blobs.remove(name), { concurrency: FILES_AT_ONCE });
      await record.write([{ ...read, files: new Map(), roots }]);
      if (kind === "put") throw workspaceGone();
      return { ...NOTHING, isFetched: true };
    }
    const head = read.head?.manifest === undefined ? newHead(read.head) : read.head;
    const known = common?.head?.salt === head.salt ? filesIn(common, roots) : new Map<string, LocalFile>();
    const { files, left } = await local.scan(head.salt, known);
    const isCurrent = common !== undefined && common.version === read.version;
    if (isCurrent && isUnchanged(common.files, files)) {
      // Their signatures are surer now.
      if (hasNewSignature(common.files, files) || states.length > 1)
        await record.write([{ ...common, files: withNames(common.files, files), roots }]);
      return { ...NOTHING, remarks: this.#remarksOf(left) };
    }
    const isKnownRemote = isCurrent && common.head?.salt === head.salt;
    const remote = isKnownRemote ? common.files : await shared.readFiles(head);
    const sides = { base: new Map<string, FileEntry>(known), local: files, remote };
    const merged = await mergeStates(sides, { local, shared, salt: head.salt });
    for (const { path, file } of merged) {
      files.set(path, file);
      sides.base.set(path, remote.get(path) as FileEntry);
    }
    const plan = reconcile(sides);
    this.#remark(plan);
    const isFetched = await this.#applyHere(plan, { files, remote, salt: head.salt });
    // Cut off from here on, it would take what came from elsewhere, and was changed then, for a change that contradicts it.
    if ((isFetched || merged.length > 0) && common?.head?.salt === head.salt && !isCurrent)
      await record.write([{ ...common, files: sharedHere(files, remote, sides.base), roots }]);
    const target = await this.#send(plan, { files, remote, salt: head.salt });
    const isWritten = !isUnchanged(remote, target);
    const reached: CommonState = { head: read.head, version: read.version, files: target, roots };
    if (isWritten) {
      const manifest = await shared.writeFiles(target, head.salt);
      this.#written.push(...manifest);
      const next = { ...reached, head: { ...head, manifest } };
      await record.write([next, ...(common === undefined ? [] : [common])]);
      await record.write([{ ...next, version: await shared.writeHead(next.head, read.version) }]);
    } else await record.write([reached]);
    return { isFetched, isWritten, remarks: this.#remarksOf(left) };
  }

  /** Gives this machine what the plan has. @returns whether something came from elsewhere. */
  async #applyHere(
    { files: planned }: Reconciled,
    { files, remote, salt }: { files: LocalFiles; remote: ReadonlyMap<string, FileEntry>; salt: string },
  ): Promise<boolean> {
    const { local, shared } = this.#sides;
    const before = files.size;
    for (const [path, { from, path: old }] of planned) {
      const file = files.get(old);
      if (from !== "local" || path === old || file === undefined) continue;
      await local.move(old, path, file);
      files.delete(old);
      files.set(path, { ...file, signature: undefined });
    }
    let isChanged = files.size !== before;
    for (const [path, file] of files) {
      if (planned.has(path)) continue;
      await local.remove(path, file);
      files.delete(path);
      isChanged = true;
    }
    const fetched = [...planned].filter(
      ([path, { from, path: old }]) => from === "remote" && !isSame(files.get(path), remote.get(old)),
    );
    await pMap(
      fetched,
      async ([path, { path: old }]) => {
        const entry = remote.get(old) as FileEntry;
        const signature = await local.write(path, sharedPieces(entry, shared, salt), files.get(path));
        files.set(path, { ...entry, signature });
      },
      { concurrency: FILES_AT_ONCE },
    );
    return isChanged || fetched.length > 0;
  }

  /** Sends what is new here. @returns the files with the names of their pieces. */
  async #send(
    { files: planned }: Reconciled,
    { files, remote, salt }: { files: LocalFiles; remote: ReadonlyMap<string, FileEntry>; salt: string },
  ): Promise<LocalFiles> {
    const names = new Map<string, string>();
    for (const { pieces } of remote.values()) for (const name of pieces) names.set(digestOf(name), name);
    const target: LocalFiles = new Map();
    await pMap(
      planned,
      async ([path, { from, path: old }]) => {
        const file = files.get(path);
        if (from === "remote")
          target.set(path, { ...(remote.get(old) as FileEntry), signature: file?.signature });
        else if (file !== undefined) target.set(path, await this.#sendFile(path, salt, names));
      },
      { concurrency: FILES_AT_ONCE },
    );
    return target;
  }

  /** What is read now counts, not what was there when it was looked for. */
  async #sendFile(path: string, salt: string, names: ReadonlyMap<string, string>): Promise<LocalFile> {
    const { local } = this.#sides;
    const pieces: string[] = [];
    let size = 0;
    const signature = await local.read(path, async (piece) => {
      const digest = digestPiece(salt, piece);
      const key = `${salt} ${digest}`;
      const name = names.get(digest) ?? this.#sent.get(key) ?? (await this.#sendPiece(piece, salt));
      this.#sent.set(key, name);
      pieces.push(name);
      size += piece.length;
    });
    return { size, pieces, signature };
  }

  async #sendPiece(bytes: Uint8Array, salt: string): Promise<string> {
    const name = await this.#sides.shared.writePiece(bytes, salt);
    this.#written.push(name);
    return name;
  }

  #remark({ conflicts, revived }: Reconciled): void {
    for (const { path, beside } of conflicts)
      this.#remarks.add(
        `Two runs changed /${path} at the same time. Both are kept: one there, one as /${beside}.`,
      );
    for (const path of revived)
      this.#remarks.add(`One run deleted /${path} while another changed it. It is kept, as it was changed.`);
  }

  #remarksOf(left: readonly string[]): string[] {
    const shown = left.slice(0, MAX_SHOWN).map((one) => `Not shared with other machines: ${one}.`);
    const remarks = [...this.#remarks];
    const more = remarks.length + left.length - MAX_SHOWN - shown.length;
    const all = [...remarks.slice(0, MAX_SHOWN), ...shown];
    return more > 0 && all.length >= MAX_SHOWN ? [...all, `And ${more} more.`] : all;
  }
}

/** The state that a head comes from: the newest of those that this machine may have reached. */
function pickCommon(states: readonly CommonState[], { head, version }: ReadHead): CommonState | undefined {
  const found = states.find(
    (state) =>
      (state.version === version && states.length === 1) ||
      (head?.manifest !== undefined && String(state.head?.manifest) === String(head.manifest)),
  );
  return found === undefined ? states.at(-1) : { ...found, head, version };
}

/** Whether the workspace that this machine has was deleted. */
function isGone({ head, version }: ReadHead, common: CommonState | undefined): boolean {
  if (head === undefined || common === undefined || version === common.version) return false;
  const salt = common.head?.salt ?? "";
  return head.manifest === undefined || (salt !== "" && head.buried.includes(salt));
}

/** The files of which this machine has what is shared, and what both had in common of the others. */
function sharedHere(
  files: LocalFiles,
  remote: ReadonlyMap<string, FileEntry>,
  base: ReadonlyMap<string, FileEntry>,
): LocalFiles {
  const here: LocalFiles = new Map(base);
  for (const [path, entry] of remote) {
    const file = files.get(path);
    if (isSame(file, entry)) here.set(path, { ...entry, signature: file?.signature });
  }
  for (const path of base.keys()) if (!files.has(path) && !remote.has(path)) here.delete(path);
  return here;
}

/** A folder that is another one than before was not emptied by anybody: it has nothing yet. */
function filesIn({ files, roots: before }: CommonState, roots: Record<string, string>): LocalFiles {
  const same = new Set(Object.keys(roots).filter((name) => roots[name] === before[name]));
  return new Map([...files].filter(([path]) => same.has(path.split("/", 1)[0] ?? "")));
}

function isUnchanged(before: ReadonlyMap<string, FileEntry>, now: ReadonlyMap<string, FileEntry>): boolean {
  return before.size === now.size && [...now].every(([path, file]) => isSame(before.get(path), file));
}

function hasNewSignature(before: LocalFiles, now: LocalFiles): boolean {
  return [...now].some(([path, { signature }]) => signature !== before.get(path)?.signature);
}

function withNames(named: LocalFiles, now: LocalFiles): LocalFiles {
  return new Map(
    [...now].map(([path, file]) => [path, { ...file, pieces: named.get(path)?.pieces ?? file.pieces }]),
  );
}
