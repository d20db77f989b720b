import { hintOfSteps, isErrorFacts, type ErrorEntries } from "./entry.ts";

const OWN_CODE = "Code of your own runs with  cem exec <file>  ; with llm.enabled a model writes the code.";

/** The fix where the workspace is full. */
export const MORE_ROOM =
  "Delete what is not needed, or allow more with `execution.limits.max_workspace_mb` and `max_workspace_entries`.";

/** The hint for a run that was killed, by the `reason` in its details. */
const LIMITS: Readonly<Record<string, string>> = {
  "call-limit": "Allow more with execution.limits.max_tool_calls.",
  "payload-limit":
    "Give less at once, or write it to a file in /workspace and give its path. The limit is execution.limits.max_payload_mb.",
  "workspace-quota": MORE_ROOM.replaceAll("`", ""),
  "write-limit": "Allow more with execution.limits.max_write_mb.",
};

export const RUN_ERRORS = {
  ABORTED: {
    meaning: "The caller cancelled the run or the call.",
    cause: "The signal of the request was aborted, the client cancelled, or Ctrl-C was pressed.",
    fix: "Nothing, where that was meant. Calls that had been made are in the result's `toolCalls`.",
  },
  AGENT_DISPOSED: {
    meaning: "The agent was disposed before the request.",
    fix: "Make a new agent, or dispose it after the last request.",
  },
  ARGUMENT_MISSING: {
    meaning: "A tool fits the task, and the task lacks a value that the tool requires, so nothing ran.",
    fix: "Say the value in the task: a number, a date, a path, a name, or a text in quotes. `details.steps` names the step and the arguments.",
    hint: (details, hintFor) => hintOfSteps(details, hintFor) ?? OWN_CODE,
  },
  TASK_NOT_UNDERSTOOD: {
    meaning: "A tool fits the task, and the rules, which do not guess, could not read all words of a step.",
    fix: "Say that step in plainer words, bring code with `cem exec`, or set `llm.enabled: true`.",
    hint: () => OWN_CODE,
  },
  CODE_EMPTY: { meaning: "The code to run is empty.", fix: "Send code." },
  CODE_INVALID: {
    meaning: "The code is not valid TypeScript.",
    fix: "Correct the line and column that the message names.",
  },
  CODE_MISTYPED: {
    meaning: "A call does not fit the types of its tool, so the code was not run.",
    fix: "Correct what the findings name. `execution.type_check: off` runs code unchecked; arguments are still checked at the call.",
  },
  CODE_REFUSED: {
    meaning: "The review found an import, a pattern or a tool that is not allowed.",
    fix: "Correct the findings, which have lines, or change `guardrails.blocked_patterns` and `allowed_tools`.",
  },
  CODE_THREW: {
    meaning: "The code threw an exception.",
    fix: "Look at the message and the line. Where a tool failed, its own error is in `details.toolError`.",
    hint: ({ toolError, name, message }, hintFor) =>
      isErrorFacts(toolError) ? hintFor(toolError) : hintOfDenied(String(name), String(message)),
  },
  NO_TOOL: {
    meaning: "No tool is near enough to a step of the task, so nothing ran.",
    fix: "Say it in plainer words, bring code with `cem exec`, or set `llm.enabled: true`; `cem tools` lists what there is, `cem add` adds a server.",
    hint: (details, hintFor) =>
      hintOfSteps(details, hintFor) ??
      (details["tools"] === 0
        ? "There are no tools here. Begin with  cem init  or add a server with  cem add <name> -- npx -y <server>"
        : `${OWN_CODE} See what there is with  cem tools  and add another server with  cem add <name> -- npx -y <server>`),
  },
  QUERY_EMPTY: { meaning: "The search query is empty.", fix: "Say what the tool should do." },
  RUN_KILLED: {
    meaning: "The run was ended by a limit or from outside.",
    cause: "The guest crossed a limit that ends the process, such as calls or bytes written, or was killed.",
    fix: "`details.reason` names the limit; each has a setting in `execution.limits`.",
    hint: ({ reason }) => LIMITS[String(reason)],
  },
  RUN_NOT_FOUND: {
    meaning: "No run has this id, or its result is no longer kept.",
    cause: "The handle is wrong, or nobody asked for the run within ten minutes.",
    fix: "Run it again, and read the result sooner.",
    hint: ({ isRecord }) => (isRecord === true ? "See which there are with  cem runs" : undefined),
  },
  RUN_OUT_OF_MEMORY: {
    meaning: "The run needed more memory than its limit.",
    fix: "Allow more with `guardrails.max_memory_mb`, or work in smaller parts.",
    hint: "fix",
  },
  RUN_TIMED_OUT: {
    meaning: "The run took longer than its timeout, for which waiting for a person does not count.",
    fix: "Allow more with `guardrails.max_execution_time`, or do less at once.",
    hint: "fix",
  },
  TASK_EMPTY: { meaning: "The task is empty.", fix: "Say what is to be done." },
  UNEXPECTED: {
    meaning: "An exception that is not a CemError.",
    fix: "Run it again with `--verbose`. If it comes back, report it with that log.",
  },
} satisfies ErrorEntries;

/** The messages of Node's and Deno's functions when the user has no permission to write. */
const NOT_WRITABLE = /^(?:EACCES|EPERM|EROFS|Permission denied|Read-only file system)\b/u;

/** The setting that allows what the sandbox or the system denied. */
function hintOfDenied(name: string, message: string): string | undefined {
  if (NOT_WRITABLE.test(message)) {
    return "The workspace, or a file in it, is not this user's to write: cem doctor tells. Work in another folder with execution.workspace_dir (--workspace).";
  }
  if (name !== "NotCapable") return undefined;
  if (message.startsWith("The sandbox has no network access"))
    return "Allow it with execution.allow_network_access: true, and name the hosts in guardrails.allowed_networks.";
  return /^The sandbox can't (?:read|write) (?!"\/workspace\/)/u.test(message)
    ? "Let code see a folder of this machine with execution.mount_directories."
    : undefined;
}
