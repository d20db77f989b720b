import type { KnownErrorCode } from "@cem/core";

/** What a reader needs to know of an error, beside what its message says. */
export interface Trouble {
  /** When it happens. */
  cause: string;
  /** What to do about it. */
  wayOut: string;
}

/** The errors of one area. */
export type Troubles = Partial<Readonly<Record<KnownErrorCode, Trouble>>>;
