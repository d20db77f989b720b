import { generateTools, signIn } from "code-execution-mcp/admin";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import type { InvocationOf } from "../invocation.ts";
import { serverSourceOf } from "../config-source.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-codes.ts";
import { settleTrust } from "../settle-trust.ts";
import { withHints } from "../hint.ts";
import { renderRow } from "../render-rows.ts";
import { renderGenerated } from "../render-servers.ts";
import { oneLine, safeData, safeText } from "../safe-text.ts";

/** `cem auth`: signs in through the browser, then brings the tools' files up to date. */
export async function authenticate(
  { server, browser, options }: InvocationOf<"auth">,
  context: CommandContext,
): Promise<Answer> {
  await settleTrust(options, context);
  const source = serverSourceOf(options, context);
  await signIn(server, { ...source, openBrowser: (url) => showSignIn(url, browser, context) });
  const generated = withHints(await generateTools({ ...source, servers: [server] }));
  const safe = safeData(generated);
  const isDone = generated.every(({ state }) => state === "generated");
  return {
    exitCode: isDone ? EXIT_OK : EXIT_FAILED,
    data: { status: isDone ? "success" : "error", server: generated[0] },
    report: (style) => [
      "",
      ...renderRow("signed in", oneLine(server), style),
      ...renderGenerated(safe, style),
    ],
    brief: () => `${server}: signed in`,
  };
}

/** Prints the address in any case: the browser may be on another machine. */
async function showSignIn(url: string, openIt: boolean, { io }: CommandContext): Promise<void> {
  io.stderr.write(`Sign in at this address; this command waits for it:\n${safeText(url)}\n`);
  if (!openIt) return;
  const { default: open } = await import("open");
  // Without a browser the address is all there is.
  await open(url).then(
    (child) => child.on("error", () => {}).unref(),
    () => {},
  );
}
