import { writeFile } from "node:fs/promises";
import { CemError } from "@cem/core";
import type { Answer } from "../io/command-context.ts";
import type { CommandContext } from "../io/command-context.ts";
import { serverSourceOf } from "../run/config-source.ts";
import { EXIT_OK } from "../errors.ts";
import { renderRow } from "../render/rows.ts";
import { oneLine } from "../render/text.ts";
import { Argument } from "commander";
import { addOptions, defineCommand } from "../command/define-command.ts";
import type { Given } from "../command/define-command.ts";
import { settingOptions } from "../command/options.ts";

/** `cem emit client`: a module that is a typed client of one MCP server. */
export const emit = defineCommand<{ server: string; out?: string | undefined }>({
  name: "emit",
  group: "tools",
  about: "Write a typed client of an MCP server",
  help: `
The file needs the package @modelcontextprotocol/client and nothing else. Values that may be secret are read from the
environment.

Examples:
  cem emit client crm --out src/crm.ts`,
  declare: (command) =>
    addOptions(command, settingOptions(["config"]))
      .addArgument(new Argument("<what>", "what to write").choices(["client"]))
      .argument("<server>", "the server")
      .option("--out <file>", "the file, instead of stdout"),
  run: emitModule,
});

async function emitModule(
  { server, out, options }: Given<{ server: string; out?: string | undefined }>,
  context: CommandContext,
): Promise<Answer> {
  const { emitClient } = await import("code-execution-mcp/admin");
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
