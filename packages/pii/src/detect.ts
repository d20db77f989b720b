import { creditCardDetector, ibanDetector, ssnDetector } from "./detectors/account-numbers.ts";
import { cryptoAddressDetector, emailDetector, ipDetector, macDetector } from "./detectors/addresses.ts";
import { createCustomDetector } from "./detectors/custom.ts";
import type { CustomDetector } from "./detectors/custom.ts";
import {
  BIRTH_HINT,
  birthDateDetector,
  IDENTITY_HINT,
  identityDetector,
  isBirthKey,
} from "./detectors/identity.ts";
import { createPhoneDetector } from "./detectors/phone.ts";
import { secretDetector } from "./detectors/secret.ts";
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
/** Cheap tests that a text must pass before a type is searched for. A digit alone is in half of all texts. */
const HINTS: Readonly<Record<(typeof PRECEDENCE)[number], RegExp>> = {
  SECRET: /[:=]|[\w-]{15}| is | -u|-----BEGIN/,
  IBAN: /[A-Za-z]{2}[ -]?\d{2}/,
  EMAIL: /@|%40/,
  NATIONAL_ID: /\d(?:\D{0,3}\d){4}|[A-Z]{5}\d{4}/,
  MAC: /:[\da-f]{2}:|-[\da-f]{2}-[\da-f]{2}-/i,
  CRYPTO_ADDRESS: /0x[\da-f]{8}|bc1[a-z\d]{8}/i,
  BIRTH_DATE: BIRTH_HINT,
  CREDIT_CARD: /\d(?:[ \u00A0-]?\d){11}/,
  SSN: /\d{3}[- .\u2011]?\d{2}[- .\u2011]?\d{4}/,
  IP: /\d\.\d{1,3}\.\d|:[\da-f]{0,4}:/i,
  PHONE: /\d(?:[ \u00A0\u2011./()-]{0,2}\d){6}/,
};
/** A date, with or without a time: half of what records hold. */
const MOMENT = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?$/;
const MAX_MOMENT_CHARACTERS = 40;
const DIGIT = /\d/;
const NUMERIC: ReadonlySet<string> = new Set([
  "IBAN",
  "CREDIT_CARD",
  "SSN",
  "PHONE",
  "NATIONAL_ID",
  "BIRTH_DATE",
  "MAC",
  "CRYPTO_ADDRESS",
]);
const SHORTEST_VALUE = 3;
/** The same for the name of the key that a text stands under. */
const KEY_HINTS: Partial<Readonly<Record<PiiType, RegExp>>> = {
  SECRET:
    /pass|pwd|secret|key|token|connection|senha|contrase|wachtwoord|kennwort|has[łl]o|parola|jwt|otp|cookie|pin|cv[vc]/i,
  NATIONAL_ID: IDENTITY_HINT,
  BIRTH_DATE: BIRTH_HINT,
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
  return {
    find(text, key) {
      if (text.length < SHORTEST_VALUE) return [];
      const found = own.flatMap((detector) => detector.find(text, key));
      const isMoment = text.length <= MAX_MOMENT_CHARACTERS && MOMENT.test(text);
      if (isMoment && !(key !== undefined && isBirthKey(key))) return found;
      const hasDigit = DIGIT.test(text);
      for (const type of wanted) {
        if (!hasDigit && NUMERIC.has(type)) continue;
        const mayBe = HINTS[type].test(text) || (key !== undefined && KEY_HINTS[type]?.test(key) === true);
        if (mayBe) for (const finding of known[type].find(text, key)) found.push(finding);
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
