import { isNumberToken, redactionTokensIn } from "@cem/core";
import { KnownValues, MIN_CHARACTERS } from "./known-values.ts";
import type { Finding, PiiType } from "./context.ts";

type RedactionToken = ReturnType<typeof redactionTokensIn>[number];

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
/** 80 bits, so that it can't be guessed. */
const ID_CHARACTERS = 16;
/** A domain that never resolves or receives mail (RFC 6761). */
const DOMAIN = "redacted.invalid";

/** `email`: valid as an email address and as a part of a URI. */
type TokenForm = "plain" | "email";

/** Only so many numbers that look like tokens are remembered. */
const MAX_ALIKE = 100_000;

/** Random bytes for many ids at once. */
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

/** A random number of 16 digits that is not a card number, since none begins with 89. */
function randomNumber(): number {
  const [high = 0, low = 0] = globalThis.crypto.getRandomValues(new Uint32Array(2));
  return 8_900_000_000_000_000 + ((high * 2 ** 20 + low) % 99_999_999_999_999);
}

/** A value and its tokens. */
export interface VaultEntry {
  /** Empty until a token is needed, since most values in tool results are never shown. */
  id: string;
  type: PiiType;
  value: string | number;
  /** The origins of the value: `server.tool`, or an empty text if it was written by a user or a program. */
  origins: string[];
  /**
   * Its numeric tokens, for data that requires a number. The smallest is used, since several machines may have created one
   * concurrently.
   */
  numbers?: number[] | undefined;
  /** Whether the value is a part of a split value, which means nothing on its own. */
  isPart?: boolean | undefined;
  /**
   * Set for a value that was found in a text with escapes: what stands in a `string` of JSON, or a `form` in which code wrote
   * another value, with its quotes. Neither gets further escapes.
   */
  piece?: "string" | "form" | undefined;
  /** Whether the value was written by code that sees tokens only. It is kept separate from values in tool results. */
  isOfCode?: boolean | undefined;
}

/** The content of a vault, as plain data. */
export interface VaultData {
  version: 1;
  entries: VaultEntry[];
}

/** A word that may have the distinctive part of a token in it, its id or number, joined to its type or other words. */
const ID_WORD = /(?<![a-z\d])[a-z\d]{16,64}(?![a-z\d])/gi;
/** Parts of a token as `slice` returns them: its end, unless it is a number's, and its beginning with a colon. */
const END = /(?<![a-z\d])(?=[2-7]{0,15}[a-z])[a-z2-7]{2,15}\]\]/g;
const BEGINNING = /(?<![A-Z\d_])[A-Z][A-Z\d_]{0,31}:[a-z2-7]{4,15}(?![a-z\d])/g;
/** The same and its type, where one is the whole of a text. */
const PART = /^(?:\[\[[A-Z][A-Z\d_]*|[A-Z\d_]*:[a-z2-7]{4,15}(?:\]\])?|[a-z2-7]{2,15}\]\])$/;
/** A token's type has up to 32. */
const MAX_PART_CHARACTERS = 56;
/** The two letters where a part of a token ends, or the four after its colon. */
function edgeOf(part: string): string {
  if (part.endsWith("]]")) return part.slice(-4);
  const colon = part.indexOf(":");
  return colon === -1 ? "[[" : part.slice(colon, colon + 5);
}

/** A numeric token in a text. */
const NUMBER = /(?<!\d)89\d{14}(?!\d)/g;

/**
 * Stores the values of one session, each with its token. A vault without tokens stores the origins of the values of all
 * sessions of a workspace, whose files may contain them.
 */
export class Vault {
  readonly #byId = new Map<string, VaultEntry>();
  readonly #byValue = new Map<string | number, VaultEntry>();
  readonly #ofCode = new Map<string | number, VaultEntry>();
  readonly #byNumber = new Map<number, VaultEntry>();
  /** Numbers of tools, such as ids, that happen to look like tokens. */
  readonly #alike = new Set<number>();
  readonly known = new KnownValues<VaultEntry>();
  /** So many tokens by their {@link edgeOf}, which tells parts quickly. */
  #edges = { tokens: new Map<string, string[]>(), count: 0 };
  readonly #origins: Vault | undefined;
  /** Number of additions on this machine. Merged data does not count. */
  changes = 0;

  constructor(data?: VaultData, origins?: Vault) {
    this.#origins = origins;
    for (const entry of data?.entries ?? []) this.#keep(entry);
  }

  get size(): number {
    return this.#byValue.size;
  }

  /** Whether any value has a token, including values written by code. */
  get hasTokens(): boolean {
    return this.#byId.size + this.#byNumber.size > 0;
  }

  /** Merges another vault of the same session. If a value has two tokens, both are valid and one is used. */
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

  /** Returns the entry of a value, creating it if needed. */
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

  /** Returns the entry of a value written by code that sees tokens only: a separate one, unless the user wrote the value. */
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

