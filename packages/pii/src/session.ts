import { brokenTokenIn, CemError } from "@cem/core";
import type { JsonSchema, JsonValue, RedactionScope } from "@cem/core";
import { withoutOverlaps } from "./detect.ts";
import { FlowCheck, serverOf } from "./flow-rules.ts";
import type { FlowRule, RedactionTarget } from "./flow-rules.ts";
import { isSecretKey, mayHoldSecret } from "./detectors/secret.ts";
import { parsedText } from "./embedded-text.ts";
import {
  isSmall,
  mapLeaves,
  mapLeavesInTurns,
  MAX_CHARACTERS_AT_ONCE,
  Turns,
  visitTexts,
} from "./json-walk.ts";
import type { LeafChanges } from "./json-walk.ts";
import { createRedactionStream, tokenShape } from "./stream.ts";
import type { StreamSession } from "./stream.ts";
import { readingsOf } from "./readings.ts";
import { mayBeSplit, mayHoldMore } from "./suspected-values.ts";
import type { Cell } from "./suspected-values.ts";
import type { Detector } from "./types.ts";
import { Vault } from "./vault.ts";
import type { KnownValue, OriginIndex, ValueFinding, VaultData, VaultEntry } from "./vault.ts";

/** Results that wait to be looked through until something leaves. */
const MAX_PENDING = 16;
/** Large results that are looked through for more than secrets only where what leaves may have more of them. */
const MAX_UNREAD = 4;
/** A result of up to so many times what is gone through at once is looked through for all values. */
const AS_SMALL = 16;
/** How often what is decoded is decoded again: JSON in a query string in base64. */
const MAX_DECODED = 3;
const PLAIN_NAME = /^[A-Za-z_]{1,32}$/;
/** Numbers below are no number of a card, a phone or a person. */
const MIN_NUMBER = 1_000_000;
const MIN_TEXT_CHARACTERS = 3;
/** In longer texts, words around a value tell what it is. */
const LONG_TEXT_CHARACTERS = 64;
/** Addresses that are of nobody: this machine, and any. */
const OWN_MACHINE = /^(?:127\.\d{1,3}\.\d{1,3}\.\d{1,3}|0\.0\.0\.0|::1?)$/;
/** Values that can be written into a literal of code of any kind, and into JSON within it. */
const HARMLESS_IN_CODE = /^[^"\\\n\r\u2028\u2029[\]]*$/;
/** Characters of such values that would end a literal or a comment, unless they are escaped. */
const ESCAPED_IN_CODE = /['`$/]/g;

/** The values of one session: found, replaced by tokens, and turned back. */
export class RedactionSession {
  readonly vault: Vault;
  readonly #detector: Detector;
  readonly #rules: readonly FlowRule[];
  readonly #secrets: Detector | undefined;
  readonly #seesTokens: boolean;
  readonly #pending: Observed[] = [];
  readonly #unread: Observed[] = [];
  readonly #flows: FlowCheck;
  readonly #origins: OriginIndex | undefined;

  /** @param origins - What other sessions of the workspace know of where values came from. */
  constructor(
    detector: Detector,
    {
      rules,
      seesTokens = false,
      secrets,
      data,
      origins,
    }: {
      rules: readonly FlowRule[];
      /** Whether code sees tokens only. */
      seesTokens?: boolean | undefined;
      /** Finds secrets alone. Absent where they are not looked for. */
      secrets?: Detector | undefined;
      data?: VaultData | undefined;
      origins?: OriginIndex | undefined;
    },
  ) {
    this.#detector = detector;
    this.#secrets = secrets;
    this.#seesTokens = seesTokens;
    this.#rules = rules;
    this.#flows = new FlowCheck(rules);
    this.#origins = origins;
    this.vault = new Vault(data, origins);
  }

  tokenize<Data>(data: Data, scope: RedactionScope): Data {
    if (this.#pending.length > 0 && typeof data !== "number") this.#lookThrough();
    const { schema, isCut, isOfCode } = scope;
    const origin = originOf(scope);
    return mapLeaves(data, this.#changes({ schema, isCut, origin, isOfCode })) as Data;
  }

  /** Does what `tokenize` does, with turns for others in between. Long texts are read in pieces. */
  async tokenizeInTurns<Data>(data: Data, scope: RedactionScope): Promise<Data> {
    const turns = new Turns();
    if (this.#pending.length > 0 && typeof data !== "number") this.#lookThrough();
    const { schema, isCut, isOfCode } = scope;
    const origin = originOf(scope);
    const changed = await mapLeavesInTurns(
      data,
      {
        ...this.#changes({ schema, isCut, origin, isOfCode }),
        longText: (text, key) => this.#replaceLong(text, { key, isCut, origin, isOfCode }, turns),
      },
      turns,
    );
    return changed as Data;
  }

  #changes(place: Place): LeafChanges {
    return {
      text: (text, key, path) => this.#replaceIn(text, { ...place, key, path }),
      number: (value, key) => this.#replaceNumber(value, { ...place, key }),
      name: (name) =>
        this.#isPlainName(name)
          ? name
          : String(this.#replaceIn(name, { ...place, isCut: undefined, schema: undefined })),
      cells: (cells) => (place.isOfCode === true ? undefined : this.#replaceSplit(cells, place.origin)),
    };
  }

  tokenizePart(text: string, { start, end }: { start: number; end: number }): string {
    if (this.#pending.length > 0) this.#lookThrough();
    const found = this.findIn(text).filter((one) => one.end > start && one.start < end);
    let result = "";
    let from = start;
    for (const finding of found) {
      if (finding.start >= start) {
        const entry = this.#entryOf(text, finding);
        result += text.slice(from, finding.start) + String(this.vault.tokenOf(entry));
      }
      from = finding.end;
    }
    return result + text.slice(from, Math.max(from, end));
  }

  observe(data: JsonValue, scope: RedactionScope): void {
    const origin = originOf(scope);
    // Rules need to know where each value came from.
    if (this.#rules.length > 0) return this.#learn({ data, origin });
    this.#pending.push({ data, origin });
    if (this.#pending.length > MAX_PENDING) this.#lookThrough();
  }

  /** Keeps a value of a known type, and returns its token. */
  keep(value: string | number, type: string, scope: RedactionScope): string {
    return String(this.vault.tokenOf(this.vault.entryOf(value, type, originOf(scope))));
  }

  async detokenize(args: JsonValue, target: RedactionTarget): Promise<JsonValue> {
    const entries = new Set<VaultEntry>();
    const use = (entry: VaultEntry): string | number | undefined => {
      if (target.ownOnly === true && !isFrom(target.server, entry)) return undefined;
      entries.add(entry);
      return entry.value;
    };
    const restored = mapLeaves(args, {
      text: (text) => this.#restoreIn(text, target, use),
      number: (value) => {
        const entry = value >= MIN_NUMBER ? this.vault.entryByShaped(value) : undefined;
        return (entry && use(entry)) ?? value;
      },
      name: (name) => this.#restoreIn(name, target, use),
    }) as JsonValue;
    if (this.#rules.length > 0 && target.isKept !== true) {
      // What code that sees tokens only has in clear is its own: to compare it would answer its guesses.
      const flowing = this.#seesTokens ? [...entries] : [...entries, ...this.#valuesIn(restored)];
      await this.#flows.assertAllowed(new Set(flowing), target);
    }
    return restored;
  }

  /** Takes note of the values that code has in its text: who wrote it knows them, wherever else they came from. */
  noteWritten(code: string): void {
    if (this.#rules.length === 0) return;
    for (const { start, end, type } of this.findIn(code))
      this.vault.entryOf(code.slice(start, end), type, "");
  }

  /** Puts values into code. One that could end a literal stays a token, which the bridge turns back. */
  reveal(code: string): string {
    return this.#rewrite(code, (entry) => {
      const value = String(entry.value);
      return HARMLESS_IN_CODE.test(value) ? value.replace(ESCAPED_IN_CODE, unicodeEscape) : undefined;
    });
  }

  /** Values in a text, in order, and none within a token. */
  findIn(text: string, place: Pick<Place, "key" | "isCut" | "isOfCode"> = {}): ValueFinding[] {
    const found = this.#find(text, place);
    if (place.isOfCode === true) return found;
    if (this.#unread.length === 0 || !mayHoldMore(text, found)) return found;
    this.#learnUnread();
    return this.#find(text, place);
  }

  /** @param depth - How often the text was decoded. */
  #find(text: string, place: Pick<Place, "key" | "isCut" | "isOfCode">, depth = 0): ValueFinding[] {
    const { key, isCut, isOfCode = false } = place;
    const found = this.#detected(text, key);
    const [first] = found;
    // What is a value as a whole is that value, whatever it is like. Only rules ask that.
    if (first?.end === text.length && first.start === 0 && this.#rules.length === 0)
      return this.#withoutTokens(text, found);
    const known = isOfCode ? [] : this.vault.known.find(text, isCut);
    const decoded = depth < MAX_DECODED ? this.#decoded(text, { key, isOfCode }, depth) : [];
    if (found.length + known.length + decoded.length === 0) return [];
    // A value that was seen whole wins over what a detector makes of a part of it.
    const longer = known.filter((one) => !found.some((other) => covers(other, one)));
    const plain = [...longer, ...found].filter((one) => !decoded.some((other) => covers(other, one)));
    return this.#withoutTokens(text, withoutOverlaps([...plain, ...decoded]));
  }

  #withoutTokens(text: string, found: ValueFinding[]): ValueFinding[] {
    const tokens =
      this.vault.size === 0 ? [] : this.vault.tokensIn(text).filter(({ entry }) => entry !== undefined);
    if (tokens.length === 0) return found;
    return found.filter((one) => !tokens.some((token) => one.start < token.end && token.start < one.end));
  }

  #detected(text: string, key: string | undefined): ValueFinding[] {
    const found = this.#detector.find(text, key);
    return found.length === 0
      ? found
      : found.filter(({ start, end, type }) => type !== "IP" || !OWN_MACHINE.test(text.slice(start, end)));
  }

  /** Values in what is encoded in a text, with the places of their encoded forms. */
  #decoded(text: string, place: Pick<Place, "key" | "isOfCode">, depth: number): ValueFinding[] {
    return readingsOf(text).flatMap((reading) =>
      this.#find(reading.text, place, depth + 1).map(({ start, end, type, entry, alike }) => ({
        ...reading.placeOf(start, end),
        type,
        alike: alike ?? (entry && [entry]),
      })),
    );
  }

  replace(text: string, found: readonly ValueFinding[], place: Partial<Place> = {}): string {
    const form = isAddress(place.key) ? "email" : "plain";
    let result = "";
    let from = 0;
    for (const finding of found) {
      const entry = this.#entryOf(text, finding, place);
      result += text.slice(from, finding.start) + String(this.vault.tokenOf(entry, form));
      from = finding.end;
    }
    return result + text.slice(from);
  }

  /** The entry of a finding as it is written. One that is like known ones came from where these did. */
  #entryOf(text: string, finding: ValueFinding, { origin, isOfCode }: Partial<Place> = {}): VaultEntry {
    if (finding.entry !== undefined) return finding.entry;
    const value = text.slice(finding.start, finding.end);
    if (isOfCode === true) return this.vault.entryOfCode(value, finding.type);
    return this.#joined(this.vault.entryOf(value, finding.type, origin), finding);
  }

  #joined(entry: VaultEntry, { alike = [] }: ValueFinding): VaultEntry {
    for (const { origins } of alike)
      for (const origin of origins)
        this.vault.entryOf(entry.value, entry.type, origin, entry.isPart === true ? true : undefined);
    return entry;
  }

  /** Replaces the parts of values that are split over cells which stand beside each other. */
  #replaceSplit(cells: readonly (string | number)[], origin: string | undefined): Cell[] | undefined {
    if (this.vault.size === 0 && this.#unread.length === 0) return undefined;
    const text = cells.join("\n");
    if (this.#unread.length > 0 && mayBeSplit(cells)) this.#learnUnread();
    const found = this.vault.known
      .find(text)
      .filter(({ start, end }) => text.slice(start, end).includes("\n"));
    if (found.length === 0) return undefined;
    let from = 0;
    return cells.map((cell) => {
      const start = from;
      const end = start + String(cell).length;
      from = end + 1;
      const parts = found
        .filter((one) => one.start < end && one.end > start)
        .map((one) => ({ ...one, start: Math.max(one.start, start), end: Math.min(one.end, end) }));
      if (parts.length === 0) return cell;
      let result = "";
      let at = start;
      for (const part of parts) {
        const value = typeof cell === "number" ? cell : text.slice(part.start, part.end);
        const entry = this.#joined(this.vault.entryOf(value, part.type, origin, true), part);
        if (typeof cell === "number") return this.vault.tokenOf(entry, "number");
        result += text.slice(at, part.start) + String(this.vault.tokenOf(entry));
        at = part.end;
      }
      return result + text.slice(at, end);
    });
  }

  #replaceIn(text: string, place: Place): string | number {
    if (text.length < MIN_TEXT_CHARACTERS) return text;
    const { path = [], schema } = place;
    const found = this.findIn(text, place);
    const [first] = found;
    if (first === undefined) return text;
    const isWhole = found.length === 1 && first.start === 0 && first.end === text.length;
    const shape = tokenShape(schema, path, isWhole);
    if (shape === undefined) return text;
    if (shape === "plain" || (!isWhole && shape !== "same" && shape !== "uri"))
      return this.replace(text, found, place);
    const whole = this.#entryOf(
      text,
      isWhole ? first : { ...first, start: 0, end: text.length, entry: undefined },
      place,
    );
    return this.vault.tokenOf(whole, shape);
  }

  async #replaceLong(text: string, place: Place, turns: Turns): Promise<string> {
    let isEnd = false;
    const changes = {
      findIn: (piece: string) => this.findIn(piece, { ...place, isCut: place.isCut === true && isEnd }),
      replace: (piece: string, found: readonly ValueFinding[]) =>
        this.replace(piece, found, { ...place, key: undefined }),
    };
    return streamInTurns(text, changes, turns, () => (isEnd = true));
  }

  /** Whether the name of a property is a word, which no detector finds anything in. */
  #isPlainName(name: string): boolean {
    return PLAIN_NAME.test(name) && (this.vault.size === 0 || this.vault.known.find(name).length === 0);
  }

  #replaceNumber(value: number, place: Place): number {
    if (value < MIN_NUMBER || !Number.isSafeInteger(value)) return value;
    if (this.vault.entryByShaped(value) !== undefined) return value;
    const text = String(value);
    const [first] = this.findIn(text, place);
    if (first === undefined || first.start > 0 || first.end < text.length) return value;
    const entry =
      place.isOfCode === true
        ? this.vault.entryOfCode(value, first.type)
        : this.#joined(this.vault.entryOf(value, first.type, place.origin), first);
    return Number(this.vault.tokenOf(entry, "number"));
  }

  #restoreIn(text: string, target: RedactionTarget, use: ValueOf): string {
    if (text.length < MIN_TEXT_CHARACTERS) return text;
    if (target.ownOnly !== true) {
      const unknown = this.vault.tokensIn(text).find(({ entry }) => entry === undefined);
      if (unknown !== undefined)
        throw unusableToken(
          `the token ${text.slice(unknown.start, unknown.end)}, which stands for no value of this session. Tokens last as long as their session: get the value again`,
          text.slice(unknown.start, unknown.end),
          target,
        );
      const broken = brokenTokenIn(text);
      if (broken !== undefined)
        throw unusableToken(
          `"${broken}", which is a part of a token. Pass tokens whole: code can't cut or join them`,
          broken,
          target,
        );
    }
    return this.#rewrite(text, use);
  }

  #rewrite(text: string, valueOf: ValueOf): string {
    let result = "";
    let from = 0;
    for (const { start, end, entry, isEncoded } of this.vault.tokensIn(text)) {
      const value = entry && start >= from ? valueOf(entry) : undefined;
      if (value === undefined) continue;
      result += text.slice(from, start) + (isEncoded ? encodeURIComponent(value) : String(value));
      from = end;
    }
    return from === 0 ? text : result + text.slice(from);
  }

  /** Values that stand in arguments as they are, in whatever way they are written. */
  #valuesIn(args: JsonValue): KnownValue[] {
    const values: KnownValue[] = [];
    const look = (text: string, key?: string): string => {
      const own: KnownValue[] = [];
      for (const { start, end, type, entry, alike = [] } of this.findIn(text, { key })) {
        own.push(...(entry ? [entry] : []), ...alike);
        if (entry === undefined && alike.length === 0)
          own.push({ value: text.slice(start, end), type, origins: [] });
      }
      values.push(...own);
      // A detector may take what is joined to a value, or its encoded form, for a value of its own.
      for (const written of writtenIn(text)) {
        values.push(...this.vault.known.find(written).flatMap(({ alike }) => alike));
        // A value that this session got from no tool may stand in a file that another session got.
        for (const one of this.#origins?.in(written) ?? []) {
          const known = this.vault.known.find(String(one.value)).flatMap(({ alike }) => alike);
          if (!known.some(({ origins }) => origins.length > 0)) values.push(one);
        }
      }
      return text;
    };
    mapLeaves(args, {
      text: look,
      number: (value, key) => (value < MIN_NUMBER ? value : (look(String(value), key), value)),
      name: (name) => look(name),
      cells: (cells) => void look(cells.join("\n")),
    });
    return values;
  }

  #lookThrough(): void {
    const pending = this.#pending.splice(0);
    for (const one of pending) {
      if (isSmall(one.data, AS_SMALL)) this.#learn(one);
      else {
        this.#noteSecrets(one);
        this.#unread.push(one);
      }
    }
    if (this.#unread.length > MAX_UNREAD) this.#learnUnread(this.#unread.length - MAX_UNREAD);
  }

  /** Looks the oldest results through that were left for later, or all of them. */
  #learnUnread(count = this.#unread.length): void {
    for (const unread of this.#unread.splice(0, count)) this.#learn(unread);
  }

  /** Keeps the secrets that only their surroundings tell, since these may be gone where they leave. */
  #noteSecrets({ data, origin }: Observed): void {
    const secrets = this.#secrets;
    if (secrets === undefined) return;
    const note = (text: string, key: string | undefined): void => {
      if (text.length < LONG_TEXT_CHARACTERS && !(key !== undefined && isSecretKey(key))) return;
      for (const { start, end, type } of secrets.find(text, key))
        this.vault.entryOf(text.slice(start, end), type, origin);
    };
    if (typeof data !== "string") visitTexts(data, note);
    else if (mayHoldSecret(data)) visitTexts(parsedText(data), note);
  }

  /** Keeps all values that are found in data, without giving them tokens. */
  #learn({ data, origin }: Observed): void {
    const read = typeof data === "string" ? parsedText(data) : data;
    const note = (text: string, key?: string, depth = 0): string => {
      if (text.length < MIN_TEXT_CHARACTERS) return text;
      for (const { start, end, type } of this.#detected(text, key))
        this.vault.entryOf(text.slice(start, end), type, origin);
      if (depth < MAX_DECODED) for (const reading of readingsOf(text)) note(reading.text, key, depth + 1);
      return text;
    };
    mapLeaves(read, {
      text: (text, key) => note(text, key),
      number: (value, key) => {
        if (value < MIN_NUMBER || !Number.isSafeInteger(value)) return value;
        const text = String(value);
        const [first] = this.#detected(text, key);
        if (first?.start === 0 && first.end === text.length) this.vault.entryOf(value, first.type, origin);
        return value;
      },
      name: (name) => (PLAIN_NAME.test(name) ? name : note(name)),
    });
  }
}

