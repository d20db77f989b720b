import { isProxy } from "node:util/types";
import { Secret } from "./secret.ts";

/** A 1-based position in a file. */
export interface Position {
  line: number;
  column: number;
}

/** A value as it was written, with the positions of everything in it. */
export type Located =
  | { kind: "mapping"; entries: LocatedEntry[]; position?: Position | undefined }
  | { kind: "list"; items: Located[]; position?: Position | undefined }
  | {
      kind: "scalar";
      value: unknown;
      /** The text as written, for a scalar without quotes. */
      source?: string | undefined;
      position?: Position | undefined;
    };

export interface LocatedEntry {
  key: string;
  keyPosition?: Position | undefined;
  value: Located;
}

/** Wraps a value that a program gave, which has no positions. */
export function locate(value: unknown, depth = 0): Located {
  if (
    typeof value !== "object" ||
    value === null ||
    Secret.isInstance(value) ||
    isProxy(value) ||
    depth > 100
  ) {
    return { kind: "scalar", value };
  }
  if (Array.isArray(value)) return { kind: "list", items: value.map((item) => locate(item, depth + 1)) };
  const entries = Object.entries(value).map(([key, item]) => ({ key, value: locate(item, depth + 1) }));
  return { kind: "mapping", entries };
}

/** Unwraps a value; its keys stay as written. */
export function plainValue(located: Located): unknown {
  if (located.kind === "scalar") return located.value;
  if (located.kind === "list") return located.items.map((item) => plainValue(item));
  return Object.fromEntries(located.entries.map(({ key, value }) => [key, plainValue(value)]));
}
