import type { ToolDefinition } from "@cem/core";
import { commentLine, quote } from "../safe-text.ts";
import { describeCalls } from "./signature.ts";

const MAX_DESCRIPTION_CHARACTERS = 400;

/** The input of {@link printClient}. */
export interface ClientRequest {
  /** The server's name. */
  server: string;
  tools: readonly ToolDefinition[];
  /** An expression that makes the transport, and the imports that it needs. */
  transport: { expression: string; imports: readonly string[] };
}

/**
 * Prints a module that is a typed client of one MCP server. It needs the MCP SDK (`@modelcontextprotocol/client`) and nothing
 * else.
 */
export function printClient({ server, tools, transport }: ClientRequest): string {
  const { types, signatures } = describeCalls(tools);
  const methods = tools.map((tool, at) => {
    const about = commentLine(tool.description, MAX_DESCRIPTION_CHARACTERS);
    const comment = about === "" ? [] : [`  /** ${about} */`];
    return [...comment, `  ${methodOf(signatures[at] ?? tool.signature)}`].join("\n");
  });
  const calls = tools.map(
    ({ name, originalName = name }) =>
      `    ${name}: (input?: object) => call<Result<"${name}">>(client, ${quote(originalName)}, input),`,
  );
  const name = quote(server);
  return `// A client of the MCP server ${commentLine(server, MAX_DESCRIPTION_CHARACTERS)}, made by: cem emit client. Making it again replaces this file.
import { Client } from "@modelcontextprotocol/client";
import type { CallToolResult, Transport } from "@modelcontextprotocol/client";
${transport.imports.join("\n")}

${types.map((type) => `export ${type}\n`).join("")}/** The tools of the server. */
export interface Tools {
${methods.join("\n")}
}

type Result<Name extends keyof Tools> = Awaited<ReturnType<Tools[Name]>>;

/** Thrown where a tool answers with an error. */
export class ToolError extends Error {
  override readonly name = "ToolError";
  readonly tool: string;
  readonly result: CallToolResult;

  constructor(tool: string, result: CallToolResult) {
    super(textOf(result) || \`\${tool} failed.\`);
    this.tool = tool;
    this.result = result;
  }
}

/**
 * Connects to the server.
 *
 * @param transport - How. Default: as it was set up where this file was made.
 */
export async function connect(
  transport: Transport = ${transport.expression},
): Promise<Tools & AsyncDisposable & { close(): Promise<void> }> {
  const client = new Client({ name: ${name}, version: "1.0.0" });
  await client.connect(transport);
  const close = (): Promise<void> => client.close();
  const tools: Tools = {
${calls.join("\n")}
  };
  return { ...tools, close, [Symbol.asyncDispose]: close };
}

/** A result of a known type comes as data; otherwise a text comes as a string, JSON text parsed, and anything else as it is. */
async function call<Value>(client: Client, name: string, input: object = {}): Promise<Value> {
  const result = (await client.callTool({ name, arguments: { ...input } })) as CallToolResult;
  if (result.isError === true) throw new ToolError(name, result);
  if (result.structuredContent !== undefined) return result.structuredContent as Value;
  const isText = result.content.every(({ type }) => type === "text");
  return (isText ? parsed(textOf(result)) : result.content) as Value;
}

function textOf({ content }: CallToolResult): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\\n");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
`;
}

/** A signature as a member of an interface. */
function methodOf(signature: string): string {
  const comment = signature.lastIndexOf(" /* result as seen");
  return comment === -1 ? `${signature};` : `${signature.slice(0, comment)};${signature.slice(comment)}`;
}
