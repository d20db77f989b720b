import { nearest } from "@cem/text";
import ts from "typescript";
import { declaredBy, shapeText, suggestion, typeText } from "./type-facts.ts";
import type { Explanation } from "./type-facts.ts";

const MAX_NAME_CHARACTERS = 80;

/** Explains arguments that a tool does not accept. Calls of other functions are not reported: they may coerce. */
export function explainCall(node: ts.Node, checker: ts.TypeChecker): Explanation | undefined {
  const call = enclosingCall(node);
  if (call === undefined) return undefined;
  const signature = checker.getResolvedSignature(call);
  if (signature === undefined || declaredBy(signature.declaration) !== "tool") {
    return explainReference(node, checker);
  }
  const tool = call.expression.getText().slice(0, MAX_NAME_CHARACTERS);
  const problems = signature.parameters.flatMap((parameter, index) =>
    argumentProblems(tool, call, index, parameter, checker),
  );
  const takes = signature.parameters.length;
  const extra = call.arguments.slice(takes);
  if (!hasRest(signature) && !extra.every(isEmptyObject)) {
    problems.push(
      `${tool} takes ${takes === 1 ? "1 argument" : `${takes} arguments`}, not ${call.arguments.length}.`,
    );
  }
  if (problems.length === 0) return undefined;
  return { rule: "wrong-arguments", message: problems.join(" ") };
}

/** Whether an argument is `{}`: a tool without parameters may be called like the others, `ping({})`. */
function isEmptyObject(argument: ts.Expression): boolean {
  return ts.isObjectLiteralExpression(argument) && argument.properties.length === 0;
}

function enclosingCall(node: ts.Node): ts.CallExpression | undefined {
  for (let part = node; !ts.isSourceFile(part); part = part.parent) {
    if (ts.isCallExpression(part)) return part;
    if (ts.isStatement(part)) return undefined;
  }
  return undefined;
}

/** Explains a tool that is passed as a callback and would get arguments it does not accept: `cities.map(get_weather)`. */
function explainReference(node: ts.Node, checker: ts.TypeChecker): Explanation | undefined {
  if (!ts.isIdentifier(node) || !ts.isCallExpression(node.parent)) return undefined;
  const [signature] = checker.getTypeAtLocation(node).getCallSignatures();
  if (signature === undefined || declaredBy(signature.declaration) !== "tool") return undefined;
  const takes = signature.parameters
    .map((parameter) => shapeText(checker.getTypeOfSymbolAtLocation(parameter, node), node, checker))
    .join(", ");
  const message = `${node.text} takes ${takes} and can't be passed as a callback: write (item) => ${node.text}(…).`;
  return { rule: "wrong-arguments", message };
}

function argumentProblems(
  tool: string,
  call: ts.CallExpression,
  index: number,
  parameter: ts.Symbol,
  checker: ts.TypeChecker,
): string[] {
  const wanted = checker.getTypeOfSymbolAtLocation(parameter, call);
  const argument = call.arguments[index];
  if (argument === undefined) {
    return isOptional(parameter) ? [] : [`${tool} needs ${shapeText(wanted, call, checker)}.`];
  }
  const given = checker.getTypeAtLocation(argument);
  if (isObject(wanted) && isObject(given) && !checker.isArrayLikeType(given)) {
    const problems = objectProblems(tool, argument, given, wanted, checker);
    if (problems.length > 0) return problems;
  }
  if (checker.isTypeAssignableTo(given, wanted)) return [];
  return [`${tool} takes ${shapeText(wanted, call, checker)}, not ${typeText(given, checker)}.`];
}

function objectProblems(
  tool: string,
  argument: ts.Expression,
  given: ts.Type,
  wanted: ts.Type,
  checker: ts.TypeChecker,
): string[] {
  const properties = checker.getPropertiesOfType(wanted);
  const problems: string[] = [];
  // Only a literal is checked for unknown properties: another object may carry more than the tool needs.
  if (ts.isObjectLiteralExpression(argument) && checker.getIndexInfosOfType(wanted).length === 0) {
    const names = properties.map(({ name }) => name);
    for (const { name } of given.getProperties()) {
      if (!names.includes(name)) problems.push(unknownParameter(tool, name, names));
    }
  }
  for (const property of properties) {
    const { name } = property;
    const type = checker.getTypeOfSymbolAtLocation(property, argument);
    const own = given.getProperty(name);
    if (own === undefined) {
      if (!isOptional(property)) problems.push(`${tool} needs ${name} (${typeText(type, checker)}).`);
      continue;
    }
    const ownType = checker.getTypeOfSymbolAtLocation(own, argument);
    if (checker.isTypeAssignableTo(ownType, type)) continue;
    const takes = typeText(checker.getNonNullableType(type), checker);
    const near = suggestion(nearOptions(ownType, type));
    problems.push(`${tool} takes ${name}: ${takes}, not ${typeText(ownType, checker)}.${near}`);
  }
  return problems;
}

function unknownParameter(tool: string, name: string, names: readonly string[]): string {
  const near = nearest(name, names);
  const takes = names.length === 0 ? " It takes none." : ` It takes ${names.join(", ")}.`;
  return `${tool} has no parameter ${name}.${near.length > 0 ? suggestion(near) : takes}`;
}

function nearOptions(given: ts.Type, wanted: ts.Type): string[] {
  if (!given.isStringLiteral() || !wanted.isUnion()) return [];
  return nearest(
    given.value,
    wanted.types.flatMap((one) => (one.isStringLiteral() ? [one.value] : [])),
  );
}

function isOptional(symbol: ts.Symbol): boolean {
  if ((symbol.flags & ts.SymbolFlags.Optional) !== 0) return true;
  const declaration = symbol.valueDeclaration;
  if (declaration === undefined || !ts.isParameter(declaration)) return false;
  return (
    declaration.questionToken !== undefined ||
    declaration.initializer !== undefined ||
    declaration.dotDotDotToken !== undefined
  );
}

function hasRest(signature: ts.Signature): boolean {
  const declaration = signature.parameters.at(-1)?.valueDeclaration;
  return declaration !== undefined && ts.isParameter(declaration) && declaration.dotDotDotToken !== undefined;
}

function isObject(type: ts.Type): boolean {
  return (type.flags & ts.TypeFlags.Object) !== 0;
}
