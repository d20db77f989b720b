import {
  isBinaryExpression,
  isDeleteExpression,
  isIdentifier,
  isPropertyAccessExpression,
  isTypeOfExpression,
  type Node,
  type SourceFile,
  SyntaxKind,
} from "./typescript.ts";

const DECLARATIONS = new Set<SyntaxKind>([
  SyntaxKind.BindingElement,
  SyntaxKind.ClassDeclaration,
  SyntaxKind.ClassExpression,
  SyntaxKind.EnumDeclaration,
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.FunctionExpression,
  SyntaxKind.ImportClause,
  SyntaxKind.ImportSpecifier,
  SyntaxKind.NamespaceImport,
  SyntaxKind.Parameter,
  SyntaxKind.VariableDeclaration,
]);

/** What a program does somewhere, which excuses what would be a mistake elsewhere. */
export interface ProgramFacts {
  /** The members that it assigns or deletes, so that they may exist. */
  writtenMembers: ReadonlySet<string>;
  /** The names that it tests for: `typeof Bun !== "undefined"`. */
  testedNames: ReadonlySet<string>;
  /** The names of its variables, functions, classes and imports, wherever they are known. */
  declaredNames: ReadonlySet<string>;
}

const known = new WeakMap<SourceFile, ProgramFacts>();

/** The facts of a program. They are found once. */
export function factsOf(source: SourceFile): ProgramFacts {
  const found = known.get(source) ?? findFacts(source);
  known.set(source, found);
  return found;
}

function findFacts(source: SourceFile): ProgramFacts {
  const writtenMembers = new Set<string>();
  const testedNames = new Set<string>();
  const declaredNames = new Set<string>();
  const pending: Node[] = [source];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (isPropertyAccessExpression(node) && isAssigned(node)) writtenMembers.add(node.name.text);
    if (isTypeOfExpression(node) && isIdentifier(node.expression)) testedNames.add(node.expression.text);
    if (isIdentifier(node) && DECLARATIONS.has(node.parent.kind) && isNameOf(node, node.parent)) {
      declaredNames.add(node.text);
    }
    node.forEachChild((child) => void pending.push(child));
  }
  return { writtenMembers, testedNames, declaredNames };
}

function isAssigned(node: Node): boolean {
  const { parent } = node;
  if (isDeleteExpression(parent)) return true;
  if (!isBinaryExpression(parent) || parent.left !== node) return false;
  const { kind } = parent.operatorToken;
  return kind >= SyntaxKind.FirstAssignment && kind <= SyntaxKind.LastAssignment;
}

function isNameOf(node: Node, declaration: Node): boolean {
  return (declaration as { name?: Node | undefined }).name === node;
}
