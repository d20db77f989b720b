import { assertKnownOptions, CemError } from "@cem/core";
import { nearest } from "@cem/core/text";
import { isSupportedCountry } from "libphonenumber-js/min";
import { byKey, endsWith, findAll, PII_TYPES, spaced, typed } from "./context.ts";
import { creditCardDetector, ibanDetector, isSsnKey, ssnDetector } from "./detectors/account-numbers.ts";
import { cryptoAddressDetector, emailDetector, ipDetector, macDetector } from "./detectors/addresses.ts";
import {
  birthDateDetector,
  DISTINCT_IDENTITY,
  identityDetector,
  isBirthKey,
  isIdentityKey,
} from "./detectors/identity.ts";
import { createPhoneDetector } from "./detectors/phone.ts";
import { isPhoneKey, PHONE_KEYS } from "./detectors/phone-words.ts";
import { findCells, findColumns, type Heading } from "./columns.ts";
import { isPasswordKey } from "./detectors/secret-names.ts";
import { isSecretKey, mayHoldSecretText, secretDetector } from "./detectors/secret.ts";
import {
  AT,
  COLON,
  DOT,
  LETTER,
  LINE_END,
  NAMES_BIRTH,
  NAMES_IDENTITY,
  PERCENT,
  SPACE,
  traitsOf,
  WIDE,
} from "./traits.ts";
import type { Detector, Finding, PiiType } from "./context.ts";
import type { Traits } from "./traits.ts";

/** Quick test whether a text may contain a value: most texts in records are plain words. */
function mayHold(traits: Traits, text: string): boolean {
  const { digits, signs } = traits;
  return (
    digits >= 4 ||
    (signs & (AT | PERCENT)) !== 0 ||
    ((signs & COLON) !== 0 && BETWEEN_COLONS.test(text)) ||
    mayHoldSecretText(traits, text)
  );
}

/** Settings of {@link createDetector}. */
export interface DetectorSettings {
  /**
   * The types to find.
   *
   * @defaultValue all that don't need a model
   */
  types?: readonly PiiType[] | undefined;
  /** Countries whose phone numbers are also found in national format. See {@link createPhoneDetector}. */
  regions?: readonly string[] | undefined;
  /** Custom types to find in addition. They take precedence over overlapping built-in ones. */
  custom?: readonly CustomDetector[] | undefined;
}

/** If two values overlap, the one of the earlier type is kept. */
const PRECEDENCE = [
  "SECRET",
  "IBAN",
  "EMAIL",
  "NATIONAL_ID",
  "CREDIT_CARD",
  "SSN",
  "MAC",
  "CRYPTO_ADDRESS",
  "BIRTH_DATE",
  "IP",
  "PHONE",
] as const;
/** Cheap tests that a text must pass before a type is searched for, after its {@link Traits} allow it. */
const HINTS: Readonly<Record<(typeof PRECEDENCE)[number], (traits: Traits, text: string) => boolean>> = {
  SECRET: mayHoldSecretText,
  IBAN: ({ digits, word, signs }) =>
    digits >= 4 && (word >= 15 || (signs & (SPACE | DOT)) !== 0) && (signs & LETTER) !== 0,
  EMAIL: ({ signs }, text) => (signs & AT) !== 0 || ((signs & PERCENT) !== 0 && text.includes("%40")),
  NATIONAL_ID: ({ digits, names }, text) =>
    digits >= 4 && ((names & NAMES_IDENTITY) !== 0 || DISTINCT_IDENTITY.test(text)),
  CREDIT_CARD: ({ joined }) => joined >= 12,
  SSN: ({ joined }) => joined >= 9,
  MAC: ({ word, signs }, text) =>
    (word >= 17 || (signs & COLON) !== 0) && /:[\da-f]{2}:|-[\da-f]{2}-[\da-f]{2}-/i.test(text),
  CRYPTO_ADDRESS: ({ digits, word }, text) =>
    digits > 0 && word >= 14 && /0x[\da-f]{8}|bc1[a-z\d]{8}/i.test(text),
  BIRTH_DATE: ({ digits, names }) => digits >= 4 && (names & NAMES_BIRTH) !== 0,
  IP: ({ digits, signs }, text) =>
    (digits >= 4 && (signs & DOT) !== 0 && /\d\.\d{1,3}\.\d/.test(text)) ||
    ((signs & COLON) !== 0 && BETWEEN_COLONS.test(text)),
  // Digits alone are only a phone number under such a key, or with a country code.
  PHONE: ({ joined }, text) =>
    joined >= 7 && (joined < text.length || text.startsWith("00")) && LONG_NUMBER.test(text),
};
/** Seven digits in the form of phone, card and identity numbers. A date alone does not match. */
const LONG_NUMBER = /\d(?<!\d\d)(?!\d{3}-\d\d-\d\d(?!\d))(?:[ ./()-]{0,3}\d){6}/;
/** A part of an IPv6 or MAC address. */
const BETWEEN_COLONS = /:[\da-f]{0,4}:/i;
const SHORTEST_VALUE = 3;
const SHORTEST_TABLE = 8;
/** Parts of telling column names, in addition to those noted in {@link Traits}. */
const HEADINGS =
  /ssn|social|taxpayer|pass|secret|key|cookie|connection|clave|pw|phone|t(?:el|lf)|mob|m[oó]vil|cel|fax|handy|gsm|natel/i;
