import { redactionTokensIn } from "@cem/core";
import { KnownValues, MIN_CHARACTERS } from "./known-values.ts";
import type { Finding, PiiType } from "./context.ts";

type RedactionToken = ReturnType<typeof redactionTokensIn>[number];

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
/** 80 bits: not to be guessed. */
const ID_CHARACTERS = 16;
/** A domain that never receives mail and is never found (RFC 6761). */
const DOMAIN = "redacted.invalid";

/** `email`: a part that addresses may have. */
type TokenForm = "plain" | "email";

/** Many ids are made at once. */
const random = new Uint8Array(ID_CHARACTERS * 512);
let ids = "";
let used = 0;

function randomId(): string {
  if (used === ids.length) {
    globalThis.crypto.getRandomValues(random);
    ids = String.fromCharCode(...random.map((byte) => ALPHABET.charCodeAt(byte & 31)));
    used = 0;
  }
  return ids.slice(used, (used += ID_CHARACTERS));
}

function formatToken(type: PiiType, id: string, form: TokenForm = "plain"): string {
  return form === "email" ? `user.${id}@${DOMAIN}` : `[[${type}:${id}]]`;
}

/** A random number of 16 digits that is no number of a card: none begins with 89. */
function randomNumber(): number {
  const [high = 0, low = 0] = globalThis.crypto.getRandomValues(new Uint32Array(2));
  return 8_900_000_000_000_000 + ((high * 2 ** 20 + low) % 99_999_999_999_999);
}

/** A value and its tokens. */
export interface VaultEntry {
  /** Empty until a token is asked for: most of what tools return is never shown. */
  id: string;
  type: PiiType;
  value: string | number;
  /** Where the value came from: `server.tool`, or an empty text where a user or a program wrote it. */
  origins: string[];
  /** Its tokens where data has a number. The smallest is used: several machines may have given it one at the same time. */
  numbers?: number[] | undefined;
  /** Whether the value is a part of one, which says nothing where it stands alone. */
  isPart?: boolean | undefined;
  /** Whether code that sees tokens only wrote the value. It is not known from what tools returned, or by it. */
  isOfCode?: boolean | undefined;
}

/** The content of a vault, as plain data. */
export interface VaultData {
  version: 1;
  entries: VaultEntry[];
}

/** The part of a token that a text may still have: its id, or its number. */
const ID = /(?<![a-z\d])(?:[a-z2-7]{16}|89\d{14})(?![a-z\d])/gi;
/** The token of a number in a text. */
const NUMBER = /(?<!\d)89\d{14}(?!\d)/g;

/**
 * Keeps the values of one session, each with its token. One without tokens keeps where the values of all sessions of a
 * workspace came from, for as long as its files hold them.
 */
export class Vault {
  readonly #byId = new Map<string, VaultEntry>();
  readonly #byValue = new Map<string | number, VaultEntry>();
  readonly #ofCode = new Map<string | number, VaultEntry>();
  readonly #byNumber = new Map<number, VaultEntry>();
  readonly known = new KnownValues<VaultEntry>();
  readonly #origins: Vault | undefined;
  /** How often something was added here. What was merged does not count. */
  changes = 0;

  constructor(data?: VaultData, origins?: Vault) {
    this.#origins = origins;
    for (const entry of data?.entries ?? []) this.#keep(entry);
  }

  get size(): number {
    return this.#byValue.size;
  }

  /** Whether a value has a token, also one that only code wrote. */
  get hasTokens(): boolean {
    return this.#byId.size + this.#byNumber.size > 0;
  }

