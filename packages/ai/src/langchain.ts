import type { Agent } from "@cem/core";
import { AIMessage } from "@langchain/core/messages";
import { DynamicStructuredTool, type ToolRunnableConfig } from "@langchain/core/tools";
import { describeExecution, findTools } from "./describe-tools.ts";
import {
  EXECUTE_CODE,
  needsYes,
  SEARCH_DESCRIPTION,
  SEARCH_TOOLS,
  textIn,
  textInputJsonSchema,
} from "./options.ts";
import type { ApprovedCodeOptions, SearchToolsOptions, TextInputJsonSchema } from "./options.ts";
import { askOnce, base64Of, failed, fileNameOf, runCode, type CodeAnswer } from "./run-code.ts";

/** A person's decision, in the form of LangChain's own approvals. */
type Decision =
  | { type: "approve" }
  | { type: "edit"; editedAction: { name?: string; args: { code: string } } }
  | { type: "reject"; message?: string };

/** A call of the tool. */
interface Program {
  code: string;
  id: string | undefined;
}

/**
 * Creates the LangChain tool that runs code. Code that needs approval interrupts the graph, which needs a checkpointer, in
 * the form of `humanInTheLoopMiddleware`: with a request for each program of the model's message that needs approval.
 * Resume with a decision for each, in that order: `new Command({ resume: { decisions: [{ type: "approve" }] } })`. The
 * artifact of the message is the complete output.
 */
export async function executeCodeTool(
  agent: Agent,
  options: ApprovedCodeOptions = {},
): Promise<DynamicStructuredTool<TextInputJsonSchema<"code">, { code: string }>> {
  const description = await describeExecution(agent, options);
  const { isAsked } = askOnce(agent, options);
  const decide = createDecider();
  const execute = async ({ code }: { code: string }, config: ToolRunnableConfig = {}) => {
    const thread: unknown = config.configurable?.["thread_id"];
    // Resumed, a graph starts the tool anew, and the first answer must still hold.
    const isMeant = async (one: Program): Promise<boolean> =>
      one.id === undefined
        ? needsYes(agent, one.code, options)
        : isAsked(one.code, JSON.stringify([thread, one.id]));
    const program = { code, id: config.toolCall?.id };
    if (!(await isMeant(program))) return runCode(agent, code, options, false, config.signal);
    const decision = await decide(program, isMeant);
    if (decision.type === "reject")
      return failed(decision.message ?? "A person refused this code: it was not run.");
    const approved = decision.type === "edit" ? decision.editedAction.args.code : code;
    return runCode(agent, approved, options, true, config.signal);
  };
  return new DynamicStructuredTool({
    name: EXECUTE_CODE,
    description,
    schema: textInputJsonSchema("code"),
    responseFormat: "content_and_artifact",
    async func(input: { code: string }, _manager, config) {
      const answer = await execute(input, config);
      return [contentOf(answer), answer.output];
    },
  });
}

/** Creates the LangChain tool that searches for tools. */
export function searchToolsTool(
  agent: Agent,
  options: SearchToolsOptions = {},
): DynamicStructuredTool<TextInputJsonSchema<"query">, { query: string }> {
  return new DynamicStructuredTool({
    name: SEARCH_TOOLS,
    description: SEARCH_DESCRIPTION,
    schema: textInputJsonSchema("query"),
    func: ({ query }: { query: string }, _manager, config) =>
      findTools(agent, query, options, config?.signal),
  });
}

/** Returns the function that asks a person. It first throws, which interrupts the graph, and returns when the graph is resumed. */
function createDecider() {
  const answerIn = new WeakMap<object, object>();
  const shownFor = new WeakMap<object, unknown>();
  return async (program: Program, isMeant: (one: Program) => Promise<boolean>): Promise<Decision> => {
    const { getCurrentTaskInput, interrupt } = await import("@langchain/langgraph");
    const task = taskInput(getCurrentTaskInput);
    const listed = programsBeside(task, program);
    const meant = await Promise.all(listed.map(async (one) => isSame(one, program) || isMeant(one)));
    const programs = listed.filter((_, at) => meant[at]);
    // A program without an id has an answer to itself.
    const shown = program.id === undefined ? Symbol() : JSON.stringify(programs);
    const earlier = answerIn.get(task);
    // In a node that runs all calls of a message, another interrupt would run the approved ones again.
    const answer: unknown =
      earlier !== undefined && shownFor.get(earlier) === shown ? earlier : interrupt(requestFor(programs));
    if (typeof answer !== "object" || answer === null) return { type: "reject" };
    answerIn.set(task, answer);
    // A resume without an interrupt's id reaches all that wait.
    if ((shownFor.get(answer) ?? shown) !== shown)
      return notRun("the answer was for another program. Resume by the interrupt's id");
    shownFor.set(answer, shown);
    const { decisions } = answer as { decisions?: unknown };
    const given: unknown[] = Array.isArray(decisions) ? decisions : [];
    if (given.length !== programs.length)
      return notRun(`${programs.length} programs waited for a decision each, and ${given.length} came`);
    return decisionOf(given[programs.findIndex((one) => isSame(one, program))]);
  };
}

function notRun(reason: string): Decision {
  return { type: "reject", message: `This code was not run: ${reason}.` };
}

function requestFor(programs: readonly Program[]) {
  const name = EXECUTE_CODE;
  return {
    actionRequests: programs.map(({ code }) => ({
      name,
      args: { code },
      description: "This code is about to run.",
    })),
    reviewConfigs: programs.map(() => ({
      actionName: name,
      allowedDecisions: ["approve", "edit", "reject"],
    })),
  };
}

/** Anything but an explicit approval is a rejection. */
function decisionOf(given: unknown): Decision {
  const decision = given as Decision | null | undefined;
  if (decision?.type === "approve") return decision;
  if (decision?.type === "edit" && typeof decision.editedAction?.args?.code === "string") return decision;
  return { ...(decision?.type === "reject" && decision), type: "reject" };
}

function taskInput(read: () => unknown): object {
  try {
    return Object(read()) as object;
  } catch {
    // Outside of a graph: `interrupt` says so.
    return {};
  }
}

/** The programs of the model's message that this one is in; this one alone if the graph does not show the message to the task. */
function programsBeside(task: object, program: Program): Program[] {
  const messages: unknown = Array.isArray(task) ? task : Reflect.get(task, "messages");
  const last = Array.isArray(messages)
    ? messages.findLast((message) => AIMessage.isInstance(message))
    : undefined;
  const calls = last?.tool_calls ?? [];
  const programs = calls.flatMap(({ name, args, id }) => {
    const code = name === EXECUTE_CODE ? textIn(args, "code") : undefined;
    return code === undefined ? [] : [{ code, id }];
  });
  return program.id !== undefined && programs.some((one) => isSame(one, program)) ? programs : [program];
}

/** Compares the code too: a middleware may have changed it since the message, and some models repeat ids. */
function isSame(one: Program, other: Program): boolean {
  return one.id === other.id && one.code === other.code;
}

function contentOf({ output, attachments }: CodeAnswer) {
  const text = JSON.stringify(output);
  if (attachments.length === 0) return text;
  const blocks = attachments.map((attachment) => {
    const file = { mimeType: attachment.mimeType, data: base64Of(attachment) };
    return attachment.type === "image"
      ? { type: "image", ...file }
      : { type: "file", ...file, metadata: { filename: fileNameOf(attachment) } };
  });
  return [{ type: "text", text }, ...blocks];
}
