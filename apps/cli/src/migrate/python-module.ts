import { parser } from "@lezer/python";

type SyntaxNode = ReturnType<typeof parser.parse>["topNode"];

/** A function at the top level of a module in Python. */
export interface PythonFunction {
  name: string;
  /** From 1. */
  line: number;
  /** Its declaration as written, up to its body: `def add(a: int, b: int) -> int`. */
  declaration: string;
  docstring: string;
  /** The MCP tool that it only passes its arguments to. */
  mcpTool?: { server: string; tool: string } | undefined;
}

/** The declarations of a module in Python, read without running it. */
export interface PythonModule {
  docstring: string;
  functions: PythonFunction[];
}

/** Whether a text is a program in Python and not in TypeScript, as far as its form shows. */
export function isPython(text: unknown): boolean {
  if (typeof text !== "string" || /\bawait\b|;\s*$/mu.test(text)) return false;
  let isValid = true;
  parser.parse(`${text}\n`).iterate({ enter: ({ type }) => void (isValid &&= !type.isError) });
  return isValid;
}

/** Reads a module in Python; what it does not understand is left out. */
export function readPythonModule(text: string): PythonModule {
  const root = parser.parse(text).topNode;
  const read = { text, line: (at: number) => text.slice(0, at).split("\n").length };
  const functions = childrenOf(root)
    .map((node) => (node.name === "DecoratedStatement" ? node.getChild("FunctionDefinition") : node))
    .filter((node) => node?.name === "FunctionDefinition")
    .map((node) => toFunction(node as SyntaxNode, read))
    .filter((one) => one !== undefined);
  return { docstring: docstringOf(root, text), functions };
}

interface Source {
  text: string;
  line: (at: number) => number;
}

function toFunction(node: SyntaxNode, { text, line }: Source): PythonFunction | undefined {
  const name = node.getChild("VariableName");
  const body = node.getChild("Body");
  if (name === null) return undefined;
  return {
    name: textOf(name, text),
    line: line(node.from),
    declaration: text
      .slice(node.from, body?.from ?? node.to)
      .trim()
      .replaceAll(/\s+/gu, " "),
    docstring: body === null ? "" : docstringOf(body, text),
    mcpTool: body === null ? undefined : mcpToolOf(body, text),
  };
}

/** The string that a module or a body begins with. */
function docstringOf(node: SyntaxNode, text: string): string {
  const first = childrenOf(node).find(({ name }) => name !== "Comment" && name !== ":");
  const value = first?.name === "ExpressionStatement" ? first.firstChild : null;
  return value?.name === "String" ? unquotePython(textOf(value, text)) : "";
}

/** The first call of `call_mcp_tool` with a server and a tool that are written out. */
function mcpToolOf(body: SyntaxNode, text: string): PythonFunction["mcpTool"] {
  let found: PythonFunction["mcpTool"];
  body.cursor().iterate((reference) => {
    if (found !== undefined || reference.name !== "CallExpression") return;
    const callee = reference.node.firstChild;
    const list = reference.node.getChild("ArgList");
    if (callee === null || list === null || !/(?:^|\.)call_mcp_tool$/u.test(textOf(callee, text))) return;
    const words = childrenOf(list).filter(({ name }) => name === "VariableName" || name === "String");
    const named = (name: string): SyntaxNode | undefined =>
      words.find(
        (_, at) =>
          words[at - 1]?.name === "VariableName" &&
          words[at - 1] !== undefined &&
          textOf(words[at - 1] as SyntaxNode, text) === name,
      );
    const strings = words.filter(({ name }) => name === "String");
    const [server, tool] = [named("server_name") ?? strings[0], named("tool_name") ?? strings[1]];
    if (server === undefined || tool === undefined) return;
    found = { server: unquotePython(textOf(server, text)), tool: unquotePython(textOf(tool, text)) };
  });
  return found;
}

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
}

function textOf({ from, to }: SyntaxNode, text: string): string {
  return text.slice(from, to);
}

const LITERAL = /^(?<prefix>[rRuUbB]*)(?<quote>"""|'''|"|')(?<content>[\s\S]*)\k<quote>$/u;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "\n": "" };

/** The text of a string literal in Python, with the indentation of a docstring taken off. */
function unquotePython(literal: string): string {
  const { prefix = "", content = "" } = LITERAL.exec(literal)?.groups ?? {};
  const isRaw = prefix.toLowerCase().includes("r");
  const text = isRaw
    ? content
    : content.replaceAll(/\\([\s\S])/gu, (whole, letter: string) =>
        /["'\\]/u.test(letter) ? letter : (ESCAPES[letter] ?? whole),
      );
  return dedent(text.replaceAll("\r\n", "\n"));
}

/** Takes off the indentation that all lines but the first have. */
function dedent(text: string): string {
  const [first = "", ...rest] = text.split("\n");
  const indents = rest
    .filter((line) => line.trim() !== "")
    .map((line) => line.length - line.trimStart().length);
  const indent = indents.length === 0 ? 0 : Math.min(...indents);
  return [first.trim(), ...rest.map((line) => line.slice(indent).trimEnd())].join("\n").trim();
}