  /** Adds what another vault of the same session has. Of two tokens of one value both stand for it, and one is used. */
  merge({ entries }: VaultData): void {
    for (const entry of entries) {
      const sameValue = (entry.isOfCode === true ? this.#ofCode : this.#byValue).get(entry.value);
      const own = this.#byId.get(entry.id) ?? sameValue;
      if (own === undefined || (own.id !== "" && own.id !== entry.id)) this.#keep({ ...entry });
      else {
        own.id = entry.id;
        this.#byId.set(own.id, own);
        this.#join(own, entry);
      }
    }
  }

  toJSON(): VaultData {
    for (const entry of [...this.#byValue.values(), ...this.#ofCode.values()]) this.#idOf(entry);
    return { version: 1, entries: [...this.#byId.values()] };
  }

  /** The entry of a value, which is made when it is new. */
  entryOf(value: string | number, type: PiiType, origin?: string, isPart?: true): VaultEntry {
    let entry = this.#byValue.get(value);
    if (entry === undefined || (entry.isPart === true && isPart !== true)) {
      const origins = origin === undefined ? [] : [origin];
      entry = entry === undefined ? { id: "", type, value, origins, isPart } : { ...entry, type, isPart };
      this.#keep(entry);
      this.changes += 1;
    }
    if (origin !== undefined && !entry.origins.includes(origin)) {
      entry.origins.push(origin);
      if (isPart !== true) this.#tellOrigin(entry, origin);
      this.changes += 1;
    }
    return entry;
  }

  /** The entry of a value that code wrote which sees tokens only: one of its own, unless whoever asked wrote the value. */
  entryOfCode(value: string | number, type: PiiType): VaultEntry {
    const written = this.#byValue.get(value);
    if (written !== undefined && written.origins.every((origin) => origin === "")) return written;
    const known = this.#ofCode.get(value);
    if (known !== undefined) return known;
    const entry: VaultEntry = { id: "", type, value, origins: [], isOfCode: true };
    this.#keep(entry);
    this.changes += 1;
    return entry;
  }

  /** The value that a text as a whole is, of those that are known wherever they stand. */
  whole(text: string): VaultEntry | undefined {
    const entry = text.length < MIN_CHARACTERS ? undefined : this.#byValue.get(text);
    return entry?.isPart === true ? undefined : entry;
  }

  /** The values in a text, in whatever way they are written. */
  valuesIn(text: string): readonly VaultEntry[] {
    const whole = this.whole(text);
    return [...(whole === undefined ? [] : [whole]), ...this.known.find(text).flatMap(({ alike }) => alike)];
  }

  /** Whether a text is a token, and nothing else. */
  isToken(text: string): boolean {
    if (!text.startsWith("[[") || !text.endsWith("]]")) return false;
    const id = text.slice(-2 - ID_CHARACTERS, -2);
    const entry = this.#byId.get(id);
    return entry !== undefined && text === formatToken(entry.type, id);
  }

  /** The token of an entry in a text. */
  tokenOf(entry: VaultEntry, form?: TokenForm): string {
    return formatToken(entry.type, this.#idOf(entry), form);
  }

  /** The token of an entry in the place of a number. */
  numberOf(entry: VaultEntry): number {
    const [known] = entry.numbers ?? [];
    if (known !== undefined) return known;
    let token = randomNumber();
    while (this.#byNumber.has(token) || this.#byValue.has(token)) token = randomNumber();
    entry.numbers = [token];
    this.changes += 1;
    this.#byNumber.set(token, entry);
    return token;
  }

  /** The entry of a token that is a number. */
  entryByNumber(token: number): VaultEntry | undefined {
    return this.#byNumber.get(token);
  }

  /** The tokens in a text, of whatever form, in its order; without an entry where they are of another vault or of none. */
  tokensIn(text: string): (Omit<RedactionToken, "id"> & { entry: VaultEntry | undefined })[] {
    const found = redactionTokensIn(text).map(({ id, ...match }) => ({
      ...match,
      entry: this.#byId.get(id),
    }));
    if (this.#byNumber.size === 0) return found;
    for (const { 0: token, index: start } of text.matchAll(NUMBER)) {
      const entry = this.#byNumber.get(Number(token));
      if (entry !== undefined) found.push({ start, end: start + token.length, isEncoded: false, entry });
    }
    return found.toSorted((a, b) => a.start - b.start);
  }

  /** An id of a token that stands in a text, or the number that is one. */
  idIn(text: string): string | undefined {
    return text.match(ID)?.find((id) => this.#byId.has(id.toLowerCase()) || this.#byNumber.has(Number(id)));
  }

  #idOf(entry: VaultEntry): string {
    if (entry.id === "") {
      entry.id = randomId();
      this.#byId.set(entry.id, entry);
    }
    return entry.id;
  }

  #keep(entry: VaultEntry): void {
    if (entry.id !== "") this.#byId.set(entry.id, entry);
    this.#knowNumbers(entry);
    if (entry.isOfCode === true) return void this.#ofCode.set(entry.value, entry);
    // The same on every machine, whichever it saw first.
    const before = this.#byValue.get(entry.value);
    if (before === undefined || entry.id <= before.id) {
      this.#byValue.set(entry.value, entry);
      if (entry.isPart !== true) this.known.add(entry);
    }
    if (entry.isPart !== true) for (const origin of entry.origins) this.#tellOrigin(entry, origin);
  }

  /** Adds what another machine knows of an entry. */
  #join(own: VaultEntry, { origins, numbers = [] }: VaultEntry): void {
    own.origins = [...new Set([...own.origins, ...origins])];
    for (const origin of origins) this.#tellOrigin(own, origin);
    const all = new Set([...(own.numbers ?? []), ...numbers]);
    if (all.size > 0) own.numbers = [...all].toSorted((one, other) => one - other);
    this.#knowNumbers(own);
  }

  /** A value that a user or a program wrote is known in the session where it was written. */
  #tellOrigin({ value, type }: VaultEntry, origin: string): void {
    if (origin !== "") this.#origins?.entryOf(String(value), type, origin);
  }

  #knowNumbers(entry: VaultEntry): void {
    for (const token of entry.numbers ?? []) this.#byNumber.set(token, entry);
  }
}

/** A value in a text; with those of the vault that it is, or is like. */
export type ValueFinding = Finding & {
  entry?: VaultEntry | undefined;
  alike?: readonly VaultEntry[] | undefined;
};
