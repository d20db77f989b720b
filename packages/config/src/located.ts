import { isProxy } from "node:util/types";
import { Secret } from "./secret.ts";

/** A place in a file, 1-based. */
export interface Position {
  line: number;
  column: number;
}

/** A value as it was written, with the places of everything in it. */
export type Located =
  | { kind: "mapping"; entries: LocatedEntry[]; position?: Position | undefined }
  | { kind: "list"; items: Located[]; position?: Position | undefined }
  | {
      kind: "scalar";
      value: unknown;
      /** The text it was written as, where that was without quotes. */
      source?: string | undefined;
      position?: Position | undefined;
    };

export interface LocatedEntry {
  key: string;
  keyPosition?: Position | undefined;
  value: Located;
}

/** Values given by a program have no places. */
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

/** The plain value, with nothing renamed. */
export function plainValue(located: Located): unknown {
  if (located.kind === "scalar") return located.value;
  if (located.kind === "list") return located.items.map((item) => plainValue(item));
  return Object.fromEntries(located.entries.map(({ key, value }) => [key, plainValue(value)]));
}
