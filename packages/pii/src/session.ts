import { brokenTokenIn, CemError } from "@cem/core";
import type { JsonSchema, JsonValue, RedactionScope } from "@cem/core";
import { withoutOverlaps } from "./detect.ts";
import { FlowCheck, serverOf } from "./flow-rules.ts";
import type { FlowingValue, FlowRule, RedactionTarget } from "./flow-rules.ts";
import { mapLeaves, mapLeavesInTurns, MAX_CHARACTERS_AT_ONCE, Turns, visitTexts } from "./json-walk.ts";
import { createKeyedDetector } from "./known-values.ts";
import { createRedactionStream, tokenShape } from "./stream.ts";
import type { StreamSession } from "./stream.ts";
import type { Detector } from "./types.ts";
import { Vault } from "./vault.ts";
import type { OriginIndex, ValueFinding, VaultData, VaultEntry } from "./vault.ts";

/** Results that wait to be looked through until something leaves. */
const MAX_PENDING = 16;
const PLAIN_NAME = /^[A-Za-z_]{1,32}$/;
/** Numbers below are no number of a card, a phone or a person. */
const MIN_NUMBER = 1_000_000;
const MIN_TEXT_CHARACTERS = 3;
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
  readonly #pending: { data: JsonValue; origin: string | undefined }[] = [];
  readonly #keyed = createKeyedDetector();
  readonly #flows: FlowCheck;
  readonly #origins: OriginIndex | undefined;

  /** @param origins - What other sessions of the workspace know of where values came from. */
  constructor(
    detector: Detector,
    {
      rules,
      data,
      origins,
    }: { rules: readonly FlowRule[]; data?: VaultData | undefined; origins?: OriginIndex | undefined },
  ) {
    this.#detector = detector;
    this.#rules = rules;
    this.#flows = new FlowCheck(rules);
    this.#origins = origins;
    this.vault = new Vault(data, origins);
  }

  tokenize<Data>(data: Data, scope: RedactionScope): Data {
    if (this.#pending.length > 0 && typeof data !== "number") this.#lookThrough();
    const { schema, isCut = false } = scope;
    const origin = originOf(scope);
    return mapLeaves(data, {
      text: (text, key, path) => this.#replaceIn(text, { key, path, schema, isCut, origin }),
      number: (value, key) => this.#replaceNumber(value, key, origin),
      name: (name) => (this.#isPlainName(name) ? name : String(this.#replaceIn(name, { origin }))),
    }) as Data;
  }

  /** Does what `tokenize` does, with turns for others in between. Long texts are read in pieces. */
  async tokenizeInTurns<Data>(data: Data, scope: RedactionScope): Promise<Data> {
    const turns = new Turns();
    if (this.#pending.length > 0 && typeof data !== "number") await this.#lookThroughInTurns(turns);
    const { schema, isCut = false } = scope;
    const origin = originOf(scope);
    const changed = await mapLeavesInTurns(
      data,
      {
        text: (text, key, path) => this.#replaceIn(text, { key, path, schema, isCut, origin }),
        number: (value, key) => this.#replaceNumber(value, key, origin),
        name: (name) => (this.#isPlainName(name) ? name : String(this.#replaceIn(name, { origin }))),
        longText: (text, key) => this.#replaceLong(text, { key, isCut, origin }, turns),
      },
      turns,
    );
    return changed as Data;
  }

  tokenizePart(text: string, { start, end }: { start: number; end: number }): string {
    if (this.#pending.length > 0) this.#lookThrough();
    const found = this.findIn(text).filter((one) => one.end > start && one.start < end);
    let result = "";
    let from = start;
    for (const finding of found) {
      if (finding.start >= start) {
        const value = text.slice(finding.start, finding.end);
        const entry = finding.entry ?? this.vault.entryOf(value, finding.type);
        result += text.slice(from, finding.start) + String(this.vault.tokenOf(entry));
      }
      from = finding.end;
    }
    return result + text.slice(from, Math.max(from, end));
  }

  observe(data: JsonValue, scope: RedactionScope): void {
    const origin = originOf(scope);
    // Rules need to know where each value came from.
    if (this.#rules.length > 0) return void this.tokenize(data, scope);
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
      const flowing = [...entries, ...this.#valuesIn(restored)];
      await this.#flows.assertAllowed(new Set(flowing.map((value) => this.#withOrigins(value))), target);
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
  findIn(text: string, key?: string, isCut = false): ValueFinding[] {
    const found: ValueFinding[] = this.#detector
      .find(text, key)
      .filter(({ start, end, type }) => type !== "IP" || !OWN_MACHINE.test(text.slice(start, end)));
    const known = this.vault.known.find(text, isCut);
    if (found.length + known.length === 0) return [];
    // A value that was seen whole wins over what a detector makes of a part of it.
    const longer = known.filter((one) => !found.some((other) => covers(other, one)));
    const all = withoutOverlaps([...longer, ...found]) as ValueFinding[];
    const tokens =
      this.vault.size === 0 ? [] : this.vault.tokensIn(text).filter(({ entry }) => entry !== undefined);
    return all.filter((one) => !tokens.some((token) => one.start < token.end && token.start < one.end));
  }

  replace(text: string, found: readonly ValueFinding[], origin?: string, form?: "plain" | "email"): string {
    let result = "";
    let from = 0;
    for (const finding of found) {
      const entry =
        finding.entry ?? this.vault.entryOf(text.slice(finding.start, finding.end), finding.type, origin);
      result += text.slice(from, finding.start) + String(this.vault.tokenOf(entry, form));
      from = finding.end;
    }
    return result + text.slice(from);
  }

  #replaceIn(text: string, place: Place): string | number {
    if (text.length < MIN_TEXT_CHARACTERS) return text;
    const { key, path = [], schema, isCut, origin } = place;
    const found = this.findIn(text, key, isCut);
    const [first] = found;
    if (first === undefined) return text;
    const isWhole = found.length === 1 && first.start === 0 && first.end === text.length;
    const shape = tokenShape(schema, path, isWhole);
    if (shape === undefined) return text;
    if (shape === "plain" || (!isWhole && shape !== "same" && shape !== "uri"))
      return this.replace(text, found, origin, isAddress(key) ? "email" : "plain");
    const whole = isWhole && first.entry ? first.entry : this.vault.entryOf(text, first.type, origin);
    return this.vault.tokenOf(whole, shape);
  }

  async #replaceLong(text: string, { key, isCut, origin }: Place, turns: Turns): Promise<string> {
    let isEnd = false;
    const changes = {
      findIn: (piece: string) => this.findIn(piece, key, isCut === true && isEnd),
      replace: (piece: string, found: readonly ValueFinding[]) => this.replace(piece, found, origin),
    };
    return streamInTurns(text, changes, turns, () => (isEnd = true));
  }

  /** Whether the name of a property is a word, which no detector finds anything in. */
  #isPlainName(name: string): boolean {
    return PLAIN_NAME.test(name) && (this.vault.size === 0 || this.vault.known.find(name).length === 0);
  }

  #replaceNumber(value: number, key: string | undefined, origin: string | undefined): number {
    if (value < MIN_NUMBER || !Number.isSafeInteger(value)) return value;
    if (this.vault.entryByShaped(value) !== undefined) return value;
    const text = String(value);
    const [first] = this.findIn(text, key);
    if (first === undefined || first.start > 0 || first.end < text.length) return value;
    return Number(this.vault.tokenOf(this.vault.entryOf(value, first.type, origin), "number"));
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
      const before = values.length;
      for (const { start, end, type, entry } of this.findIn(text, key)) {
        const value = text.slice(start, end);
        const own = [...(entry ? [entry] : []), ...this.vault.entriesLike(value, entry?.type ?? type)];
        values.push(...(own.length > 0 ? own : [{ value, type, origins: [] }]));
      }
      // A detector may take what is joined to a value for a part of it.
      values.push(...this.vault.known.find(text).map(({ entry }) => entry));
      if (values.length === before) values.push({ value: text, type: "SECRET", origins: [] });
      return text;
    };
    mapLeaves(args, {
      text: look,
      number: (value, key) => (value < MIN_NUMBER ? value : (look(String(value), key), value)),
      name: (name) => look(name),
    });
    return values;
  }

  /** A value that this session got from no tool may stand in a file that another session got. */
  #withOrigins(known: KnownValue): FlowingValue {
    if (this.#origins === undefined || known.origins.length > 0) return known;
    const { value, type } = known;
    return { type, origins: this.#origins.of(String(value), type) };
  }

  #lookThrough(): void {
    const pending = this.#pending.splice(0);
    for (const { data, origin } of pending) visitTexts(data, (text, key) => this.#note(text, key, origin));
  }

  async #lookThroughInTurns(turns: Turns): Promise<void> {
    const pending = this.#pending.splice(0);
    for (const { data, origin } of pending) {
      const look = (text: string, key: string | undefined): string => {
        this.#note(text, key, origin);
        return text;
      };
      const longText = (text: string, key: string | undefined): Promise<string> => {
        const findIn = (piece: string): ValueFinding[] => [...this.#detector.find(piece, key)];
        const replace = (piece: string, found: readonly ValueFinding[]): string => {
          for (const { start, end, type } of found) this.vault.entryOf(piece.slice(start, end), type, origin);
          return "";
        };
        return streamInTurns(text, { findIn, replace }, turns).then(() => text);
      };
      await mapLeavesInTurns(
        data,
        { text: look, number: (value) => value, name: (name) => name, longText },
        turns,
      );
    }
  }

  /** Keeps the values in a text that only its surroundings tell. */
  #note(text: string, key: string | undefined, origin: string | undefined): void {
    for (const { start, end, type } of this.#keyed.find(text, key, this.#detector)) {
      this.vault.entryOf(text.slice(start, end), type, origin);
    }
  }
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

type KnownValue = Pick<VaultEntry, "value" | "type" | "origins">;

interface Place {
  key?: string | undefined;
  path?: readonly string[] | undefined;
  schema?: JsonSchema | undefined;
  isCut?: boolean | undefined;
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
