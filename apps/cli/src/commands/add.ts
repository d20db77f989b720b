import { addServers, generateTools } from "code-execution-mcp/admin";
import { shellWord } from "@cem/core/text";
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
  const { file, warnings } = await addServers([{ name, entry }], source);
  const added = (style: Style): string[] => [
    ...renderRow("added", `${oneLine(name)} to ${shortPath(file)}`, style),
    ...warnings.flatMap((text) => renderRow("note", oneLine(text), style, { paint: style.colors.yellow })),
  ];
  // A first start may take minutes, and must not look like a standstill.
  if (live?.isTerminal) live.write(`\n${added(live.style).join("\n")}, starting it …\n`);
  const generated = withHints(await generateTools({ ...source, servers: [name], isFirstStart: true }));
  const [server] = generated;
  const isDone = server?.state === "generated";
  const safe = safeData(generated);
  const word = shellWord(name);
  const next = isDone ? { next: `cem tools ${word}` } : afterFailure(word, server?.error?.code);
  return {
    exitCode: isDone ? EXIT_OK : EXIT_FAILED,
    data: { status: isDone ? "success" : "error", file, server, warnings, next: Object.values(next) },
    report: (style) => [
      "",
      ...added(style),
      ...renderGenerated(safe, style),
      "",
      ...Object.entries(next).flatMap(([label, command]) => renderRow(label, oneLine(command), style)),
    ],
    brief: () => (isDone ? `${name}: ${server.tools}` : (safe[0]?.error?.message ?? "")),
  };
}

/** The commands to go on with when a server gave no tools, by what they are for. What else helps stands with its error. */
function afterFailure(word: string, code: string | undefined): Record<string, string> {
  const remove = { "take out": `cem remove ${word}` };
  if (code === "SERVER_FOLDER_TAKEN") return remove;
  if (code === "AUTH_REQUIRED") return { next: `cem auth ${word}`, ...remove };
  return { "try again": `cem generate ${word}`, ...remove };
}
