import type { ToolDefinition } from "@cem/core";
import { oneLine } from "./fence.ts";
import type { LlmSettings } from "./settings.ts";

const MAX_SENTENCE_CHARACTERS = 400;
/** A description with suspicious texts begins with a warning, which needs room. */
const MAX_FLAGGED_CHARACTERS = 320;
const MAX_SIGNATURE_CHARACTERS = 3_000;
const MAX_MODULE_CHARACTERS = 200;
const PARAGRAPH_END = /\n\s*\n/u;
const SENTENCE_END = /(?<=[.!?])\s+(?=\p{Lu})|\n\s*\n/u;

type DescribeCalls = NonNullable<LlmSettings["describeCalls"]>;

/** What a model is told of tools: types that several share, then by module each signature and what the tool does. */
export function toolList(tools: readonly ToolDefinition[], describeCalls?: DescribeCalls): string {
  // In the same order for every task, so that a provider's prompt cache stays valid.
  const ordered = tools.toSorted(
    (one, other) => compare(one.module, other.module) || compare(one.name, other.name),
  );
  const { types, lines } = linesOf(ordered, describeCalls);
  const byModule = Map.groupBy(
    ordered.map((tool, at) => ({ tool, line: lines[at] ?? "" })),
    ({ tool }) => tool.module,
  );
  const blocks = [...byModule].flatMap(([module, group]) => [
    `// ${oneLine(module, MAX_MODULE_CHARACTERS)}`,
    ...group.map(({ line }) => line),
  ]);
  return [...types, ...blocks].join("\n");
}

/** What a model is told of one tool. */
export function toolLine(tool: ToolDefinition, describeCalls?: DescribeCalls): string {
  return linesOf([tool], describeCalls).lines.join("\n");
}

function linesOf(
  tools: readonly ToolDefinition[],
  describeCalls: DescribeCalls | undefined,
): { types: string[]; lines: string[] } {
  const described = describeCalls?.(tools);
  const lines = tools.map((tool, at) => {
    // A suspicious text may stand in the comment of a parameter.
    const isPlain = (tool.flags ?? []).length > 0;
    const signature = isPlain ? tool.signature : (described?.signatures[at] ?? tool.signature);
    return `${oneLine(signature, MAX_SIGNATURE_CHARACTERS)}${commentOf(tool)}`;
  });
  return { types: (described?.types ?? []).map((type) => oneLine(type, MAX_SIGNATURE_CHARACTERS)), lines };
}

/**
 * The first sentence of a description. The first paragraph where the type of the result is unknown, since it may say what comes;
 * all of one with suspicious texts.
 */
function commentOf({ description, flags = [], signature }: ToolDefinition): string {
  const isFlagged = flags.length > 0;
  const end = signature.endsWith("Promise<unknown>") ? PARAGRAPH_END : SENTENCE_END;
  const [first = ""] = isFlagged ? [description] : description.trim().split(end);
  const about = oneLine(first, isFlagged ? MAX_FLAGGED_CHARACTERS : MAX_SENTENCE_CHARACTERS);
  return about === "" ? "" : ` // ${about}`;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
