import type { Troubles } from "./trouble.ts";

/** Errors of calls to tools. */
export const CALL_TROUBLES = {
  ARGUMENTS_INVALID: {
    cause: "The arguments of a call do not fit the tool's schema. The tool was not called.",
    wayOut: "Mend the arguments that the message lists. `cem tools <server>` shows the signature.",
  },
  FLOW_DENIED: {
    cause: "`privacy.rules` keep a personal value of one server from going to another.",
    wayOut: "Where that is meant, add a rule that allows it, as the hint shows.",
  },
  BUDGET_EXCEEDED: {
    cause: "`guardrails.budgets` are used up for the run or the session.",
    wayOut: "Do less, wait for the next session, or raise the budget.",
  },
  NOT_APPROVED: {
    cause: "The call needs a person's yes, and a person said no or nobody could be asked.",
    wayOut: "Answer the question, use a client that can ask, or exempt the tool in `guardrails.approvals`.",
  },
  NOT_RECORDED: {
    cause: "With `--replay`, the code made a call that the recording does not have.",
    wayOut: "Record again with `--record`.",
  },
  RATE_LIMITED: {
    cause: "`guardrails.rate_limits` or the number of waiting runs is reached.",
    wayOut: "Wait as long as the message says.",
  },
  RESULT_INVALID: {
    cause: "The tool answered, and the answer does not fit its own output schema.",
    wayOut: "Tell the server's author. Code that catches the error finds the answer in its details.",
  },
  RESULT_NOT_FOUND: {
    cause: "No result is kept under this path, or it was removed since.",
    wayOut: "Run again; results are kept under `/workspace/results`.",
  },
  RESULT_NOT_JSON: {
    cause: "A tool or the code returned something that JSON has no form for, such as a function or a cycle.",
    wayOut: "Return plain data.",
  },
  RESULT_TOO_LARGE: {
    cause: "A value is larger than what may be passed at once and can't be kept as a handle.",
    wayOut: "Ask the tool for less, or raise `execution.limits.max_payload_mb`.",
  },
  TOKEN_UNKNOWN: {
    cause:
      "An argument of a call, or data to be saved as state, has a token such as `[[EMAIL:…]]` of another session, a part of one, or one that was made up. Nothing was called or saved.",
    wayOut: "Get the value anew in this session, and pass its token as it is; or give the value itself.",
  },
  TOOL_CHANGED: {
    cause: "The server's definition of the tool is not the one that you accepted.",
    wayOut: "Look at the difference with `cem generate <server>`, then accept it with `--accept`.",
  },
  TOOL_FAILED: {
    cause: "The tool ran and reported an error of its own.",
    wayOut: "The message is the tool's. Code can catch it.",
  },
  TOOL_INVALID: {
    cause: "A tool file or a tool given in code has a shape that can't be called.",
    wayOut: "Mend what the message names: the function, its input schema or its name.",
  },
  TOOL_NAME_TAKEN: {
    cause: "Two tools would have the same name on one server.",
    wayOut: "Rename one of them.",
  },
  TOOL_NOT_ALLOWED: {
    cause: "`guardrails.allowed_tools`, `blocked_tools` or the run's own `allowedTools` leave the tool out.",
    wayOut: "Use another tool, or change that list.",
  },
  TOOL_NOT_GENERATED: {
    cause: "The server has the tool, and no file was written for it here.",
    wayOut: "Run `cem generate <server>`.",
  },
  TOOL_NOT_FOUND: {
    cause: "The server has no tool of this name.",
    wayOut: "Take the name that the message suggests, or look with `cem tools <server>`.",
  },
  TOOL_TIMEOUT: {
    cause: "The tool did not answer within the server's `timeout`.",
    wayOut: "See whether the call did its work before you repeat it. Raise `timeout` on the server's entry.",
  },
} satisfies Troubles;
