import type { ApprovalAnswer, ApprovalRequest, Approve, Elicit } from "@cem/core";

const MAX_SHOWN_CHARACTERS = 1_500;
const CHOICES: Readonly<Record<string, ApprovalAnswer>> = {
  No: "no",
  "Yes, this once": "once",
  "Yes, for this session": "session",
};

/** Asks through the elicitation of a client: a form with one choice, whose first is no. */
export function elicitApproval(elicit: Elicit): Approve {
  return async (request) => {
    const answer = await elicit({
      server: "cem",
      message: describeApproval(request),
      signal: request.signal,
      mode: "form",
      requestedSchema: {
        type: "object",
        properties: { answer: { type: "string", title: "May it?", enum: Object.keys(CHOICES) } },
        required: ["answer"],
      },
    });
    if (answer.action === "cancel") throw new Error(answer.reason ?? "The question was dismissed.");
    if (answer.action !== "accept") return "no";
    const chosen = answer.content?.["answer"];
    return typeof chosen === "string" && Object.hasOwn(CHOICES, chosen) ? (CHOICES[chosen] ?? "no") : "no";
  };
}

/** Says what will be done with which arguments, without what could deceive the reader. */
export function describeApproval({ server, tool, args, reason }: Omit<ApprovalRequest, "signal">): string {
  const shown = JSON.stringify(args, undefined, 1)
    .replaceAll(/\n\s*/g, " ")
    .replaceAll(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
      (character) => `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`,
    );
  const cut =
    shown.length > MAX_SHOWN_CHARACTERS
      ? `${shown.slice(0, MAX_SHOWN_CHARACTERS)}… (${shown.length - MAX_SHOWN_CHARACTERS} more characters are not shown)`
      : shown;
  return `The code wants to call ${server}.${tool}, and ${reason}. Its arguments: ${cut}`;
}
