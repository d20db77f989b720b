import { couldFit } from "./could-fit.ts";
import {
  clip,
  declaredBy,
  isOptionalProperty,
  isPromise,
  itemOf,
  membersOf,
  nearNames,
  nonNullText,
  shapeText,
  suggestion,
  typeText,
} from "./type-facts.ts";
import type { Explanation } from "./type-facts.ts";
import {
  type ArrayLiteralExpression,
  type CallExpression,
  type Checker,
  type Expression,
  isArrayLiteralExpression,
  isCallExpression,
  isIdentifier,
  isObjectLiteralExpression,
  isParameterDeclaration,
  isPropertyAssignment,
  isShorthandPropertyAssignment,
  isSourceFile,
  isStatement,
  isStringLiteral,
  type Node,
  type Signature,
  SignatureKind,
  type Symbol,
  type Type,
  TypeFlags,
} from "./typescript.ts";

const MAX_NAME_CHARACTERS = 80;
/** How many mistakes in one call are told. */
const MAX_PROBLEMS = 10;

/** A call of a tool. */
interface ToolCall {
  /** The name that the program calls it by. */
  tool: string;
  call: CallExpression;
}

/** Explains arguments that a tool does not accept. Calls of other functions are not reported: they may coerce. */
export async function explainCall(node: Node, checker: Checker): Promise<Explanation | undefined> {
  const call = enclosingCall(node);
  if (call === undefined) return undefined;
  const signature = await checker.getResolvedSignature(call);
  if (signature === undefined || declaredBy(signature.declaration) !== "tool") {
    return (await explainReference(node, checker)) ?? explainPromise(node, checker);
  }
  const tool = call.expression.getText().slice(0, MAX_NAME_CHARACTERS);
  const problems = await callProblems({ tool, call }, signature, checker);
  if (problems.length === 0) return undefined;
  return { rule: "wrong-arguments", message: problems.slice(0, MAX_PROBLEMS).join(" ") };
}

async function callProblems(called: ToolCall, signature: Signature, checker: Checker): Promise<string[]> {
  const { tool, call } = called;
  const parameters = await signature.getParameters();
  const problems = await Promise.all(
    parameters.map((parameter, index) => argumentProblems(called, call.arguments[index], parameter, checker)),
  );
  const takes = parameters.length;
  const extra = call.arguments.slice(takes);
  const few =
    signature.hasRestParameter || extra.every(isEmptyObject)
      ? []
      : [`${tool} takes ${takes === 1 ? "1 argument" : `${takes} arguments`}, not ${call.arguments.length}.`];
  return [...problems.flat(), ...few];
}

/** Whether an argument is `{}`: a tool without parameters may be called like the others, `ping({})`. */
function isEmptyObject(argument: Expression): boolean {
  return isObjectLiteralExpression(argument) && argument.properties.length === 0;
}

function enclosingCall(node: Node): CallExpression | undefined {
  for (let part = node; !isSourceFile(part); part = part.parent) {
    if (isCallExpression(part)) return part;
    if (isStatement(part)) return undefined;
  }
  return undefined;
}

/** Explains a tool that is passed as a callback and would get arguments it does not accept: `cities.map(get_weather)`. */
async function explainReference(node: Node, checker: Checker): Promise<Explanation | undefined> {
  if (!isIdentifier(node) || !isCallExpression(node.parent)) return undefined;
  const type = await checker.getTypeAtLocation(node);
  const [signature] = type === undefined ? [] : await checker.getSignaturesOfType(type, SignatureKind.Call);
  if (signature === undefined || declaredBy(signature.declaration) !== "tool") return undefined;
  const parameters = (await signature.getParameters()).map(async (parameter) =>
    shapeText(await checker.getTypeOfSymbolAtLocation(parameter, node), node, checker),
  );
  const takes = (await Promise.all(parameters)).join(", ");
  const message = `${node.text} takes ${takes} and can't be passed as a callback: write (item) => ${node.text}(…).`;
  return { rule: "wrong-arguments", message };
}

