import * as z from "zod/mini";
import { compactJson } from "./canonical-json.ts";

/** Limit of a definition, in characters of JSON. The largest of 12,000 real ones has 150,000. */
const MAX_DEFINITION_CHARACTERS = 1024 * 1024;
const MAX_DEFINITION_LEVELS = 200;
/** MCP recommends at most 128; some servers exceed that. */
const MAX_NAME_CHARACTERS = 1_024;

/** A tool as its MCP server defines it. Schemas and annotations are unchecked. */
export interface RawToolDefinition {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  inputSchema?: unknown;
  outputSchema?: unknown;
  annotations?: unknown;
}

/** A tool that is left out, with the reason as a sentence. */
export interface SkippedTool {
  /** Its name; without one, its position in the list, such as `#3`. */
  name: string;
  reason: string;
}

// oxlint-disable-next-line promise/valid-params -- zod's `catch`, which takes two parameters
const text = z.catch(z.optional(z.string()), undefined);

/** The schema of {@link RawToolDefinition}. Other fields, such as `icons` and `_meta`, may change from call to call and are ignored. */
export const rawToolDefinition: z.ZodMiniType<RawToolDefinition> = z.object({
  name: z.string(),
  title: text,
  description: text,
  inputSchema: z.optional(z.unknown()),
  outputSchema: z.optional(z.unknown()),
  annotations: z.optional(z.unknown()),
});

/**
 * Reads one entry of a server's `tools/list` result.
 *
 * @param position - the index of the entry, to report one without a name.
 * @returns the definition, or the reason why the entry can't be used.
 */
export function readDefinition(raw: unknown, position = 0): RawToolDefinition | SkippedTool {
  const place = `#${position + 1}`;
  const read = rawToolDefinition.safeParse(raw);
  if (!read.success) return { name: place, reason: "The definition has no name that is a string." };
  const definition = read.data;
  const { name } = definition;
  if (name.trim() === "") return { name: place, reason: "The tool's name is empty, so it can't be called." };
  if (name.length > MAX_NAME_CHARACTERS) {
    return { name: name.slice(0, 64), reason: `The name has more than ${MAX_NAME_CHARACTERS} characters.` };
  }
  if (isDeeperThan(MAX_DEFINITION_LEVELS, definition))
    return { name, reason: `The definition is nested more than ${MAX_DEFINITION_LEVELS} levels deep.` };
  if (compactJson(definition, MAX_DEFINITION_CHARACTERS) === undefined) {
    const reason = `The definition has more than ${MAX_DEFINITION_CHARACTERS} characters of JSON.`;
    return { name, reason };
  }
  return definition;
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(levels - 1, member));
}
