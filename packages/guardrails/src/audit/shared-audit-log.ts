import { randomUUID } from "node:crypto";
import os from "node:os";
import { CemError, updateStored } from "@cem/core";
import type { AuditEvent, AuditLog, Store, StoreKey } from "@cem/core";
import { ChainCheck, FIRST_HASH, readLine, withoutSession, writeLine } from "./audit-chain.ts";
import type { AuditVerification } from "./audit-file.ts";

const SCOPE = "audit";
const NUMBER_DIGITS = 12;

/** Lines of an audit log that one machine wrote together. */
interface AuditPage {
  /** Tells a page of one's own from one that another machine wrote. */
  id: string;
  lines: string[];
}

/** The last page that is noted, and its last line. */
interface AuditEnd {
  page: number;
  seq: number;
  hash: string;
}

/** Where the end of the log is noted. */
const END_KEY: StoreKey = [SCOPE, "end"];
const PAGES_KEY: StoreKey = [SCOPE, "pages"];

/** The key of a page, by which pages are in order. */
export function pageKey(page: number): StoreKey {
  return [...PAGES_KEY, String(page).padStart(NUMBER_DIGITS, "0")];
}

function encode(value: AuditPage | AuditEnd): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

/** @returns `undefined` for what is not there. */
async function readPage(store: Store, page: number): Promise<AuditPage | undefined> {
  const found = await store.read(pageKey(page));
  return found && decodePage(found.value);
}

/** The end as it is noted. */
async function readEnd(store: Store): Promise<AuditEnd | undefined> {
  const found = await store.read(END_KEY);
  return found && decodeEnd(found.value);
}

/** The pages of a log from its beginning on, with their numbers. */
export async function* allPages(store: Store): AsyncGenerator<{ number: number; page: AuditPage }> {
  let after: StoreKey | undefined;
  do {
    const keys = await store.list(PAGES_KEY, { after });
    for (const key of keys) {
      const number = Number(key.at(-1));
      const page = await readPage(store, number);
      if (page !== undefined) yield { number, page };
    }
    after = keys.at(-1);
  } while (after !== undefined);
}

function decodeEnd(bytes: Uint8Array): AuditEnd | undefined {
  const { page, seq, hash } = parse(bytes) as Partial<AuditEnd>;
  return typeof page === "number" && typeof seq === "number" && typeof hash === "string"
    ? { page, seq, hash }
    : undefined;
}

/** Anything that is not a page is read as a page with one invalid line. */
function decodePage(bytes: Uint8Array): AuditPage {
  const { id, lines } = parse(bytes) as Partial<AuditPage>;
  return typeof id === "string" && Array.isArray(lines)
    ? { id, lines: lines.map(String) }
    : { id: "", lines: [""] };
}

function parse(bytes: Uint8Array): object {
  try {
    return (JSON.parse(Buffer.from(bytes).toString("utf8")) as object | null) ?? {};
  } catch {
    return {};
  }
}

/** Lines that wait while the store can't be reached. Beyond, nothing more is done that has to be recorded. */
const MAX_WAITING = 10_000;
const MAX_PAGE_LINES = 500;
const NOTE_PERIOD_MS = 1_000;
const FIRST: AuditEnd = { page: 0, seq: 0, hash: FIRST_HASH };

/**
 * Creates an audit log in a store, which any number of machines write to: one chain of lines, each with the hash of the line
 * before, in the order in which they were kept. Events wait until `flush`, or until the store has taken those before.
 */
export function createSharedAuditLog(store: Store, host: string = os.hostname()): AuditLog {
  return new SharedAuditLog(store, host);
}

interface Waiting {
  event: AuditEvent;
  time: string;
}

class SharedAuditLog implements AuditLog {
  readonly specificationVersion = "v1";
  readonly #store: Store;
  readonly #host: string;
  readonly #waiting: Waiting[] = [];
  #end: AuditEnd | undefined;
  #writing: Promise<void> | undefined;
  #noting: NodeJS.Timeout | undefined;

  constructor(store: Store, host: string) {
    this.#store = store;
    this.#host = host;
  }

