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

/** A value without what differs between two ways to write it. */
export function canonical(value: string, type: PiiType): string {
  if (type === "CREDIT_CARD" || type === "SSN" || type === "PHONE")
    return value.replace(/\D/g, "").replace(/^(?:00|1(?=\d{10}$))/, "");
  return type === "IBAN" || type === "NATIONAL_ID"
    ? value.replace(/[^A-Za-z\d]/g, "").toUpperCase()
    : value.toLowerCase();
}
