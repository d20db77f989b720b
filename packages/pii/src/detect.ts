import { byKey } from "./context.ts";
import { creditCardDetector, ibanDetector, ssnDetector } from "./detectors/account-numbers.ts";
import { cryptoAddressDetector, emailDetector, ipDetector, macDetector } from "./detectors/addresses.ts";
import { findColumns } from "./detectors/columns.ts";
import { createCustomDetector } from "./detectors/custom.ts";
import type { CustomDetector } from "./detectors/custom.ts";
import {
  BIRTH_HINT,
  birthDateDetector,
  IDENTITY_WORDS,
  identityDetector,
  isBirthKey,
  mayHoldIdentity,
} from "./detectors/identity.ts";
import { createPhoneDetector } from "./detectors/phone.ts";
import { secretDetector } from "./detectors/secret.ts";
import { AT, COLON, DOT, LETTER, mayHold, mayHoldSecretText, PERCENT, SPACE, traitsOf } from "./traits.ts";
import type { Traits } from "./traits.ts";
import type { Detector, Finding, PiiType } from "./types.ts";

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
  IBAN: ({ digits, word, signs }, text) =>
    digits >= 4 &&
    (word >= 15 || (signs & SPACE) !== 0) &&
    (signs & LETTER) !== 0 &&
    /[A-Za-z]{2}[ -]?\d{2}/.test(text),
  EMAIL: ({ signs }, text) => (signs & AT) !== 0 || ((signs & PERCENT) !== 0 && text.includes("%40")),
  NATIONAL_ID: ({ digits }, text) => digits >= 4 && mayHoldIdentity(text),
  CREDIT_CARD: (traits, text) => traits.digits >= 12 && hasLongNumber(traits, text),
  SSN: (traits, text) => traits.digits >= 9 && hasLongNumber(traits, text),
  MAC: ({ word, signs }, text) =>
    (word >= 17 || (signs & COLON) !== 0) && /:[\da-f]{2}:|-[\da-f]{2}-[\da-f]{2}-/i.test(text),
  CRYPTO_ADDRESS: ({ digits, word }, text) =>
    digits > 0 && word >= 14 && /0x[\da-f]{8}|bc1[a-z\d]{8}/i.test(text),
  BIRTH_DATE: ({ digits, signs }, text) => digits >= 4 && (signs & LETTER) !== 0 && BIRTH_HINT.test(text),
  IP: ({ digits, signs }, text) =>
    (digits >= 4 && (signs & DOT) !== 0 && /\d\.\d{1,3}\.\d/.test(text)) ||
    ((signs & COLON) !== 0 && /:[\da-f]{0,4}:/i.test(text)),
  // Digits alone are a phone's number under a key that says so, and nowhere else.
  PHONE: (traits, text) => traits.digits >= 7 && traits.digits < text.length && hasLongNumber(traits, text),
};
/** Seven digits as numbers of phones, cards and persons have them. A date alone is none. */
const LONG_NUMBER = /(?<!\d)(?!\d{4}-\d\d-\d\d(?!\d))\d(?:[ \u00A0\u2011./()-]{0,2}\d){6}/;
/** A date, with or without a time: half of what records hold. */
const MOMENT = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?$/;
const MAX_MOMENT_CHARACTERS = 40;
const SHORTEST_VALUE = 3;
const SHORTEST_TABLE = 16;
const NONE: readonly PiiType[] = [];
/** The same for the name of the key that a text stands under, as far as its name makes what stands there a value. */
const KEY_HINTS: Partial<Readonly<Record<PiiType, RegExp>>> = {
  SECRET:
    /pass|pwd|secret|key|token|connection|senha|contrase|wachtwoord|kennwort|has[łl]o|parola|jwt|otp|cookie|pin|cv[vc]/i,
  NATIONAL_ID: IDENTITY_WORDS,
  BIRTH_DATE: BIRTH_HINT,
  PHONE: /phone|tel|mobil|cell|fax|landline|hotline|whatsapp|msisdn|handy/i,
};

/** Creates a detector of personal data and secrets in a text. */
export function createDetector({ types, regions, custom = [] }: DetectorSettings = {}): Detector {
  const known: Readonly<Record<(typeof PRECEDENCE)[number], Detector>> = {
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
    PHONE: createPhoneDetector({ regions }),
  };
  const wanted = PRECEDENCE.filter((type) => types === undefined || types.includes(type));
  const own = custom.map(createCustomDetector);
  const toldBy = byKey((key) => wanted.filter((type) => KEY_HINTS[type]?.test(key)));
  const hasSecrets = wanted.includes("SECRET");
  return {
    find(text, key) {
      if (text.length < SHORTEST_VALUE) return [];
      const found = own.length === 0 ? [] : own.flatMap((detector) => detector.find(text, key));
      const told = key === undefined ? NONE : toldBy(key);
      if (isMoment(text) && !(key !== undefined && told.includes("BIRTH_DATE") && isBirthKey(key)))
        return found;
      const traits = traitsOf(text);
      const isTable = text.length >= SHORTEST_TABLE && hasSecrets && text.includes("\n");
      if (told.length === 0 && !isTable && !mayHold(traits, text)) return found;
      for (const type of wanted) {
        if (!told.includes(type) && !HINTS[type](traits, text)) continue;
        for (const finding of known[type].find(text, key)) found.push(finding);
        // No later type has a part of what is a value as a whole.
        if (found.length === 1 && found[0]?.start === 0 && found[0].end === text.length) return found;
      }
      if (isTable) found.push(...findColumns(text).found);
      return found.length < 2 ? found : withoutOverlaps(found);
    },
  };
}

/** Asked by several types, looked for once. */
function hasLongNumber(traits: Traits, text: string): boolean {
  return (traits.hasLongNumber ??= LONG_NUMBER.test(text));
}

/** Whether a text is a date, with or without a time. */
export function isMoment(text: string): boolean {
  return text[4] === "-" && text.length <= MAX_MOMENT_CHARACTERS && MOMENT.test(text);
}

/** Findings in the order of the text, of which none overlaps another. Those listed first win. */
export function withoutOverlaps(found: readonly Finding[]): Finding[] {
  const ranked = found
    .map((finding, rank) => ({ finding, rank }))
    .toSorted((a, b) => a.finding.start - b.finding.start || a.rank - b.rank);
  const kept: typeof ranked = [];
  for (const next of ranked) {
    let isKept = true;
    while (kept.length > 0) {
      const last = kept.at(-1);
      if (last === undefined || last.finding.end <= next.finding.start) break;
      if (last.rank < next.rank) {
        isKept = false;
        break;
      }
      kept.pop();
    }
    if (isKept) kept.push(next);
  }
  return kept.map(({ finding }) => finding);
}
