import { createInterface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";
import type { Elicit, ElicitAnswer, ElicitRequest } from "@cem/core";
import { readFormFields } from "./form-fields.ts";
import type { FieldValue, FormField } from "./form-fields.ts";
import { oneLine, safeText } from "./safe-text.ts";

const MAX_MESSAGE_CHARACTERS = 2_000;
const MAX_LABEL_CHARACTERS = 200;

/** Where questions are asked and answered. */
export interface QuestionStreams {
  input: Readable;
  output: Writable;
}

/** Questions of tools to whoever sits at the terminal; `undefined` where nobody does. */
export function createTerminalQuestions(): Elicit | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  return createQuestions({ input: process.stdin, output: process.stderr });
}

/** Asks one question at a time, field by field. Ctrl-D cancels. */
export function createQuestions(streams: QuestionStreams): Elicit {
  let last: Promise<unknown> = Promise.resolve();
  return (request) => {
    // Two questions at once would share the keyboard.
    const next = last.then(() => ask(request, streams));
    last = next.catch(() => undefined);
    return next;
  };
}

async function ask(request: ElicitRequest, { input, output }: QuestionStreams): Promise<ElicitAnswer> {
  const { server, message, signal } = request;
  signal.throwIfAborted();
  const lines = createInterface({ input, output, terminal: "isTTY" in input && input.isTTY === true });
  const closed = new AbortController();
  lines.once("close", () => closed.abort());
  // The terminal is in its own mode while a line is read: Ctrl-C is for the whole program all the same.
  lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  const read = (prompt: string): Promise<string> =>
    lines.question(prompt, { signal: AbortSignal.any([signal, closed.signal]) });
  try {
    output.write(`\n  ${shorten(server)} asks: ${safeText(message.slice(0, MAX_MESSAGE_CHARACTERS))}\n`);
    return request.mode === "url"
      ? await askForUrl(request.url, read)
      : await askForForm(request, read, output);
  } catch (error) {
    if (closed.signal.aborted && !signal.aborted) return { action: "cancel" };
    throw error;
  } finally {
    lines.close();
  }
}

type Read = (prompt: string) => Promise<string>;

async function askForUrl(url: string, read: Read): Promise<ElicitAnswer> {
  const typed = await read(`  Open ${oneLine(safeText(url))}\n  Press Enter when done, or type no: `);
  return /^n/i.test(typed.trim()) ? { action: "decline" } : { action: "accept" };
}

async function askForForm(
  { requestedSchema }: Extract<ElicitRequest, { mode: "form" }>,
  read: Read,
  output: Writable,
): Promise<ElicitAnswer> {
  const fields = readFormFields(requestedSchema);
  const typed = await read(
    fields.length === 0 ? "  Yes or no? " : "  Answer? (yes, no; Ctrl-D cancels) [yes] ",
  );
  if (/^n/i.test(typed.trim())) return { action: "decline" };
  const content: Record<string, FieldValue> = {};
  for (const field of fields) {
    const value = await askForField(field, read, output);
    if (value !== undefined) Object.defineProperty(content, field.name, { value, enumerable: true });
  }
  return { action: "accept", content };
}

async function askForField(field: FormField, read: Read, output: Writable): Promise<FieldValue | undefined> {
  const { title, description, hint, preset, required } = field;
  const about = [description, hint].filter((text) => text !== "").map(shorten);
  const inBrackets = about.length === 0 ? "" : ` (${about.join("; ")})`;
  const standard = preset === undefined ? (required ? "" : " [none]") : ` [${shorten(String(preset))}]`;
  for (;;) {
    const typed = (await read(`  ${shorten(title)}${inBrackets}${standard}: `)).trim();
    if (typed === "" && (preset !== undefined || !required)) return preset;
    const answer = typed === "" ? ({ ok: false, fault: "It is needed." } as const) : field.read(typed);
    if (answer.ok) return answer.value;
    output.write(`  ${answer.fault}\n`);
  }
}

function shorten(text: string): string {
  return oneLine(safeText(text.slice(0, MAX_LABEL_CHARACTERS)));
}
