import { identifierKey } from "@cem/core/text";
import { STOPPING_CODES, textOf, type Diagnostic } from "../compiler/diagnostics.ts";
import type { ProgramView } from "../compiler/native-compiler.ts";
import { INSTEAD_OF_NAME } from "./name-hints.ts";
import * as ts from "typescript/unstable/ast";
import { SignatureKind, TypeFlags, type Checker, type Signature, type Type } from "typescript/unstable/async";
import {
  enclosingCall,
  factsOf,
  isGuarded,
  isInType,
  isRequired,
  isTypeImport,
  iteratedValue,
  memberReadAt,
  nodeAt,
  partAt,
} from "./program-facts.ts";
import {
  clip,
  couldFit,
  declaredBy,
  isKnown,
  isOwnObject,
  isPromise,
  itemOf,
  membersOf,
  ofTool,
  shapeText,
  someOf,
  SUGGESTION,
  toolModuleName,
  withMembers,
  withNames,
  type Explanation,
} from "./type-facts.ts";

/** Advice to install type definitions, which a program can't follow, and suggestions that are never meant. */
const USELESS_ADVICE = / (?:Do you need |Try |Did you mean '(?:undefined|fixed)')/u;
/** Methods that a large result has in addition to the tool's value; no declaration lists them. */
const HANDLE_METHODS: ReadonlySet<string> = new Set(["page", "items", "text", "json", "bytes"]);
const ITERATOR = "__@iterator";
const TEXT_AS_NUMBER =
  /(?:Type|Argument of type) 'string' is not assignable to (?:parameter of )?type 'number'\./u;
/** Union types of strings, such as an enum's. */
const TEXTS = /" \| "/u;
/** Codes of properties that the type does not have; of too many or too few arguments. */
const UNKNOWN_PROPERTY = new Set([2353, 2561]);
const ARGUMENT_COUNT = new Set([2554, 2555]);
const MISSING = /Property '([^']{1,200})' is missing/u;

interface Place {
  node: ts.Node;
  checker: Checker;
  diagnostic: Diagnostic;
}

type Explain = (place: Place) => Promise<Explanation | undefined>;

const EXPLAIN: Record<keyof typeof STOPPING_CODES, Explain> = {
  import: explainImport,
  name: explainName,
  member: explainMember,
  uncallable: explainUncallable,
  call: explainCall,
  iteration: explainIteration,
  comparison: async ({ diagnostic }) => {
    const message = textOf(diagnostic);
    return TEXTS.test(message) ? { rule: "unknown-member", message, severity: "warning" } : undefined;
  },
  constant: async ({ diagnostic }) => ({ rule: "constant-assigned", message: textOf(diagnostic) }),
};

const EXPLAIN_BY_CODE = new Map<number, Explain>(
  Object.entries(STOPPING_CODES).flatMap(([topic, codes]) =>
    codes.map((code) => [code, EXPLAIN[topic as keyof typeof STOPPING_CODES]] as const),
  ),
);

/**
 * Decides whether a diagnostic stops the code or gives a warning. The message is TypeScript's own, plus the names or
 * the shape that it does not mention.
 *
 * @returns `undefined` when a run may still succeed.
 */
export async function explain(diagnostic: Diagnostic, { source, checker }: ProgramView) {
  return EXPLAIN_BY_CODE.get(diagnostic.code)?.({
    node: nodeAt(source, diagnostic.pos),
    checker,
    diagnostic,
  });
}

/** An import of a name that a tool's module does not export. */
async function explainImport({ node, checker, diagnostic }: Place): Promise<Explanation | undefined> {
  let statement = node;
  while (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) {
    if (ts.isSourceFile(statement)) return undefined;
    statement = statement.parent;
  }
  const { moduleSpecifier } = statement;
  if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier) || isTypeImport(node))
    return undefined;
  const symbol = await checker.getSymbolAtLocation(moduleSpecifier);
  if (toolModuleName(moduleSpecifier.text) === undefined || symbol === undefined) return undefined;
  const exported = (await checker.getExportsOfModule(symbol)).map(({ name }) => name);
  const said = textOf(diagnostic);
  // TypeScript suggests one of the names that differ in their style only.
  const key = identifierKey(node.getText());
  const others = exported.filter((name) => identifierKey(name) === key && !said.includes(`'${name}'`));
  const message = [said, ...others.map((name) => `Or '${name}'?`)].join(" ");
  return { rule: "unknown-export", message: withNames(message, "It exports", exported) };
}

