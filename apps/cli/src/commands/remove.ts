import { removeServerAndFiles } from "code-execution-mcp/admin";
import type { Answer } from "../answer.ts";
import type { Invocation } from "../command-line.ts";
import { configSourceOf } from "../config-overrides.ts";
import { EXIT_OK } from "../exit-codes.ts";
import { renderRow } from "../render-rows.ts";
import { oneLine } from "../safe-text.ts";
import { shortPath } from "../short-path.ts";
import { counted } from "../text-layout.ts";
import type { CommandContext } from "./index.ts";

type RemoveInvocation = Extract<Invocation, { command: "remove" }>;

/** `cem remove`: a server out of config.yaml, and what was generated for it. */
export async function removeMcpServer(
  { name, options }: RemoveInvocation,
  { signal }: CommandContext,
): Promise<Answer> {
  const { file, removed } = await removeServerAndFiles(name, { ...configSourceOf(options), signal });
  const from = file === undefined ? [] : [`from ${shortPath(file)}`];
  const files = removed.length === 0 ? [] : [counted(removed.length, "generated file")];
  return {
    exitCode: EXIT_OK,
    data: { status: "success", name, ...(file === undefined ? {} : { file }), removed },
    report: (style) => [
      "",
      ...renderRow("removed", `${oneLine(name)} ${[...from, ...files].join(", with ")}`, style),
    ],
    brief: () => removed.join("\n"),
  };
}
