import type { ToolDefinition } from "@cem/core";
import { describeCalls } from "../index.ts";
import { messageOf } from "./answer.ts";
import type { HintFor } from "./answer.ts";

const MAX_LINE_CHARACTERS = 160;
/** A description with suspicious texts begins with a warning, which needs room. */
const MAX_FLAGGED_LINE_CHARACTERS = 320;
/** A note on results whose type can't describe them. */
export const UNKNOWN_RESULT =
  "// Promise<unknown>: a text comes as a string, JSON text parsed, an image, sound or file as { type, path }, a large result perhaps as a handle with text(), json(), page(offset, limit).";

/** Signatures for a model. */
export interface SignatureList {
  data: { types: string[]; tools: { [module: string]: string[] } };
  /** The same as TypeScript. */
  text: string;
}

/** What lists of tools depend on beside the tools. */
export interface ListSettings {
  hintFor?: HintFor | undefined;
  /** Whether a person can be asked for a yes. Absent: it is not known. */
  canAsk?: boolean | undefined;
}

/** Lists by module, for a model that writes calls, the signature of each tool and one line on what it does. */
export function signaturesOf(tools: readonly ToolDefinition[], settings: ListSettings = {}): SignatureList {
  const { types, signatures } = describeCalls(tools);
  const lines = tools.map((tool, at) => ({
    tool,
    line: `${signatures[at] ?? tool.signature}${lineComment(tool, settings)}`,
  }));
  const modules = Map.groupBy(lines, ({ tool }) => tool.module);
  const blocks = [...modules].map(([module, all]) =>
    [`// import from "${module}"`, ...all.map(({ line }) => line)].join("\n"),
  );
  const isUnknown = (text: string): boolean => text.endsWith("Promise<unknown>");
  const notes = [
    ...(signatures.some(isUnknown) ? [UNKNOWN_RESULT] : []),
    ...(tools.some(({ needsApproval }) => needsApproval) && settings.canAsk !== false
      ? [`// ${NEEDS_APPROVAL} ${APPROVALS}`]
      : []),
  ];
  return {
    data: {
      types: [...types, ...notes],
      tools: Object.fromEntries([...modules].map(([module, all]) => [module, all.map(({ line }) => line)])),
    },
    text: [...types, ...blocks, ...notes].join("\n"),
  };
}

/** A remark on a tool whose calls wait for a person, and what it means. */
const NEEDS_APPROVAL = "Needs the user's yes.";
const APPROVALS =
  "It is asked before the first call, once for all such calls that the code names. Refused where nobody can be asked.";
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
  'Run TypeScript (Deno): `import { tool } from "./servers/<server>/index.ts"`, `await` every call, end with `return value`.';

/** How code learns that a tool failed. */
export const FAILED_TOOLS = "A failed tool throws; a ToolError has server, tool, code, message, details.";