/** A name that nothing declares. */
async function explainName({ node, diagnostic }: Place): Promise<Explanation | undefined> {
  if (!ts.isIdentifier(node) || ts.isTypeOfExpression(node.parent) || isInType(node)) return undefined;
  // The program tests whether the name exists, `typeof Bun !== "undefined"`, or makes it: `globalThis.cache = {}`.
  if (factsOf(node.getSourceFile()).globalNames.has(node.text) || isRequired(node)) return undefined;
  const said = textOf(diagnostic).split(USELESS_ADVICE, 1).join("");
  const instead = SUGGESTION.test(said) ? undefined : INSTEAD_OF_NAME.get(node.text);
  return { rule: "unknown-name", message: instead === undefined ? said : `${said} ${instead}` };
}

/**
 * A member that a value does not have, unless the program assigns that member. For an object that the program itself
 * created it is a warning: the code still runs, and the warning explains why a value is missing in the result.
 */
async function explainMember({ node, checker, diagnostic }: Place): Promise<Explanation | undefined> {
  const { name, type, called, text, path } = (await memberReadAt(node, checker)) ?? {};
  if (name === undefined || type === undefined) return undefined;
  const nonNull = (await checker.getNonNullableType(type)) ?? type;
  const promised = await isPromise(nonNull);
  const { writtenMembers, openNames, testedMembers } = factsOf(node.getSourceFile());
  const isWritten = writtenMembers.has(name);
  if ((isWritten || openNames.has(text ?? "")) && path !== undefined && !promised) return undefined;
  const members = await membersOf(type);
  // One variant of the union has the member, and the program may know that it has this variant.
  const has = await Promise.all(members.map((member) => checker.getPropertyOfType(member, name)));
  if (has.some((property) => property !== undefined)) return undefined;
  if (promised) {
    const promise = clip(text ?? "it");
    return { rule: "missing-await", message: `${promise} is a Promise: write (await ${promise}).${name}.` };
  }
  if (called === true && HANDLE_METHODS.has(name) && (await someOf(members, ofTool))) return undefined;
  const said = textOf(diagnostic).split(USELESS_ADVICE, 1).join("");
  const message = await withMembers(said, nonNull, checker);
  if (await someOf(members, (member) => isKnown(member, called === true))) {
    const isTested = path !== undefined && testedMembers.has(path);
    const mayBeMore = await someOf(members, async (member) =>
      ofTool((await itemOf(member, checker)) ?? member),
    );
    // A name near to a real one is a mistake there as well.
    if (mayBeMore && !SUGGESTION.test(said) && (isTested || (await isGuarded(node, checker))))
      return { rule: "unknown-member", message, severity: "warning" };
    const object = path === undefined ? "result" : clip(text ?? "result");
    const mayHave = message !== said && called !== true;
    const wayOut = mayHave ? ` If the result has it all the same, read it as ${object}["${name}"].` : "";
    return { rule: "unknown-member", message: message + wayOut };
  }
  if (isWritten || !(await isOwnObject(nonNull, checker))) return undefined;
  return { rule: "unknown-member", message, severity: "warning" };
}

/** A call of a value that is certainly not a function or class. */
async function explainUncallable({ node, checker, diagnostic }: Place): Promise<Explanation | undefined> {
  let call = node;
  while (!ts.isCallExpression(call) && !ts.isNewExpression(call)) {
    if (ts.isStatement(call) || ts.isSourceFile(call)) return undefined;
    call = call.parent;
  }
  const type = await checker.getTypeAtLocation(call.expression);
  if (type === undefined || (await someOf(await membersOf(type), (member) => canBeCalled(member, checker))))
    return undefined;
  return { rule: "not-callable", message: `${clip(call.expression.getText())}: ${textOf(diagnostic)}` };
}

async function canBeCalled(type: Type, checker: Checker): Promise<boolean> {
  if ((type.flags & (TypeFlags.Any | TypeFlags.Unknown | TypeFlags.Never)) !== 0) return true;
  // The type of `this.constructor` has no signatures.
  if ((await type.getSymbol())?.name === "Function") return true;
  const signatures = await Promise.all([
    checker.getSignaturesOfType(type, SignatureKind.Call),
    checker.getSignaturesOfType(type, SignatureKind.Construct),
  ]);
  return signatures.flat().length > 0;
}

