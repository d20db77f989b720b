import * as ts from "typescript/unstable/ast";
import { SignatureKind, TypeFlags, type Checker, type Type } from "typescript/unstable/async";
import { constantOf, createHiddenPromises, type HiddenPromises, withoutCasts } from "./hidden-promises.ts";
import { promiseUses, type PromiseUse } from "./promise-uses.ts";
import { clip, declaredBy, isPromise, itemOf, membersOf, type Explanation } from "./type-facts.ts";

/** How deep a value is searched for promises. */
const MAX_DEPTH = 4;
const MAX_PROPERTIES = 50;
/** Maximum number of uses of values to check for promises. */
const MAX_USES = 2_000;
/** Longer callbacks are not searched for `await`, since callbacks may be nested. */
const MAX_CALLBACK_CHARACTERS = 2_000;

export async function misusedPromises(source: ts.SourceFile, checker: Checker) {
  const uses = promiseUses(source).slice(0, MAX_USES);
  const types = await checker.getTypeAtLocation(uses.map(({ expression }) => expression));
  const hidden = createHiddenPromises(source, checker);
  const found = uses.map(async (use, index): Promise<(Explanation & { pos: number })[]> => {
    const type = types[index];
    const message = type === undefined ? undefined : await messageFor(use, type, { checker, hidden });
    return message === undefined ? [] : [{ rule: "missing-await", message, pos: use.expression.getStart() }];
  });
  return (await Promise.all(found)).flat();
}

async function messageFor(
  promiseUse: PromiseUse,
  type: Type,
  { checker, hidden }: { checker: Checker; hidden: HiddenPromises },
): Promise<string | undefined> {
  const { use, expression } = promiseUse;
  if (use === "cast") return castText(expression, type, checker);
  if (
    (use === "result" || use === "printed") &&
    (await hidden.fill(expression)) &&
    (await holdsAny(type, checker))
  ) {
    return `${clip(expression.getText())} holds Promises: await each before it is put there.`;
  }
  if ((type.flags & TypeFlags.Any) !== 0) {
    // A program's result is awaited, and a value read from storage may be missing.
    if (use === "result" || use === "awaited" || use === "condition") return undefined;
    const promise = await hidden.behind(expression);
    return promise === undefined ? undefined : awaitText(clip(expression.getText()));
  }
  // TypeScript itself reports a member that a promise does not have.
  if (use === "member" || (type.flags & (TypeFlags.Object | TypeFlags.Union)) === 0) return undefined;
  return problemOf(promiseUse, type, checker);
}

/** The message about a promise that is cast to the type of its value. */
async function castText(expression: ts.Expression, type: Type, checker: Checker) {
  if (!type.isObjectType() || (await checker.getPropertyOfType(type, "then")) !== undefined) return undefined;
  const value = withoutCasts(expression);
  const given = await checker.getTypeAtLocation(value);
  if (given === undefined || !given.isObjectType() || !(await isPromise(given))) return undefined;
  const text = clip(value.getText());
  return `${text} is a Promise, and a cast does not wait for it: write (await ${text}).`;
}

/** Whether the values of a Map or a record have type `any`. */
async function holdsAny(type: Type, checker: Checker): Promise<boolean> {
  const [index] = await checker.getIndexInfosOfType(type);
  return index !== undefined && (index.valueType.flags & TypeFlags.Any) !== 0;
}

async function problemOf({ use, expression }: PromiseUse, type: Type, checker: Checker) {
  const text = clip(expression.getText());
  switch (use) {
    case "value":
      return (await isPromiseOrNothing(type)) ? awaitText(text) : undefined;
    case "condition":
      return (await isPromise(type)) && (await isMadeHere(expression, checker)) ? awaitText(text) : undefined;
    case "printed":
      return (await isPromiseOrNothing(type)) ? awaitText(text) : heldText(expression, type, checker);
    case "items":
    case "awaited":
      return (await isListOfPromises(type, checker)) ? allText(text) : undefined;
    case "result":
      return heldText(expression, (await valueOf(type, checker)) ?? type, checker);
    case "reducer":
      return reducerText(expression, type, checker);
    case "each":
      return eachText(expression, type, checker);
    default:
      return predicateText(type, checker);
  }
}

function awaitText(text: string): string {
  return `${text} is a Promise: write (await ${text}).`;
}

function allText(text: string): string {
  return `${text} is a list of Promises: write await Promise.all(${text}).`;
}

async function returnsPromise(callback: Type, checker: Checker): Promise<boolean> {
  const [signature] = await checker.getSignaturesOfType(callback, SignatureKind.Call);
  const answer = signature === undefined ? undefined : await checker.getReturnTypeOfSignature(signature);
  return answer !== undefined && isPromise(answer);
}

/** The message about an async callback of `forEach`, for which the program does not wait. */
async function eachText(callback: ts.Expression, type: Type, checker: Checker): Promise<string | undefined> {
  const waits = !/^async\b(?![^]*\bawait\b)/u.test(callback.getText());
  if (!waits || !(await returnsPromise(type, checker))) return undefined;
  return "forEach does not wait for its callback, which returns a Promise: write for (const item of list) with await.";
}

async function predicateText(type: Type, checker: Checker): Promise<string | undefined> {
  if (!(await returnsPromise(type, checker))) return undefined;
  return "The callback returns a Promise, which is not waited for here and counts as true: await what it needs before, with await Promise.all(list.map(…)).";
}

