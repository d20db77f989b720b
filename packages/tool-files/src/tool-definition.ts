import * as z from "zod";
import { canonicalJson, sha256, TOO_LARGE } from "./canonical-json.ts";

/** The most JSON text of one definition, in characters. The largest of 12,000 real ones has 150,000. */
const MAX_DEFINITION_CHARACTERS = 1024 * 1024;
/** MCP asks for 128 at most; some servers have more. */
const MAX_NAME_CHARACTERS = 1_024;

/**
 * A tool as its MCP server describes it. Everything but the name may be missing or wrong: schemas are kept as they
 * came, whatever they are.
 */
export interface RawToolDefinition {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  inputSchema?: unknown;
  outputSchema?: unknown;
  annotations?: unknown;
}

/** A definition that can be used, with its identity. */
export interface ReadDefinition {
  definition: RawToolDefinition;
  /** SHA-256 over the canonical JSON of the definition, in hexadecimal. */
  sha256: string;
}

/** A tool that is left out, and why. */
export interface SkippedTool {
  /** Its name, or `#3` (its place in the list, from 1) where it has none. */
  name: string;
  reason: string;
}

const text = z.string().optional().catch(undefined);

/** The shape of {@link RawToolDefinition}. Fields beyond these (`icons`, `_meta`) say nothing a caller relies on and may change from call to call. */
export const rawToolDefinition: z.ZodType<RawToolDefinition> = z.object({
  name: z.string(),
  title: text,
  description: text,
  inputSchema: z.unknown().optional(),
  outputSchema: z.unknown().optional(),
  annotations: z.unknown().optional(),
});

/**
 * Takes one entry of a server's `tools/list`. An entry that can't be a tool gives the reason instead.
 *
 * @param position its index in the list, for an entry without a name.
 */
export function readDefinition(raw: unknown, position = 0): ReadDefinition | SkippedTool {
  const parsed = rawToolDefinition.safeParse(raw);
  const place = `#${position + 1}`;
  if (!parsed.success) return { name: place, reason: "The definition has no name that is a text." };
  const definition = parsed.data;
  const { name } = definition;
  if (name.trim() === "") return { name: place, reason: "The tool's name is empty, so it can't be called." };
  if (name.length > MAX_NAME_CHARACTERS) {
    return { name: name.slice(0, 64), reason: `The name has more than ${MAX_NAME_CHARACTERS} characters.` };
  }
  const canonical = canonicalJson(definition, MAX_DEFINITION_CHARACTERS);
  if (canonical === TOO_LARGE) {
    const reason = `The definition has more than ${MAX_DEFINITION_CHARACTERS} characters of JSON.`;
    return { name, reason };
  }
  return { definition, sha256: sha256(canonical) };
}