/** A value that is iterated but is not a list: `for (const contact of found)` where `found` has `contacts`. */
async function explainIteration({ node, checker, diagnostic }: Place): Promise<Explanation | undefined> {
  const value = iteratedValue(node);
  const type = value === undefined ? undefined : await checker.getTypeAtLocation(value);
  if (value === undefined || type === undefined) return undefined;
  const nonNull = (await checker.getNonNullableType(type)) ?? type;
  const mayBeList = async (member: Type): Promise<boolean> =>
    !(await isKnown(member, false)) || isIterable(member, checker);
  if (await someOf(await membersOf(nonNull), mayBeList)) return undefined;
  const message = await withMembers(textOf(diagnostic), nonNull, checker);
  return { rule: "not-a-list", message: `${clip(value.getText())} is not a list. ${message}` };
}

async function isIterable(type: Type, checker: Checker): Promise<boolean> {
  const apparent = (await checker.getApparentType(type)) ?? type;
  return (await checker.getPropertiesOfType(apparent)).some(({ name }) => name.startsWith(ITERATOR));
}

/** Arguments that a tool does not accept. Calls of other functions are not reported: they may coerce. */
async function explainCall(place: Place): Promise<Explanation | undefined> {
  const { node, checker, diagnostic } = place;
  const call = enclosingCall(node);
  if (call === undefined) return explainText(place);
  const signature = await checker.getResolvedSignature(call);
  if (signature === undefined || declaredBy(signature.declaration) !== "tool") {
    const explained = (await explainReference(place)) ?? (await explainParsed(call, place));
    return explained ?? (await explainText(place)) ?? explainPromise(place);
  }
  const wrong = await wrongPart(call, signature, place);
  if (wrong === undefined) return undefined;
  const { part, wanted } = wrong;
  const text = textOf(diagnostic);
  const isNamed = wanted === undefined || SUGGESTION.test(text);
  const shape = isNamed ? "" : await expectedText(wanted, call, checker);
  const path = [clip(call.expression.getText()), ...propertyNames(part, call)].join(".");
  return { rule: "wrong-arguments", message: `${path}: ${text}${shape}` };
}

/** The part of a tool's arguments that it can't accept, with the expected type; `undefined` when the value could fit. */
async function wrongPart(call: ts.CallExpression, signature: Signature, { checker, diagnostic }: Place) {
  const { code, pos } = diagnostic;
  if (ARGUMENT_COUNT.has(code)) {
    const parameters = await signature.getParameters();
    const extra = call.arguments.slice(parameters.length);
    // A tool without parameters may be called like the others, `ping({})`.
    const isEmpty = (one: ts.Expression): boolean =>
      ts.isObjectLiteralExpression(one) && one.properties.length === 0;
    if (extra.length > 0 && extra.every(isEmpty)) return undefined;
    const missing = parameters[call.arguments.length] ?? parameters[0];
    return { part: call, wanted: missing && (await checker.getTypeOfSymbolAtLocation(missing, call)) };
  }
  const argument = call.arguments.find((one) => one.getStart() <= pos && pos < one.end);
  if (argument === undefined) return undefined;
  const part = partAt(argument, pos, UNKNOWN_PROPERTY.has(code));
  if (mayHaveGrown(part)) return undefined;
  const wanted = await checker.getContextualType(part);
  if (UNKNOWN_PROPERTY.has(code)) return { part, wanted };
  const given = await checker.getTypeAtLocation(part);
  if (given === undefined || wanted === undefined || (await couldFit(given, wanted, checker)))
    return undefined;
  // Rows may get the member after their creation.
  const missing = MISSING.exec(textOf(diagnostic))?.[1];
  const isObject = ts.isObjectLiteralExpression(part);
  if (!isObject && missing !== undefined && factsOf(part.getSourceFile()).writtenMembers.has(missing))
    return undefined;
  return { part, wanted };
}

/** Whether a value may have got members since its creation: `const args = {}; args.city = "Oslo"`. */
function mayHaveGrown(value: ts.Node): boolean {
  const { grownNames } = factsOf(value.getSourceFile());
  if (ts.isIdentifier(value)) return grownNames.has(value.text);
  return (
    ts.isObjectLiteralExpression(value) &&
    value.properties.some((one) => ts.isSpreadAssignment(one) && mayHaveGrown(one.expression))
  );
}

