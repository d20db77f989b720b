import type { JsonSchema, ToolDefinition } from "@cem/core";
import { generateToolModule, nameTools } from "@cem/tool-files";
import type { RawToolDefinition } from "@cem/tool-files";

/** Definitions of `tools/list` as everybody after discovery sees them. */
export function toolsOf(server: string, definitions: readonly RawToolDefinition[]): ToolDefinition[] {
  const names = nameTools(definitions.map(({ name }) => name));
  return definitions.map((definition) => {
    const identifier = names.get(definition.name)?.identifier ?? "tool";
    return {
      server,
      name: identifier,
      ...(identifier !== definition.name && { originalName: definition.name }),
      kind: "host",
      description: definition.description ?? "",
      inputSchema: (definition.inputSchema ?? {}) as JsonSchema,
      callStyle: "object",
      signature: generateToolModule(definition, { server, identifier }).signature,
      module: `./servers/${server}/index.ts`,
    };
  });
}
