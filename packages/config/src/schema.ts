import { DEFAULT_RUN_LIMITS, ISOLATION_LEVELS } from "@cem/core";
import { z } from "zod";
import { guardrailSettings } from "./schema-guardrails.ts";
import { mounts } from "./schema-mounts.ts";
import { mcpServers } from "./schema-servers.ts";
import { toolMapping, workflow } from "./schema-workflows.ts";
import { secretText, setting, text } from "./setting.ts";

const LOG_LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] as const;
const BYTES_PER_KB = 1024;
const BYTES_PER_MB = 1024 * 1024;

const NO_LLM = { pending: "no LLM yet" };
const NO_STATE = { pending: "no state store yet" };
const NO_OLD_SERVER = { pending: "older microsandbox servers are not driven yet" };

function section<S extends z.ZodRawShape>(description: string, shape: S) {
  return z
    .strictObject(shape)
    .prefault({} as z.input<z.ZodObject<S>>)
    .describe(description);
}

function count(most: number, standard: number) {
  return z.int().min(1).max(most).default(standard);
}

const state = section("State that outlives a run.", {
  enabled: setting(z.boolean().default(true), "Whether state is kept.", NO_STATE),
  workspaceDir: setting(text.optional(), "Folder the state is kept in. Default: execution.workspace_dir.", {
    path: true,
    ...NO_STATE,
  }),
  stateFile: setting(text.default("state.json"), "Name of the state file in that folder.", NO_STATE),
  autoSave: setting(z.boolean().default(true), "Save after each run.", NO_STATE),
  stateFormat: setting(
    z
      .enum(["json", "yaml", "binary", "pickle"])
      .transform((format) => (format === "pickle" ? "binary" : format))
      .default("json"),
    "How state is written. pickle stands for binary.",
    NO_STATE,
  ),
});

const limits = section("Bounds on one run, beside guardrails.max_execution_time and max_memory_mb.", {
  maxOutputKb: setting(
    count(1_048_576, DEFAULT_RUN_LIMITS.outputBytes / BYTES_PER_KB),
    "Output kept of one run, in KiB. What comes beyond is counted and dropped.",
  ),
  maxToolCalls: setting(
    z.int().min(0).max(10_000_000).default(DEFAULT_RUN_LIMITS.calls),
    "Tool calls in one run.",
  ),
  maxConcurrentCalls: setting(
    count(10_000, DEFAULT_RUN_LIMITS.callsInFlight),
    "Tool calls under way at once; more wait.",
  ),
  maxPayloadMb: setting(
    z
      .number()
      .min(0.001)
      .max(1_024)
      .default(DEFAULT_RUN_LIMITS.payloadBytes / BYTES_PER_MB),
    "Largest arguments, result or value, in MiB.",
  ),
  maxWriteMb: setting(
    count(1_048_576, DEFAULT_RUN_LIMITS.writeMb),
    "What one run may write to the workspace, in MiB.",
  ),
});

const execution = section("Where and how code runs.", {
  workspaceDir: setting(text.default("./workspace"), "Folder the code sees as /workspace.", { path: true }),
  serversDir: setting(text.default("./servers"), "Folder with the tools, one folder per server.", {
    path: true,
  }),
  skillsDir: setting(text.default("./skills"), "Folder with the skills.", { path: true }),
  sandboxType: setting(
    z.enum(["auto", "deno", "microsandbox"]).default("auto"),
    "What runs the code. auto: the strongest that this host really gives.",
  ),
  sandboxImage: setting(
    text.default("auto"),
    "Image of the microVM: an OCI reference, or an absolute path of an archive, a folder or a disk image, with glibc. auto: one of this host's own C library.",
  ),
  minIsolation: setting(
    z.enum(ISOLATION_LEVELS).default("permissions"),
    "Refuse to run below this level. microvm: its own kernel. namespaces: kernel namespaces around the guest. permissions: the runtime's own permissions.",
  ),
  allowNetworkAccess: setting(z.boolean().default(false), "Whether the guest may use the network."),
  mountDirectories: setting(
    mounts.default([]),
    "More folders the guest sees: path, host:guest, host:guest:rw, or {host, guest, mode}. Read-only unless marked rw; under /workspace/mounts unless told otherwise.",
    { path: true },
  ),
  msbServerUrl: setting(text.optional(), "URL of an older microsandbox server.", NO_OLD_SERVER),
  msbApiKey: setting(secretText.optional(), "Key of that server.", { secret: true, ...NO_OLD_SERVER }),
  state,
  limits,
});