/** The names of the properties that lead to a value in the arguments of a call. */
function propertyNames(value: ts.Node, call: ts.CallExpression): string[] {
  const names: string[] = [];
  for (let part = value; part !== call; part = part.parent) {
    if (ts.isPropertyAssignment(part)) names.unshift(part.name.getText().replaceAll(/["']/gu, ""));
  }
  return names;
}

/** ` It takes { city: string }.`, or nothing for a plain type, which TypeScript's message has. */
async function expectedText(wanted: Type, call: ts.Node, checker: Checker): Promise<string> {
  const type = (await checker.getNonNullableType(wanted)) ?? wanted;
  if (!type.isObjectType() && !type.isUnionType()) return "";
  return ` It takes ${await shapeText(type, call, checker)}.`;
}

/** A tool that is passed as a callback and would get arguments it does not accept: `cities.map(get_weather)`. */
async function explainReference({ node, checker, diagnostic }: Place): Promise<Explanation | undefined> {
  if (!ts.isIdentifier(node) || !ts.isCallExpression(node.parent)) return undefined;
  const type = await checker.getTypeAtLocation(node);
  const [signature] = type === undefined ? [] : await checker.getSignaturesOfType(type, SignatureKind.Call);
  if (signature === undefined || declaredBy(signature.declaration) !== "tool") return undefined;
  const message = `${textOf(diagnostic)} Write (item) => ${node.text}(…).`;
  return { rule: "wrong-arguments", message };
}

/** A tool's string where the program needs a number: `sum += order.total`, which concatenates. */
async function explainText({ node, checker, diagnostic }: Place): Promise<Explanation | undefined> {
  if (!TEXT_AS_NUMBER.test(textOf(diagnostic))) return undefined;
  let whole = node;
  while (!ts.isStatement(whole.parent) && whole.parent.getStart() === diagnostic.pos) whole = whole.parent;
  for (const operand of operandsOf(whole)) {
    if (!ts.isPropertyAccessExpression(operand)) continue;
    const [symbol, type] = await Promise.all([
      checker.getSymbolAtLocation(operand.name),
      checker.getTypeAtLocation(operand),
    ]);
    const isOfTool = symbol?.declarations.some((one) => declaredBy(one) === "tool") === true;
    const members = isOfTool && type !== undefined ? await membersOf(type) : [];
    if (!members.some(({ flags }) => (flags & TypeFlags.StringLike) !== 0)) continue;
    const text = clip(operand.getText());
    return {
      rule: "unknown-member",
      message: `${text} is a text: write Number(${text}).`,
      severity: "warning",
    };
  }
  return undefined;
}

/** The operands of an operator, or the value of a variable. */
function operandsOf(node: ts.Node): ts.Node[] {
  if (ts.isBinaryExpression(node)) return [node.right, node.left].flatMap(operandsOf);
  if (ts.isParenthesizedExpression(node)) return operandsOf(node.expression);
  return ts.isVariableDeclaration(node) && node.initializer !== undefined ? [node.initializer] : [node];
}

/** `JSON.parse` of an object that a tool returned, which would fail only after the tool was called. */
async function explainParsed({ expression, arguments: [argument] }: ts.CallExpression, { checker }: Place) {
  if (argument === undefined || expression.getText() !== "JSON.parse") return undefined;
  const type = await checker.getTypeAtLocation(argument);
  if (type === undefined || !type.isObjectType() || (await checker.isArrayLikeType(type))) return undefined;
  if (!(await ofTool(type))) return undefined;
  const text = clip(argument.getText());
  return {
    rule: "wrong-arguments",
    message: `${text} is an object already: use it as it is, without JSON.parse.`,
  };
}

/** A promise passed to one of the program's own functions in place of its value. */
async function explainPromise({ node, checker }: Place): Promise<Explanation | undefined> {
  const start = node.getStart();
  let argument: ts.Expression | undefined;
  for (let part = node; argument === undefined && !ts.isSourceFile(part); part = part.parent) {
    if (ts.isCallExpression(part)) argument = part.arguments.find((one) => one.getStart() === start);
  }
  const type = argument === undefined ? undefined : await checker.getTypeAtLocation(argument);
  if (argument === undefined || type === undefined || !(await isPromise(type))) return undefined;
  const text = clip(argument.getText());
  return { rule: "missing-await", message: `${text} is a Promise: write (await ${text}).` };
}
