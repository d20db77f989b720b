import type { StateDocument } from "../planning/value.ts";
import type { Expression } from "./expression.ts";

/** A TypeScript statement as data. */
export type Statement =
  | { kind: "const"; name: string; value: Expression; type?: string | undefined }
  | { kind: "let"; name: string; type: string; value: Expression }
  | { kind: "assign"; target: Expression; value: Expression }
  | { kind: "do"; value: Expression }
  | { kind: "throw"; message: Expression }
  | { kind: "if"; test: Expression; body: Statement[]; otherwise: Statement[] }
  | { kind: "comment"; text: string }
  /** Marks for `placeSaves`; none is left when the program is printed. */
  | { kind: "save" | "saved-by-here"; document: StateDocument };

/** What a program imports: module to the names taken from it. */
export type Imports = ReadonlyMap<string, ReadonlySet<string>>;

export interface Program {
  imports: Imports;
  /** Whole functions, as text that is this package's own. */
  helpers: readonly string[];
  statements: readonly Statement[];
  value: Expression | undefined;
}
