import type { Elicit, JsonObject } from "@cem/core";

/** What becomes of a step that may have been carried out. */
export type Decision = "repeat" | "done" | "stop";

const SCHEMA: JsonObject = {
  type: "object",
  properties: {
    decision: {
      type: "string",
      title: "What to do with it",
      oneOf: [
        { const: "repeat", title: "Carry it out again" },
        { const: "done", title: "Take it for done, without a result" },
        { const: "stop", title: "Stop here and look" },
      ],
    },
  },
  required: ["decision"],
};

/** Asks the user about a step that may have been carried out. Without an answer the run stops. */
export async function askAboutStep(ask: Elicit, step: string, signal: AbortSignal): Promise<Decision> {
  const message = `Step ${step} had begun when its run was ended, so it may have been carried out.`;
  const answer = await ask({
    server: "workflow",
    message,
    signal,
    mode: "form",
    requestedSchema: SCHEMA,
  }).catch(() => undefined);
  const decision = answer?.action === "accept" ? answer.content?.["decision"] : undefined;
  return decision === "repeat" || decision === "done" ? decision : "stop";
}
