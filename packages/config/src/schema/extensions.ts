import * as z from "zod/mini";
import { guardrailOverrides } from "./guardrails.ts";
import {
  anyObject,
  described,
  flag,
  isPathByForm,
  number,
  optional,
  setting,
  text,
  unique,
  whole,
  withDefault,
} from "./setting.ts";

const MAX_SECONDS = 30 * 86_400;
const MAX_PARALLEL = 64;

/** Another function name for one tool. */
export const toolMapping = z.strictObject({
  serverName: described(text, "Server that has the tool."),
  toolName: described(text, "The tool's own name."),
  functionName: optional(
    text,
    "Name by which steps of workflows can call it. Code imports it by its own name.",
  ),
  pythonFunctionName: optional(text, "Read as function_name."),
  inputSchema: optional(anyObject, "Read without an effect: the tool's own schema holds."),
  outputSchema: optional(anyObject, "Read without an effect: the tool's own schema holds."),
});

const step = z.strictObject({
  name: described(text, "Name of the step."),
  type: described(
    text,
    "What the step does: tool_call, code_execution, condition, loop, workflow, form, or a type that a plugin brings.",
  ),
  description: optional(z.string(), "Purpose of the step."),
  config: described(withDefault(anyObject, {}), "Configuration of the step."),
  guardrails: optional(guardrailOverrides, "Guardrails of this step, which only tighten."),
  onError: optional(text, "What follows a failure: stop, skip, continue, retry, or a step's name."),
  retry: optional(anyObject, "How to retry: attempts, delay, backoff."),
  timeout: optional(number(0, MAX_SECONDS), "Timeout of the step, in seconds."),
  needs: optional(z.array(text), "Steps it waits for beside those it refers to."),
  idempotent: optional(
    z.boolean(),
    "Whether doing it twice does no harm. Others are not repeated when they may have been executed.",
  ),
});

export const workflow = z.strictObject({
  name: described(text, "Name of the workflow."),
  description: optional(z.string(), "Purpose of the workflow."),
  version: described(withDefault(z.string(), "1.0"), "Version of the workflow."),
  steps: described(z.array(step), "The steps, in order."),
  variables: described(withDefault(anyObject, {}), "Values the steps can use."),
  guardrails: optional(guardrailOverrides, "Guardrails of all its steps, which only tighten."),
  outputs: optional(
    anyObject,
    "What a run comes to, by name, with expressions. Default: the results of all steps.",
  ),
  timeout: optional(number(0, MAX_SECONDS), "Timeout of a run, in seconds."),
  maxParallel: described(withDefault(whole(1, MAX_PARALLEL), 4), "Most steps of one list at once."),
  mcpTool: described(flag(false), "Whether MCP clients see it as a tool."),
});

const entry = z.strictObject({
  plugin: setting(text, "Path of a module, or name of an installed package.", { path: isPathByForm }),
  options: optional(anyObject, "Options of the plugin, which its own schema checks."),
  required: described(
    flag(false),
    "true: nothing runs without it. false: where it fails, the rest goes on, with a warning.",
  ),
});

/** A plugin to load, by a path that is absolute in a loaded configuration, or by the name of a package. */
export type PluginSetting = z.output<typeof entry>;

const plugin = z.pipe(
  z.union([text, entry]),
  z.transform((value): PluginSetting =>
    typeof value === "string" ? { plugin: value, required: false } : value,
  ),
);

export const plugins = z.array(plugin).check(
  unique(
    (setting: PluginSetting) => setting.plugin,
    (name) => `is named twice: ${JSON.stringify(name)}`,
  ),
);
