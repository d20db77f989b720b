import type { JsonValue } from "@cem/core";
import { isIdentifier } from "./expression.ts";
import type { Expression, ObjectEntry, Program, Statement } from "./expression.ts";

const PRECEDENCE: Readonly<Record<string, number>> = {
  "===": 8,
  "!==": 8,
  "<": 9,
  "<=": 9,
  ">": 9,
  ">=": 9,
  "+": 11,
  "-": 11,
  "*": 12,
  "/": 12,
  "%": 12,
  "**": 13,
};
const UNARY = 14;
const POSTFIX = 17;
/** Objects, lists and arguments that are longer have a line for each part. */
const MAX_LINE_CHARACTERS = 80;

/** Text as a string literal that holds any text: quotes, line breaks and separators can't end it. */
function quote(text: string): string {
  return JSON.stringify(text)
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029")
    .replace(/[\u007F-\u009F\u061C\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/gu, (mark) => {
      return `\\u${(mark.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
    });
}

/** Where an expression stands: `undefined` on one line whatever its length, else the spaces at the beginning of its line. */
type Indent = string | undefined;

export function printExpression(expression: Expression, indent?: Indent): string {
  switch (expression.kind) {
    case "literal":
      return printJson(expression.value, indent);
    case "name":
      return expression.name;
    case "member":
      return printIn(expression.of, POSTFIX, indent) + printKeyAccess(expression.key);
    case "call":
      return printIn(expression.callee, POSTFIX, indent) + printArguments(expression.args, indent);
    case "await":
      return `await ${printIn(expression.value, UNARY, indent)}`;
    case "not":
      return `!${printIn(expression.value, UNARY, indent)}`;
    case "spread":
      return `...${printExpression(expression.value, indent)}`;
    case "arrow":
      return `(${expression.parameters.join(", ")}) => ${printExpression(expression.body, indent)}`;
    case "binary":
      return printBinary(expression, indent);
    case "conditional":
      return printConditional(expression, indent);
    case "object":
      return enclosed("{ ", expression.entries, printEntry, " }", indent);
    case "array":
      return enclosed("[", expression.items, printExpression, "]", indent);
    case "template":
      return printTemplate(expression.parts);
  }
}

function printConditional({ test, yes, no }: Expression & { kind: "conditional" }, indent: Indent): string {
  const parts = [
    printIn(test, 1, indent),
    `? ${printExpression(yes, indent)}`,
    `: ${printExpression(no, indent)}`,
  ];
  const line = parts.join(" ");
  return indent === undefined || line.length <= MAX_LINE_CHARACTERS ? line : parts.join(`\n${indent}  `);
}

/** `open` items `close`, on one line or one item per line. */
function enclosed<Item>(
  open: string,
  items: readonly Item[],
  print: (item: Item, indent: Indent) => string,
  close: string,
  indent: Indent,
): string {
  if (items.length === 0) return `${open.trim()}${close.trim()}`;
  const line = `${open}${items.map((item) => print(item, undefined)).join(", ")}${close}`;
  if (indent === undefined || indent.length + line.length <= MAX_LINE_CHARACTERS) return line;
  const inner = `${indent}  `;
  const lines = items.map((item) => `${inner}${print(item, inner)},\n`);
  return `${open.trim()}\n${lines.join("")}${indent}${close.trim()}`;
}

function printArguments(args: readonly Expression[], indent: Indent): string {
  const [only] = args;
  const hugs = args.length === 1 && only !== undefined && ["object", "array", "arrow"].includes(only.kind);
  return hugs ? `(${printExpression(only, indent)})` : enclosed("(", args, printExpression, ")", indent);
}

function printBinary(expression: Expression & { kind: "binary" }, indent: Indent): string {
  const own = PRECEDENCE[expression.operator] ?? 0;
  const rightAssociative = expression.operator === "**";
  const left = printIn(expression.left, rightAssociative ? UNARY + 1 : own, indent);
  const right = printIn(expression.right, rightAssociative ? own : own + 1, indent);
  return `${left} ${expression.operator} ${right}`;
}

/** In parentheses where it binds weaker than its surroundings. */
function printIn(expression: Expression, level: number, indent: Indent): string {
  const printed = printExpression(expression, indent);
  return precedenceOf(expression) < level ? `(${printed})` : printed;
}

function precedenceOf(expression: Expression): number {
  if (expression.kind === "binary") return PRECEDENCE[expression.operator] ?? 0;
  if (expression.kind === "not" || expression.kind === "await") return UNARY;
  if (["conditional", "arrow", "spread"].includes(expression.kind)) return 0;
  if (expression.kind === "literal" && typeof expression.value === "number" && expression.value < 0)
    return UNARY;
  return POSTFIX + 1;
}

function printKeyAccess(key: string): string {
  return isIdentifier(key) ? `.${key}` : `[${quote(key)}]`;
}

function printKey(key: string): string {
  if (key === "__proto__") return `[${quote(key)}]`;
  return isIdentifier(key) ? key : quote(key);
}

function printEntry(entry: ObjectEntry, indent: Indent): string {
  if ("spread" in entry) return `...(${printExpression(entry.spread, indent)})`;
  if (entry.value.kind === "name" && entry.value.name === entry.key) return entry.key;
  return `${printKey(entry.key)}: ${printExpression(entry.value, indent)}`;
}

function printJson(value: JsonValue, indent: Indent): string {
  if (typeof value === "string") return quote(value);
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (value === null || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return enclosed("[", value, printJson, "]", indent);
  const print = ([key, item]: [string, JsonValue], inner: Indent): string =>
    `${printKey(key)}: ${printJson(item, inner)}`;
  return enclosed("{ ", Object.entries(value), print, " }", indent);
}

function printTemplate(parts: readonly (string | Expression)[]): string {
  const printed = parts.map((part) => {
    if (typeof part !== "string") return `\${${printExpression(part)}}`;
    return quote(part).slice(1, -1).replaceAll('\\"', '"').replaceAll("`", "\\`").replaceAll("${", "\\${");
  });
  return `\`${printed.join("")}\``;
}

/** A program as TypeScript. */
export function printProgram({ imports, helpers, statements, value }: Program): string {
  const sections = [
    imports.size > 0 ? printImports(imports) : "",
    ...helpers,
    statements.map((statement) => printStatement(statement, "")).join("\n"),
    `export default ${printExpression(value, "")};`,
  ];
  return `${sections.filter((section) => section !== "").join("\n\n")}\n`;
}

function printImports(imports: Program["imports"]): string {
  const isNode = (module: string): number => (module.startsWith("node:") ? 0 : 1);
  return [...imports]
    .toSorted(([a], [b]) => isNode(a) - isNode(b) || (a < b ? -1 : 1))
    .map(([module, names]) => `import { ${[...names].toSorted().join(", ")} } from ${quote(module)};`)
    .join("\n");
}

function printStatement(statement: Statement, pad: string): string {
  switch (statement.kind) {
    case "const":
      return `${pad}const ${statement.name} = ${printExpression(statement.value, pad)};`;
    case "assign":
      return `${pad}${printExpression(statement.target, pad)} = ${printExpression(statement.value, pad)};`;
    case "do":
      return `${pad}${printExpression(statement.value, pad)};`;
    case "throw":
      return `${pad}throw new Error(${printExpression(statement.message)});`;
    case "comment":
      return `${pad}// ${statement.text.replaceAll(/[^\x20-\x7E]+/gu, " ")}`;
    case "if": {
      const head = `${pad}if (${printExpression(statement.test)}) {\n${printBlock(statement.body, pad)}${pad}}`;
      return statement.otherwise.length === 0
        ? head
        : `${head} else {\n${printBlock(statement.otherwise, pad)}${pad}}`;
    }
  }
}

function printBlock(statements: readonly Statement[], pad: string): string {
  return statements.map((statement) => `${printStatement(statement, `${pad}  `)}\n`).join("");
}
