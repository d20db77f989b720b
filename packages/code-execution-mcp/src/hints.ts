import type { ErrorDetails, ErrorInfo, KnownErrorCode } from "@cem/core";
import { hintOfDenied, isErrorInfo, LIMITS, MORE_ROOM, text, withName } from "./hint-parts.ts";
import { shellWord } from "./shell-word.ts";

/**
 * What helps against one error: a sentence, or one made of the error's details. `undefined` where the message says
 * it all. Two spaces stand before and after a command, so that it can be told from the words around it.
 */
type Hint = string | ((details: ErrorDetails) => string | undefined) | undefined;

const NO_HINT = undefined;
const MAX_STEP_HINTS = 5;
const OWN_CODE = "Code of your own runs with  cem exec <file>  ; with llm.enabled a model writes the code.";
const PLUGINS_HINT =
  "See how each plugin stands with  cem plugins list  ; it is named under plugins in config.yaml.";

/** The setting, flag or command that helps, for every code of this project. */
export const HINTS: Readonly<Record<KnownErrorCode, Hint>> = {
  // A run and its code.
  ABORTED: NO_HINT,
  AGENT_DISPOSED: NO_HINT,
  ARGUMENT_MISSING: (details) => hintOfSteps(details) ?? OWN_CODE,
  CODE_EMPTY: NO_HINT,
  CODE_INVALID: NO_HINT,
  CODE_MISTYPED: NO_HINT,
  CODE_REFUSED: NO_HINT,
  CODE_THREW: ({ toolError, name, message }) =>
    isErrorInfo(toolError) ? hintFor(toolError) : hintOfDenied(String(name), String(message)),
  NO_TOOL: (details) =>
    hintOfSteps(details) ??
    (details["tools"] === 0
      ? "There are no tools here. Begin with  cem init  or add a server with  cem add <name> -- npx -y <server>"
      : `${OWN_CODE} See what there is with  cem tools  and add another server with  cem add <name> -- npx -y <server>`),
  QUERY_EMPTY: NO_HINT,
  RUN_KILLED: ({ reason }) => LIMITS[String(reason)],
  RUN_NOT_FOUND: ({ isRecord }) => (isRecord === true ? "See which there are with  cem runs" : undefined),
  RUN_OUT_OF_MEMORY: "Allow more with guardrails.max_memory_mb, or work in smaller parts.",
  RUN_TIMED_OUT: "Allow more with guardrails.max_execution_time, or do less at once.",
  TASK_EMPTY: NO_HINT,
  TASK_NOT_UNDERSTOOD: OWN_CODE,
  UNEXPECTED: NO_HINT,
  // Calls to tools.
  ARGUMENTS_INVALID: NO_HINT,
  FLOW_DENIED: ({ from, to }) =>
    `Where that is meant, add to privacy.rules: { from: ${String(from)}, to: ${String(to)}, action: allow }`,
  BUDGET_EXCEEDED: "Allow more with guardrails.budgets.",
  NOT_APPROVED: ({ server, tool, answer }) =>
    answer === "unanswered"
      ? `Whoever runs this can let it through without a question: add "!${text(server, "*")}.${text(tool, "*")}" to guardrails.approvals.`
      : undefined,
  NOT_RECORDED: "Record the run again with --record.",
  RATE_LIMITED: NO_HINT,
  RESULT_INVALID: ({ structuredContent }) =>
    structuredContent === undefined
      ? undefined
      : "Code that catches the error finds what came in its details.structuredContent.",
  RESULT_NOT_FOUND: NO_HINT,
  RESULT_NOT_JSON: NO_HINT,
  RESULT_TOO_LARGE: NO_HINT,
  TOKEN_UNKNOWN: NO_HINT,
  TOOL_CHANGED: (details) =>
    withName(
      details,
      (server) =>
        `See the difference with  cem generate ${server}  and accept it with  cem generate ${server} --accept`,
    ),
  TOOL_FAILED: NO_HINT,
  TOOL_INVALID: NO_HINT,
  TOOL_NAME_TAKEN: NO_HINT,
  TOOL_NOT_ALLOWED: NO_HINT,
  TOOL_NOT_GENERATED: (details) => withName(details, (server) => `Generate it with  cem generate ${server}`),
  TOOL_NOT_FOUND: (details) =>
    withName(details, (server) => `See which tools it has with  cem tools ${server}`),
  TOOL_TIMEOUT: NO_HINT,
  // MCP servers.
  AUTH_FAILED: (details) => withName(details, (server) => `Try again with  cem auth ${server}`),
  AUTH_REQUIRED: (details) => withName(details, (server) => `Sign in with  cem auth ${server}`),
  PROTOCOL_ERROR: NO_HINT,
  SERVER_BUSY: ({ server, maxConnections }) =>
    maxConnections === undefined
      ? undefined
      : `Raise max_connections for ${text(server, "it")} under mcp_servers, or set connections: shared if it keeps no state.`,
  SERVER_CLOSED: NO_HINT,
  SERVER_DISABLED: ({ server }) => `Set enabled: true for ${text(server, "it")} under mcp_servers.`,
  SERVER_DOWN: "See how it stands now with  cem servers",
  SERVER_EXISTS: (details) =>
    withName(details, (server) => `Take it out first with  cem remove ${server}  or choose another name.`),
  SERVER_FOLDER_TAKEN: (details) =>
    withName(details, (server) => `Take it out with  cem remove ${server}  and add it under another name.`),
  SERVER_NOT_FOUND: ({ known, nearest }) =>
    known === undefined && nearest === undefined
      ? "See which there are with  cem tools  and  cem servers"
      : undefined,
  TOOL_FILES_BUSY: NO_HINT,
  TOOL_FILES_UNSAFE_FOLDER: NO_HINT,
  TOOL_LOCK_INVALID: "Delete it and run  cem generate",
  TOOL_REMOVED: (details) =>
    withName(details, (server) => `Bring its files up to date with  cem generate ${server}`),
  VARIABLE_MISSING: ({ variable }) => {
    const name = text(variable, "it");
    return `Set ${name} in the environment or in .env, or write \${${text(variable, "NAME")}:-default} in its place.`;
  },
  // Sandboxes and the workspace.
  DISK_FULL: "Make room on that disk. execution.workspace_dir can name a folder on another one.",
  FILES_DAMAGED:
    "Put a backup of the storage and of store.url back, both of one time; or delete the customer with  cem customers delete <id>  and begin anew.",
  FILES_UNAVAILABLE:
    "Correct store.files (CEM_STORE_FILES) and the access key of AWS in the environment; the bucket has to be there.",
  GUEST_START_FAILED: "See what this host can run with  cem doctor",
  ISOLATION_TOO_WEAK: "Set execution.min_isolation to a level that this host has. See which with  cem doctor",
  LIMIT_INVALID: NO_HINT,
  RESULTS_UNUSABLE: NO_HINT,
  SANDBOX_BUSY: NO_HINT,
  SANDBOX_DISPOSED: NO_HINT,
  SANDBOX_IMAGE_UNUSABLE: "Set execution.sandbox_image to another image, or to auto.",
  SANDBOX_SERVER_FAILED: NO_HINT,
  SANDBOX_SERVER_REFUSED: "Set execution.msb_api_key (MSB_API_KEY) to a key of that server.",
  SANDBOX_SERVER_UNREACHABLE: "Start the server, or correct execution.msb_server_url (MSB_SERVER_URL).",
  SANDBOX_SPEC_INVALID: NO_HINT,
  SANDBOX_UNAVAILABLE: ({ sandbox, chosenBy }) => {
    const where =
      sandbox === undefined ? "" : `${text(chosenBy, "It")} asks for ${text(sandbox, "it")} by name. `;
    return `${where}With execution.sandbox_type: auto another sandbox is taken where there is one. See which with  cem doctor`;
  },
  SESSION_NOT_FOUND: "See which there are with  cem sessions",
  SESSIONS_DISABLED: "Set execution.state.enabled and execution.state.auto_save to true.",
  STATE_BUSY: NO_HINT,
  STATE_CONFLICT: NO_HINT,
  STATE_DISABLED: "Set execution.state.enabled to true, or keep data in files of /workspace.",
  STATE_PATH_INVALID: NO_HINT,
  STATE_TOO_LARGE: NO_HINT,
  STATE_UNREADABLE: NO_HINT,
  QUEUE_FULL: NO_HINT,
  QUEUE_KEY_REUSED: NO_HINT,
  RUN_INTERRUPTED: NO_HINT,
  STORE_CONFLICT: NO_HINT,
  STORE_KEY_INVALID: NO_HINT,
  STORE_SEALED: NO_HINT,
  STORE_UNAVAILABLE: ({ location }) => {
    const place = text(location, "");
    if (/^rediss?:/u.test(place))
      return "Start one with  docker run -d -p 6379:6379 valkey/valkey:8  or  apt install redis-server  , or correct queue.url (CEM_QUEUE_URL) or store.url (CEM_STORE_URL).";
    return /^postgres(?:ql)?:/u.test(place)
      ? "Start one with  docker run -d -p 5432:5432 -e POSTGRES_PASSWORD=secret postgres:17  or  apt install postgresql  , or correct store.url (CEM_STORE_URL)."
      : "Set store.url (CEM_STORE_URL) to a folder that can be written.";
  },
  STORE_VALUE_TOO_LARGE: NO_HINT,
  WORKSPACE_FULL: MORE_ROOM,
  WORKSPACE_LINK_REFUSED: NO_HINT,
  WORKSPACE_UNUSABLE: "Set execution.workspace_dir to a folder that can be written.",
  // Customers.
  CUSTOMER_INVALID: NO_HINT,
  CUSTOMER_NOT_FOUND: "See which there are with  cem customers",
  CUSTOMER_GONE: NO_HINT,
  CUSTOMER_UNKNOWN: NO_HINT,
  QUOTA_EXCEEDED: NO_HINT,
  // Skills.
  SKILLS_DISABLED: NO_HINT,
  SKILL_INVALID: NO_HINT,
  SKILL_NOT_FOUND: "See which there are with  cem skills",
  SKILL_REFUSED: NO_HINT,
  // Workflows.
  EXPRESSION_FAILED: NO_HINT,
  EXPRESSION_INVALID: NO_HINT,
  WORKFLOW_INVALID: NO_HINT,
  WORKFLOW_NOT_FOUND: "See which there are with  cem workflow list  or name a file: ./<name>.yaml",
  WORKFLOW_RUN_BUSY: NO_HINT,
  WORKFLOW_RUN_NOT_FOUND: "See which there are with  cem workflow list",
  WORKFLOW_RUN_UNREADABLE: NO_HINT,
  WORKFLOW_RUN_UNWRITABLE: ({ code }) =>
    code === "ENOSPC" || code === "EDQUOT"
      ? "Make room on the disk, then go on with  cem workflow resume <run>"
      : "Set execution.workflow_runs_dir to a folder that can be written.",
  WORKFLOW_STEP_TIMED_OUT: "Allow more with the step's timeout.",
  WORKFLOW_STEP_UNCERTAIN: ({ run, step }) => {
    const resume = `cem workflow resume ${shellWord(text(run, "<run>"))}`;
    const name = shellWord(text(step, "<step>"));
    return `See whether it did its work, then go on with  ${resume} --done ${name}  or  ${resume} --repeat ${name}`;
  },
  WORKFLOW_TIMED_OUT: "Allow more with the workflow's timeout, then go on with  cem workflow resume <run>",
  WORKFLOW_VARIABLES_INVALID: "Give each with  --var <name>=<value>",
  // Models that write code or compare meaning.
  EMBEDDER_FAILED: NO_HINT,
  EMBEDDER_MODEL_CHANGED: ({ url, model }) => {
    if (url !== undefined) return "See which server is asked: optimizations.model_mirror (HF_ENDPOINT).";
    return `Pull it again with  cem model pull${model === undefined ? "" : ` ${shellWord(text(model, ""))}`}`;
  },
  EMBEDDER_MODEL_NOT_FOUND: ({ modelDir, model }) => {
    if (modelDir !== undefined) return "Correct optimizations.embedding_model_dir.";
    return model === undefined ? undefined : "Name another model, or none for the default one.";
  },
  EMBEDDER_PULL_FAILED: ({ url }) =>
    url === undefined
      ? "Set optimizations.model_cache_dir (CEM_MODELS_DIR) to a folder that can be written."
      : "From a mirror it may work: set optimizations.model_mirror (HF_ENDPOINT). Until then tools are searched by words alone.",
  LLM_ANSWER_UNUSABLE: ({ maxTokens }) =>
    maxTokens === undefined ? undefined : "Allow more with llm.max_tokens.",
  LLM_BUDGET_EXCEEDED: "Allow more with llm.budget_tokens or llm.budget_usd.",
  LLM_ENDPOINT_MISSING: "Set llm.azure_endpoint (AZURE_OPENAI_ENDPOINT).",
  LLM_FAILED: NO_HINT,
  LLM_KEY_MISSING: ({ variable }) => `Set ${text(variable, "the provider's variable")} or llm.api_key.`,
  LLM_KEY_REFUSED: "See where the key comes from with  cem doctor --config",
  LLM_PACKAGE_MISSING: NO_HINT,
  LLM_RATE_LIMITED: NO_HINT,
  LLM_REQUEST_REFUSED: NO_HINT,
  LLM_TIMED_OUT: "Allow more with llm.timeout.",
  LLM_UNREACHABLE: "Check llm.base_url, or on Azure llm.azure_endpoint.",
  TYPE_CHECKER_DISPOSED: NO_HINT,
  // Forms.
  BROWSER_FAILED: NO_HINT,
  BROWSER_NOT_FOUND: NO_HINT,
  FORM_INVALID: NO_HINT,
  FORM_NOT_FILLED: NO_HINT,
  FORM_TARGET_FAILED: NO_HINT,
  PACKAGE_MISSING: NO_HINT,
  // Serving.
  ADDRESS_REFUSED: ({ host }) =>
    host === undefined
      ? undefined
      : "Set server.auth_token (CEM_SERVER_TOKEN) or server.auth_issuer, or listen on 127.0.0.1.",
  ADDRESS_UNUSABLE: "Choose another with --host and --port, or server.host and server.port.",
  AUTH_INVALID:
    "Set one of server.auth_token (CEM_SERVER_TOKEN) and server.auth_issuer. A token is made by: openssl rand -hex 32",
  SERVER_CLOSING: NO_HINT,
  // Values kept from the model.
  RECOGNIZER_FAILED:
    "Install the package  @huggingface/transformers  and set privacy.names_model to a folder with a model.",
  VAULT_KEY_INVALID: "Set CEM_VAULT_KEY to 32 bytes in hex, such as from  openssl rand -hex 32",
  VAULT_UNREADABLE: "Set CEM_VAULT_KEY to the key it was written with, or delete the file.",
  AUDIT_BROKEN: NO_HINT,
  AUDIT_UNWRITABLE: "Set logging.audit_file to a file that can be written.",
  // Configuration, options and files.
  CONFIG_INVALID: NO_HINT,
  CONFIG_NOT_FOUND: "Make a configuration with  cem init  or name another with --config.",
  FOLDER_UNTRUSTED: ({ folder }) => {
    const place = text(folder, "");
    return `See what it asks for and allow it with  cem trust${place === "" ? "" : ` ${shellWord(place)}`}`;
  },
  LOG_UNWRITABLE: "Set logging.file to a file that can be written.",
  OPTION_INVALID: NO_HINT,
  PLUGIN_FAILED: PLUGINS_HINT,
  PLUGIN_INCOMPATIBLE: "Update the plugin, or cem, so that both have the same version of the ports.",
  PLUGIN_INVALID: PLUGINS_HINT,
  PLUGIN_TIMEOUT: PLUGINS_HINT,
  RECORDING_INVALID: "Make a recording with --record.",
  RECORDING_UNREADABLE: NO_HINT,
  RECORDING_UNWRITABLE: NO_HINT,
  // The command line says what helps in its own messages.
  BENCH_RUN_FAILED: NO_HINT,
  DOCTOR_FOUND_BROKEN: NO_HINT,
  FILE_NOT_FOUND: NO_HINT,
  FILE_UNREADABLE: NO_HINT,
  INPUT_EMPTY: NO_HINT,
  INPUT_NOT_UTF8: NO_HINT,
  INPUT_TOO_LARGE: NO_HINT,
  INTERRUPTED: NO_HINT,
  NODE_TOO_OLD: NO_HINT,
  NOT_WRITABLE: NO_HINT,
  USAGE: NO_HINT,
};

