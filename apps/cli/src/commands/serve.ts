import { CemError } from "@cem/core";
import type { ConfigSource, Exposed, Profile, TransportName } from "code-execution-mcp";
import type { TokenCost } from "code-execution-mcp/admin";
import { Argument, InvalidArgumentError, Option } from "commander";
import { CODE_SETTINGS, configSourceOf, MAX_PORT, wholeNumber } from "../command/options.ts";
import { renderRow } from "../render/rows.ts";
import { counted } from "../render/text.ts";
import { answer, defineCommand, NO_ANSWER } from "../command/define-command.ts";

/** The arguments. Absent ones are taken from the configuration. */
interface Serve {
  transport: TransportName;
  profile?: Profile | undefined;
  expose?: Exposed[] | undefined;
  customTools?: string | undefined;
  host?: string | undefined;
  port?: number | undefined;
  cost: boolean;
}

const TRANSPORTS: readonly TransportName[] = ["stdio", "http", "sse"];
const EXPOSED: readonly Exposed[] = ["resources", "prompts"];

export const serve = defineCommand<Serve>({
  name: "serve",
  group: "start",
  about: "Start an MCP server, for any client",
  answers: "--cost",
  help: `
stdio serves one client, which starts this command itself, mostly in a folder of its own; so name your project's
configuration with its whole path:
  { "mcpServers": { "code-execution": { "command": "npx",
    "args": ["-y", "@cem/cli", "serve", "--config", "/home/ada/my-project/config.yaml"] } } }
http serves many at http://127.0.0.1:3000/mcp, sse older ones at /sse. Listening on an address that other machines
can reach needs server.auth_token (CEM_SERVER_TOKEN) or server.auth_issuer.
The log goes to stderr.

Examples:
  cem serve
  cem serve http --port 8080
  cem serve --profile code
  cem serve --cost                            how many tokens the tools of each profile take`,
  settings: CODE_SETTINGS,
  declare: (command) =>
    command
      .addArgument(new Argument("[transport]", "how clients connect").choices(TRANSPORTS).default("stdio"))
      .addOption(new Option("--profile <name>", "which tools clients see").choices(PROFILES))
      .option("--expose <kinds>", "what clients see of MCP servers besides tools: resources,prompts", exposed)
      .option("--custom-tools <file>", "module with tools of your own, which clients see beside these")
      .option("--host <address>", "address to listen on")
      .option("--port <number>", "port to listen on; 0 for any that is free", wholeNumber(0, MAX_PORT))
      .option("--cost", "print what the tools cost a model, in tokens, and serve nothing", false),
  async run(invocation, { signal }) {
    const { transport, profile, expose, customTools, host, port, cost, options } = invocation;
    const source = configSourceOf(options);
    if (cost) return showCost(profile === undefined ? PROFILES : [profile], source, signal);
    if (options.json) throw new CemError("USAGE", "cem serve speaks MCP. --json goes with --cost only.");
    const { loadCustomTools, runServer } = await import("code-execution-mcp");
    const running = await runServer({
      ...source,
      transport,
      profile,
      expose,
      host,
      port,
      customTools: customTools === undefined ? undefined : await loadCustomTools(customTools, source.cwd),
    });
    const stop = (): void => void running.close();
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    await running.closed;
    await running.close();
    // Standard output belongs to the protocol.
    return NO_ANSWER;
  },
});

function exposed(value: string): Exposed[] {
  const kinds = value.split(",").map((kind) => kind.trim());
  const unknown = kinds.find((kind) => !EXPOSED.some((known) => known === kind));
  if (unknown !== undefined)
    throw new InvalidArgumentError(
      `There is no ${JSON.stringify(unknown)}. There are: ${EXPOSED.join(", ")}.`,
    );
  return EXPOSED.filter((kind) => kinds.includes(kind));
}

const PROFILES: readonly Profile[] = ["full", "code", "original"];

async function showCost(profiles: readonly Profile[], source: ConfigSource, signal: AbortSignal) {
  const { createAgent, createServer } = await import("code-execution-mcp");
  const { measureDirectCost, measureTokenCost } = await import("code-execution-mcp/admin");
  const agent = createAgent(source);
  const costs: (TokenCost & { profile: Profile })[] = [];
  for (const profile of profiles) {
    const server = await createServer({ ...source, agent, profile });
    costs.push({ profile, ...(await measureTokenCost(server)) });
    await server.close();
  }
  const direct = await measureDirectCost(agent, signal);
  await agent.dispose();
  return answer({
    data: { profiles: costs, direct },
    report: (_, style) => [
      "",
      ...costs.flatMap(({ profile, total, tools }) =>
        renderRow(profile, tools.map(({ name }) => name).join(" "), style, {
          right: counted(total, "token"),
        }),
      ),
      "",
      ...renderRow("instead", `each of the ${counted(direct.tools, "tool")} here shown by itself`, style, {
        right: counted(direct.tokens, "token"),
      }),
    ],
    brief: () => costs.map(({ profile, total }) => `${profile} ${total}`).join("\n"),
  });
}
