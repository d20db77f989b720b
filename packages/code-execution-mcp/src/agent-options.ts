import type { ConfigInput } from "@cem/config";
import { assertKnownOptions } from "@cem/core";
import type {
  CodeGenerator,
  Elicit,
  ExecuteOptions,
  Guard,
  SandboxProvider,
  ToolCatalog,
  ToolInvoker,
  ToolSelector,
  TypeChecker,
} from "@cem/core";
import type { HostToolsByServer } from "@cem/mcp-tools";
import { nearest } from "@cem/text";
import type { Log } from "./wiring/log.ts";

/** Where the configuration comes from. */
export interface ConfigSource {
  /** Where config.yaml and .env are looked for. Default: the process's own. */
  cwd?: string | undefined;
  /** The configuration file, which then has to exist. `false`: read none. */
  configFile?: string | false | undefined;
  /** Settings that win over file and environment, in camelCase: `{ execution: { workspaceDir: "./data" } }`. */
  config?: ConfigInput | undefined;
}

/** The default stages, each of which can be replaced by your own. */
export interface AgentOptions extends ConfigSource {
  catalog?: ToolCatalog | undefined;
  selector?: ToolSelector | undefined;
  generator?: CodeGenerator | undefined;
  guard?: Guard | undefined;
  /** Stays yours: the agent does not dispose it. */
  typeChecker?: TypeChecker | undefined;
  sandboxProvider?: SandboxProvider | undefined;
  /** The agent is for one run: no guest is made ready for a next one. Default: false. */
  oneRun?: boolean | undefined;
  /** Functions of the host as tools, by server and name: `{ crm: { find_customer: defineTool({ … }) } }`. */
  tools?: HostToolsByServer | undefined;
  /** Answers calls to tools on the host that are not in `tools`. Default: the configured MCP servers do. */
  invoker?: ToolInvoker | undefined;
  /** Asks the user what a tool wants to know while it runs. Default: such questions are declined. */
  onElicit?: Elicit | undefined;
  /** A file that gets every call to the host and its result, once the agent is disposed. */
  recordFile?: string | undefined;
  /** A recording that answers in place of the tools on the host. */
  replayFile?: string | undefined;
  /** Takes the lines of the log where `logging.file` names no file. Default: standard error. */
  onLog?: ((line: string) => void) | undefined;
  /** Takes every entry of the log, whatever `logging` says. */
  log?: Log | undefined;
}

/** The names of all options of an agent. */
export const AGENT_OPTIONS = {
  cwd: true,
  configFile: true,
  config: true,
  catalog: true,
  selector: true,
  generator: true,
  guard: true,
  typeChecker: true,
  sandboxProvider: true,
  oneRun: true,
  tools: true,
  invoker: true,
  onElicit: true,
  recordFile: true,
  replayFile: true,
  onLog: true,
  log: true,
} satisfies Record<keyof AgentOptions, true>;

const EXECUTE_OPTIONS = {
  signal: true,
  onEvent: true,
  limits: true,
  typeCheck: true,
  mode: true,
  context: true,
  onElicit: true,
  session: true,
} satisfies Record<keyof ExecuteOptions, true>;

/** @throws CemError `OPTION_INVALID` for an option that does not exist. */
export function assertAgentOptions(options: AgentOptions): void {
  assertKnownOptions(options, AGENT_OPTIONS, "createAgent", nearest);
}

/** @throws CemError `OPTION_INVALID` for an option that does not exist. */
export function assertTaskOptions(options: AgentOptions & ExecuteOptions): void {
  assertKnownOptions(options, { ...AGENT_OPTIONS, ...EXECUTE_OPTIONS }, "executeTask", nearest);
}