/** Explains a promise that one of the program's own functions is given in place of its value. */
async function explainPromise(node: Node, checker: Checker): Promise<Explanation | undefined> {
  const start = node.getStart();
  let argument: Expression | undefined;
  for (let part = node; argument === undefined && !isSourceFile(part); part = part.parent) {
    if (isCallExpression(part)) argument = part.arguments.find((one) => one.getStart() === start);
  }
  const type = argument === undefined ? undefined : await checker.getTypeAtLocation(argument);
  if (argument === undefined || type === undefined || !(await isPromise(type))) return undefined;
  const text = clip(argument.getText());
  return { rule: "missing-await", message: `${text} is a Promise: write (await ${text}).` };
}

async function argumentProblems(
  { tool, call }: ToolCall,
  argument: Expression | undefined,
  parameter: Symbol,
  checker: Checker,
): Promise<string[]> {
  const wanted = await checker.getTypeOfSymbolAtLocation(parameter, call);
  if (argument === undefined) {
    if (await isOptionalParameter(parameter)) return [];
    return [`${tool} needs ${await shapeText(wanted, call, checker)}.`];
  }
  const given = await checker.getTypeAtLocation(argument);
  if (given === undefined) return [];
  if (wanted.isObjectType() && given.isObjectType() && !(await checker.isArrayLikeType(given))) {
    const problems = await objectProblems(tool, argument, { given, wanted, path: "" }, checker);
    if (problems.length > 0) return problems;
  }
  if (await couldFit(given, wanted, checker)) return [];
  return [`${tool} takes ${await shapeText(wanted, call, checker)}, not ${await typeText(given, checker)}.`];
}

/** An object that is given where another is wanted. */
interface GivenObject {
  given: Type;
  wanted: Type;
  /** Where it stands in the argument: `filter.`; the empty string for the argument itself. */
  path: string;
}

async function objectProblems(
  tool: string,
  argument: Expression,
  { given, wanted, path }: GivenObject,
  checker: Checker,
): Promise<string[]> {
  const [properties, own, indexes, ownIndexes] = await Promise.all([
    checker.getPropertiesOfType(wanted),
    checker.getPropertiesOfType(given),
    checker.getIndexInfosOfType(wanted),
    checker.getIndexInfosOfType(given),
  ]);
  const names = properties.map(({ name }) => name);
  // Only a literal is checked for unknown properties: another object may carry more than the tool needs.
  const isClosed = isObjectLiteralExpression(argument) && indexes.length === 0;
  const unknown = isClosed ? own.filter(({ name }) => !names.includes(name)) : [];
  const others = properties.map(async (property): Promise<string[]> => {
    const name = path + property.name;
    const type = await checker.getTypeOfSymbolAtLocation(property, argument);
    const found = own.find((one) => one.name === property.name);
    if (found === undefined) {
      return isOptionalProperty(property) || ownIndexes.length > 0
        ? []
        : [`${tool} needs ${name} (${await typeText(type, checker)}).`];
    }
    const ownType = await checker.getTypeOfSymbolAtLocation(found, argument);
    const inner = await innerProblems(tool, argument, { found, type, ownType, path: `${name}.` }, checker);
    if (inner.length > 0) return inner;
    if (await couldFit(ownType, type, checker)) return [];
    const [takes, has] = await Promise.all([nonNullText(type, checker), typeText(ownType, checker)]);
    const near = suggestion(await nearOptions(ownType, type));
    const written = near === "" ? await conversionOf(valueOf(argument, property.name), ownType, type) : "";
    return [`${tool} takes ${name}: ${takes}, not ${has}.${near}${written}`];
  });
  const told = unknown
    .slice(0, MAX_PROBLEMS)
    .map(({ name }) => unknownParameter(tool, path + name, path, names));
  return [...told, ...(await Promise.all(others)).flat()];
}

