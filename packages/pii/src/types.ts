/** The built-in types of values. */
export const PII_TYPES = [
  "EMAIL",
  "PHONE",
  "SSN",
  "CREDIT_CARD",
  "IBAN",
  "IP",
  "MAC",
  "CRYPTO_ADDRESS",
  "NATIONAL_ID",
  "BIRTH_DATE",
  "SECRET",
  "NAME",
  "ADDRESS",
] as const;

/** One of {@link PII_TYPES}, or a type of your own: upper case, digits and underscores. */
export type PiiType = (typeof PII_TYPES)[number] | (string & {});

/** A value that was found. Offsets are indices of the string, in UTF-16 code units; the end is exclusive. */
export interface Finding {
  start: number;
  end: number;
  type: PiiType;
}

/** Finds values of one kind in a text. */
export interface Detector {
  /**
   * @param text - Any text.
   * @param key - The name under which the text stands in an object, as a hint: `phone`.
   */
  find(text: string, key?: string): Finding[];
}

/** Finds names and addresses, which takes a model. */
export interface Recognizer {
  readonly specificationVersion: "v1";
  /** Finds values in several texts at once, in the order of the texts. */
  recognize(texts: readonly string[], options?: { signal?: AbortSignal | undefined }): Promise<Finding[][]>;
}

/** One and two digits that countries' codes of phones are; all others have three. */
const COUNTRY_CODE = /^(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})/;

/** How many digits of a phone's number stand before those that every way to write it has. */
export function countryCodeDigits(value: string): number {
  const digits = value.replace(/\D/g, "");
  const exit = digits.startsWith("00") ? 2 : 0;
  if (exit === 0 && !value.trimStart().startsWith("+"))
    return digits.startsWith("0") || (digits.length === 11 && digits.startsWith("1")) ? 1 : 0;
  const code = exit + (COUNTRY_CODE.exec(digits.slice(exit))?.[0].length ?? 0);
  return value.includes("(0)") ? code + 1 : code;
}
