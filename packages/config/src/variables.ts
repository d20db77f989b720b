/** An environment variable that sets a setting. */
export interface Variable {
  name: string;
  /** The path of the setting. */
  path: string;
  /** The `llm.provider` that it applies to. */
  provider?: "openai" | "azure_openai" | "anthropic" | undefined;
}

/** The variable with the path of the configuration file. It is not a setting. */
export const FILE_VARIABLE = "CEM_CONFIG";
/** The variable with the folders whose files are trusted. It is not a setting and never read from .env. */
export const TRUST_VARIABLE = "CEM_TRUST_FOLDER";

/** Every variable that sets a setting. Of two for the same setting the first, more specific one has precedence. */
export const VARIABLES: readonly Variable[] = [
  { name: "SANDBOX_TYPE", path: "execution.sandbox_type" },
  { name: "AGENT_SANDBOX_TYPE", path: "execution.sandbox_type" },
  { name: "ALLOW_NETWORK_ACCESS", path: "execution.allow_network_access" },
  { name: "EXECUTION_WORKSPACE_DIR", path: "execution.workspace_dir" },
  { name: "WORKSPACE_DIR", path: "execution.workspace_dir" },
  { name: "AGENTKERNEL_WORKSPACE", path: "execution.workspace_dir" },
  { name: "EXECUTION_SERVERS_DIR", path: "execution.servers_dir" },
  { name: "SERVERS_DIR", path: "execution.servers_dir" },
  { name: "EXECUTION_SKILLS_DIR", path: "execution.skills_dir" },
  { name: "SKILLS_DIR", path: "execution.skills_dir" },
  { name: "MSB_SERVER_URL", path: "execution.msb_server_url" },
  { name: "MICROSANDBOX_URL", path: "execution.msb_server_url" },
  { name: "MSB_API_KEY", path: "execution.msb_api_key" },
  { name: "STATE_ENABLED", path: "execution.state.enabled" },
  { name: "STATE_WORKSPACE_DIR", path: "execution.state.workspace_dir" },
  { name: "STATE_FILE", path: "execution.state.state_file" },
  { name: "STATE_AUTO_SAVE", path: "execution.state.auto_save" },
  { name: "STATE_FORMAT", path: "execution.state.state_format" },
  { name: "LLM_ENABLED", path: "llm.enabled" },
  { name: "LLM_CODE_GENERATION", path: "llm.enabled" },
  { name: "LLM_PROVIDER", path: "llm.provider" },
  { name: "LLM_MODEL", path: "llm.model" },
  { name: "LLM_BASE_URL", path: "llm.base_url" },
  { name: "LLM_TEMPERATURE", path: "llm.temperature" },
  { name: "LLM_MAX_TOKENS", path: "llm.max_tokens" },
  { name: "LLM_TIMEOUT", path: "llm.timeout" },
  { name: "LLM_MAX_RETRIES", path: "llm.max_retries" },
  { name: "OPENAI_API_KEY", path: "llm.api_key", provider: "openai" },
  { name: "AZURE_OPENAI_API_KEY", path: "llm.api_key", provider: "azure_openai" },
  { name: "ANTHROPIC_API_KEY", path: "llm.api_key", provider: "anthropic" },
  { name: "LLM_API_KEY", path: "llm.api_key" },
  { name: "AZURE_OPENAI_ENDPOINT", path: "llm.azure_endpoint" },
  { name: "AZURE_OPENAI_CHAT_DEPLOYMENT_NAME", path: "llm.azure_deployment_name" },
  { name: "AZURE_OPENAI_DEPLOYMENT_NAME", path: "llm.azure_deployment_name" },
  { name: "AZURE_OPENAI_CHAT_DEPLOYMENT", path: "llm.azure_deployment_name" },
  { name: "AZURE_OPENAI_API_VERSION", path: "llm.azure_api_version" },
  { name: "AZURE_OPENAI_EMBEDDER_NAME", path: "llm.azure_embedder_name" },
  { name: "AZURE_OPENAI_EMBEDDER_VERSION", path: "llm.azure_embedder_version" },
  { name: "OPTIMIZATIONS_ENABLED", path: "optimizations.enabled" },
  { name: "OPTIMIZATION_SANDBOX_POOLING", path: "optimizations.sandbox_pooling" },
  { name: "OPTIMIZATION_TOOL_CACHE", path: "optimizations.tool_cache" },
  { name: "OPTIMIZATION_GPU_EMBEDDINGS", path: "optimizations.gpu_embeddings" },
  { name: "OPTIMIZATION_PARALLEL_DISCOVERY", path: "optimizations.parallel_discovery" },
  { name: "CEM_MODELS_DIR", path: "optimizations.model_cache_dir" },
  { name: "HF_ENDPOINT", path: "optimizations.model_mirror" },
  { name: "GUARDRAILS_ENABLED", path: "guardrails.enabled" },
  { name: "GUARDRAILS_STRICT_MODE", path: "guardrails.strict_mode" },
  { name: "MAX_EXECUTION_TIME", path: "guardrails.max_execution_time" },
  { name: "AGENT_EXECUTION_TIMEOUT", path: "guardrails.max_execution_time" },
  { name: "MAX_MEMORY_MB", path: "guardrails.max_memory_mb" },
  { name: "CEM_VAULT_KEY", path: "privacy.vault_key" },
  { name: "LOG_LEVEL", path: "logging.level" },
  { name: "AGENTKERNEL_LOG_LEVEL", path: "logging.level" },
  { name: "LOG_FILE", path: "logging.file" },
  { name: "CEM_SERVER_HOST", path: "server.host" },
  { name: "CEM_SERVER_PORT", path: "server.port" },
  { name: "CEM_SERVER_TOKEN", path: "server.auth_token" },
  { name: "CEM_QUEUE_URL", path: "queue.url" },
  { name: "CEM_WORKER_PORT", path: "queue.worker_port" },
  { name: "CEM_STORE_URL", path: "store.url" },
  { name: "CEM_STORE_FILES", path: "store.files" },
  { name: "CEM_STORE_KEYS", path: "store.keys" },
];

/** The names of the variables of a setting. */
export function variablesOf(path: string): string[] {
  return VARIABLES.filter((variable) => variable.path === path).map(({ name }) => name);
}

/** The variables of a setting, in words. */
export function variablesInWords(path: string): string {
  const variables = VARIABLES.filter((variable) => variable.path === path);
  const bound = variables.filter(({ provider }) => provider !== undefined);
  const names = [
    bound.map(({ name, provider }) => `${name} for ${provider}`).join(", "),
    ...variables.filter(({ provider }) => provider === undefined).map(({ name }) => name),
  ];
  return names.filter((name) => name !== "").join(", else ");
}

/** Environment variables by name. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** The value of a variable, trimmed. An empty one counts as unset. */
export function variableValue(variables: Variables, name: string): string | undefined {
  const value = variables[name]?.trim();
  return value === "" ? undefined : value;
}
