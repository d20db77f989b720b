import type { ApprovalAnswer, ApprovalRequest, Approve } from "@cem/core";
import type { CommandContext } from "../io/command-context.ts";
import { safeText } from "../render/safe-text.ts";
import { InputEnded, withPrompt } from "./prompt.ts";
import type { PromptSettings, TakeTurns } from "./prompt.ts";

const MAX_SHOWN_CHARACTERS = 4_000;

/** Asks at the terminal of the command whether calls may be made; `undefined` where nobody sits at one. */
export function approveOf({ io, interrupt }: CommandContext, turns: TakeTurns): Approve | undefined {
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true) return undefined;
  return createApprove({ input: io.stdin, output: io.stderr, interrupt }, turns);
}

/** Asks one question at a time. Enter alone is no, and so is the end of the input. A yes for the session ends later questions. */
export function createApprove(settings: Omit<PromptSettings, "signal">, turns: TakeTurns): Approve {
  const approved = new Set<string>();
  return (request) =>
    turns(async () => {
      const name = JSON.stringify([request.server, request.tool]);
      // Parallel calls of a tool wait for one answer.
      if (approved.has(name)) return "session";
      const answer = await ask(request, settings);
      if (answer === "session") approved.add(name);
      return answer;
    });
}

async function ask(
  { server, tool, args, reason, signal }: ApprovalRequest,
  settings: Omit<PromptSettings, "signal">,
): Promise<ApprovalAnswer> {
  const json = safeText(JSON.stringify(args, undefined, 2));
  const left = json.length - MAX_SHOWN_CHARACTERS;
  const shown = left > 0 ? `${json.slice(0, MAX_SHOWN_CHARACTERS)}… (${left} more characters)` : json;
  const body = shown.split("\n").map((line) => `    ${line}`);
  const head = safeText(`${server}.${tool}: ${reason}.`).replaceAll("\n", " ");
  try {
    return await withPrompt({ ...settings, signal }, async (askLine) => {
      settings.output.write(`\n  The code wants to call ${head}\n${body.join("\n")}\n`);
      return readAnswer(
        await askLine("  Let it? (yes for this once, session for all of this tool, no) [no] "),
      );
    });
  } catch (error) {
    if (error instanceof InputEnded) return "no";
    throw error;
  }
}

function readAnswer(typed: string): ApprovalAnswer {
  const word = typed.trim().toLowerCase();
  if (word === "session" || word === "s") return "session";
  return word === "yes" || word === "y" || word === "once" ? "once" : "no";
}
