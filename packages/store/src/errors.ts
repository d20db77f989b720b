import { CemError } from "@cem/core";
import type { StoreKey } from "@cem/core";

/** The largest value or entry that a store takes. */
export const MAX_VALUE_BYTES = 64 * 1024 * 1024;

/** @throws CemError `STORE_VALUE_TOO_LARGE`. */
export function checkSize(key: StoreKey, value: Uint8Array): void {
  if (value.byteLength <= MAX_VALUE_BYTES) return;
  throw new CemError(
    "STORE_VALUE_TOO_LARGE",
    `The value of ${shownKey(key)} has ${value.byteLength} bytes; a store takes ${MAX_VALUE_BYTES}.`,
    { details: { key: [...key], bytes: value.byteLength, limit: MAX_VALUE_BYTES } },
  );
}

/** A value is not of the version that a writer has read. */
export function storeConflict(key: StoreKey): CemError {
  return new CemError("STORE_CONFLICT", `${shownKey(key)} was changed by someone else since it was read.`, {
    details: { key: [...key] },
  });
}

/** A store does not answer, or answers with an error. */
export function storeUnavailable(location: string, cause: unknown): CemError {
  const { code, message } = cause as { code?: string; message?: string };
  const why = message || code || String(cause);
  return new CemError("STORE_UNAVAILABLE", `The store at ${location} can't be used: ${why}.`, {
    cause,
    details: { location },
  });
}

/** A URL as it may be shown: without user, password and parameters. */
export function shownLocation(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

function shownKey(key: StoreKey): string {
  return key.join("/");
}
