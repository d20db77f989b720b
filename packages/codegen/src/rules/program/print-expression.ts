import type { JsonValue } from "@cem/core";
import { concat, type Document, enclosed, group, indent, join, line } from "./document.ts";
import type { Expression, ObjectEntry } from "./expression.ts";
import { isIdentifier } from "./names.ts";

const PRECEDENCE: Readonly<Record<string, number>> = {
  "??": 1,
  "||": 2,
  "&&": 3,
  "===": 8,
  "!==": 8,
  "<": 9,
  "<=": 9,
  ">": 9,
  ">=": 9,
  in: 9,
  "+": 11,
  "-": 11,
  "*": 12,
  "/": 12,
  "%": 12,
  "**": 13,
};
const UNARY = 14;
const POSTFIX = 17;

/** Text as a string literal that holds any text: quotes, line breaks and separators can't end it. */
export function quote(text: string): string {
  return JSON.stringify(text)
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029")
    .replace(/[\u007F-\u009F\u061C\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/gu, (mark) => {
      return `\\u${(mark.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
    });
}

/** An expression as a document. */
export function printExpression(expression: Expression): Document {
  switch (expression.kind) {
    case "literal":
      return printJson(expression.value);
    case "name":
      return expression.name;
    case "member":
      return concat(
        printIn(expression.of, POSTFIX),
        printKeyAccess(expression.key, expression.optional ?? false),
      );
    case "index":
      return concat(printIn(expression.of, POSTFIX), "[", printExpression(expression.at), "]");
    case "call":
      return concat(printIn(expression.callee, POSTFIX), printArguments(expression.args));
    case "new":
      return concat(`new ${expression.callee}`, printArguments(expression.args));
    case "await":
      return concat("await ", printIn(expression.value, UNARY));
    case "unary":
      return concat(expression.operator, printIn(expression.value, UNARY));
    case "spread":
      return concat("...", printExpression(expression.value));
    case "as":
      return concat(printIn(expression.value, 9), ` as ${expression.type}`);
    case "arrow":
      return printArrow(expression);
    case "binary":
      return printBinary(expression);
    case "conditional":
      return group(
        printIn(expression.test, 1),
        indent(line, "? ", printExpression(expression.yes), line, ": ", printExpression(expression.no)),
      );
    case "object":
      return enclosed("{", expression.entries.map(printEntry), "}", line);
    case "array":
      return enclosed("[", expression.items.map(printExpression), "]");
    case "template":
      return printTemplate(expression.parts);
  }
}

function printArguments(args: readonly Expression[]): Document {
  const only = args.at(-1);
  const hugs =
    only?.kind === "object" ||
    only?.kind === "array" ||
    (only?.kind === "arrow" && ["call", "object", "array"].includes(only.body.kind));
  if (hugs && args.length === 1) return concat("(", printExpression(only), ")");
  if (only?.kind === "arrow" && hugs && args.slice(0, -1).every((arg) => arg.kind === "name")) {
    return concat(
      "(",
      ...args.slice(0, -1).flatMap((arg) => [printExpression(arg), ", "]),
      printExpression(only),
      ")",
    );
  }
  return enclosed("(", args.map(printExpression), ")");
}

function printArrow(expression: Expression & { kind: "arrow" }): Document {
  const head = `${expression.isAsync === true ? "async " : ""}(${expression.parameters.join(", ")}) =>`;
  const body = printExpression(expression.body);
  if (expression.body.kind === "object") return concat(head, " (", body, ")");
  if (expression.body.kind === "call" || expression.body.kind === "array") return concat(head, " ", body);
  if (expression.body.kind === "conditional") return concat(head, " (", body, ")");
  return group(head, indent(line, body));
}

function printBinary(expression: Expression & { kind: "binary" }): Document {
  const own = PRECEDENCE[expression.operator] ?? 0;
  const rightAssociative = expression.operator === "**";
  const left = printIn(expression.left, rightAssociative ? UNARY + 1 : own);
  const right = printIn(expression.right, rightAssociative ? own : own + 1);
  if (expression.operator === "&&" || expression.operator === "||" || expression.operator === "??") {
    const operands = operandsOf(expression, expression.operator).map((operand) => printIn(operand, own + 1));
    return group(join(concat(` ${expression.operator}`, line), operands));
  }
  return concat(left, ` ${expression.operator} `, right);
}

/** The operands of a chain of one logical operator, however it is nested. */
function operandsOf(expression: Expression, operator: string): Expression[] {
  if (expression.kind !== "binary" || expression.operator !== operator) return [expression];
  return [...operandsOf(expression.left, operator), ...operandsOf(expression.right, operator)];
}

/** In parentheses where it binds weaker than its surroundings. */
function printIn(expression: Expression, level: number): Document {
  const printed = printExpression(expression);
  return precedenceOf(expression) < level ? concat("(", printed, ")") : printed;
}

function precedenceOf(expression: Expression): number {
  if (expression.kind === "binary") return PRECEDENCE[expression.operator] ?? 0;
  if (expression.kind === "unary" || expression.kind === "await") return UNARY;
  if (expression.kind === "conditional" || expression.kind === "arrow" || expression.kind === "spread")
    return 0;
  if (expression.kind === "as") return 9;
  if (expression.kind === "literal" && typeof expression.value === "number" && expression.value < 0)
    return UNARY;
  return POSTFIX + 1;
}

function printKeyAccess(key: string, optional: boolean): Document {
  if (isIdentifier(key)) return `${optional ? "?." : "."}${key}`;
  return `${optional ? "?." : ""}[${quote(key)}]`;
}

function printKey(key: string): string {
  if (key === "__proto__") return `[${quote(key)}]`;
  return isIdentifier(key) ? key : quote(key);
}

function printEntry(entry: ObjectEntry): Document {
  if ("spread" in entry) return concat("...", printExpression(entry.spread));
  if (entry.value.kind === "name" && entry.value.name === entry.key) return entry.key;
  return concat(`${printKey(entry.key)}: `, printExpression(entry.value));
}

function printJson(value: JsonValue): Document {
  if (typeof value === "string") return quote(value);
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (value === null || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return enclosed("[", value.map(printJson), "]");
  return enclosed(
    "{",
    Object.entries(value).map(([key, item]) => concat(`${printKey(key)}: `, printJson(item))),
    "}",
    line,
  );
}

function printTemplate(parts: readonly (string | Expression)[]): Document {
  const printed = parts.map((part): Document => {
    if (typeof part !== "string") return concat("${", printExpression(part), "}");
    return quote(part).slice(1, -1).replaceAll('\\"', '"').replaceAll("`", "\\`").replaceAll("${", "\\${");
  });
  return concat("`", ...printed, "`");
}
