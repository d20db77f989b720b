import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { CemError, copyBeginning, keysIn, Lazy, parseJson, runTitle } from "@cem/core";
import type { RunRecord, RunRecordFilter, RunRecords, RunRecordSummary, Store, StoreKey } from "@cem/core";
import { MAX_INPUT_CHARACTERS } from "./run-record.ts";

/** Limit of a record's searchable text in memory. */
const MAX_SEARCHED_CHARACTERS = 2_000;

type Known = ReturnType<typeof knownOf>;

/** The in-memory summary and lower-case searchable text of a record. */
function knownOf(key: StoreKey, record: RunRecord) {
  const { id, kind, input, status, startedAt, ms, workspaceOwner, owner, calls, callsLeftOut, error } =
    record;
  const tools = new Set(calls.map(({ server, tool }) => `${server}.${tool}`));
  // The longest text comes last, and the code of a code run is included once.
  const texts = [
    error?.code ?? "",
    error?.message ?? "",
    ...tools,
    input,
    kind === "code" ? "" : record.code,
  ];
  const summary: RunRecordSummary = {
    id,
    kind,
    title: runTitle({ kind, input }),
    status,
    startedAt,
    ms,
    ...(workspaceOwner !== undefined && { workspaceOwner }),
    ...(owner !== undefined && { owner }),
    calls: calls.length + callsLeftOut,
    tokensSaved: record.contextTokens.saved,
    ...(record.isolation !== null && { isolation: record.isolation.level }),
  };
  const text = copyBeginning(texts.join("\n"), MAX_SEARCHED_CHARACTERS).toLowerCase();
  return { key, summary, text };
}

function isMatch({ summary, text }: Known, filter: RunRecordFilter): boolean {
  const { status, since, owner } = filter;
  if (status !== undefined && summary.status !== status) return false;
  if (since !== undefined && new Date(summary.startedAt) < since) return false;
  if (owner !== undefined && summary.owner !== owner) return false;
  return filter.text === undefined || text.includes(filter.text.toLowerCase());
}

/** How long records are batched before they are written. */
const BATCH_MS = 250;
/** Pause before records that could not be written are tried again. */
const TRY_AGAIN_MS = 5_000;
/** Number of records written or read concurrently, so that other work is not delayed. */
const AT_ONCE = 32;
/** Maximum number of queued records. Further ones are dropped while the store is slow or unreachable. */
const MAX_WAITING = 1_000;
const DEFAULT_LISTED = 50;
/** Records beyond the bounds are pruned after this many records or bytes of this process. */
const PRUNE_RECORDS = 100;
const PRUNE_BYTES = 4 * 1024 * 1024;
/** Keys sort with the newest record first. */
const END_OF_TIME = 10 ** 14;
const TIME_DIGITS = 14;

/** Retention limits of run records: number, total size and age. */
export interface RunRecordBounds {
  count: number;
  bytes: number;
  ageMs: number;
}

/** Settings of {@link createRunRecords}. */
export interface RunRecordsSettings {
  /** Opens their store. Called on first use. The records close it. */
  open: () => Promise<Store>;
  bounds: RunRecordBounds;
  /** Whether the owner of the records still exists. If not, nothing is created. */
  isThere?: (() => Promise<boolean>) | undefined;
  /**
   * Receives the error if records can't be written, once until all could be again.
   *
   * @param hasWritten - Whether records could be written before.
   */
  onProblem?: ((error: unknown, hasWritten: boolean) => void) | undefined;
}

/** A record that can be written more than once: its key is fixed. */
interface MadeRecord {
  key: StoreKey;
  value: Uint8Array;
}

/**
 * Stores records of runs. They are written in batches in the background, and again after a failure. If the process is
 * killed, only queued ones are lost.
 */
