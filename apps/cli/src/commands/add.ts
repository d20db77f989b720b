import { addServers, generateTools } from "code-execution-mcp/admin";
import type { Answer } from "../answer.ts";
import type { Invocation } from "../command-line.ts";
import { configSourceOf } from "../config-overrides.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-codes.ts";
import { logOption } from "../log-option.ts";
import { renderRow } from "../render-rows.ts";
import { renderGenerated } from "../render-servers.ts";
import { oneLine, safeData } from "../safe-text.ts";
import { shortPath } from "../short-path.ts";
import type { Style } from "../text-layout.ts";
import type { CommandContext } from "./index.ts";

type AddInvocation = Extract<Invocation, { command: "add" }>;

/** `cem add`: a server into config.yaml, and its tools as files. A server that does not answer stays in. */
export async function addMcpServer(
  { name, entry, options }: AddInvocation,
  { signal, live }: CommandContext,
): Promise<Answer> {
  const source = { ...configSourceOf(options), ...logOption(options), signal };
  const file = await addServers([{ name, entry }], source);
  const added = (style: Style): string[] =>
    renderRow("added", `${oneLine(name)} to ${shortPath(file)}`, style);
  // A first start may take minutes, and must not look like a standstill.
  if (live?.isTerminal) live.write(`\n${added(live.style).join("\n")}, starting it …\n`);
  const [generated] = await generateTools({ ...source, servers: [name], isFirstStart: true });
  const isDone = generated?.state === "generated";
  const safe = safeData(generated === undefined ? [] : [generated]);
  const next = isDone ? [`cem tools ${name}`] : hint(name, generated?.error?.code);
  return {
    exitCode: isDone ? EXIT_OK : EXIT_FAILED,
    data: { status: isDone ? "success" : "error", file, server: generated, next },
    report: (style) => [
      "",
      ...added(style),
      ...renderGenerated(safe, style),
      "",
      ...next.flatMap((command, index) => renderRow(index === 0 ? "next" : "", command, style)),
    ],
    brief: () => (isDone ? `${name}: ${generated.tools}` : (safe[0]?.error?.message ?? "")),
  };
}

function hint(name: string, code: string | undefined): string[] {
  const out = `cem remove ${name}   to take it out`;
  if (code === "SERVER_FOLDER_TAKEN") return [out];
  return [code === "AUTH_REQUIRED" ? `cem auth ${name}` : `cem generate ${name}   to try again`, out];
}
