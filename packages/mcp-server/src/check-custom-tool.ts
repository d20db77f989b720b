import { CemError } from "@cem/core";
import { nearest } from "@cem/core/text";

/** The MCP specification's rule for names of tools. */
const TOOL_NAME = /^[A-Za-z0-9._-]{1,128}$/;
const MAX_SHOWN_CHARACTERS = 60;

interface Requirement {
  needed: string;
  isMet: (value: unknown) => boolean;
}

const TEXT: Requirement = { needed: "a string", isMet: (value) => typeof value === "string" };
const OBJECT: Requirement = { needed: "an object", isMet: isObject };

/** The members of a custom tool and what each has to be. */
const MEMBERS: Readonly<Record<string, Requirement>> = {
  name: {
    needed: "1 to 128 letters, digits, _, - and .",
    isMet: (value) => typeof value === "string" && TOOL_NAME.test(value),
  },
  title: optional(TEXT),
  description: TEXT,
  inputSchema: optional({
    needed: 'a Standard Schema, an object with "~standard"',
    isMet: (value) => typeof standardOf(value)?.["validate"] === "function",
  }),
  outputSchema: optional({
    needed: 'a Standard Schema that gives its JSON Schema, an object with "~standard".jsonSchema',
    isMet: (value) => {
      const standard = standardOf(value);
      return typeof standard?.["validate"] === "function" && isObject(standard["jsonSchema"]);
    },
  }),
  annotations: optional(OBJECT),
  handler: { needed: "a function", isMet: (value) => typeof value === "function" },
};

/**
 * Refuses a tool of the wrong shape, for callers that the compiler did not check.
 *
 * @throws CemError `TOOL_INVALID` that names the tool, the member, what was given and what is needed.
 */
export function assertCustomTool(tool: unknown): void {
  if (!isObject(tool)) {
    const message = `A custom tool is ${shown(tool)}; it has to be an object.`;
    throw new CemError("TOOL_INVALID", message, { details: { given: shown(tool), needed: OBJECT.needed } });
  }
  const title = typeof tool["name"] === "string" ? `Custom tool ${shown(tool["name"])}` : "A custom tool";
  const details = { tool: tool["name"] };
  const names = Object.keys(MEMBERS);
  for (const member of Object.keys(tool)) {
    if (Object.hasOwn(MEMBERS, member)) continue;
    const [near] = nearest(member, names);
    const question =
      near === undefined ? ` Its members are ${names.join(", ")}.` : ` Did you mean "${near}"?`;
    const message = `${title} has an unknown member "${member}".${question}`;
    throw new CemError("TOOL_INVALID", message, {
      details: { ...details, member, nearest: near, known: names },
    });
  }
  for (const [member, { needed, isMet }] of Object.entries(MEMBERS)) {
    const value = tool[member];
    if (isMet(value)) continue;
    const given = shown(value);
    const message = `${title}: "${member}" is ${given}; it has to be ${needed}.`;
    throw new CemError("TOOL_INVALID", message, { details: { ...details, member, given, needed } });
  }
}

function optional({ needed, isMet }: Requirement): Requirement {
  return { needed, isMet: (value) => value === undefined || isMet(value) };
}

/** Objects and functions, which some libraries' schemas are. */
function isObject(value: unknown): value is Record<string, unknown> {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function standardOf(schema: unknown): Record<string, unknown> | undefined {
  const standard = isObject(schema) ? schema["~standard"] : undefined;
  return isObject(standard) ? standard : undefined;
}

function shown(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "function") return "a function";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  // Not imported: every process that loads the package would load half of Node for it.
  const text = process.getBuiltinModule("node:util").inspect(value);
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}
