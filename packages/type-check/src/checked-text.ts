import { parseProgram, type Program, visitNodes } from "@cem/program";
import { UnreadableProgram } from "./unreadable-program.ts";

/**
 * What a top-level `return` without a value is read as: a call of this function, which never returns. `return` and the
 * call have the same length.
 */
export const END_OF_PROGRAM = "$__$";
const RETURN = "return";
const THROW = "throw ";

/** The statements that hold others. A `return` in any of them is of the program, unless a function is between. */
const HOLDS_STATEMENTS = new Set([
  "BlockStatement",
  "CatchClause",
  "DoWhileStatement",
  "ForInStatement",
  "ForOfStatement",
  "ForStatement",
  "IfStatement",
  "LabeledStatement",
  "SwitchCase",
  "SwitchStatement",
  "TryStatement",
  "WhileStatement",
]);

/**
 * Makes the text that TypeScript checks in place of a program's. Each place in it is the same place in the program.
 *
 * TypeScript refuses a top-level `return` and checks nothing in it. `throw` takes a value of any type and ends the
 * program as well, so that what follows is checked with what is known then.
 *
 * @returns the text; `undefined` for a program with a syntax error.
 * @throws UnreadableProgram
 */
export function checkedText(code: string): string | undefined {
  const parsed = parseProgram(code);
  if (!parsed.ok) {
    const { line, message } = parsed.error;
    if (line === undefined) throw new UnreadableProgram(message.replace(/^The/u, "the"));
    return undefined;
  }
  const parts: string[] = [];
  let end = 0;
  for (const { start, text } of readReturns(parsed.program)) {
    parts.push(code.slice(end, start), text);
    end = start + text.length;
  }
  const text = [...parts, code.slice(end)].join("");
  // A byte order mark has no width for TypeScript, and half a character can't be sent.
  return text.replace(/^\uFEFF/u, " ").toWellFormed();
}

/** Another text for a part of the code, of the same length. */
interface Overlay {
  start: number;
  text: string;
}

/** What the top-level `return`s are read as, in their order. */
function readReturns({ code, ast }: Program): Overlay[] {
  if (!code.includes(RETURN)) return [];
  const statements = visitNodes(
    ast.program,
    ({ type }) => type === "ReturnStatement" || HOLDS_STATEMENTS.has(type),
  );
  return [...statements].flatMap(({ node }): Overlay[] => {
    if (node.type !== "ReturnStatement") return [];
    const start = node.start ?? 0;
    if (node.argument != null) return [{ start, text: THROW }];
    // Without a semicolon the next line might continue the call.
    const isEnded = code.charAt((node.end ?? 0) - 1) === ";";
    const hasRoom = /\s/u.test(code.charAt(start + RETURN.length));
    return [{ start, text: `${END_OF_PROGRAM}()${!isEnded && hasRoom ? ";" : ""}` }];
  });
}
