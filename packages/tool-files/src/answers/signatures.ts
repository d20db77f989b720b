import type { ToolDefinition } from "@cem/core";
import { describeCalls } from "../index.ts";
import { clip, visibleText } from "../safe-text.ts";
import { messageOf, type HintFor } from "./answer.ts";

const MAX_DESCRIPTION_CHARACTERS = { answer: 160, prompt: 400 };
/** A description with suspicious texts begins with a warning, which needs room. */
const MAX_FLAGGED_CHARACTERS = 320;
const MAX_SIGNATURE_CHARACTERS = 6_000;

/** Signatures for a model. */
export interface SignatureList {
  /** The tools by module, or by the modules with identical tools, separated by bars. */
  data: { types: string[]; tools: { [modules: string]: string[] } };
  /** The same as TypeScript. */
  text: string;
}

/** Settings of {@link signaturesOf}. */
export interface ListSettings {
  hintFor?: HintFor | undefined;
  /** Whether a person can be asked for approval. Absent: unknown. */
  canAsk?: boolean | undefined;
  /**
   * The reader of the list. A prompt has longer descriptions: the whole first paragraph when the type of the result is
   * unknown, since it may describe the result.
   *
   * @defaultValue `answer`
   */
  reader?: "answer" | "prompt" | undefined;
}

/**
 * Lists by module, for a model that writes calls, the signature of each tool and one line on what it does. A tool that
 * is identical on several servers is listed once, under the names of all their modules.
 */
export function signaturesOf(tools: readonly ToolDefinition[], settings: ListSettings = {}): SignatureList {
  // A suspicious text may be in the comment of a parameter, or of a type that tools share.
  const trusted = tools.filter(({ flags = [] }) => flags.length === 0);
  const { types, signatures } = describeCalls(trusted);
  const described = new Map(trusted.map((tool, at) => [tool, signatures[at]]));
  const modulesOf = new Map<string, string[]>();
  for (const tool of tools) {
    const signature = oneLine(described.get(tool) ?? tool.signature, MAX_SIGNATURE_CHARACTERS);
    const line = `${signature}${lineComment(tool, settings)}`;
    modulesOf.set(line, [...(modulesOf.get(line) ?? []), tool.module]);
  }
  const lines = Map.groupBy(modulesOf.keys(), (line) => (modulesOf.get(line) ?? []).join(" | "));
  const blocks = [...lines].map(([modules, all]) => {
    const names = oneLine(modules, MAX_SIGNATURE_CHARACTERS);
    // A prompt itself explains how to import tools from the servers above them.
    if (settings.reader === "prompt")
      return [`// ${names.replaceAll(SERVER_MODULE, "$1")}`, ...all].join("\n");
    return [`// import from "${names.replaceAll(" | ", '" | "')}"`, ...all].join("\n");
  });
  return { data: { types, tools: Object.fromEntries(lines) }, text: [...types, ...blocks].join("\n") };
}

const SERVER_MODULE = /\.\/servers\/([^/]+)\/index\.ts/gu;

/** A remark on a tool whose calls wait for a person. */
const NEEDS_APPROVAL = {
  answer: "Needs the user's yes.",
  prompt: "Each call asks the user for a yes first; a no is final.",
};
const UNASKABLE = "Refused: it needs the user's yes, which this client can't ask for.";

/** Explains what happens to calls of a tool that needs approval. */
export function approvalRemark({ canAsk, reader = "answer" }: ListSettings): string {
  return canAsk === false ? UNASKABLE : NEEDS_APPROVAL[reader];
}

const SENTENCE_END = /(?<=[.!?])\s+(?=\p{Lu})|\n\s*\n/u;
const PARAGRAPH_END = /\n\s*\n/u;

/** A tool's description on one line: its first sentence, after the one that says that it is deprecated. */
function lineComment(
  { description, flags = [], unavailable, needsApproval, signature }: ToolDefinition,
  { hintFor, canAsk, reader = "answer" }: ListSettings,
): string {
  const isFlagged = flags.length > 0;
  const isLong = reader === "prompt" && signature.endsWith("Promise<unknown>");
  const parts = isFlagged ? [description] : description.trim().split(isLong ? PARAGRAPH_END : SENTENCE_END);
  const [first = "", ...others] = parts;
  const deprecation = others.find((sentence) => /\bdeprecated\b/iu.test(sentence)) ?? "";
  const limit = isFlagged ? MAX_FLAGGED_CHARACTERS : MAX_DESCRIPTION_CHARACTERS[reader];
  const shown = oneLine(`${deprecation} ${first}`, limit);
  const cannot = unavailable === undefined ? "" : `Not available now: ${messageOf(unavailable, hintFor)}`;
  const asks = needsApproval === true ? approvalRemark({ canAsk, reader }) : "";
  const about = shown === "" || asks + cannot === "" || /[.!?…]$/u.test(shown) ? shown : `${shown}.`;
  const words = [about, asks, cannot].filter((part) => part !== "").join(" ");
  return words === "" ? "" : ` // ${words}`;
}

function oneLine(text: string, limit: number): string {
  return clip(visibleText(text).replaceAll(/\s+/gu, " ").trim(), limit);
}

/** Instructions for writing code, in the description of the tool that runs it. */
export const HOW_TO_CODE =
  'Run TypeScript (Deno): `import { tool } from "./servers/<server>/index.ts"`, `await` every call, end with `return value`. `unknown` is text, {} or [].';

/** How code detects that a tool failed. */
export const FAILED_TOOLS = "A failed tool throws; a ToolError has server, tool, code, message, details.";
