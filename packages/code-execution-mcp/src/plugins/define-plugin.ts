import type { HostTool } from "@cem/bridge/define-tool";
import type {
  AgentEvent,
  CodeGenerator,
  Guard,
  McpTransportProvider,
  SandboxProvider,
  ToolSelector,
  WorkflowStepKind,
} from "@cem/core";
import type { CustomDetector } from "@cem/pii";
import type { StandardSchemaV1 } from "@standard-schema/spec";

/** Context for setting up a plugin. */
export interface PluginContext {
  /** The folder of the plugin's own files. Absent for a plugin passed in code. */
  readonly folder: string | undefined;
  /** Aborts when the plugin is disposed or its set-up times out. */
  readonly signal: AbortSignal;
  /** Looks up a variable in the environment and, once the user trusts it, in `.env` of the folder. */
  variable(name: string): string | undefined;
  /** Writes a line to the log, under the plugin's name. */
  log(message: string): void;
}

/** Tools, stages, detectors and listeners that a plugin adds. */
export interface PluginParts {
  /** Functions of the host by server and name, made with `defineTool`. */
  tools?: Readonly<Record<string, Readonly<Record<string, HostTool>>>> | undefined;
  /** Find personal data and secrets, in addition to the detectors of `@cem/pii`. */
  detectors?: readonly CustomDetector[] | undefined;
  /** Review code after the default guard. They can refuse it, and never allow what another refused. */
  guards?: readonly Guard[] | undefined;
  /** Are asked for code in order, before the default one. If one refuses, the next is asked. */
  generators?: readonly CodeGenerator[] | undefined;
  /** Are asked for tools in order, before the default one. If one picks none, the next is asked. */
  selectors?: readonly ToolSelector[] | undefined;
  /** Sandboxes that `execution.sandbox_type` can name. */
  sandboxes?: readonly SandboxProvider[] | undefined;
  /** Types of workflow steps. */
  steps?: readonly WorkflowStepKind[] | undefined;
  /** Ways to connect to MCP servers, by the scheme of their URLs. */
  transports?: readonly McpTransportProvider[] | undefined;
  /** Receives copies of all events asynchronously, with tokens in place of personal data. */
  onEvent?: ((event: AgentEvent) => void | Promise<void>) | undefined;
  /** Frees what the plugin holds. */
  dispose?: (() => void | Promise<void>) | undefined;
}

/** A plugin with its metadata and its set-up function. */
export interface Plugin<Options extends StandardSchemaV1 | undefined = StandardSchemaV1 | undefined> {
  /** The version of the ports that it implements. */
  readonly specificationVersion: "v1";
  /** Its name, as used in messages: letters, digits, `-`, `_`, `.`, and `@scope/` in front. */
  readonly name: string;
  readonly version: string;
  /** The schema of its options in the configuration. Without one, it takes no options. */
  readonly options?: Options | undefined;
  /**
   * Creates the parts that the plugin adds. Called once for each agent.
   *
   * @param options - The schema's output, after defaults and transformations.
   */
  setup(options: PluginOptions<Options>, context: PluginContext): PluginParts | Promise<PluginParts>;
}

/** The type of the options passed to `setup`. */
export type PluginOptions<Options extends StandardSchemaV1 | undefined> = Options extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Options>
  : undefined;

/**
 * Defines a plugin. The schema of its options determines what `setup` gets.
 *
 * @example
 * ```ts
 * export default definePlugin({
 *   specificationVersion: "v1",
 *   name: "employees",
 *   version: "1.0.0",
 *   options: z.object({ prefix: z.string().default("E") }),
 *   setup: ({ prefix }) => ({
 *     detectors: [{ type: "EMPLOYEE", pattern: new RegExp(`\\b${prefix}\\d{6}\\b`) }],
 *   }),
 * });
 * ```
 */
export function definePlugin<const Options extends StandardSchemaV1 | undefined = undefined>(
  plugin: Plugin<Options>,
): Plugin {
  // `setup` only receives output of the schema, so the wider type is safe.
  return Object.freeze({ ...plugin });
}
