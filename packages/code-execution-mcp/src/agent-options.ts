import type { ConfigInput } from "@cem/config";
import type {
  CodeGenerator,
  Guard,
  SandboxProvider,
  ToolCatalog,
  ToolInvoker,
  ToolSelector,
  TypeChecker,
} from "@cem/core";

/** Where the configuration comes from. */
export interface ConfigSource {
  /** Where config.yaml and .env are looked for. Default: the process's own. */
  cwd?: string;
  /** The configuration file, which then has to exist. `false`: read none. */
  configFile?: string | false;
  /** Settings that win over file and environment, in camelCase: `{ execution: { workspaceDir: "./data" } }`. */
  config?: ConfigInput;
}

/** The default stages, each of which can be replaced by your own. */
export interface AgentOptions extends ConfigSource {
  catalog?: ToolCatalog;
  selector?: ToolSelector;
  generator?: CodeGenerator;
  guard?: Guard;
  /** Stays yours: the agent does not dispose it. */
  typeChecker?: TypeChecker;
  sandboxProvider?: SandboxProvider;
  /** The agent is for one run: no guest is made ready for a next one. Default: false. */
  oneRun?: boolean;
  /** Answers calls to tools that run on the host. Default: there are none. */
  invoker?: ToolInvoker;
}
