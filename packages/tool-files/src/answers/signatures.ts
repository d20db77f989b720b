import type { ToolDefinition } from "@cem/core";
import { describeCalls } from "../index.ts";
import { messageOf } from "./answer.ts";
import type { HintFor } from "./answer.ts";

const MAX_LINE_CHARACTERS = 160;
/** A description with suspicious texts begins with a warning, which needs room. */
const MAX_FLAGGED_LINE_CHARACTERS = 320;
/** Signatures for a model. */
export interface SignatureList {
  /** The tools by module, or by the modules that have them alike, between bars. */
  data: { types: string[]; tools: { [modules: string]: string[] } };
  /** The same as TypeScript. */
  text: string;
}

/** Settings of {@link signaturesOf}. */
export interface ListSettings {
  hintFor?: HintFor | undefined;
  /** Whether a person can be asked for a yes. Absent: it is not known. */
  canAsk?: boolean | undefined;
}

/**
 * Lists by module, for a model that writes calls, the signature of each tool and one line on what it does. A tool that several
 * servers have alike stands once, under the names of all their modules.
 */
export function signaturesOf(tools: readonly ToolDefinition[], settings: ListSettings = {}): SignatureList {
  const { types, signatures } = describeCalls(tools);
  const modulesOf = new Map<string, string[]>();
  for (const [at, tool] of tools.entries()) {
    const line = `${signatures[at] ?? tool.signature}${lineComment(tool, settings)}`;
    modulesOf.set(line, [...(modulesOf.get(line) ?? []), tool.module]);
  }
  const lines = Map.groupBy(modulesOf.keys(), (line) => (modulesOf.get(line) ?? []).join(" | "));
  const blocks = [...lines].map(([modules, all]) =>
    [`// import from "${modules.replaceAll(" | ", '" | "')}"`, ...all].join("\n"),
  );
  return { data: { types, tools: Object.fromEntries(lines) }, text: [...types, ...blocks].join("\n") };
}

/** A remark on a tool whose calls wait for a person. */
const NEEDS_APPROVAL = "Needs the user's yes.";
const UNASKABLE = "Refused: it needs the user's yes, which this client can't ask for.";

/** Says what becomes of calls of a tool that needs a yes. */
export function approvalRemark({ canAsk }: Pick<ListSettings, "canAsk">): string {
  return canAsk === false ? UNASKABLE : NEEDS_APPROVAL;
}

const SENTENCE_END = /(?<=[.!?])\s+(?=\p{Lu})/u;

/** A tool's description on one line: its first sentence, after the one that says that it is deprecated. */
function lineComment(
  { description, flags = [], unavailable, needsApproval }: ToolDefinition,
  { hintFor, canAsk }: ListSettings,
): string {
  const limit = flags.length > 0 ? MAX_FLAGGED_LINE_CHARACTERS : MAX_LINE_CHARACTERS;
  const [first = "", ...others] = flags.length > 0 ? [description] : description.split(SENTENCE_END);
  const deprecation = others.find((sentence) => /\bdeprecated\b/iu.test(sentence)) ?? "";
  const line = `${deprecation} ${first}`.replaceAll(/\s+/gu, " ").trim();
  const shown = line.length > limit ? `${line.slice(0, limit - 1).trimEnd()}…` : line;
  const cannot = unavailable === undefined ? "" : `Not available now: ${messageOf(unavailable, hintFor)}`;
  const asks = needsApproval === true ? approvalRemark({ canAsk }) : "";
  const about = shown === "" || asks + cannot === "" || /[.!?…]$/u.test(shown) ? shown : `${shown}.`;
  const words = [about, asks, cannot].filter((part) => part !== "").join(" ");
  return words === "" ? "" : ` // ${words}`;
}

/** How a model writes code, as the description of a tool that runs it says. */
export const HOW_TO_CODE =
  'Run TypeScript (Deno): `import { tool } from "./servers/<server>/index.ts"`, `await` every call, end with `return value`. `unknown` is text or parsed JSON.';

/** How code learns that a tool failed. */
export const FAILED_TOOLS = "A failed tool throws; a ToolError has server, tool, code, message, details.";
