import { CemError } from "./errors.ts";
import type { JsonValue } from "./json.ts";
import { brokenTokenIn, redactionTokensIn } from "./redaction-tokens.ts";
import type { RedactionTarget, Redactor } from "./redaction.ts";

/** Numbers from here to the largest safe one are tokens of numbers: no card, phone or person has one of them. */
const MIN_NUMBER_TOKEN = 8_900_000_000_000_000;

/** Settings of {@link restoreTokens}. */
export interface RestoreSettings {
  /** Absent: nothing was replaced. */
  redactor: Redactor | undefined;
  /** The session in which the client got the tokens. */
  session: string | undefined;
  /** Reads what the data takes the place of. What can't be read holds no value. */
  current: () => Promise<unknown>;
}

/** A token in data, with the place of the first. */
type FoundTokens = Map<string | number, { place: string; id: string }>;

/**
 * Puts values in the place of tokens in data that a client got with tokens and hands back to be kept. Where code sees tokens
 * only, those of values that are not in the data kept so far stay tokens.
 *
 * @throws CemError `TOKEN_UNKNOWN` for a token of another session or a part of one, with its place.
 */
export async function restoreTokens(data: JsonValue, settings: RestoreSettings): Promise<JsonValue> {
  const { redactor, session, current } = settings;
  if (redactor === undefined) return data;
  const found: FoundTokens = new Map();
  collect(data, "", found, true);
  if (found.size === 0) return data;
  const kept: FoundTokens | undefined = redactor.guest === "tokens" ? new Map() : undefined;
  if (kept !== undefined) {
    const before = await current().catch(() => null);
    collect(redactor.tokenize(before, { session }), "", kept, false);
  }
  const keptIds = kept && new Set([...kept.values()].map(({ id }) => id));
  const target = { session, server: "workspace", tool: "save", isKept: true };
  const values = new Map<string | number, string | number>();
  for (const [token, { place, id }] of found) {
    const value = await valueOf(token, place, redactor, target);
    if (keptIds?.has(id) !== false) values.set(token, value);
  }
  return replace(data, values);
}

async function valueOf(
  token: string | number,
  place: string,
  redactor: Redactor,
  target: RedactionTarget,
): Promise<string | number> {
  try {
    const value = (await redactor.detokenize(token, target)) as string | number;
    // A number that is returned unchanged stands for no value.
    if (typeof token === "string" || value !== token) return value;
  } catch (error) {
    if (!CemError.isInstance(error) || error.code !== "TOKEN_UNKNOWN") throw error;
  }
  throw unknown(place, `the token ${token}, which stands for no value of this session`, String(token));
}

/** @param isStrict - Whether parts of tokens are refused. */
function collect(data: unknown, place: string, found: FoundTokens, isStrict: boolean): void {
  if (typeof data === "string") {
    for (const { start, end, id } of redactionTokensIn(data)) {
      const token = data.slice(start, end);
      if (!found.has(token)) found.set(token, { place, id });
    }
    const broken = isStrict ? brokenTokenIn(data) : undefined;
    if (broken !== undefined) throw unknown(place, `"${broken}", which is a part of a token`, broken);
  } else if (typeof data === "number") {
    if (data >= MIN_NUMBER_TOKEN && Number.isSafeInteger(data)) found.set(data, { place, id: String(data) });
  } else if (Array.isArray(data)) {
    for (const [index, item] of data.entries()) collect(item, `${place}[${index}]`, found, isStrict);
  } else if (typeof data === "object" && data !== null) {
    for (const [name, value] of Object.entries(data)) {
      const inside = place === "" ? name : `${place}.${name}`;
      collect(name, inside, found, isStrict);
      collect(value, inside, found, isStrict);
    }
  }
}

function replace(data: JsonValue, values: ReadonlyMap<string | number, string | number>): JsonValue {
  if (typeof data === "string") return replaceIn(data, values);
  if (typeof data === "number") return values.get(data) ?? data;
  if (Array.isArray(data)) return data.map((item) => replace(item, values));
  if (typeof data !== "object" || data === null) return data;
  // Unlike an assignment this gives `__proto__` no meaning.
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [replaceIn(name, values), replace(value, values)]),
  );
}

function replaceIn(text: string, values: ReadonlyMap<string | number, string | number>): string {
  let result = "";
  let from = 0;
  for (const { start, end } of redactionTokensIn(text)) {
    const value = values.get(text.slice(start, end));
    if (value === undefined) continue;
    result += `${text.slice(from, start)}${value}`;
    from = end;
  }
  return result + text.slice(from);
}

function unknown(place: string, what: string, token: string): CemError {
  const where = place === "" ? "The data" : place;
  return new CemError(
    "TOKEN_UNKNOWN",
    `${where} has ${what}. Nothing was saved: read it again, or give the value itself.`,
    { details: { key: place, token } },
  );
}
