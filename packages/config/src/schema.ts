import { DEFAULT_RUN_LIMITS, ISOLATION_LEVELS } from "@cem/core";
import * as z from "zod/mini";
import { customerSettings } from "./schema-customers.ts";
import { guardrailSettings } from "./schema-guardrails.ts";
import { mounts } from "./schema-mounts.ts";
import { plugins } from "./schema-plugins.ts";
import { privacySettings } from "./schema-privacy.ts";
import { kubernetesSettings } from "./schema-kubernetes.ts";
import { queueSettings } from "./schema-queue.ts";
import { runSettings } from "./schema-runs.ts";
import { serverSettings } from "./schema-server.ts";
import { mcpServers } from "./schema-servers.ts";
import { storeSettings } from "./schema-store.ts";
import { toolMapping, workflow } from "./schema-workflows.ts";
import {
  choice,
  described,
  flag,
  httpUrl,
  number,
  secretText,
  setting,
  text,
  whole,
  withDefault,
} from "./setting.ts";

const LOG_LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] as const;
/** The sandboxes that need no plugin. */
export const SANDBOX_TYPES: readonly string[] = ["auto", "deno", "microsandbox", "kubernetes"];
const BYTES_PER_KB = 1024;
const BYTES_PER_MB = 1024 * 1024;

function section<S extends z.core.$ZodLooseShape>(description: string, shape: S) {
  return described(z.prefault(z.strictObject(shape), {} as never), description);
}

function count(most: number, standard: number) {
  return withDefault(whole(1, most), standard);
}

const state = section("State that persists between runs.", {
  enabled: setting(flag(true), "Whether state is kept."),
  workspaceDir: setting(z.optional(text), "Folder of the state. Default: execution.workspace_dir.", {
    path: true,
  }),
  stateFile: setting(
    withDefault(text, "state.json"),
    "Name of the state file in that folder. Its ending is that of state_format.",
  ),
  autoSave: setting(
    flag(true),
    "Save each run in the log of its session, sessions/session_001.json and so on in the workspace.",
  ),
  stateFormat: setting(
    withDefault(
      z.pipe(
        z.enum(["json", "yaml", "binary", "pickle"]),
        z.transform((format) => (format === "pickle" ? "binary" : format)),
      ),
      "json",
    ),
    "How state is written, with the file's ending: json, yaml, or binary (MessagePack, .msgpack). pickle stands for binary.",
  ),
});

const limits = section(
  "Limits of a run and of the workspace, besides guardrails.max_execution_time and max_memory_mb.",
  {
    maxOutputKb: setting(
      count(1_048_576, DEFAULT_RUN_LIMITS.outputBytes / BYTES_PER_KB),
      "Output kept of one run, in KiB. Output beyond it is counted and dropped.",
    ),
    maxToolCalls: setting(
      withDefault(whole(0, 10_000_000), DEFAULT_RUN_LIMITS.calls),
      "Maximum tool calls in one run.",
    ),
    maxConcurrentCalls: setting(
      count(10_000, DEFAULT_RUN_LIMITS.callsInFlight),
      "Maximum tool calls at once; more wait.",
    ),
    maxPayloadMb: setting(
      withDefault(number(0.001, 1_024), DEFAULT_RUN_LIMITS.payloadBytes / BYTES_PER_MB),
      "Maximum size of arguments, a result or a value, in MiB.",
    ),
    maxWriteMb: setting(
      count(1_048_576, DEFAULT_RUN_LIMITS.writeMb),
      "Maximum that one run may write to the workspace, in MiB.",
    ),
    maxWorkspaceMb: setting(
      count(1_073_741_824, 10_240),
      "Maximum that the workspace may hold, in MiB. A run that takes it above is ended.",
    ),
    maxWorkspaceEntries: setting(
      count(1_000_000_000, 250_000),
      "Maximum number of files and folders in the workspace. A run that takes it above is ended.",
    ),
  },
);