/**
 * The setting, flag or command that helps against an error, as one or more sentences for people. Only a face, which
 * knows its reader, shows it: below, nothing is known of settings and commands.
 *
 * @returns `undefined` where nothing is to be added to the message, and for codes that a plugin brings.
 */
export function hintFor({ code, details }: ErrorInfo): string | undefined {
  const hint = Object.hasOwn(HINTS, code) ? HINTS[code as KnownErrorCode] : undefined;
  return typeof hint === "function" ? hint(details) : hint;
}

/**
 * The same for an agent that reads an answer over MCP: it has no command line, and can write the code itself.
 */
export function hintForAgent(error: ErrorInfo): string | undefined {
  const { code, details } = error;
  if (code !== "TASK_NOT_UNDERSTOOD" && code !== "ARGUMENT_MISSING" && code !== "NO_TOOL")
    return hintFor(error);
  const unavailable = hintOfSteps(details);
  if (unavailable !== undefined) return unavailable;
  const [step]: unknown[] = Array.isArray(details["steps"]) ? details["steps"] : [];
  const tool: unknown = typeof step === "object" && step !== null ? Reflect.get(step, "tool") : undefined;
  const [, name] = /^.+\.([\w$]+)$/u.exec(typeof tool === "string" ? tool : "") ?? [];
  const begun =
    name === undefined ? "find the tool with search_tools" : `begin with: return await ${name}({ … });`;
  return `Write it for execute_code; ${begun} A model of this server's writes it where llm.enabled is set.`;
}

/** The hints for the tools that would do a step of a task and can't be called now. */
function hintOfSteps({ steps }: ErrorDetails): string | undefined {
  const errors = (Array.isArray(steps) ? steps : []).map(unavailableOf).filter(isErrorInfo);
  const hints = [...new Set(errors.map(hintFor))].filter((hint) => hint !== undefined);
  return hints.length === 0 ? undefined : hints.slice(0, MAX_STEP_HINTS).join("\n");
}

function unavailableOf(step: unknown): unknown {
  return typeof step === "object" && step !== null ? Reflect.get(step, "unavailable") : undefined;
}
