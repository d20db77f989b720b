import type { JsonValue } from "@cem/core";

/** A TypeScript expression as data. Text from outside only ever gets in through `literal` and object keys. */
export type Expression =
  | { kind: "literal"; value: JsonValue }
  | { kind: "name"; name: string }
  | { kind: "member"; of: Expression; key: string; optional?: boolean | undefined }
  | { kind: "index"; of: Expression; at: Expression }
  | { kind: "call"; callee: Expression; args: readonly Expression[] }
  | { kind: "new"; callee: string; args: readonly Expression[] }
  | { kind: "await"; value: Expression }
  | { kind: "arrow"; parameters: readonly string[]; body: Expression; isAsync?: boolean | undefined }
  | { kind: "binary"; left: Expression; operator: string; right: Expression }
  | { kind: "unary"; operator: "-" | "!" | "typeof "; value: Expression }
  | { kind: "conditional"; test: Expression; yes: Expression; no: Expression }
  | { kind: "object"; entries: readonly ObjectEntry[] }
  | { kind: "array"; items: readonly Expression[] }
  | { kind: "spread"; value: Expression }
  | { kind: "as"; value: Expression; type: string }
  | { kind: "template"; parts: readonly (string | Expression)[] };

export type ObjectEntry = { key: string; value: Expression } | { spread: Expression };

export const literal = (value: JsonValue): Expression => ({ kind: "literal", value });
export const name = (text: string): Expression => ({ kind: "name", name: text });
export const member = (of: Expression, key: string): Expression => ({ kind: "member", of, key });
export const index = (of: Expression, at: Expression): Expression => ({ kind: "index", of, at });
export const awaited = (value: Expression): Expression => ({ kind: "await", value });
export const array = (items: readonly Expression[]): Expression => ({ kind: "array", items });
export const spread = (value: Expression): Expression => ({ kind: "spread", value });
export const cast = (value: Expression, type: string): Expression => ({ kind: "as", value, type });
export const not = (value: Expression): Expression => ({ kind: "unary", operator: "!", value });

export function call(callee: Expression | string, ...args: Expression[]): Expression {
  return { kind: "call", callee: typeof callee === "string" ? name(callee) : callee, args };
}

/** `of.method(...args)` */
export function method(of: Expression, key: string, ...args: Expression[]): Expression {
  return { kind: "call", callee: member(of, key), args };
}

export function arrow(parameters: readonly string[], body: Expression, isAsync = false): Expression {
  return { kind: "arrow", parameters, body, isAsync };
}

export function binary(left: Expression, operator: string, right: Expression): Expression {
  return { kind: "binary", left, operator, right };
}

export function conditional(test: Expression, yes: Expression, no: Expression): Expression {
  return { kind: "conditional", test, yes, no };
}

export function object(entries: Readonly<Record<string, Expression>> | readonly ObjectEntry[]): Expression {
  const list = Array.isArray(entries) ? (entries as readonly ObjectEntry[]) : undefined;
  return {
    kind: "object",
    entries:
      list ?? Object.entries(entries as Record<string, Expression>).map(([key, value]) => ({ key, value })),
  };
}

export function template(...parts: (string | Expression)[]): Expression {
  return { kind: "template", parts };
}

/** Every variable that an expression reads. */
export function namesIn(expression: Expression): Set<string> {
  const names = new Set<string>();
  visit(expression, (part) => {
    if (part.kind === "name") names.add(part.name);
    if (part.kind === "new") names.add(part.callee);
  });
  return names;
}

/** Whether evaluating it awaits something outside of a function of its own. */
export function awaits(expression: Expression): boolean {
  if (expression.kind === "await") return true;
  if (expression.kind === "arrow") return false;
  return childrenOf(expression).some(awaits);
}

function visit(expression: Expression, seen: (part: Expression) => void): void {
  seen(expression);
  for (const child of childrenOf(expression)) visit(child, seen);
}

function childrenOf(expression: Expression): Expression[] {
  switch (expression.kind) {
    case "literal":
    case "name":
      return [];
    case "member":
      return [expression.of];
    case "index":
      return [expression.of, expression.at];
    case "call":
      return [expression.callee, ...expression.args];
    case "new":
      return [...expression.args];
    case "await":
    case "unary":
    case "spread":
    case "as":
      return [expression.value];
    case "arrow":
      return [expression.body];
    case "binary":
      return [expression.left, expression.right];
    case "conditional":
      return [expression.test, expression.yes, expression.no];
    case "object":
      return expression.entries.map((entry) => ("spread" in entry ? entry.spread : entry.value));
    case "array":
      return [...expression.items];
    case "template":
      return expression.parts.filter((part) => typeof part !== "string");
  }
}