const llm = section("A language model that writes the code. Off: code is written by rules.", {
  enabled: setting(z.boolean().default(false), "Whether a model is asked.", NO_LLM),
  provider: setting(
    z.enum(["openai", "azure_openai", "anthropic"]).default("openai"),
    "Who runs the model. Where nothing says so and AZURE_OPENAI_ENDPOINT is set: azure_openai.",
    NO_LLM,
  ),
  model: setting(text.default("gpt-4o-mini"), "Name of the model.", NO_LLM),
  apiKey: setting(secretText.optional(), "Key of the provider. Better kept in the environment.", {
    secret: true,
    ...NO_LLM,
  }),
  baseUrl: setting(text.optional(), "URL of an OpenAI-compatible service.", NO_LLM),
  temperature: setting(z.number().min(0).max(2).default(0.3), "How freely it writes.", NO_LLM),
  maxTokens: setting(count(10_000_000, 2_000), "Most tokens of an answer.", NO_LLM),
  maxCompletionTokens: setting(
    z.int().min(1).max(10_000_000).optional(),
    "The same, for models that take max_completion_tokens.",
    NO_LLM,
  ),
  azureEndpoint: setting(text.optional(), "URL of the Azure OpenAI resource.", NO_LLM),
  azureDeploymentName: setting(text.optional(), "Deployment of the model on Azure.", NO_LLM),
  azureApiVersion: setting(text.optional(), "Version of the Azure API.", NO_LLM),
  azureEmbedderName: setting(text.optional(), "Deployment of the embedding model on Azure.", {
    pending: "no embeddings yet",
  }),
  azureEmbedderVersion: setting(text.optional(), "Version of the Azure API for embeddings.", {
    pending: "no embeddings yet",
  }),
});

const optimizations = section("What makes it quick.", {
  enabled: setting(z.boolean().default(true), "false switches all of these off."),
  sandboxPooling: setting(z.boolean().default(true), "Keep guests ready."),
  sandboxPoolSize: setting(count(256, 3), "Guests kept ready."),
  sandboxReuse: setting(
    z.enum(["none", "session"]).default("none"),
    "none: each guest has one run. session: the runs of one session share a guest, one after another, as long as each leaves it as it was.",
  ),
  toolCache: setting(z.boolean().default(true), "Remember what was read from the tool files."),
  toolCacheFile: setting(text.default(".tool_cache.json"), "File that is remembered in.", { path: true }),
  gpuEmbeddings: setting(z.boolean().default(true), "Use a GPU for embeddings.", {
    pending: "no embeddings yet",
  }),
  parallelDiscovery: setting(z.boolean().default(true), "Read tool files at the same time."),
  fileContentCache: setting(z.boolean().default(true), "Remember the content of files.", {
    pending: "no file cache yet",
  }),
});

const logging = section("The log.", {
  level: setting(
    z
      .string()
      .transform((level) => level.toUpperCase())
      .pipe(z.enum(LOG_LEVELS))
      .default("INFO")
      .meta({ enum: [...LOG_LEVELS, ...LOG_LEVELS.map((level) => level.toLowerCase())] }),
    "Least severity that is logged, in any case.",
    { pending: "no log yet", allowed: LOG_LEVELS.join(", ") },
  ),
  file: setting(text.optional(), "File the log goes to. Default: standard error.", {
    path: true,
    pending: "no log yet",
  }),
});

/** The one source of every setting: its name, type, default, bounds and description. */
export const configSchema = z.strictObject({
  execution,
  llm,
  optimizations,
  guardrails: section("What is checked before and while code runs.", guardrailSettings),
  logging,
  mcpServers: setting(
    mcpServers.default([]),
    "MCP servers: a list of {name, url, …}, or a mapping from names to {command, args, env, cwd} or {url, headers}. mcpServers is the same key.",
    {
      pending: "no MCP client yet",
    },
  ),
  toolMappings: setting(z.array(toolMapping).default([]), "Functions that stand for tools.", {
    pending: "no tool mappings yet",
  }),
  workflows: setting(z.array(workflow).default([]), "Workflows: name, steps, variables, guardrails.", {
    pending: "no workflows yet",
  }),
});

type Loaded = z.output<typeof configSchema>;

/** Every setting, with its value. Paths are absolute. */
export type Config = Omit<Loaded, "execution"> & {
  execution: Omit<Loaded["execution"], "state"> & {
    state: Omit<Loaded["execution"]["state"], "workspaceDir"> & { workspaceDir: string };
  };
};

/** Any of the settings, as a caller gives them. */
export type ConfigInput = z.input<typeof configSchema>;
