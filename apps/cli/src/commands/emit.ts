import { writeFile } from "node:fs/promises";
import { CemError } from "@cem/core";
import { emitClient } from "code-execution-mcp/admin";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import { serverSourceOf } from "../config-source.ts";
import { EXIT_OK } from "../exit-codes.ts";
import type { InvocationOf } from "../invocation.ts";
import { renderRow } from "../render-rows.ts";
import { oneLine } from "../safe-text.ts";

/** `cem emit client`: a module that is a typed client of one MCP server. */
export async function emit(
  { server, out, options }: InvocationOf<"emit">,
  context: CommandContext,
): Promise<Answer> {
  const code = await emitClient(server, serverSourceOf(options, context));
  const lines = code.trimEnd().split("\n");
  if (out === undefined) {
    return {
      exitCode: EXIT_OK,
      data: { status: "success", server, code },
      report: () => lines,
      brief: () => lines.join("\n"),
    };
  }
  try {
    await writeFile(out, code);
  } catch (error) {
    throw new CemError("NOT_WRITABLE", `${out} can't be written: ${(error as Error).message}.`, {
      details: { file: out },
      cause: error,
    });
  }
  return {
    exitCode: EXIT_OK,
    data: { status: "success", server, file: out },
    report: (style) => ["", ...renderRow("written", oneLine(out), style)],
    brief: () => out,
  };
}