const execution = section("Where and how code runs.", {
  workspaceDir: setting(withDefault(text, "./workspace"), "Folder that the code sees as /workspace.", {
    path: true,
  }),
  serversDir: setting(withDefault(text, "./servers"), "Folder with the tools, one folder per server.", {
    path: true,
  }),
  skillsDir: setting(withDefault(text, "./skills"), "Folder with the skills.", { path: true }),
  workflowRunsDir: setting(
    withDefault(text, ".cem/workflows"),
    "Folder in which runs of workflows are kept, to go on with. Code in the sandbox must not reach it.",
    { path: true },
  ),
  sandboxType: setting(
    withDefault(text, "auto"),
    "Sandbox that runs the code. auto: the one of deno and microsandbox with the strongest isolation that works on this host. kubernetes: pods of agent-sandbox.",
    { allowed: `${SANDBOX_TYPES.join(", ")}, or the name of a plugin's sandbox` },
  ),
  sandboxImage: setting(
    withDefault(text, "auto"),
    "Image of the microVM: an OCI reference, or an absolute path of an archive, a folder or a disk image, with glibc. auto: one of this host's own C library.",
  ),
  minIsolation: setting(
    choice(ISOLATION_LEVELS, "permissions"),
    "Refuse to run below this level. microvm: its own kernel. namespaces: kernel namespaces around the guest. permissions: the runtime's own permissions.",
  ),
  typeCheck: setting(
    choice(["before", "off"], "before"),
    "before: code from a caller or a model is checked against the types of its tools before it runs. off: it is not.",
  ),
  allowNetworkAccess: setting(flag(false), "Whether the guest may use the network."),
  mountDirectories: setting(
    withDefault(mounts, []),
    "Additional folders that the guest sees: path, host:guest, host:guest:rw, or {host, guest, mode}. Read-only unless marked rw; under /workspace/mounts by default.",
    { path: true },
  ),
  msbServerUrl: setting(
    z.optional(text),
    "URL of a microsandbox server of 0.2 or older (msb server start). With sandbox_type microsandbox, code runs there.",
  ),
  msbApiKey: setting(z.optional(secretText), "API key of that server.", { secret: true }),
  kubernetes: section("Pods for sandbox_type kubernetes.", kubernetesSettings),
  state,
  limits,
});

const llm = section("The language model that writes code. When disabled, rules write it.", {
  enabled: setting(flag(false), "Whether a model writes code. An API key alone does not enable it."),
  provider: setting(
    choice(["openai", "azure_openai", "anthropic"], "openai"),
    "Provider of the model. openai with llm.base_url is any service with the same API. When it is unset and AZURE_OPENAI_ENDPOINT is set: azure_openai.",
  ),
  model: setting(withDefault(text, "gpt-4o-mini"), "Name of the model."),
  apiKey: setting(z.optional(secretText), "API key of the provider. Better set in the environment.", {
    secret: true,
  }),
  baseUrl: setting(
    z.optional(text),
    "URL of an OpenAI-compatible service: http://localhost:11434/v1 for Ollama. It needs no key.",
  ),
  temperature: setting(
    withDefault(number(0, 2), 0.3),
    "Sampling temperature. It is not sent to models that accept none.",
  ),
  maxTokens: setting(count(10_000_000, 2_000), "Maximum tokens of an answer."),
  maxCompletionTokens: setting(
    z.optional(whole(1, 10_000_000)),
    "The same, with precedence over max_tokens. Which of the two parameters a model accepts is detected.",
  ),
  timeout: setting(
    withDefault(number(0.1, 3_600), 60),
    "Timeout without any data from the service, in seconds.",
  ),
  maxRetries: setting(
    withDefault(whole(0, 20), 2),
    "Maximum retries of a request after the service was busy, failed or disconnected.",
  ),
  maxRepairs: setting(
    withDefault(whole(0, 10), 2),
    "Maximum repairs by the model of code that was refused or failed.",
  ),
  toolTokens: setting(
    count(1_000_000, 6_000),
    "Maximum tokens of the tools that the model is told of. A catalog that fits is told as a whole.",
  ),
  dataFacts: setting(
    flag(true),
    "Whether the model is told facts about data: columns of tables, the first lines of files in the workspace that the task names.",
  ),
  priceInput: setting(
    z.optional(number(0, 1_000_000)),
    "US dollars per million input tokens. With llm.price_output, results report their cost.",
  ),
  priceOutput: setting(z.optional(number(0, 1_000_000)), "US dollars per million output tokens."),
  budgetTokens: setting(
    z.optional(whole(1, 1_000_000_000)),
    "Maximum input and output tokens for one task, with all attempts.",
  ),
  budgetUsd: setting(z.optional(number(0, 1_000_000)), "Maximum US dollars for one task. Needs both prices."),
  azureEndpoint: setting(z.optional(text), "URL of the Azure OpenAI resource."),
  azureDeploymentName: setting(z.optional(text), "Deployment of the model on Azure. Default: llm.model."),
  azureApiVersion: setting(z.optional(text), "Version of the Azure API."),
  azureEmbedderName: setting(
    z.optional(text),
    "Deployment of the embedding model on Azure. Enables semantic search of tools, whose texts are sent there.",
  ),
  azureEmbedderVersion: setting(z.optional(text), "Version of the Azure API for embeddings."),
  embeddingModel: setting(
    z.optional(text),
    "Embedding model of OpenAI, or at llm.base_url. Enables semantic search of tools, whose texts are sent there.",
  ),
});

