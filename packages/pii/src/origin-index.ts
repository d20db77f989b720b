import { canonical } from "./canonical.ts";
import type { PiiType } from "./types.ts";

/** Values beyond are forgotten, the oldest first. */
const MAX_VALUES = 1_000_000;
const MAX_CHARACTERS = 1_024;

/**
 * Remembers where values came from for as long as files hold them, which outlive the session that got the values: what a later
 * session reads from such a file has its origins. For one workspace.
 */
export class OriginIndex {
  readonly #origins = new Map<string, readonly string[]>();

  add(value: string | number, type: PiiType, origin: string): void {
    // A written value is known in the session where it was written.
    if (origin === "") return;
    const key = canonical(String(value), type);
    const known = this.#origins.get(key) ?? [];
    if (known.includes(origin)) return;
    this.#origins.set(key, [...known, origin]);
    if (this.#origins.size > MAX_VALUES) this.#origins.delete(this.#origins.keys().next().value ?? "");
  }

  /** The origins of a value, in whatever way it is written. Empty for one that came from nowhere. */
  of(value: string, type: PiiType): readonly string[] {
    if (value.length > MAX_CHARACTERS) return [];
    return this.#origins.get(canonical(value, type)) ?? [];
  }
}