  record(event: AuditEvent): void {
    if (this.#waiting.length >= MAX_WAITING) throw this.#unwritable(undefined);
    this.#waiting.push({ event: withoutSession(event), time: new Date().toISOString() });
    // Callers that need to know that it is stored call `flush`.
    this.#write().catch(() => {});
  }

  async flush(): Promise<void> {
    // Of an attempt under way only the result counts: the next may succeed.
    await this.#writing?.catch(() => {});
    try {
      while (this.#waiting.length > 0) await this.#write();
    } catch (cause) {
      throw this.#unwritable(cause);
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#noting);
    this.#noting = undefined;
    await this.flush();
    await this.#note();
  }

  #write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    this.#end ??= await this.#findEnd((await readEnd(this.#store)) ?? FIRST);
    const isFirst = this.#end.page === 0;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, MAX_PAGE_LINES);
      this.#end = await this.#append(this.#end, batch);
      this.#waiting.splice(0, batch.length);
    }
    if (isFirst) await this.#note();
    // Later no run waits for it.
    this.#noting ??= setTimeout(() => {
      this.#noting = undefined;
      this.#note().catch(() => {});
    }, NOTE_PERIOD_MS).unref();
  }

  /** Writes a page where there is none: of several machines one is first, the others go on after it. */
  async #append(from: AuditEnd, batch: readonly Waiting[]): Promise<AuditEnd> {
    const id = randomUUID();
    for (let end = from; ;) {
      const page = end.page + 1;
      let { seq, hash } = end;
      const lines = batch.map(({ event, time }) => {
        const written = writeLine({ seq: (seq += 1), time, prev: hash }, { ...event, host: this.#host });
        ({ hash } = written);
        return written.line;
      });
      try {
        await this.#store.write(pageKey(page), encode({ id, lines }), { version: "" });
        return { page, seq, hash };
      } catch (error) {
        if (!CemError.isInstance(error) || error.code !== "STORE_CONFLICT") throw error;
        end = await this.#findEnd(end);
        // It was kept, and only the answer was lost.
        if ((await readPage(this.#store, end.page))?.id === id) return end;
      }
    }
  }

  /** Follows the pages after one that is known. */
  async #findEnd(known: AuditEnd): Promise<AuditEnd> {
    for (let end = known; ;) {
      const page = await readPage(this.#store, end.page + 1);
      if (page === undefined) return end;
      const last = readLine(page.lines.at(-1) ?? "");
      end = {
        page: end.page + 1,
        seq: last?.seq ?? end.seq + page.lines.length,
        hash: last?.hash ?? end.hash,
      };
    }
  }

  /** So that a tail that is cut off is missed. Never goes back. */
  async #note(): Promise<void> {
    const end = this.#end;
    if (end === undefined) return;
    await updateStored(this.#store, END_KEY, (found) => {
      const noted = found && decodeEnd(found);
      const isNewer = noted === undefined || noted.seq < end.seq;
      return { value: isNewer ? encode(end) : undefined, result: undefined };
    });
  }

  #unwritable(cause: unknown): CemError {
    const { location } = this.#store;
    const why = cause instanceof Error ? cause.message : `${this.#waiting.length} lines wait for it.`;
    return new CemError("AUDIT_UNWRITABLE", `The audit log in ${location} can't be written: ${why}`, {
      details: { file: location },
      cause,
    });
  }
}

/**
 * Verifies an audit log in a store: that every line has the hash of its content, and of the line before. Who can write to
 * the store can cut its end unseen, except by a hash of an earlier verification.
 *
 * @param options - With `expect`, a hash that has to be that of some line.
 * @throws CemError `STORE_UNAVAILABLE`, `STORE_SEALED`
 */
export async function verifySharedAuditLog(
  store: Store,
  { expect }: { expect?: string | undefined } = {},
): Promise<AuditVerification> {
  const check = new ChainCheck(expect);
  const file = store.location;
  const noted = await readEnd(store);
  for await (const { page } of allPages(store))
    for (const text of page.lines) check.read(text, { file, line: check.lines + 1 });
  // Nobody was to write anything yet.
  const known = check.lines === 0 ? (noted ?? FIRST) : noted;
  check.end(known, { file, noted: file });
  return { files: [file], lines: check.lines, head: check.head, problems: check.problems };
}
