import { removeServerAndFiles } from "code-execution-mcp/admin";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import type { InvocationOf } from "../invocation.ts";
import { serverSourceOf } from "../config-source.ts";
import { EXIT_OK } from "../exit-codes.ts";
import { renderRow } from "../render-rows.ts";
import { oneLine } from "../safe-text.ts";
import { shortPath } from "../short-path.ts";
import { counted } from "../text-layout.ts";

/** `cem remove`: takes a server out of config.yaml, with the files that were generated for it. */
export async function removeMcpServer(
  { name, options }: InvocationOf<"remove">,
  context: CommandContext,
): Promise<Answer> {
  const { file, removed } = await removeServerAndFiles(name, serverSourceOf(options, context));
  const from = file === undefined ? [] : [`from ${shortPath(file)}`];
  const files = removed.length === 0 ? [] : [counted(removed.length, "generated file")];
  return {
    exitCode: EXIT_OK,
    data: { status: "success", name, file, removed },
    report: (style) => [
      "",
      ...renderRow("removed", `${oneLine(name)} ${[...from, ...files].join(", with ")}`, style),
    ],
    brief: () => removed.join("\n"),
  };
}