const NONE: readonly (typeof PRECEDENCE)[number][] = [];
/** The same for the key of a text, if the key alone makes the text a value. */
const KEY_TESTS: Partial<Readonly<Record<PiiType, (key: string) => boolean>>> = {
  SECRET: isSecretKey,
  NATIONAL_ID: isIdentityKey,
  BIRTH_DATE: isBirthKey,
  PHONE: isPhoneKey,
  SSN: isSsnKey,
};

/** Whether a key tells the type of its value. */
export const isTellingKey = byKey((key) => Object.values(KEY_TESTS).some((test) => test?.(key)));

/** Whether a cell is only a word or a count in a column that could contain secrets or phone numbers. */
function isCount(type: PiiType, cell: string, name: string): boolean {
  // Under `mobile sessions`, eight digits are a count as well.
  const most = endsWith(spaced(name).toLowerCase(), PHONE_KEYS) ? 7 : 8;
  if (type === "PHONE") return /^\d+$/.test(cell) && cell.length <= most;
  return type === "SECRET" && !isPasswordKey(name) && !/\d/.test(cell);
}

/** A detector that receives the known traits of a text. */
export interface TextDetector extends Detector {
  find(text: string, key?: string, traits?: Traits): Finding[];
  /** Quick test whether anything may be found in a text, by its characters without patterns. */
  mayFind(text: string, key: string | undefined, traits: Traits): boolean;
  /**
   * Finds values in table columns by their headings.
   *
   * @param heading - The heading of the table if the text is a later part of it.
   * @returns the findings, and the heading that applies to the text that follows.
   */
  findColumns(
    text: string,
    heading?: Heading,
    traits?: Traits,
  ): { found: Finding[]; heading?: Heading | undefined };
}

