import type { Store, StoreKey } from "@cem/core";

const SCOPE = "audit";
const NUMBER_DIGITS = 12;

/** Lines of an audit log that one machine wrote together. */
export interface AuditPage {
  /** Tells a page of one's own from one that another machine wrote. */
  id: string;
  lines: string[];
}

/** The last page that is noted, and its last line. */
export interface AuditEnd {
  page: number;
  seq: number;
  hash: string;
}

/** Where the end of the log is noted. */
export const END_KEY: StoreKey = [SCOPE, "end"];
const PAGES_KEY: StoreKey = [SCOPE, "pages"];

/** The key of a page, by which pages are in order. */
export function pageKey(page: number): StoreKey {
  return [...PAGES_KEY, String(page).padStart(NUMBER_DIGITS, "0")];
}

export function encode(value: AuditPage | AuditEnd): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

/** @returns `undefined` for what is not there. */
export async function readPage(store: Store, page: number): Promise<AuditPage | undefined> {
  const found = await store.read(pageKey(page));
  return found && decodePage(found.value);
}

/** The end as it is noted. */
export async function readEnd(store: Store): Promise<AuditEnd | undefined> {
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

export function decodeEnd(bytes: Uint8Array): AuditEnd | undefined {
  const { page, seq, hash } = parse(bytes) as Partial<AuditEnd>;
  return typeof page === "number" && typeof seq === "number" && typeof hash === "string"
    ? { page, seq, hash }
    : undefined;
}

/** What is no page has a line that is none. */
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
