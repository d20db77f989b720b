import type { PiiType } from "./types.ts";

/** A value without what differs between two ways to write it. */
export function canonical(value: string, type: PiiType): string {
  if (type === "CREDIT_CARD" || type === "SSN" || type === "PHONE")
    return value.replace(/\D/g, "").replace(/^(?:00|1(?=\d{10}$))/, "");
  return type === "IBAN" ? value.replace(/[^A-Za-z\d]/g, "").toUpperCase() : value.toLowerCase();
}
