import { exampleCall } from "@cem/core";
import type { ToolDefinition } from "@cem/core";
import { describeCalls } from "@cem/tool-files";
import { messageOf } from "../server-tool.ts";
import type { HintFor } from "../server-tool.ts";
import { readToolCode } from "../tool-code.ts";

const MAX_LINE_CHARACTERS = 160;
/** A description with suspicious texts begins with a warning, which needs room. */
const MAX_FLAGGED_LINE_CHARACTERS = 320;
/** The most tools whose code is shown, the best first. */
const MAX_SHOWN_CODES = 3;
const UNKNOWN_RESULT =
  "// Promise<unknown>: a text comes as a string, JSON text parsed, an image, sound or file as { type, path }.";

interface SignatureList {
  data: { types: string[]; tools: { [module: string]: string[] } };
  /** The same as TypeScript. */
  text: string;
}

/** What a model needs to write calls: by module, the signature of each tool and one line on what it does. */
export function signaturesOf(tools: readonly ToolDefinition[], hintFor: HintFor | undefined): SignatureList {
  const { types, signatures } = describeCalls(tools);
  const lines = tools.map((tool, at) => ({
    tool,
    line: `${signatures[at] ?? tool.signature}${lineComment(tool, hintFor)}`,
  }));
  const modules = Map.groupBy(lines, ({ tool }) => tool.module);
  const blocks = [...modules].map(([module, all]) =>
    [`// import from "${module}"`, ...all.map(({ line }) => line)].join("\n"),
  );
  const isUnknown = (text: string): boolean => text.endsWith("Promise<unknown>");
  const notes = signatures.some(isUnknown) ? [UNKNOWN_RESULT] : [];
  return {
    data: {
      types: [...types, ...notes],
      tools: Object.fromEntries([...modules].map(([module, all]) => [module, all.map(({ line }) => line)])),
    },
    text: [...types, ...blocks, ...notes].join("\n"),
  };
}

/** What a tool does, on one line: its first sentence. */
function lineComment({ description, flags = [], unavailable }: ToolDefinition, hintFor?: HintFor): string {
  const limit = flags.length > 0 ? MAX_FLAGGED_LINE_CHARACTERS : MAX_LINE_CHARACTERS;
  const [first = ""] = flags.length > 0 ? [description] : description.split(/(?<=[.!?])\s+(?=\p{Lu})/u);
  const line = first.replaceAll(/\s+/gu, " ").trim();
  const shown = line.length > limit ? `${line.slice(0, limit - 1).trimEnd()}…` : line;
  const cannot = unavailable === undefined ? "" : `Not available now: ${messageOf(unavailable, hintFor)}`;
  const words = [shown, cannot].filter((part) => part !== "").join(" ");
  return words === "" ? "" : ` // ${words}`;
}

/** Each tool in full, for a model that writes one call with care. The best have their code too. */
export function codesOf(
  tools: readonly ToolDefinition[],
  hintFor: HintFor | undefined,
): Promise<[ToolDefinition, object][]> {
  return Promise.all(
    tools.map(async (tool, at): Promise<[ToolDefinition, object]> => {
      const { name, module, description, unavailable } = tool;
      const { types, signatures } = describeCalls([tool]);
      const notes = signatures.some((text) => text.endsWith("Promise<unknown>")) ? [UNKNOWN_RESULT] : [];
      return [
        tool,
        {
          code: [`import { ${name} } from "${module}";`, ...types, ...signatures, ...notes].join("\n"),
          example: exampleCall(tool),
          description,
          unavailable: unavailable && messageOf(unavailable, hintFor),
          source: at < MAX_SHOWN_CODES ? await readToolCode(tool) : undefined,
        },
      ];
    }),
  );
}
