import type { GenerateFeedback, GenerateRequest, ToolDefinition } from "@cem/core";
import { readPrompt } from "../prompt-files.ts";
import type { Message } from "./completion.ts";
import { fence } from "./fence.ts";
import { repairMessage } from "./repair-message.ts";
import type { LlmSettings } from "./settings.ts";
import { toolList } from "./tool-list.ts";

const MAX_CONTEXT_CHARACTERS = 8_000;
const MAX_FACTS_CHARACTERS = 6_000;
/** Earlier attempts that are shown with their code. */
const MAX_ATTEMPTS = 2;

/** The word that begins an answer of a single call. */
export const CALL = "CALL";

/** The word that begins an answer saying that the tools can't do the task. */
export const CANNOT = "CANNOT:";

/** All tools that a model is offered. */
export function offeredTools({ tools, otherTools = [] }: GenerateRequest): ToolDefinition[] {
  return [...new Set([...tools, ...otherTools])];
}

/** Creates the messages that ask for a program. */
export function createPrompt(
  request: GenerateRequest,
  { describeCalls }: Pick<LlmSettings, "describeCalls"> = {},
): Message[] {
  const { task, context, facts, feedback = [] } = request;
  const offered = offeredTools(request);
  const parts = [
    offered.length === 0 ? readPrompt("no-tools") : `Tools:\n${fence(toolList(offered, describeCalls))}`,
  ];
  if (facts !== undefined) parts.push(`The data:\n${fence(facts.slice(0, MAX_FACTS_CHARACTERS))}`);
  if (context !== undefined) parts.push(`Known:\n${fence(context.slice(0, MAX_CONTEXT_CHARACTERS))}`);
  parts.push(`Task:\n${task}`);
  return [
    { role: "system", content: instructions(request, offered.length > 0) },
    { role: "user", content: parts.join("\n\n") },
    ...lastAttempts(feedback).flatMap(attemptMessages),
  ];
}

function instructions({ mode = "auto" }: GenerateRequest, hasTools: boolean): string {
  const words = { call: CALL, cannot: CANNOT, data: readPrompt("data") };
  if (mode === "direct") return readPrompt("call", words);
  const call = mode === "auto" && hasTools ? `${readPrompt("call-option", words)}\n` : "";
  return readPrompt("program", { ...words, call });
}

/** The last attempts. The first of them has the calls of those that are left out. */
function lastAttempts(feedback: readonly GenerateFeedback[]): GenerateFeedback[] {
  const earlierCalls = feedback.slice(0, -MAX_ATTEMPTS).flatMap(({ calls = [] }) => calls);
  return feedback
    .slice(-MAX_ATTEMPTS)
    .map((one, index) => (index === 0 ? { ...one, calls: [...earlierCalls, ...(one.calls ?? [])] } : one));
}

function attemptMessages(feedback: GenerateFeedback): Message[] {
  return [
    { role: "assistant", content: `\`\`\`ts\n${feedback.code.trim()}\n\`\`\`` },
    { role: "user", content: repairMessage(feedback) },
  ];
}
