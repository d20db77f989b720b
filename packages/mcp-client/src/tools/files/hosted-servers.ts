import path from "node:path";
import type { CatalogSnapshot, ToolDefinition } from "@cem/core";
import type { ServerEntry } from "./server-entries.ts";

/** A tool's name with its annotations. */
export type NamedTool = Pick<ToolDefinition, "server" | "name" | "annotations">;

/** The tools that are files in a servers folder and run in the sandbox, by server. */
export type LocalTools = ReadonlyMap<string, readonly ToolDefinition[]>;

export function localTools({ servers }: CatalogSnapshot): LocalTools {
  const tools = servers.flatMap((server) => server.tools.filter(({ kind }) => kind === "local"));
  return Map.groupBy(tools, ({ server }) => server);
}

/**
 * The entries of the servers folder that code must not reach: servers with a guarded tool, and entries that reference one
 * or are referenced by one, since a helper can do what the tool does.
 *
 * @param generated - Names of entries whose modules only call a server and share no state.
 */
export function hostedEntries(
  { problems }: CatalogSnapshot,
  tools: LocalTools,
  entries: ReadonlyMap<string, ServerEntry>,
  generated: ReadonlySet<string>,
  isGuarded: (tool: NamedTool) => boolean,
): ReadonlySet<string> {
  const hosted = new Set(
    [...entries].filter(([name, entry]) => hasGuarded(name, entry)).map(([name]) => name),
  );
  const sharing = [...entries].flatMap(([from, { references }]) =>
    references.filter((to) => entries.has(to) && !generated.has(to)).map((to) => [from, to] as const),
  );
  for (let before = -1; before !== hosted.size;) {
    before = hosted.size;
    for (const [one, other] of sharing) {
      if (hosted.has(one)) hosted.add(other);
      else if (hosted.has(other)) hosted.add(one);
    }
  }
  return hosted;

  function hasGuarded(server: string, { exported }: ServerEntry): boolean {
    const own = tools.get(server) ?? [];
    if (own.some(isGuarded)) return true;
    const listed = new Set(own.map(({ name }) => name));
    const broken = problems
      .filter((problem) => problem.server === server)
      .map(({ file }) => path.parse(file).name);
    // Of an unreadable file only the name is known. Other exports are not tools, unless a guard names them.
    return (
      broken.some((name) => !listed.has(name) && isGuarded({ server, name })) ||
      [...exported].some(
        (name) =>
          !listed.has(name) &&
          (tools.has(server) || broken.length > 0) &&
          isGuarded({ server, name, annotations: { readOnlyHint: true } }),
      )
    );
  }
}

/**
 * The names of positional parameters in order, and the rest parameter. None for tools that take one object.
 */
function parametersOf({ callStyle, inputSchema }: ToolDefinition) {
  if (callStyle === "object") return {};
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
  // Types and comment are kept; the function takes positional arguments.
  const declaration = code.lastIndexOf(`export async function ${name}(`);
  const signature = tool.signature.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
  return `${code.slice(0, declaration)}// ${signature}\n${printFunction(tool)}`;
}

/**
 * The module that replaces a tool's module when another tool imports it. Exports other than guarded tools are re-exported
 * from the original.
 *
 * @param original - The specifier of the original module.
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

/** The reserved server and tool that provide the arguments for a program of {@link printCall}. No server can have this name. */
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