/** The expression that a property of an object literal is given; for `{ city }` its name. */
function valueOf(argument: Expression, name: string): Node | undefined {
  if (!isObjectLiteralExpression(argument)) return undefined;
  for (const property of argument.properties) {
    const isGiven = isPropertyAssignment(property) || isShorthandPropertyAssignment(property);
    if (!isGiven || property.name.getText() !== name) continue;
    return isPropertyAssignment(property) ? property.initializer : property.name;
  }
  return undefined;
}

/** What to write in place of an expression whose value only has the wrong type: ` Write String(row.id).` */
async function conversionOf(value: Node | undefined, given: Type, wanted: Type): Promise<string> {
  if (value === undefined || isStringLiteral(value)) return "";
  const isText = (given.flags & TypeFlags.StringLike) !== 0;
  const isNumber = (given.flags & TypeFlags.NumberLike) !== 0;
  const isTruth = (given.flags & TypeFlags.BooleanLike) !== 0;
  const options = await membersOf(wanted);
  const takes = (flag: TypeFlags): boolean => options.some(({ flags }) => (flags & flag) !== 0);
  const text = clip(value.getText());
  if ((isNumber || isTruth) && takes(TypeFlags.String)) return ` Write String(${text}).`;
  return isText && takes(TypeFlags.Number) ? ` Write Number(${text}).` : "";
}

/** What is wrong within a property that is written as an object literal. */
async function innerProblems(
  tool: string,
  argument: Expression,
  property: { found: Symbol; type: Type; ownType: Type; path: string },
  checker: Checker,
): Promise<string[]> {
  const { found, type, ownType, path } = property;
  const literal = isObjectLiteralExpression(argument)
    ? argument.properties.find((one) => isPropertyAssignment(one) && one.name.getText() === found.name)
    : undefined;
  if (literal === undefined || !isPropertyAssignment(literal)) return [];
  const wanted = (await checker.getNonNullableType(type)) ?? type;
  const { initializer } = literal;
  if (isArrayLiteralExpression(initializer))
    return itemProblems(tool, initializer, { wanted, path }, checker);
  if (!isObjectLiteralExpression(initializer) || !wanted.isObjectType() || !ownType.isObjectType()) return [];
  if (await checker.isArrayLikeType(wanted)) return [];
  return objectProblems(tool, initializer, { given: ownType, wanted, path }, checker);
}

/** What is wrong with the object literals of a list. */
async function itemProblems(
  tool: string,
  list: ArrayLiteralExpression,
  { wanted, path }: Pick<GivenObject, "wanted" | "path">,
  checker: Checker,
): Promise<string[]> {
  const item = await itemOf(wanted, checker);
  if (item?.isObjectType() !== true || (await checker.isArrayLikeType(item))) return [];
  const problems = list.elements.map(async (element, index): Promise<string[]> => {
    const given = isObjectLiteralExpression(element) ? await checker.getTypeAtLocation(element) : undefined;
    if (given === undefined) return [];
    const place = `${path.slice(0, -1)}[${index}].`;
    return objectProblems(tool, element, { given, wanted: item, path: place }, checker);
  });
  return (await Promise.all(problems)).flat();
}

function unknownParameter(tool: string, name: string, path: string, names: readonly string[]): string {
  const near = nearNames(name.slice(path.length), names);
  const takes = path === "" ? "It" : path.slice(0, -1);
  const others = near.length > 0 ? suggestion(near) : ` ${takes} takes ${names.join(", ")}.`;
  return `${tool} has no parameter ${name}.${others}`;
}

async function nearOptions(given: Type, wanted: Type): Promise<string[]> {
  if (!given.isStringLiteralType()) return [];
  const options = await membersOf(wanted);
  return nearNames(
    given.value,
    options.flatMap((one) => (one.isStringLiteralType() ? [one.value] : [])),
  );
}

async function isOptionalParameter(parameter: Symbol): Promise<boolean> {
  const declaration = await parameter.valueDeclaration?.resolve();
  if (declaration === undefined || !isParameterDeclaration(declaration)) return false;
  return (
    declaration.questionToken !== undefined ||
    declaration.initializer !== undefined ||
    declaration.dotDotDotToken !== undefined
  );
}
