import { textOr, withServer, type ErrorEntries } from "./entry.ts";

export const CALL_ERRORS = {
  ARGUMENTS_INVALID: {
    meaning: "The arguments of a call do not fit the tool's schema. The tool was not called.",
    fix: "Correct the arguments that the message lists. `cem tools <server>` shows the signature.",
  },
  FLOW_DENIED: {
    meaning: "`privacy.rules` keep a personal value of one server from going to another.",
    fix: "Where that is meant, add a rule that allows it, as the hint shows.",
    hint: ({ from, to }) => {
      const rules = String(from)
        .split(", ")
        .map((place) => `{ from: ${place}, to: ${String(to)}, action: allow }`);
      return `Where that is meant, add to privacy.rules: ${rules.join(", ")}`;
    },
  },
  NOT_APPROVED: {
    meaning: "The call needs a person's approval, and a person refused it or nobody could be asked.",
    fix: "Answer the question, use a client that can ask, or exempt the tool in `guardrails.approvals`.",
    hint: ({ server, tool, answer }) =>
      answer === "unanswered"
        ? `Whoever runs this can let it through without a question: add "!${textOr(server, "*")}.${textOr(tool, "*")}" to guardrails.approvals.`
        : undefined,
  },
  NOT_RECORDED: {
    meaning: "A replay met a call that the record of the run does not hold.",
    cause: "The call was not made then, or its arguments or result were too large to be recorded.",
    fix: "Replay without `--recorded`: calls are made for real then.",
    hint: "fix",
  },
  RATE_LIMITED: {
    meaning: "The tool or the server is called too often, or too many runs wait.",
    cause: "`guardrails.rate_limits` or the number of waiting runs is reached.",
    fix: "Wait as long as the message says.",
  },
  RESULT_INVALID: {
    meaning: "The tool answered, and the answer does not fit its own output schema.",
    fix: "Tell the server's author. Code that catches the error finds the answer in its details.",
    hint: ({ structuredContent }) =>
      `The call was made, so what it changed is changed: do not repeat it for that.${structuredContent === undefined ? "" : " Code that catches the error finds what came in its details.structuredContent."}`,
  },
  RESULT_NOT_FOUND: {
    meaning: "No result is kept under this path.",
    fix: "Run again; results are kept under `/workspace/results`.",
  },
  RESULT_NOT_JSON: {
    meaning:
      "A tool or the code returned something that JSON has no form for, such as a function or a cycle.",
    fix: "Return plain data.",
  },
  RESULT_TOO_LARGE: {
    meaning: "A value is larger than what may be passed at once and can't be kept as a handle.",
    fix: "Ask the tool for less at a time: a page, a filter, fewer fields. An MCP server may answer with 64 MiB at most, which no setting raises; other results may have `execution.limits.max_payload_mb`.",
  },
  TOKEN_UNKNOWN: {
    meaning:
      "An argument of a call, or data to be saved as state, has a token such as `[[EMAIL:…]]` of another session, a part of one, or one that was made up. Nothing was called or saved.",
    fix: "Get the value anew in this session, and pass its token as it is; or give the value itself.",
  },
  TOOL_CHANGED: {
    meaning: "The server's definition of the tool is not the one that you accepted.",
    fix: "Look at the difference with `cem generate <server>`, then accept it with `--accept`.",
    hint: withServer(
      (server) =>
        `See the difference with  cem generate ${server}  and accept it with  cem generate ${server} --accept`,
    ),
  },
  TOOL_FAILED: {
    meaning: "The tool reported an error.",
    fix: "The message is the tool's. Code can catch it.",
  },
  TOOL_INVALID: {
    meaning: "A tool file or a tool given in code has a shape that can't be called.",
    fix: "Correct what the message names: the function, its input schema or its name.",
  },
  TOOL_NAME_TAKEN: { meaning: "Another tool has this name.", fix: "Rename one of them." },
  TOOL_NOT_ALLOWED: {
    meaning:
      "`guardrails.allowed_tools`, `blocked_tools` or the run's own `allowedTools` leave the tool out.",
    fix: "Use another tool, or change that list.",
  },
  TOOL_NOT_GENERATED: {
    meaning: "The server has the tool, and no file was written for it here.",
    fix: "Run `cem generate <server>`.",
    hint: withServer((server) => `Generate it with  cem generate ${server}`),
  },
  TOOL_NOT_FOUND: {
    meaning: "The server has no tool of this name.",
    fix: "Take the name that the message suggests, or look with `cem tools <server>`.",
    hint: withServer((server) => `See which tools it has with  cem tools ${server}`),
  },
  TOOL_TIMEOUT: {
    meaning: "The tool did not answer within its timeout.",
    fix: "See whether the call did its work before you repeat it. Raise `timeout` on the server's entry.",
    hint: "fix",
  },
} satisfies ErrorEntries;