const optimizations = section("Pools, caches and parallel work.", {
  enabled: setting(flag(true), "false disables all of these."),
  sandboxPooling: setting(flag(true), "Start sandbox guests before they are needed."),
  sandboxPoolSize: setting(count(256, 3), "Number of guests kept ready."),
  sandboxReuse: setting(
    choice(["none", "session"], "session"),
    "session: the runs of one session share a guest process, one after another, each in a realm of its own. none: each run has a process of its own.",
  ),
  sandboxKeptGuests: setting(
    count(4096, 16),
    "Guests that wait for the next run of their session, some 20 MiB each; beyond it the one that has waited longest ends.",
  ),
  toolCache: setting(flag(true), "Cache what was read from the tool files."),
  toolCacheFile: setting(withDefault(text, ".tool_cache.json"), "File of the tool cache.", { path: true }),
  gpuEmbeddings: setting(flag(true), "Use a GPU for embeddings.", {
    pending: "embeddings are computed by the processor",
  }),
  embeddingModel: setting(
    z.optional(text),
    "Sentence-embedding model that cem model pull has loaded, as it was named there; none: no model. Enables semantic search of tools on this machine, with precedence over a service. Default: the model that cem model pull loads without a name, once it is there.",
  ),
  modelCacheDir: setting(
    z.optional(text),
    "Folder of pulled models. Default: cem/models in the user's cache folder.",
    { path: true },
  ),
  modelMirror: setting(
    z.optional(httpUrl),
    "URL of a server with the paths of huggingface.co, which models are pulled from instead.",
  ),
  embeddingModelDir: setting(
    z.optional(text),
    "Folder of a sentence-embedding model in ONNX format. Enables semantic search of tools, with precedence over embedding_model and a service.",
    { path: true },
  ),
  searchCacheDir: setting(
    withDefault(text, ".cem/search"),
    "Folder of the other caches that tool_cache enables: search indexes, embeddings, and type checks without findings (file_content_cache).",
    { path: true },
  ),
  parallelDiscovery: setting(flag(true), "Read tool files in parallel."),
  fileContentCache: setting(
    flag(true),
    "Keep which programs passed the check of types, by the content of their files, so that they are not checked again. Needs tool_cache.",
  ),
});

const logLevel = withDefault(
  z.pipe(
    z.pipe(
      z.string(),
      z.transform((level: string) => level.toUpperCase()),
    ),
    z.enum(LOG_LEVELS),
  ),
  "INFO",
);
z.globalRegistry.add(logLevel, { enum: [...LOG_LEVELS, ...LOG_LEVELS.map((level) => level.toLowerCase())] });

const MAX_AUDIT_MB = 1_024;

const logging = section("The log of every command and server, and the audit log.", {
  level: setting(logLevel, "Minimum severity that is logged, in upper or lower case.", {
    allowed: LOG_LEVELS.join(", "),
  }),
  file: setting(
    z.optional(text),
    "File of the log. Default: standard error, where the command shows it with --verbose.",
    { path: true },
  ),
  auditFile: setting(
    z.optional(text),
    "File of the audit log: a line for each run, verdict, call, approval and refusal, without values. cem audit verify checks it. Default: none is kept.",
    { path: true },
  ),
  auditMaxMb: setting(
    count(MAX_AUDIT_MB, 16),
    "Size at which that file is put aside and another begun, in MiB.",
  ),
  auditStore: setting(
    flag(false),
    "Keep the audit log of all machines in store.url, as one chain. It grows without end.",
  ),
});

/** The schema of the configuration: the name, type, default, bounds and description of every setting. */
export const configSchema = z.strictObject({
  execution,
  llm,
  optimizations,
  guardrails: section("What is checked before and while code runs.", guardrailSettings),
  privacy: section("How values of persons and secrets are kept from the model.", privacySettings),
  logging,
  customers: section("Customers, each with a workspace of their own.", customerSettings),
  server: section("cem serve and the server image.", serverSettings),
  queue: section("The queue in which runs wait for workers, on other machines too.", queueSettings),
  runs: section("Records of runs.", runSettings),
  store: section("What several machines share.", storeSettings),
  mcpServers: setting(
    withDefault(mcpServers, []),
    "MCP servers: a list of {name, url, …}, or a mapping from names to {command, args, env, cwd} or {url, headers}. ${NAME} in a value comes from the environment. mcpServers is the same key.",
  ),
  plugins: setting(
    withDefault(plugins, []),
    "Plugins, loaded in this order: paths of modules (./my-plugin.ts), names of packages that are installed here, or {plugin, options, required}.",
  ),
  toolMappings: setting(
    withDefault(z.array(toolMapping), []),
    "Other names for tools, by which steps of workflows can call them: {server_name, tool_name, function_name}.",
  ),
  workflows: setting(
    withDefault(z.array(workflow), []),
    "Workflows: {name, steps, variables, outputs, guardrails}. cem workflow run carries one out.",
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
