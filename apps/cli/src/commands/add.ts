import { addServers, generateTools } from "code-execution-mcp/admin";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import type { InvocationOf } from "../invocation.ts";
import { serverSourceOf } from "../config-source.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-codes.ts";
import { renderRow } from "../render-rows.ts";
import { withHints } from "../hint.ts";
import { renderGenerated } from "../render-servers.ts";
import { oneLine, safeData } from "../safe-text.ts";
import { shortPath } from "../short-path.ts";
import type { Style } from "../text-layout.ts";

/** `cem add`: puts a server into config.yaml and writes its tools as files. A server that does not answer stays in. */
export async function addMcpServer(
  { name, entry, options }: InvocationOf<"add">,
  context: CommandContext,
): Promise<Answer> {
  const { live } = context;
  const source = serverSourceOf(options, context);
  const file = await addServers([{ name, entry }], source);
  const added = (style: Style): string[] =>
    renderRow("added", `${oneLine(name)} to ${shortPath(file)}`, style);
  // A first start may take minutes, and must not look like a standstill.
  if (live?.isTerminal) live.write(`\n${added(live.style).join("\n")}, starting it …\n`);
  const generated = withHints(await generateTools({ ...source, servers: [name], isFirstStart: true }));
  const [server] = generated;
  const isDone = server?.state === "generated";
  const safe = safeData(generated);
  const next = isDone ? [`cem tools ${name}`] : afterFailure(name, server?.error?.code);
  return {
    exitCode: isDone ? EXIT_OK : EXIT_FAILED,
    data: { status: isDone ? "success" : "error", file, server, next },
    report: (style) => [
      "",
      ...added(style),
      ...renderGenerated(safe, style),
      "",
      ...next.flatMap((command, index) => renderRow(index === 0 ? "next" : "", command, style)),
    ],
    brief: () => (isDone ? `${name}: ${server.tools}` : (safe[0]?.error?.message ?? "")),
  };
}

/** The commands to go on with when a server gave no tools. What else helps stands with its error. */
function afterFailure(name: string, code: string | undefined): string[] {
  const remove = `cem remove ${name}   to take it out`;
  if (code === "SERVER_FOLDER_TAKEN") return [remove];
  return [code === "AUTH_REQUIRED" ? `cem auth ${name}` : `cem generate ${name}   to try again`, remove];
}
