import * as z from "zod/mini";
import { executionSettings } from "./execution.ts";
import { plugins, toolMapping, workflow } from "./extensions.ts";
import { guardrailSettings } from "./guardrails.ts";
import { llmSettings } from "./llm.ts";
import { mcpServers } from "./mcp-servers.ts";
import { optimizationSettings } from "./optimizations.ts";
import { privacySettings } from "./privacy.ts";
import { loggingSettings, runSettings } from "./records.ts";
import { staysInSandbox } from "./risk.ts";
import { customerSettings, queueSettings, serverSettings, storeSettings } from "./serving.ts";
import { harmless, section, setting, withDefault } from "./setting.ts";

/** The schema of the configuration: the name, type, default, bounds and description of every setting. */
export const configSchema = z.strictObject({
  execution: section("Where and how code runs.", executionSettings),
  llm: section("The language model that writes code. When disabled, rules write it.", llmSettings),
  optimizations: section("Pools, caches and parallel work.", optimizationSettings),
  guardrails: section("What is checked before and while code runs.", guardrailSettings),
  privacy: section("How personal data and secrets are kept from the model.", privacySettings),
  logging: section("The log of every command and server, and the audit log.", loggingSettings),
  customers: section("Customers, each with a workspace of their own.", customerSettings),
  server: section("cem serve and the server image.", serverSettings),
  queue: section("The queue in which runs wait for workers, on other machines too.", queueSettings),
  runs: section("Records of runs.", runSettings),
  store: section("What several machines share.", storeSettings),
  mcpServers: setting(
    withDefault(mcpServers, []),
    "MCP servers: a list of {name, url, …}, or a mapping from names to {command, args, env, cwd} or {url, headers}. ${NAME} in a value comes from the environment. mcpServers is the same key.",
    { askedAs: "server" },
  ),
  plugins: setting(
    withDefault(plugins, []),
    "Plugins, loaded in this order: paths of modules (./my-plugin.ts), names of packages that are installed here, or {plugin, options, required}.",
    { askedAs: "plugin" },
  ),
  toolMappings: harmless(
    withDefault(z.array(toolMapping), []),
    "Other names for tools, by which steps of workflows can call them: {server_name, tool_name, function_name}.",
  ),
  workflows: setting(
    withDefault(z.array(workflow), []),
    "Workflows, whose forms fill in web pages and whose steps run code and files of the project: {name, steps, variables, outputs, guardrails}. cem workflow run executes one.",
    { isStricter: staysInSandbox },
  ),
});

type Loaded = z.output<typeof configSchema>;

/** A loaded configuration. Paths are absolute. */
export type Config = Omit<Loaded, "execution"> & {
  execution: Omit<Loaded["execution"], "state"> & {
    state: Omit<Loaded["execution"]["state"], "workspaceDir"> & { workspaceDir: string };
  };
};

/** Any of the settings, as a caller passes them. */
export type ConfigInput = z.input<typeof configSchema>;
