import type { ToolDefinition } from "@cem/core";

/** How the arguments of a tool are written. */
interface Parameters {
  /** The names of positional parameters, in their order. `undefined` for tools that take one object. */
  names: readonly string[] | undefined;
  /** The one among them that takes all further arguments. */
  rest: string | undefined;
}

function parametersOf({ callStyle, inputSchema }: ToolDefinition): Parameters {
  if (callStyle === "object") return { names: undefined, rest: undefined };
  const properties = Object.entries(inputSchema.properties ?? {});
  return {
    names: properties.map(([name]) => name),
    rest: properties.find(([, schema]) => schema["x-rest"] === true)?.[0],
  };
}

/** The module of a tool that only calls it, with its types and its comment, as code in the sandbox sees it. */
export async function printStub(tool: ToolDefinition): Promise<string> {
  const { generateToolModule } = await import("@cem/tool-files");
  const { server, name, callStyle } = tool;
  const { code } = generateToolModule(tool, { server, identifier: name, flags: tool.flags });
  if (callStyle === "object") return code;
  // The types and the comment are as they are; the function takes its arguments one by one.
  const declaration = code.lastIndexOf(`export async function ${name}(`);
  const signature = tool.signature.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
  return `${code.slice(0, declaration)}// ${signature}\n${printFunction(tool)}`;
}

/**
 * A module in place of a tool's own where another tool imports it: what it exports besides its guarded tools is its own.
 *
 * @param original - The specifier of the module itself.
 */
export function printReplacement(tools: readonly ToolDefinition[], original: string): string {
  const head = `export * from ${JSON.stringify(original)};\nimport { callTool } from "cem:client";\n`;
  return head + tools.map(printFunction).join("");
}

function printFunction(tool: ToolDefinition): string {
  const { server, name } = tool;
  const { names, rest } = parametersOf(tool);
  const parts = names?.map((parameter, index) => {
    const value = parameter === rest ? `args.slice(${index})` : `args[${index}]`;
    return `${JSON.stringify(parameter)}: ${value}`;
  });
  const args = parts === undefined ? "args[0]" : `{ ${parts.join(", ")} }`;
  return `export async function ${name}(...args) {\n  return callTool(${JSON.stringify(server)}, ${JSON.stringify(name)}, ${args});\n}\n`;
}

/** The server and the tool by which the program that {@link printCall} makes gets its arguments. No server has this name. */
export const ARGUMENTS = { server: "cem:file-tools", tool: "arguments" } as const;

/** A program that calls a tool once with arguments it asks for, and returns its value or its error. */
export function printCall(tool: ToolDefinition): string {
  const { names, rest } = parametersOf(tool);
  const parts = names?.map((name) => {
    const value = `args[${JSON.stringify(name)}]`;
    return name === rest ? `...(${value} ?? [])` : value;
  });
  return `import { callTool } from "./client/index.ts";
import { ${tool.name} as tool } from ${JSON.stringify(tool.module)};
const args: any = await callTool(${JSON.stringify(ARGUMENTS.server)}, ${JSON.stringify(ARGUMENTS.tool)});
let value: unknown;
try {
  value = await (tool as any)(${parts?.join(", ") ?? "args"});
} catch (thrown: any) {
  return { error: { code: thrown?.code, message: thrown?.message, details: thrown?.details } };
}
return { value };
`;
}
