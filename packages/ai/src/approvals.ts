import type { Agent, Approve } from "@cem/core";
import type { ApprovedCodeOptions } from "./options.ts";

/** Whether code has to be shown to a person before it runs. */
export async function needsYes(
  agent: Agent,
  code: string,
  { needsApproval = false }: ApprovedCodeOptions,
): Promise<boolean> {
  if (typeof needsApproval === "boolean") return needsApproval;
  if (typeof needsApproval === "function") return needsApproval(code);
  const { servers } = await agent.discoverTools();
  const words = wordsIn(code);
  return servers.some(({ tools }) =>
    tools.some(({ name, annotations }) => {
      const { destructiveHint, readOnlyHint } = annotations ?? {};
      return destructiveHint === true && readOnlyHint !== true && words.has(name);
    }),
  );
}

/**
 * Answers the questions of a run whose code a person has approved: yes to what the code names. A tool that it reaches in
 * another way, under a name put together at run time or inside a skill, was not seen by that person.
 */
export function approveNamed(code: string, onApprove: Approve | undefined): Approve {
  const words = wordsIn(code);
  return async (request) => {
    if (words.has(request.tool)) return "once";
    return onApprove === undefined ? "no" : onApprove(request);
  };
}

/** Every word that could be a name. */
function wordsIn(code: string): ReadonlySet<string> {
  return new Set(code.match(/[\p{ID_Continue}$]+/gu));
}
