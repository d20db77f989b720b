import type { Writable } from "node:stream";
import { createTurns, showArguments } from "@cem/core";
import type {
  ApprovalAnswer,
  ApprovalRequest,
  Approve,
  Elicit,
  ElicitAnswer,
  ElicitRequest,
} from "@cem/core";
import type { CommandContext } from "../io/terminal.ts";
import { oneLine, safeText } from "../render/text.ts";
import type { FieldValue } from "@cem/forms";
import { readFormFields, typedValue, type AskedField } from "./form-fields.ts";
import { withPrompt, type AskLine, type PromptSettings } from "./prompt.ts";

const MAX_SHOWN_CHARACTERS = 4_000;

/** Serializes questions, since concurrent ones would share the keyboard. */
type Turns = ReturnType<typeof createTurns>;

/** Asks tools' questions and approvals at the terminal of the command, if it is interactive. */
export function askingOf({ io, interrupt }: CommandContext): { onElicit?: Elicit; onApprove?: Approve } {
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true) return {};
  const settings = { input: io.stdin, output: io.stderr, interrupt };
  const turns = createTurns();
  return { onElicit: createElicit(settings, turns), onApprove: createApprove(settings, turns) };
}

/**
 * Asks one question at a time. Enter alone and the end of the input mean no. After approval for the session, it does not ask again.
 */
export function createApprove(settings: Omit<PromptSettings, "signal">, turns: Turns): Approve {
  const approved = new Set<string>();
  return (request) =>
    turns(async () => {
      const name = JSON.stringify([request.server, request.tool]);
      // Parallel calls of a tool share one answer.
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
  const shown = showArguments(args, MAX_SHOWN_CHARACTERS, (value) =>
    safeText(JSON.stringify(value, undefined, 2)),
  );
  const body = shown.split("\n").map((line) => `    ${line}`);
  const head = safeText(`${server}.${tool}: ${reason}.`).replaceAll("\n", " ");
  const question = "  Allow it? [y]es, [s]ession (all calls of this tool), [N]o ";
  const typed = await withPrompt(
    { ...settings, signal },
    (askLine) => {
      settings.output.write(`\n  The code wants to call ${head}\n${body.join("\n")}\n`);
      return askLine(question);
    },
    "no",
  );
  const word = typed.trim().toLowerCase();
  if (word === "session" || word === "s") return "session";
  return word === "yes" || word === "y" || word === "once" ? "once" : "no";
}

const MAX_MESSAGE_CHARACTERS = 2_000;
const MAX_LABEL_CHARACTERS = 200;

/** Asks one question at a time, field by field. The end of the input (Ctrl-D) cancels. */
export function createElicit(settings: Omit<PromptSettings, "signal">, turns: Turns = createTurns()): Elicit {
  return (request) => turns(() => elicit(request, settings));
}

async function elicit(request: ElicitRequest, settings: Omit<PromptSettings, "signal">) {
  const { server, message, signal } = request;
  const { output } = settings;
  return withPrompt<ElicitAnswer>(
    { ...settings, signal },
    (ask) => {
      output.write(`\n  ${shorten(server)} asks: ${safeText(message.slice(0, MAX_MESSAGE_CHARACTERS))}\n`);
      return request.mode === "url" ? askForUrl(request.url, ask) : askForForm(request, ask, output);
    },
    { action: "cancel" },
  );
}

async function askForUrl(url: string, ask: AskLine): Promise<ElicitAnswer> {
  const typed = await ask(`  Open ${oneLine(safeText(url))}\n  Press Enter when done, or type no: `);
  return isNo(typed) ? { action: "decline" } : { action: "accept" };
}

async function askForForm(
  { requestedSchema }: Extract<ElicitRequest, { mode: "form" }>,
  ask: AskLine,
  output: Writable,
): Promise<ElicitAnswer> {
  const fields = readFormFields(requestedSchema);
  const typed = await ask(
    fields.length === 0 ? "  Yes or no? " : "  Answer? (yes, no; Ctrl-D cancels) [yes] ",
  );
  if (isNo(typed)) return { action: "decline" };
  const content: Record<string, FieldValue> = {};
  for (const asked of fields) {
    const value = await askForField(asked, ask, output);
    if (value !== undefined) Object.defineProperty(content, asked.field.name, { value, enumerable: true });
  }
  return { action: "accept", content };
}

async function askForField({ field, hint, preset }: AskedField, ask: AskLine, output: Writable) {
  const { checkValue } = await import("@cem/forms");
  const { label = "", description = "", required } = field;
  const about = [description, hint].filter((text) => text !== "").map(shorten);
  const inBrackets = about.length === 0 ? "" : ` (${about.join("; ")})`;
  const standard = preset === undefined ? (required ? "" : " [none]") : ` [${shorten(String(preset))}]`;
  for (;;) {
    const typed = (await ask(`  ${shorten(label)}${inBrackets}${standard}: `)).trim();
    if (typed === "" && (preset !== undefined || !required)) return preset;
    const checked = checkValue(field, typedValue(field, typed));
    if (typed !== "" && checked.ok) return checked.value;
    output.write(`  ${checked.ok ? "A value is required" : `It ${checked.fault}`}.\n`);
  }
}

function isNo(typed: string): boolean {
  return /^n/iu.test(typed.trim());
}

function shorten(text: string): string {
  return oneLine(safeText(text.slice(0, MAX_LABEL_CHARACTERS)));
}