/** Terminal colours and erasures, as control characters or as their escapes. */
const COLOUR = /(?:(?!\s)\p{Cc}|\\(?:u001[bB]|x1[bB]|033|e)|\^\[)\[[\d;]{0,24}[mK]/gu;

/** Replaces typographic characters and terminal colours by plain ones, keeping offsets. */
function readable(text: string, { signs }: Pick<Traits, "signs">): string {
  const plain = text.includes("[") ? text.replace(COLOUR, ({ length }) => " ".repeat(length)) : text;
  return (signs & WIDE) === 0 ? plain : typed(plain);
}

/** The options of {@link createDetector}. */
export const DETECTOR_OPTIONS = { types: "a list", regions: "a list", custom: "a list" } as const;
/** The format of a type's name in tokens. */
const TYPE_NAME = /^[A-Z][A-Z\d_]{0,31}$/;

/** Rejects invalid names of types and regions. */
function checkNames({ types = [], regions = [], custom = [] }: DetectorSettings): void {
  const known = [...PII_TYPES, ...custom.map(({ type }) => type)];
  const type = known.find((one) => !TYPE_NAME.test(one)) ?? types.find((one) => !known.includes(one));
  const region = regions.find((one) => !isSupportedCountry(one));
  if (type === undefined && region === undefined) return;
  const [near = "EMPLOYEE"] = nearest(
    type ?? "",
    known.filter((one) => TYPE_NAME.test(one)),
  );
  const needed =
    type === undefined ? "the code of a country, such as US, DE or GB (not UK)" : `a type, such as ${near}`;
  throw new CemError("OPTION_INVALID", `${JSON.stringify(type ?? region)} is not ${needed}.`);
}

/** Creates a detector of personal data and secrets in a text. */
export function createDetector(settings: DetectorSettings = {}): TextDetector {
  assertKnownOptions(settings, DETECTOR_OPTIONS, "createDetector");
  checkNames(settings);
  const { types, regions, custom = [] } = settings;
  const known: Readonly<Record<(typeof PRECEDENCE)[number], Pick<Required<TextDetector>, "find">>> = {
    SECRET: secretDetector,
    IBAN: ibanDetector,
    EMAIL: emailDetector,
    CREDIT_CARD: creditCardDetector,
    SSN: ssnDetector,
    IP: ipDetector,
    MAC: macDetector,
    CRYPTO_ADDRESS: cryptoAddressDetector,
    NATIONAL_ID: identityDetector,
    BIRTH_DATE: birthDateDetector,
    PHONE: createPhoneDetector(regions),
  };
  const wanted = PRECEDENCE.filter((type) => types === undefined || types.includes(type));
  const own = custom.map(createCustomDetector);
  const toldBy = byKey((key) => wanted.filter((type) => KEY_TESTS[type]?.(key)));
  const toldOf = (key: string | undefined): typeof NONE => (key === undefined ? NONE : toldBy(key));
  const isTable = (text: string, { signs }: Traits): boolean =>
    (signs & LINE_END) !== 0 && text.length >= SHORTEST_TABLE;
  const isPlain = (text: string, key: string | undefined, traits: Traits): boolean => {
    const told = toldOf(key);
    if (traits.isMoment) return !told.includes("BIRTH_DATE");
    return told.length === 0 && !isTable(text, traits) && !mayHold(traits, text);
  };
  const columns = {
    mayTell: (line: string) => traitsOf(line).names !== 0 || HEADINGS.test(line),
    tells: (name: string) => toldOf(name).length > 0,
    find: (cell: string, name: string) =>
      toldOf(name).flatMap((type) => (isCount(type, cell, name) ? [] : known[type].find(cell, name))),
  };
  return {
    findColumns(text, heading, { names, signs } = traitsOf(text)) {
      const mayBegin = names !== 0 || HEADINGS.test(text);
      if (heading === undefined && !mayBegin) return { found: [] };
      return findColumns(readable(text, { signs }), columns, heading);
    },
    mayFind: (text, key, traits) => own.length > 0 || !isPlain(text, key, traits),
    find(written, key, traits = traitsOf(written)) {
      if (written.length < SHORTEST_VALUE) return [];
      const found = own.length === 0 ? [] : own.flatMap((detector) => detector.find(written, key));
      if (isPlain(written, key, traits)) return found;
      const text = readable(written, traits);
      const told = toldOf(key);
      for (const type of wanted) {
        if (!told.includes(type) && !HINTS[type](traits, text)) continue;
        for (const finding of known[type].find(text, key, traits)) found.push(finding);
        // If the whole text is a value, no later type can match a part of it.
        if (found.length === 1 && found[0]?.start === 0 && found[0].end === text.length) return found;
      }
      if (isTable(text, traits))
        for (const finding of this.findColumns(text, undefined, traits).found) found.push(finding);
      if (text.includes("</t") || text.includes("</d")) {
        for (const finding of findCells(text, columns)) found.push(finding);
      }
      return found.length < 2 ? found : withoutOverlaps(found);
    },
  };
}

/** Returns non-overlapping findings in text order. Earlier items of the list take precedence. */
export function withoutOverlaps(found: readonly Finding[]): Finding[] {
  const ranked = found
    .map((finding, rank) => ({ finding, rank }))
    .toSorted((a, b) => a.finding.start - b.finding.start || a.rank - b.rank);
  const kept: typeof ranked = [];
  for (const next of ranked) {
    let last = kept.at(-1);
    while (last !== undefined && last.finding.end > next.finding.start && last.rank > next.rank) {
      kept.pop();
      last = kept.at(-1);
    }
    if (last === undefined || last.finding.end <= next.finding.start) kept.push(next);
  }
  return kept.map(({ finding }) => finding);
}

/** A custom type of value to find: by pattern, by list, or by a function. */
export type CustomDetector = { type: PiiType } & (
  | {
      /** Should be linear, since it is applied to every text. */
      pattern: RegExp;
    }
  | {
      /** Values to find as whole words, ignoring case. */
      values: readonly string[];
    }
  | { find: (text: string, key?: string) => readonly { start: number; end: number }[] }
);

/** Creates a detector from a custom type. */
export function createCustomDetector(custom: CustomDetector): Detector {
  const { type } = custom;
  if ("find" in custom) {
    return { find: (text, key) => custom.find(text, key).map(({ start, end }) => ({ start, end, type })) };
  }
  const pattern =
    "pattern" in custom
      ? new RegExp(custom.pattern.source, [...new Set(`${custom.pattern.flags.replace("y", "")}g`)].join(""))
      : patternOf(custom.values);
  return { find: (text) => findAll(text, pattern, type).filter(({ start, end }) => end > start) };
}

function patternOf(values: readonly string[]): RegExp {
  const longestFirst = values.filter((value) => value !== "").toSorted((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return /(?!)/g;
  const words = longestFirst.map((value) =>
    value.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replace(/\s+/g, "\\s+"),
  );
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join("|")})(?![\\p{L}\\p{N}])`, "giu");
}
