import type { CommandContext } from "../io/terminal.ts";
import { renderRow } from "../render/rows.ts";
import { oneLine, safeText } from "../render/text.ts";
import { renderGenerated, renderServers, stateOf } from "../render/servers.ts";
import { serverSourceOf } from "../command/options.ts";
import { settleTrust } from "../run/agent-source.ts";
import { answer, defineCommand } from "../command/define-command.ts";

/** `cem servers`: contacts every configured MCP server. Fails if an enabled one can't be used. */
export const servers = defineCommand({
  name: "servers",
  group: "tools",
  about: "Show how each MCP server stands",
  help: `
All servers are tried at once. One that does not answer within 10 seconds is listed as "no answer".

Examples:
  cem servers
  cem servers --json`,
  settings: ["config", "servers"],
  read: () => ({}),
  async run({ options }, context) {
    const { inspectServers } = await import("code-execution-mcp/admin");
    await settleTrust(options, context);
    const servers = await inspectServers(serverSourceOf(options, context));
    return answer({
      data: { servers },
      isDone: servers.every(({ state }) => state === "ready" || state === "disabled"),
      report: (shown, style) => renderServers(shown.servers, style),
      brief: (shown) => shown.servers.map((server) => `${server.name}: ${stateOf(server)}`).join("\n"),
    });
  },
});

/** `cem generate`: writes tools of MCP servers as files. Fails if a server failed, or a change needs to be accepted. */
export const generate = defineCommand<{ servers: string[]; accept: boolean }>({
  name: "generate",
  group: "tools",
  about: "Write the tools of MCP servers as files",
  help: `
When a tool's definition changed, the difference is shown and the tool can't be called until --accept. Files that
you wrote or edited are never changed.

Examples:
  cem generate
  cem generate github --accept`,
  settings: ["config", "servers"],
  declare: (command) =>
    command
      .argument("[servers...]", "only these")
      .option("--accept", "take over definitions that changed", false),
  async run({ servers, accept, options }, context) {
    const { generateTools } = await import("code-execution-mcp/admin");
    await settleTrust(options, context);
    const generated = await generateTools({
      ...serverSourceOf(options, context),
      servers: servers.length === 0 ? undefined : servers,
      accept,
    });
    return answer({
      data: { servers: generated },
      isDone: generated.every(({ state }) => state === "generated"),
      report: (shown, style) => renderGenerated(shown.servers, style),
      brief: (shown) => shown.servers.map(({ server, state }) => `${server}: ${state}`).join("\n"),
    });
  },
});

export const auth = defineCommand<{ server: string; browser: boolean }>({
  name: "auth",
  group: "tools",
  about: "Sign in to an MCP server through the browser",
  help: `
Opens the server's sign-in page and waits until you are signed in. Sign-ins are kept for your user alone, and with
--customer for that customer alone.

Examples:
  cem auth crm
  cem auth crm --no-browser
  cem auth crm --customer user_12345`,
  settings: ["config", "servers", "customer"],
  declare: (command) =>
    command.argument("<server>", "the server").option("--no-browser", "only print the address to open"),
  async run({ server, browser, options }, context) {
    const { generateTools, signIn } = await import("code-execution-mcp/admin");
    await settleTrust(options, context);
    const source = serverSourceOf(options, context);
    await signIn(server, { ...source, openBrowser: (url) => showSignIn(url, browser, context) });
    const [generated] = await generateTools({ ...source, servers: [server] });
    return answer({
      data: { server: generated },
      isDone: generated?.state === "generated",
      report: (shown, style) => [
        "",
        ...renderRow("signed in", oneLine(server), style),
        ...renderGenerated(shown.server === undefined ? [] : [shown.server], style),
      ],
      brief: () => `${server}: signed in`,
    });
  },
});

/** Always prints the URL, since the browser may be on another machine. */
async function showSignIn(url: string, openIt: boolean, { io }: CommandContext): Promise<void> {
  io.stderr.write(`Sign in at this address; this command waits for it:\n${safeText(url)}\n`);
  if (!openIt) return;
  const { default: open } = await import("open");
  // Without a browser, the printed URL has to suffice.
  await open(url).then(
    (child) => child.on("error", () => {}).unref(),
    () => {},
  );
}
