import { spawn } from "node:child_process";
import { once } from "node:events";
import { CemError } from "@cem/core";
import type { Answer } from "../io/command-context.ts";
import type { CommandContext } from "../io/command-context.ts";
import { configSourceOf } from "../run/config-source.ts";
import { EXIT_OK } from "../errors.ts";
import { messagesOf, send } from "../warm/messages.ts";
import type { WarmStatus, ServerMessage } from "../warm/messages.ts";
import { connectTo } from "../warm/warm-client.ts";
import { agentSettingsOf, cacheKeyOf, socketPath } from "../warm/warm-folder.ts";
import { addOptions, defineCommand } from "../command/define-command.ts";
import type { Given } from "../command/define-command.ts";
import { SETTING_OPTIONS, actionArgument, wholeNumber } from "../command/options.ts";

const ACTIONS = ["start", "status", "stop", "serve"] as const;
const MAX_IDLE_MINUTES = 1_440;

type KeepWarm = Given<{
  /** `serve` is the process that `start` starts. */
  action: (typeof ACTIONS)[number];
  idle: number;
}>;

/** `cem keep-warm`: starts, shows or stops the process that keeps agents of this folder ready. */
export const keepWarm = defineCommand<Omit<KeepWarm, "options">>({
  name: "keep-warm",
  about: "Keep this folder ready, for quick commands",
  help: `
A process in the background keeps agents, guests, the catalog and MCP servers of this folder ready, so that cem exec,
cem run and cem call answer sooner, with the same answers. Each command has an agent of its own. It is yours alone, and
is passed over when the configuration, the tools, the environment or cem itself have changed since.

Examples:
  cem keep-warm
  cem keep-warm --idle 60
  cem keep-warm status
  cem keep-warm stop`,
  declare: (command) =>
    addOptions(command, SETTING_OPTIONS)
      .addArgument(actionArgument(ACTIONS, "start"))
      .option(
        "--idle <minutes>",
        "end after so many minutes without a command",
        wholeNumber(1, MAX_IDLE_MINUTES),
        15,
      ),
  run: manage,
});

/** Agents that are ready at a time: for a command, and for one that follows at once. */
const PREWARMED_AGENTS = 2;
const MS_PER_MINUTE = 60_000;

async function manage(invocation: KeepWarm, context: CommandContext): Promise<Answer> {
  switch (invocation.action) {
    case "start":
      return start(invocation);
    case "serve":
      return serve(invocation, context);
    case "status":
      return tell(await statusOf(invocation));
    case "stop":
      return stop(invocation);
  }
}

async function start(invocation: KeepWarm): Promise<Answer> {
  const running = await statusOf(invocation);
  if (running !== undefined) return tell(running);
  requireSocket(invocation);
  // Problems of the set-up are reported here, not by a process that nobody sees.
  const { stampProject } = await import("code-execution-mcp/admin");
  if ((await stampProject(configSourceOf(invocation.options))) === undefined) throw cannotKeep();
  // Node's own options, such as conditions, are passed on.
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? "", ...serveWords()], {
    detached: true,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const ended = once(child, "exit").then(() => undefined);
  const ready = once(child, "message").then(() => true);
  if ((await Promise.race([ready, ended])) === undefined) throw cannotKeep();
  child.disconnect();
  child.unref();
  return tell(await statusOf(invocation));
}

/** This command line, with `serve` in place of `start`. */
function serveWords(): string[] {
  const words = process.argv.slice(2);
  const at = words.indexOf("keep-warm") + 1;
  return words.toSpliced(at, words[at] === "start" ? 1 : 0, "serve");
}

/** The process itself. It is started by `start`, in the background. */
async function serve(invocation: KeepWarm, context: CommandContext): Promise<Answer> {
  const socket = requireSocket(invocation);
  const { PrewarmedAgents } = await import("../warm/prewarmed-agents.ts");
  const { WarmServer } = await import("../warm/warm-server.ts");
  const prewarmed = new PrewarmedAgents(
    { ...configSourceOf(invocation.options), onLog: () => {} },
    PREWARMED_AGENTS,
  );
  const server = new WarmServer({
    socket,
    cacheKey: cacheKeyOf(agentSettingsOf(invocation.options)),
    prewarmed,
    idleMs: invocation.idle * MS_PER_MINUTE,
  });
  // First, since it keeps this process alive.
  await server.listen();
  await prewarmed.fill();
  process.send?.("ready");
  context.signal.addEventListener("abort", () => void server.close());
  await server.ended;
  return tell(undefined);
}

async function stop(invocation: KeepWarm): Promise<Answer> {
  const socket = await connectTo(invocation.options);
  if (socket === undefined) return tell(undefined);
  const closed = once(socket, "close");
  send(socket, { type: "stop" });
  socket.resume();
  await closed;
  return tell(undefined);
}

async function statusOf({ options }: KeepWarm): Promise<WarmStatus | undefined> {
  const socket = await connectTo(options);
  if (socket === undefined) return undefined;
  try {
    send(socket, { type: "status" });
    for await (const message of messagesOf<ServerMessage>(socket)) {
      if (message.type === "status") return message.status;
    }
    return undefined;
  } finally {
    socket.destroy();
  }
}

function tell(status: WarmStatus | undefined): Answer {
  const text =
    status === undefined
      ? "Nothing is kept warm for this folder."
      : `Kept warm: ${status.folder} (process ${status.pid}), ${status.ready} ready, ${status.served} commands served, ${status.declined} declined. It ends after ${status.idleSeconds / 60} minutes without a command.`;
  return {
    exitCode: EXIT_OK,
    data: { status: "success", warm: status ?? null },
    report: () => ["", `  ${text}`],
    brief: () => (status === undefined ? "" : String(status.pid)),
  };
}

function requireSocket({ options }: KeepWarm): string {
  const socket = socketPath(agentSettingsOf(options));
  if (socket !== undefined) return socket;
  throw new CemError(
    "USAGE",
    process.platform === "win32"
      ? "Nothing can be kept warm on Windows."
      : "Nothing can be kept warm here: the folder for its socket is not yours alone. Set XDG_RUNTIME_DIR to one that is.",
  );
}

function cannotKeep(): CemError {
  return new CemError(
    "USAGE",
    "Nothing can be kept warm for this folder: it has host tools (*.host.ts), more than 5,000 files, or asks for what is not trusted. See: cem trust",
  );
}
