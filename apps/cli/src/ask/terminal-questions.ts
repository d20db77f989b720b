import type { Writable } from "node:stream";
import { createTurns, showArguments, showName, showWholeWords } from "@cem/core";
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
import { isYes, withPrompt, type Asking, type AskLine } from "./prompt.ts";

const MAX_SHOWN_CHARACTERS = 4_000;

/** Serializes questions, since concurrent ones would share the keyboard. */
type Turns = ReturnType<typeof createTurns>;

/** Asks tools' questions and approvals at the terminal of the command, if it is interactive. */
export function askingOf(context: CommandContext): { onElicit?: Elicit; onApprove?: Approve } {
  if (context.io.stdin.isTTY !== true || context.io.stderr.isTTY !== true) return {};
  const turns = createTurns();
  return { onElicit: createElicit(context, turns), onApprove: createApprove(context, turns) };
}

/** Asks one question at a time. Enter alone and the end of the input mean no. After approval for the session, it does not ask again. */
export function createApprove(asking: Asking, turns: Turns): Approve {
  const approved = new Set<string>();
  return (request) =>
    turns(async () => {
      const name = JSON.stringify([request.server, request.tool]);
      // Parallel calls of a tool share one answer.
      if (approved.has(name)) return "session";
      const answer = await ask(request, asking);
      if (answer === "session") approved.add(name);
      return answer;
    });
}

async function ask(
  { server, tool, args, reason, signal }: ApprovalRequest,
  asking: Asking,
): Promise<ApprovalAnswer> {
  const shown = showArguments(args, MAX_SHOWN_CHARACTERS, (value) =>
    safeText(JSON.stringify(value, undefined, 2)),
  );
  const body = shown.split("\n").map((line) => `    ${line}`);
  const head = safeText(`${showName(server)}.${showName(tool)}: ${reason}.`).replaceAll("\n", " ");
  const question = "  Allow it? [y]es, [s]ession (all calls of this tool), [N]o ";
  const typed = await withPrompt(
    asking,
    signal,
    (askLine) => {
      asking.io.stderr.write(`\n  The code wants to call ${head}\n${body.join("\n")}\n`);
      return askLine(question);
    },
    "no",
  );
  const word = typed.trim().toLowerCase();
  if (word === "session" || word === "s") return "session";
  return word === "yes" || word === "y" || word === "once" ? "once" : "no";
}

const MAX_LABEL_CHARACTERS = 200;

/** Asks one question at a time, field by field. The end of the input (Ctrl-D) cancels. */
export function createElicit(asking: Asking, turns: Turns = createTurns()): Elicit {
  return (request) => turns(() => elicit(request, asking));
}

async function elicit(request: ElicitRequest, asking: Asking) {
  const { server, message, signal } = request;
  const { stderr } = asking.io;
  return withPrompt<ElicitAnswer>(
    asking,
    signal,
    (ask) => {
      const shown = safeText(showWholeWords(message, MAX_SHOWN_CHARACTERS));
      stderr.write(`\n  ${shorten(server)} asks: ${shown}\n`);
      return request.mode === "url" ? askForUrl(request.url, ask) : askForForm(request, ask, stderr);
    },
    { action: "cancel" },
  );
}

async function askForUrl(url: string, ask: AskLine): Promise<ElicitAnswer> {
  const question = `  Open ${oneLine(safeText(url))}\n  Press Enter when done, or type no: `;
  return { action: (await goesOn(question, ask)) ? "accept" : "decline" };
}

async function askForForm(
  { requestedSchema }: Extract<ElicitRequest, { mode: "form" }>,
  ask: AskLine,
  output: Writable,
): Promise<ElicitAnswer> {
  const fields = readFormFields(requestedSchema);
  const isAccepted =
    fields.length === 0
      ? isYes(await ask("  Yes or no? [y/N] "))
      : await goesOn("  Answer? (yes, no; Ctrl-D cancels) [yes] ", ask);
  if (!isAccepted) return { action: "decline" };
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
  const { options = [] } = field;
  const about = [
    ...(description === "" ? [] : [oneLine(safeText(showWholeWords(description, MAX_SHOWN_CHARACTERS)))]),
    ...options.map((option, at) => `${at + 1} ${shorten(option.label)}`),
  ];
  output.write(about.map((line) => `    ${line}\n`).join(""));
  const inBrackets = hint === "" ? "" : ` (${hint})`;
  const standard = preset === undefined ? (required ? "" : " [none]") : ` [${shorten(String(preset))}]`;
  for (;;) {
    const typed = (await ask(`  ${shorten(label)}${inBrackets}${standard}: `)).trim();
    if (typed === "" && (preset !== undefined || !required)) return preset;
    const checked = checkValue(field, typedValue(field, typed));
    if (typed !== "" && checked.ok) return checked.value;
    output.write(`  ${checked.ok ? "A value is required" : `It ${safeText(checked.fault)}`}.\n`);
  }
}

/** Asks until the answer is yes, no, or Enter alone, which means yes. */
async function goesOn(question: string, ask: AskLine): Promise<boolean> {
  for (;;) {
    const typed = (await ask(question)).trim();
    if (typed === "" || isYes(typed)) return true;
    if (/^no?$/iu.test(typed)) return false;
  }
}

function shorten(text: string): string {
  return oneLine(safeText(showWholeWords(text, MAX_LABEL_CHARACTERS)));
}