/** The message about an async callback of `reduce` whose initial value is not a promise. */
async function reducerText(callback: ts.Expression, type: Type, checker: Checker) {
  if (!ts.isCallExpression(callback.parent) || !readsUnawaited(callback)) return undefined;
  if (!(await returnsPromise(type, checker))) return undefined;
  const initial = callback.parent.arguments[1];
  const first = initial === undefined ? undefined : await checker.getTypeAtLocation(initial);
  if (first === undefined || (first.flags & TypeFlags.Any) !== 0 || (await isPromise(first)))
    return undefined;
  return "The callback of reduce returns a Promise, which the next one is given: use a for…of loop with await.";
}

/** Whether a function reads its first parameter and never awaits it. False if it is too long to be searched. */
function readsUnawaited(callback: ts.Expression): boolean {
  if (callback.end - callback.pos > MAX_CALLBACK_CHARACTERS) return false;
  if (!ts.isArrowFunction(callback) && !ts.isFunctionExpression(callback)) return true;
  const name = callback.parameters[0]?.name.getText();
  let isRead = false;
  const pending: ts.Node[] = [callback.body];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (ts.isAwaitExpression(node) && withoutCasts(node.expression).getText() === name) return false;
    isRead ||= ts.isIdentifier(node) && node.text === name;
    node.forEachChild((child) => void pending.push(child));
  }
  return isRead;
}

/** The message about a value that contains promises; `undefined` for one that contains none. */
async function heldText(
  expression: ts.Expression,
  type: Type,
  checker: Checker,
): Promise<string | undefined> {
  const text = clip(expression.getText());
  if (await isListOfPromises(type, checker)) return allText(text);
  if (ts.isArrayLiteralExpression(expression)) {
    const types = await checker.getTypeAtLocation(expression.elements);
    for (const [index, part] of types.entries()) {
      const element = expression.elements[index];
      if (element === undefined || part === undefined) continue;
      const told = await partText(element, part, checker);
      if (told !== undefined) return told;
    }
    return undefined;
  }
  if (ts.isObjectLiteralExpression(expression)) {
    for (const property of expression.properties) {
      if (!ts.isPropertyAssignment(property)) continue;
      const part = await checker.getTypeAtLocation(property.initializer);
      const told = part === undefined ? undefined : await partText(property.initializer, part, checker);
      if (told !== undefined) return told;
    }
  }
  const path = await pathToPromise(type, checker, 0);
  return path === undefined ? undefined : `${text} holds a Promise in ${path}: write await where it is made.`;
}

async function partText(expression: ts.Expression, type: Type, checker: Checker) {
  if (await isPromise(type)) return awaitText(clip(expression.getText()));
  return heldText(expression, type, checker);
}

/** Where a value contains a promise: `weather` or `[].weather`. */
async function pathToPromise(type: Type, checker: Checker, depth: number): Promise<string | undefined> {
  if (depth === MAX_DEPTH || !type.isObjectType()) return undefined;
  const item = await itemOf(type, checker);
  if (item !== undefined) {
    const path = await pathToPromise(item, checker, depth + 1);
    return path === undefined ? undefined : `[].${path}`;
  }
  const [index] = await checker.getIndexInfosOfType(type);
  if (index !== undefined && (await isPromise(index.valueType))) return "each property";
  const symbol = await type.getSymbol();
  if (symbol === undefined || symbol.declarations.some((one) => declaredBy(one) !== "program"))
    return undefined;
  const properties = (await checker.getPropertiesOfType(type)).slice(0, MAX_PROPERTIES);
  const types = await checker.getTypeOfSymbol(properties);
  for (const [index, { name }] of properties.entries()) {
    const part = types[index];
    if (part === undefined) continue;
    if (await isPromise(part)) return name;
    if (await isListOfPromises(part, checker)) return name;
    const path = await pathToPromise(part, checker, depth + 1);
    if (path !== undefined) return path.startsWith("[") ? name + path : `${name}.${path}`;
  }
  return undefined;
}

async function isListOfPromises(type: Type, checker: Checker): Promise<boolean> {
  const item = type.isObjectType() ? await itemOf(type, checker) : undefined;
  return item !== undefined && isPromise(item);
}

/** The type of a promise's value. */
async function valueOf(type: Type, checker: Checker): Promise<Type | undefined> {
  if (!(await isPromise(type)) || !type.isObjectType() || !type.isTypeReference()) return undefined;
  const [value] = await checker.getTypeArguments(type);
  return value;
}

async function isPromiseOrNothing(type: Type): Promise<boolean> {
  const members = await membersOf(type);
  const others = members.filter(({ flags }) => (flags & (TypeFlags.Null | TypeFlags.Undefined)) === 0);
  if (others.length === 0) return false;
  return !(await Promise.all(others.map(isPromise))).includes(false);
}

/** Whether the value certainly exists: a call, or a constant initialized by one. A value read from a table may be missing. */
async function isMadeHere(expression: ts.Expression, checker: Checker): Promise<boolean> {
  if (ts.isCallExpression(expression)) return true;
  const initial = ts.isIdentifier(expression) ? await constantOf(expression, checker) : undefined;
  return initial !== undefined && ts.isCallExpression(initial);
}
