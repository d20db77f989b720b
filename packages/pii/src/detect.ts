import { assertKnownOptions, CemError } from "@cem/core";
import { nearest } from "@cem/core/text";
import { isSupportedCountry } from "libphonenumber-js/min";
import { byKey, findAll, PII_TYPES, typed } from "./context.ts";
import { creditCardDetector, ibanDetector, isSsnKey, ssnDetector } from "./detectors/account-numbers.ts";
import { cryptoAddressDetector, emailDetector, ipDetector, macDetector } from "./detectors/addresses.ts";
import {
  birthDateDetector,
  DISTINCT_IDENTITY,
  identityDetector,
  isBirthKey,
  isIdentityKey,
} from "./detectors/identity.ts";
import { createPhoneDetector, isPhoneKey } from "./detectors/phone.ts";
import { findCells, findColumns } from "./columns.ts";
import type { Heading } from "./columns.ts";
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

/** Whether a text may hold a value: most texts of records are words that hold none. */
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
   * @defaultValue all that need no model
   */
  types?: readonly PiiType[] | undefined;
  /** Countries whose phone numbers are found as they are written at home. See {@link createPhoneDetector}. */
  regions?: readonly string[] | undefined;
  /** Custom types to find in addition. Where two overlap, these win. */
  custom?: readonly CustomDetector[] | undefined;
}

/** Of two values that overlap, the one of the earlier type is kept. */
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
  // Digits alone are a phone's number under a key that says so, or with the code of a country.
  PHONE: ({ joined }, text) =>
    joined >= 7 && (joined < text.length || text.startsWith("00")) && LONG_NUMBER.test(text),
};
/** Seven digits as numbers of phones, cards and persons have them. A date alone is none. */
const LONG_NUMBER = /\d(?<!\d\d)(?!\d{3}-\d\d-\d\d(?!\d))(?:[ ./()-]{0,2}\d){6}/;
/** A part of an address, of the internet protocol or of a device. */
const BETWEEN_COLONS = /:[\da-f]{0,4}:/i;
const SHORTEST_VALUE = 3;
const SHORTEST_TABLE = 8;
/** Parts of the names of columns that tell what stands in them, besides those that {@link Traits} note. */
const HEADINGS =
  /ssn|social|taxpayer|pass|secret|key|cookie|connection|clave|pw|phone|t(?:el|lf)|mob|m[oó]vil|cel|fax|handy|gsm|natel/i;
const NONE: readonly (typeof PRECEDENCE)[number][] = [];
/** The same for the name of the key that a text stands under, as far as its name makes what stands there a value. */
const KEY_TESTS: Partial<Readonly<Record<PiiType, (key: string) => boolean>>> = {
  SECRET: isSecretKey,
  NATIONAL_ID: isIdentityKey,
  BIRTH_DATE: isBirthKey,
  PHONE: isPhoneKey,
  SSN: isSsnKey,
};

/** Whether the name of a key says what stands under it. */
export const isTellingKey = byKey((key) => Object.values(KEY_TESTS).some((test) => test?.(key)));

/** Whether a cell has a name or a figure where its column could have a secret or a phone's number. */
function isCount(type: PiiType, cell: string, name: string): boolean {
  if (type === "PHONE") return /^\d{1,8}$/.test(cell);
  return type === "SECRET" && !isPasswordKey(name) && !/\d/.test(cell);
}

/** A detector that is told what was seen of a text already. */
export interface TextDetector extends Detector {
  find(text: string, key?: string, traits?: Traits): Finding[];
  /** Whether anything may be found in a text: a look at its characters, and no pattern. */
  mayFind(text: string, key: string | undefined, traits: Traits): boolean;
  /**
   * Finds what the columns of a table name.
   *
   * @param heading - That of the table's beginning, where the text is a later part of it.
   * @returns the heading of what follows the text, too.
   */
  findColumns(
    text: string,
    heading?: Heading,
    traits?: Traits,
  ): { found: Finding[]; heading?: Heading | undefined };
}

/** The options of {@link createDetector}. */
export const DETECTOR_OPTIONS = { types: "a list", regions: "a list", custom: "a list" } as const;
/** The form that tokens have for the name of a type. */
const TYPE_NAME = /^[A-Z][A-Z\d_]{0,31}$/;

/** Refuses names by which nothing would be found, or not be found again. */
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
      return findColumns((signs & WIDE) === 0 ? text : typed(text), columns, heading);
    },
    mayFind: (text, key, traits) => own.length > 0 || !isPlain(text, key, traits),
    find(written, key, traits = traitsOf(written)) {
      if (written.length < SHORTEST_VALUE) return [];
      const found = own.length === 0 ? [] : own.flatMap((detector) => detector.find(written, key));
      if (isPlain(written, key, traits)) return found;
      const text = (traits.signs & WIDE) === 0 ? written : typed(written);
      const told = toldOf(key);
      for (const type of wanted) {
        if (!told.includes(type) && !HINTS[type](traits, text)) continue;
        for (const finding of known[type].find(text, key, traits)) found.push(finding);
        // No later type has a part of what is a value as a whole.
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

/** Findings in the order of the text, of which none overlaps another. Those listed first win. */
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
      /** Should be linear: it is tried on every text. */
      pattern: RegExp;
    }
  | {
      /** Values to find wherever they stand as whole words, whatever their case. */
      values: readonly string[];
    }
  | { find: (text: string, key?: string) => readonly { start: number; end: number }[] }
);

/** Turns what a user declares into a detector. */
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
