import type { Exposed, Profile, TransportName } from "code-execution-mcp";
import { Argument, InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import type { ServeInvocation, VerifyInvocation } from "./invocation.ts";
import { addSettingOptions, wholeNumber } from "./command-options.ts";
import { SERVE, VERIFY } from "./help-examples.ts";

const TRANSPORTS: readonly TransportName[] = ["stdio", "http", "sse"];
const PROFILES: readonly Profile[] = ["full", "code", "original"];
const EXPOSED: readonly Exposed[] = ["resources", "prompts"];
const MAX_PORT = 65_535;

interface ServeOptions {
  profile?: Profile | undefined;
  host?: string | undefined;
  port?: number | undefined;
  expose?: Exposed[] | undefined;
  customTools?: string | undefined;
  cost: boolean;
}

/** Adds `cem serve` to the program. */
export function addServeCommand(
  add: (usage: string, description: string, example: string) => Command,
  found: (invocation: Omit<ServeInvocation, "options">, command: Command) => void,
): void {
  addSettingOptions(add("serve", "Be an MCP server, for any client", SERVE))
    .addArgument(new Argument("[transport]", "how clients connect").choices(TRANSPORTS).default("stdio"))
    .addOption(profileOption())
    .option("--expose <kinds>", "what clients see of MCP servers besides tools: resources,prompts", exposed)
    .option("--custom-tools <file>", "module with tools of your own, which clients see beside these")
    .option("--host <address>", "address to listen on")
    .option("--port <number>", "port to listen on; 0 for any that is free", wholeNumber(0, MAX_PORT))
    .option("--cost", "print what the tools cost a model, in tokens, and serve nothing", false)
    .action(
      (
        transport: TransportName,
        { profile, expose, customTools, host, port, cost }: ServeOptions,
        command: Command,
      ) => found({ command: "serve", transport, profile, expose, customTools, host, port, cost }, command),
    );
}

/** Adds `cem verify` to the program. */
export function addVerifyCommand(
  add: (usage: string, description: string, example: string) => Command,
  found: (invocation: Omit<VerifyInvocation, "options">, command: Command) => void,
): void {
  addSettingOptions(add("verify", "Try every tool of the server, as clients do", VERIFY))
    .addOption(profileOption())
    .action(({ profile }: Pick<ServeOptions, "profile">, command: Command) =>
      found({ command: "verify", profile }, command),
    );
}

function profileOption(): Option {
  return new Option("--profile <name>", "which tools clients see").choices(PROFILES);
}

function exposed(value: string): Exposed[] {
  const kinds = value.split(",").map((kind) => kind.trim());
  const unknown = kinds.find((kind) => !EXPOSED.some((known) => known === kind));
  if (unknown !== undefined) {
    throw new InvalidArgumentError(
      `There is no ${JSON.stringify(unknown)}. There are: ${EXPOSED.join(", ")}.`,
    );
  }
  return EXPOSED.filter((kind) => kinds.includes(kind));
}
