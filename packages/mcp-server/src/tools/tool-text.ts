import { messageOf, UNKNOWN_RESULT } from "@cem/answers";
import type { HintFor } from "@cem/answers";
import { exampleCall } from "@cem/core";
import type { ToolDefinition } from "@cem/core";
import { describeCalls } from "@cem/tool-files";
import { readToolCode } from "../tool-code.ts";

/** The most tools whose code is shown, the best first. */
const MAX_SHOWN_CODES = 3;

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