export function createRunRecords({ open, bounds, isThere, onProblem }: RunRecordsSettings): RunRecords {
  const opened = new Lazy(open);
  /** Records written since the last pruning. */
  const added = { count: Infinity, bytes: 0 };
  const waiting: (() => Promise<RunRecord>)[] = [];
  /** Taken from those waiting, and not written yet. */
  let made: MadeRecord[] = [];
  let writing: Promise<void> = Promise.resolve();
  /** The next writing, which has not begun. */
  let next: Promise<void> | undefined;
  let hasWritten = false;
  let isReported = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let leftOut = 0;
  /** Records read so far, by key. Records are immutable. */
  let known = new Map<string, Known>();

  async function readByKey(key: StoreKey): Promise<RunRecord | undefined> {
    const found = await (await opened.get()).read(key);
    return found && parse(found.value);
  }

  async function find(key: StoreKey): Promise<Known | undefined> {
    const found = known.get(key.join());
    const record = found === undefined ? await readByKey(key) : undefined;
    return record === undefined ? found : knownOf(key, record);
  }

  /** All records within the bounds, latest first. */
  async function all(): Promise<Known[]> {
    await flush();
    if ((await isThere?.()) === false) return [];
    const keys = await keysOf(await opened.get());
    const found = new Map<string, Known>();
    for (let from = 0; from < keys.length; from += AT_ONCE) {
      const some = await Promise.all(keys.slice(from, from + AT_ONCE).map(find));
      for (const one of some) if (one !== undefined) found.set(one.key.join(), one);
    }
    known = found;
    const since = new Date(Date.now() - bounds.ageMs);
    return [...found.values()]
      .filter((one) => isMatch(one, { since }))
      .toSorted((one, other) => other.summary.startedAt.localeCompare(one.summary.startedAt))
      .slice(0, bounds.count);
  }

  async function put(store: Store): Promise<void> {
    // Expires even if the owner never returns.
    const options = { expiresInMs: bounds.ageMs };
    await Promise.all(made.map(({ key, value }) => store.write(key, value, options)));
    added.count += made.length;
    for (const { value } of made) added.bytes += value.byteLength;
    made = [];
    if (added.count < PRUNE_RECORDS && added.bytes < PRUNE_BYTES) return;
    Object.assign(added, { count: 0, bytes: 0 });
    await pruneRunRecords(store, bounds);
  }

  function report(error: unknown): void {
    if (!isReported) onProblem?.(error, hasWritten);
    isReported = true;
  }

  async function write(): Promise<void> {
    next = undefined;
    if (waiting.length + made.length === 0) return;
    try {
      if ((await isThere?.()) === false) return void ((made = []), waiting.splice(0));
      const store = await opened.get();
      let lost = leftOut;
      const lose = (error: unknown): void => {
        lost += 1;
        report(error);
      };
      while (waiting.length + made.length > 0) {
        made.push(...(await encoded(waiting.splice(0, AT_ONCE), lose)));
        await put(store);
        hasWritten = true;
      }
      if (leftOut > 0) report(new Error(`${leftOut} runs came too fast to be recorded`));
      leftOut = 0;
      if (lost === 0) isReported = false;
    } catch (error) {
      report(error);
      // Any other error would be the same again, and keep back all later records.
      if (!CemError.isInstance(error) || error.code !== "STORE_UNAVAILABLE") made = [];
      if (!isClosed) timer ??= setTimeout(() => void flush(), TRY_AGAIN_MS).unref();
    }
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    return (next ??= writing = writing.then(write));
  }

  return {
    specificationVersion: "v1",
    flush,
    add(make) {
      if (waiting.length >= MAX_WAITING) leftOut += 1;
      else {
        waiting.push(make);
        timer ??= setTimeout(() => void flush(), BATCH_MS).unref();
      }
    },
    async list(filter = {}) {
      const found = (await all()).filter((one) => isMatch(one, filter));
      return found.slice(0, filter.limit ?? DEFAULT_LISTED).map(({ summary }) => summary);
    },
    async read(id, owner) {
      const own = (await all()).filter((one) => isMatch(one, { owner }));
      const found = id === "last" ? own[0] : own.find(({ summary }) => summary.id === id);
      const record = found && (await readByKey(found.key));
      if (record !== undefined) return record;
      const message = id === "last" ? "No run is recorded here." : `No run "${id}" is recorded here.`;
      throw new CemError("RUN_NOT_FOUND", message, { details: { run: id, isRecord: true } });
    },
    async close() {
      isClosed = true;
      await flush();
      clearTimeout(timer);
      await (await opened.settled())?.close();
    },
  };
}

/** The keys of all records, newest first. They contain time and size, so that records need not be read to be pruned. */
async function keysOf(store: Store): Promise<StoreKey[]> {
  const keys: StoreKey[] = [];
  for await (const key of keysIn(store, ["records"])) keys.push(key);
  return keys;
}

function newKey(bytes: number): StoreKey {
  const time = String(END_OF_TIME - Date.now()).padStart(TIME_DIGITS, "0");
  return ["records", time, randomBytes(6).toString("hex"), String(bytes)];
}

/** Removes records beyond the bounds. */
export async function pruneRunRecords(store: Store, { count, bytes, ageMs }: RunRecordBounds): Promise<void> {
  const kept = { count: 0, bytes: 0 };
  const beyond = (await keysOf(store)).filter(([, time, , size]) => {
    kept.count += 1;
    kept.bytes += Number(size);
    const isOld = END_OF_TIME - Number(time) < Date.now() - ageMs;
    return isOld || kept.count > count || kept.bytes > bytes;
  });
  for (let from = 0; from < beyond.length; from += AT_ONCE)
    await Promise.all(beyond.slice(from, from + AT_ONCE).map((key) => store.remove(key)));
}

/** Creates records one at a time, yielding to other work in between, such as answering runs. */
async function encoded(
  waiting: readonly (() => Promise<RunRecord>)[],
  onProblem: (error: unknown) => void,
): Promise<MadeRecord[]> {
  const encoder = new TextEncoder();
  const entries: MadeRecord[] = [];
  for (const make of waiting) {
    await setImmediate();
    try {
      const value = encoder.encode(JSON.stringify(await make()));
      entries.push({ key: newKey(value.byteLength), value });
    } catch (error) {
      onProblem(error);
    }
  }
  return entries;
}

/** Parses a record. Damaged records and those of newer versions are skipped. */
function parse(bytes: Uint8Array): RunRecord | undefined {
  const record = (parseJson(bytes) ?? {}) as RunRecord;
  if (typeof record.id !== "string" || !Array.isArray(record.calls)) return undefined;
  // Records of older versions don't say whether their input, whose length tokens changed, was cut.
  return Object.assign({ inputIsWhole: record.input.length < MAX_INPUT_CHARACTERS / 2 }, record);
}