  /** The entry of a text that equals a known value, except parts of split values. */
  whole(text: string): VaultEntry | undefined {
    const entry = text.length < MIN_CHARACTERS ? undefined : this.#byValue.get(text);
    return entry?.isPart === true ? undefined : entry;
  }

  /** The values in a text, in any notation. */
  valuesIn(text: string): readonly VaultEntry[] {
    const whole = this.whole(text);
    return [...(whole === undefined ? [] : [whole]), ...this.known.find(text).flatMap(({ alike }) => alike)];
  }

  /** Whether a text is exactly a token. */
  isToken(text: string): boolean {
    if (!text.startsWith("[[") || !text.endsWith("]]")) return false;
    const id = text.slice(-2 - ID_CHARACTERS, -2);
    const entry = this.#byId.get(id);
    return entry !== undefined && text === formatToken(entry.type, id);
  }

  /** The first part of a token in a text, or the text if it is one. */
  partIn(text: string): string | undefined {
    const parts = new Set(text.includes(":") ? text.match(BEGINNING) : []);
    // Code has such ends too, but with as many brackets before them.
    if (text.includes("]]") && text.split("]").length > text.split("[").length)
      for (const end of text.match(END) ?? []) parts.add(end);
    if (text.length <= MAX_PART_CHARACTERS && PART.test(text)) parts.add(text);
    if (parts.size === 0) return undefined;
    if (this.#edges.count !== this.#byId.size) {
      const tokens = new Map<string, string[]>();
      for (const [id, { type }] of this.#byId) {
        const token = formatToken(type, id);
        for (const edge of ["[[", edgeOf(token), edgeOf(token.slice(0, -2))]) {
          const others = tokens.get(edge);
          if (others === undefined) tokens.set(edge, [token]);
          else others.push(token);
        }
      }
      this.#edges = { tokens, count: this.#byId.size };
    }
    return [...parts].find((part) =>
      this.#edges.tokens.get(edgeOf(part))?.some((token) => token.includes(part)),
    );
  }

  /** The token of an entry in a text. */
  tokenOf(entry: VaultEntry, form?: TokenForm): string {
    return formatToken(entry.type, this.#idOf(entry), form);
  }

  /** The numeric token of an entry. */
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

  /** Notes a number that code got, and may pass on. */
  noteNumber(value: number): void {
    if (isNumberToken(value) && this.#alike.size < MAX_ALIKE) this.#alike.add(value);
  }

  /** Whether a number must be a changed or a foreign token: code has got such tokens, and not this number. */
  isLostNumber(value: number): boolean {
    return (
      isNumberToken(value) && this.#byNumber.size > 0 && !this.#byNumber.has(value) && !this.#alike.has(value)
    );
  }

  /** The entry of a numeric token. */
  entryByNumber(token: number): VaultEntry | undefined {
    return this.#byNumber.get(token);
  }

  /** The tokens in a text, of any form, in text order; without an entry if they belong to no vault or to another one. */
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

  /** The id or number of a token in a text. */
  idIn(text: string): string | undefined {
    for (const word of text.match(ID_WORD) ?? []) {
      for (let at = 0; at + ID_CHARACTERS <= word.length; at += 1) {
        const id = word.slice(at, at + ID_CHARACTERS);
        if (this.#byId.has(id.toLowerCase()) || this.#byNumber.has(Number(id))) return id;
      }
    }
    return undefined;
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
    // Chosen in the same way on every machine, regardless of order.
    const before = this.#byValue.get(entry.value);
    if (before === undefined || entry.id <= before.id) {
      this.#byValue.set(entry.value, entry);
      if (entry.isPart !== true) this.known.add(entry);
    }
    if (entry.isPart !== true) for (const origin of entry.origins) this.#tellOrigin(entry, origin);
  }

  /** Merges another machine's data of an entry. */
  #join(own: VaultEntry, { origins, numbers = [] }: VaultEntry): void {
    own.origins = [...new Set([...own.origins, ...origins])];
    for (const origin of origins) this.#tellOrigin(own, origin);
    const all = new Set([...(own.numbers ?? []), ...numbers]);
    if (all.size > 0) own.numbers = [...all].toSorted((one, other) => one - other);
    this.#knowNumbers(own);
  }

  /** Records the origin in the workspace's index. A value written by a user or a program is only known in its session. */
  #tellOrigin({ value, type }: VaultEntry, origin: string): void {
    if (origin !== "") this.#origins?.entryOf(String(value), type, origin);
  }

  #knowNumbers(entry: VaultEntry): void {
    for (const token of entry.numbers ?? []) this.#byNumber.set(token, entry);
  }
}

/** A value in a text, with the vault's entries that it equals or resembles. */
export type ValueFinding = Finding & {
  entry?: VaultEntry | undefined;
  alike?: readonly VaultEntry[] | undefined;
};
