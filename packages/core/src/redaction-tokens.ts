import { CemError } from "./errors.ts";
import { parseJson, type JsonValue } from "./json.ts";
import { Lazy } from "./promises.ts";
import type { RedactionScope, Redactor } from "./redaction.ts";

const TOKEN =
  /(\[\[|%5B%5B)[A-Z][A-Z\d_]{0,31}(?::|%3A)([a-z2-7]{16})(?:\]\]|%5D%5D)|user\.([a-z2-7]{16})(?:@|%40)redacted\.invalid/gi;

/** The first character of Unicode that belongs to no script. */
const FIRST_PRIVATE = 0xe000;

const NUMBER_TOKEN = /(?<![\d.])89\d{14}(?![\d.])/gu;

/** A part of a token: one that ends early, one of a common kind with an id of another length, one without beginning. */
const BROKEN_TOKEN =
  /\[\[[A-Z][A-Z\d_]{0,31}:[a-z2-7]{0,16}(?:…|\.\.\.|$)|\[\[(?:EMAIL|PHONE|SSN|CREDIT_CARD|IBAN|IP|MAC|CRYPTO_ADDRESS|NATIONAL_ID|BIRTH_DATE|SECRET):[a-z2-7]*(?:\]\]|(?<=[a-z2-7]))|:[a-z2-7]{16}\]\]|redacted\.invalid/u;

/** A token in a text, which stands for a value that a {@link Redactor} keeps. */
export interface RedactionToken {
  start: number;
  end: number;
  /** Identifies the value within its session. */
  id: string;
  /** Whether the token is percent-encoded, as in a URL; its value must be encoded too. */
  isEncoded: boolean;
}

/** Lists the tokens in a text that are recognizable by their form. */
export function redactionTokensIn(text: string): RedactionToken[] {
  if (!mayHoldToken(text)) return [];
  return [...text.matchAll(TOKEN)].map(({ 0: match, 1: opening, 2: plain, 3: email, index }) => ({
    start: index,
    end: index + match.length,
    id: (plain ?? email ?? "").toLowerCase(),
    isEncoded: opening?.startsWith("%") === true || match.includes("%40"),
  }));
}

/** Finds the first remnant of a truncated token in a text. */
export function brokenTokenIn(text: string): string | undefined {
  if (!mayHoldToken(text) && !text.includes("]]")) return undefined;
  return BROKEN_TOKEN.exec(text.replaceAll(TOKEN, " "))?.[0];
}

/** Whether a text holds a token, which means nothing once its session has ended. */
export function holdsRedactionToken(text: string): boolean {
  return redactionTokensIn(text).length > 0;
}

function mayHoldToken(text: string): boolean {
  return text.includes("[[") || text.includes("%5") || /redacted\.invalid/i.test(text);
}

/** Whether a number has the form of a number's token: 16 digits that begin with 89, as no card, phone or personal number does. */
export function isNumberToken(value: number): boolean {
  return value >= 8_900_000_000_000_000 && value < 9_000_000_000_000_000;
}

/**
 * Replaces tokens by values in data that a client received with tokens and returns to be stored. Where code sees tokens
 * only, tokens of values that are not in the stored data stay tokens.
 *
 * @param settings - `redactor`: absent where nothing was replaced. `session`: the one in which the client got the tokens.
 *   `current` reads the data that is about to be replaced; unreadable data counts as empty.
 * @throws CemError `TOKEN_UNKNOWN` for a token of another session or a part of one, with its place.
 */
export async function restoreTokens(
  data: JsonValue,
  settings: Pick<RedactionScope, "session"> & {
    redactor: Redactor | undefined;
    current: () => Promise<unknown>;
  },
): Promise<JsonValue> {
  const { redactor, session, current } = settings;
  if (redactor === undefined) return data;
  const target = { session, server: "workspace", tool: "save", isKept: true };
  // Read once, and only for data with tokens.
  const kept = new Lazy(async () => {
    const before = await current().catch(() => null);
    return idsIn(redactor.tokenize(withoutTokens(before), { session }));
  });
  /** Returns the value of a token; the token itself when the stored data does not contain the value. */
  const valueOf = async (token: string | number, id: string, place: string): Promise<string | number> => {
    const value = await redactor.detokenize(token, target).catch((error: unknown) => {
      if (!CemError.isInstance(error) || error.code !== "TOKEN_UNKNOWN") throw error;
    });
    // A number that is returned unchanged is not a token.
    if (value === undefined || (typeof token === "number" && value === token))
      throw unknown(place, `the token ${token}, which stands for no value of this session`, String(token));
    return redactor.guest !== "tokens" || (await kept.get()).has(id) ? (value as string | number) : token;
  };
  const restoreText = async (text: string, place: string): Promise<string> => {
    const broken = brokenTokenIn(text);
    if (broken !== undefined) throw unknown(place, `"${broken}", which is a part of a token`, broken);
    let result = "";
    let from = 0;
    for (const { start, end, id } of redactionTokensIn(text)) {
      result += `${text.slice(from, start)}${await valueOf(text.slice(start, end), id, place)}`;
      from = end;
    }
    return result + text.slice(from);
  };
  const restore = async (value: JsonValue, place: string): Promise<JsonValue> => {
    if (typeof value === "string") return restoreText(value, place);
    if (typeof value === "number") return isNumberToken(value) ? valueOf(value, String(value), place) : value;
    if (typeof value !== "object" || value === null) return value;
    const restored: [string, JsonValue][] = [];
    for (const [name, member] of Object.entries(value)) {
      const inside = Array.isArray(value) ? `${place}[${name}]` : place === "" ? name : `${place}.${name}`;
      restored.push([await restoreText(name, inside), await restore(member, inside)]);
    }
    if (Array.isArray(value)) return restored.map(([, item]) => item);
    // Unlike an assignment this gives `__proto__` no meaning.
    return Object.fromEntries(restored);
  };
  return restore(data, "");
}

function idsIn(data: unknown): ReadonlySet<string> {
  const text = JSON.stringify(data) ?? "";
  return new Set([...redactionTokensIn(text).map(({ id }) => id), ...(text.match(NUMBER_TOKEN) ?? [])]);
}

/** Data without its tokens, whose values are not in it. Names that consist of a token stay different. */
function withoutTokens(data: unknown): unknown {
  let count = 0;
  const blank = (): string =>
    String((count += 1)).replaceAll(/\d/g, (digit) => String.fromCharCode(FIRST_PRIVATE + Number(digit)));
  return parseJson((JSON.stringify(data) ?? "").replaceAll(TOKEN, blank).replaceAll(NUMBER_TOKEN, "0"));
}

function unknown(place: string, what: string, token: string): CemError {
  const where = place === "" ? "The data" : place;
  return new CemError(
    "TOKEN_UNKNOWN",
    `${where} has ${what}. Nothing was saved: read it again, or give the value itself.`,
    { details: { key: place, token } },
  );
}
