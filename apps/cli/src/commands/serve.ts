import { CemError } from "@cem/core";
import type { ConfigSource, Profile } from "code-execution-mcp";
import type { TokenCost } from "code-execution-mcp/admin";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import type { ServeInvocation } from "../invocation.ts";
import { configSourceOf } from "../config-source.ts";
import { EXIT_OK } from "../exit-codes.ts";
import { renderRow } from "../render-rows.ts";
import { counted } from "../text-layout.ts";
import type { Style } from "../text-layout.ts";

const PROFILES: readonly Profile[] = ["full", "code", "original"];

/** Nothing is printed when a server ends: standard output belongs to the protocol. */
const SILENCE: Answer = { exitCode: EXIT_OK, data: {}, report: () => [], brief: () => "" };

/** `cem serve`: is an MCP server until it is stopped or its client goes away. */
export async function serve(invocation: ServeInvocation, { signal }: CommandContext): Promise<Answer> {
  const { transport, profile, expose, customTools, host, port, cost, options } = invocation;
  const source = configSourceOf(options);
  if (cost) return showCost(profile === undefined ? PROFILES : [profile], source, signal);
  if (options.json) {
    throw new CemError("USAGE", "cem serve speaks MCP. --json goes with --cost only.");
  }
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
  return SILENCE;
}

async function showCost(
  profiles: readonly Profile[],
  source: ConfigSource,
  signal: AbortSignal,
): Promise<Answer> {
  const { createAgent, createServer } = await import("code-execution-mcp");
  const { measureDirectCost, measureTokenCost } = await import("code-execution-mcp/admin");
  const agent = createAgent(source);
  const costs: ProfileCost[] = [];
  for (const profile of profiles) {
    const server = await createServer({ ...source, agent, profile });
    costs.push({ profile, ...(await measureTokenCost(server)) });
    await server.close();
  }
  const direct = await measureDirectCost(agent, signal);
  await agent.dispose();
  return {
    exitCode: EXIT_OK,
    data: { status: "success", profiles: costs, direct },
    report: (style) => [
      "",
      ...costs.flatMap((cost) => costRow(cost, style)),
      "",
      ...directRow(direct, style),
    ],
    brief: () => costs.map(({ profile, total }) => `${profile} ${total}`).join("\n"),
  };
}

interface ProfileCost extends TokenCost {
  profile: Profile;
}

function costRow({ profile, total, tools }: ProfileCost, style: Style): string[] {
  const names = tools.map(({ name }) => name).join(" ");
  return renderRow(profile, names, style, { right: counted(total, "token") });
}

function directRow({ tools, tokens }: { tools: number; tokens: number }, style: Style): string[] {
  const text = `each of the ${counted(tools, "tool")} here shown by itself`;
  return renderRow("instead", text, style, { right: counted(tokens, "token") });
}
