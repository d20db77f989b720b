import { randomUUID } from "node:crypto";
import os from "node:os";
import { CemError, updateStored } from "@cem/core";
import type { AuditEvent, AuditLog, Store } from "@cem/core";
import { ChainCheck, withoutSession } from "./audit-chain.ts";
import { FIRST_HASH, readLine, writeLine } from "./audit-line.ts";
import { allPages, decodeEnd, encode, END_KEY, pageKey, readEnd, readPage } from "./audit-pages.ts";
import type { AuditEnd } from "./audit-pages.ts";
import type { AuditVerification } from "./verify-audit-log.ts";

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
    // Who needs to know that it is kept calls `flush`.
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
