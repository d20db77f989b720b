import type { Troubles } from "./trouble.ts";

/** Errors of a run and its code. */
export const RUN_TROUBLES = {
  ABORTED: {
    cause: "The signal of the request was aborted, the client cancelled, or Ctrl-C was pressed.",
    wayOut: "Nothing, where that was meant. Calls that had been made are in the result's `toolCalls`.",
  },
  AGENT_DISPOSED: {
    cause: "A request came after `agent.dispose()`.",
    wayOut: "Make a new agent, or dispose it after the last request.",
  },
  ARGUMENT_MISSING: {
    cause: "The rules found the tool, and the task does not say a value that it requires. Nothing ran.",
    wayOut:
      "Say the value in the task: a number, a date, a path, a name, or a text in quotes. `details.steps` names the step and the arguments.",
  },
  TASK_NOT_UNDERSTOOD: {
    cause: "The rules found a tool but could not read all words of a step, and do not guess.",
    wayOut: "Say that step in plainer words, bring code with `cem exec`, or set `llm.enabled: true`.",
  },
  CODE_EMPTY: { cause: "The code is empty or blank.", wayOut: "Send code." },
  CODE_INVALID: {
    cause: "The code does not parse as TypeScript.",
    wayOut: "Mend the line and column that the message names.",
  },
  CODE_MISTYPED: {
    cause: "A call does not fit the types of its tool, so the code was not run.",
    wayOut:
      "Mend what the findings name. `execution.type_check: off` runs code unchecked; arguments are still checked at the call.",
  },
  CODE_REFUSED: {
    cause: "The review found an import, a pattern or a tool that is not allowed.",
    wayOut:
      "Mend the findings, which have lines, or change `guardrails.blocked_patterns` and `allowed_tools`.",
  },
  CODE_THREW: {
    cause: "The code ran and threw.",
    wayOut: "Look at the message and the line. Where a tool failed, its own error is in `details.toolError`.",
  },
  NO_TOOL: {
    cause: "No tool is near enough to a step of the task. Nothing ran.",
    wayOut:
      "Say it in plainer words, bring code with `cem exec`, or set `llm.enabled: true`; `cem tools` lists what there is, `cem add` adds a server.",
  },
  QUERY_EMPTY: { cause: "The search has no words.", wayOut: "Say what the tool should do." },
  RUN_KILLED: {
    cause: "The guest crossed a limit that ends the process, such as calls or bytes written, or was killed.",
    wayOut: "`details.reason` names the limit; each has a setting in `execution.limits`.",
  },
  RUN_NOT_FOUND: {
    cause: "The handle is wrong, or nobody asked for the run within ten minutes.",
    wayOut: "Run it again, and read the result sooner.",
  },
  RUN_OUT_OF_MEMORY: {
    cause: "The program needed more memory than `guardrails.max_memory_mb`.",
    wayOut: "Work in smaller parts, or allow more.",
  },
  RUN_TIMED_OUT: {
    cause: "The run took longer than `guardrails.max_execution_time`. Waiting for a person does not count.",
    wayOut: "Do less at once, or allow more.",
  },
  TASK_EMPTY: { cause: "The task has no words.", wayOut: "Say what is to be done." },
  UNEXPECTED: {
    cause: "Something threw an error that nothing here foresaw.",
    wayOut: "Run it again with `--verbose`. If it comes back, report it with that log.",
  },
} satisfies Troubles;