/** A text and what can be read in it. */
function writtenIn(text: string, depth = 0): string[] {
  if (depth === MAX_DECODED) return [text];
  return [text, ...readingsOf(text).flatMap((reading) => writtenIn(reading.text, depth + 1))];
}

/** Reads a long text in pieces that cut no value, with turns for others in between. */
async function streamInTurns(
  text: string,
  session: StreamSession,
  turns: Turns,
  onEnd: () => void = () => {},
): Promise<string> {
  const stream = createRedactionStream(session);
  const pieces: string[] = [];
  for (let from = 0; from < text.length; from += MAX_CHARACTERS_AT_ONCE) {
    pieces.push(stream.push(text.slice(from, from + MAX_CHARACTERS_AT_ONCE)));
    const pause = turns.next();
    if (pause !== undefined) await pause;
  }
  onEnd();
  return [...pieces, stream.end()].join("");
}

/** The value to put in the place of a token. `undefined`: the token stays. */
type ValueOf = (entry: VaultEntry) => string | number | undefined;

/** What a tool returned. */
interface Observed {
  data: unknown;
  origin: string | undefined;
}

interface Place {
  key?: string | undefined;
  path?: readonly string[] | undefined;
  schema?: JsonSchema | undefined;
  isCut?: boolean | undefined;
  isOfCode?: boolean | undefined;
  origin: string | undefined;
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function originOf({ server, tool, isWritten }: RedactionScope): string | undefined {
  if (isWritten === true) return "";
  return server === undefined ? undefined : `${server}.${tool ?? "*"}`;
}

/** Of an address a token is to be a part that addresses may have: brackets end the name of a host. */
function isAddress(key: string | undefined): boolean {
  return key === "uri" || key === "uriTemplate";
}

function covers(outer: ValueFinding, inner: ValueFinding): boolean {
  const isSame = outer.start === inner.start && outer.end === inner.end;
  return !isSame && outer.start <= inner.start && outer.end >= inner.end;
}

function isFrom(server: string, { origins }: VaultEntry): boolean {
  return origins.some((origin) => origin !== "" && serverOf(origin) === server);
}

function unusableToken(what: string, token: string, { server, tool }: RedactionTarget): CemError {
  return new CemError("TOKEN_UNKNOWN", `The arguments of ${server}.${tool} have ${what}.`, {
    details: { server, tool, token },
  });
}
