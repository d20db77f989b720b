import type { GuestError } from "@cem/core";

/** `at name (url:line:column)`, `at url:line:column`, with Deno's additions. Tools and skills are no files of the program. */
const FRAME =
  /^\s*at (?:(.*?) \()?(?:async )?(?:blob:[^\s()]*?|(?:file:\/\/)?\/workspace\/((?!servers\/|skills\/)[^\s():]*)):(\d+):(\d+)\)?$/;
/** Longer lines of a stack are cut before matching, which bounds the time of the regular expression. */
const MAX_LINE_CHARACTERS = 1_024;
/** Further lines are left out, which bounds it as well. */
const MAX_LINES = 1_000;
const PROGRAM_FILE = "program.ts";
/** Function names of the wrapper that the compiler puts around the program. */
const WRAPPER_NAMES = /^(?:async )?(?:Module\.|Object\.)?default$/;
const PLACE_IN_MESSAGE = / ?(?:at|\()? ?blob:(?:(?!blob:)[^\s()])*?:(\d+):(\d+)\)?/;

/** An error as the guest reports it, with positions in the compiled program. */
export type RawGuestError = Required<Pick<Error, "name" | "message" | "stack">>;

function framesOf(stack: string) {
  return stack.split("\n", MAX_LINES).flatMap((text) => {
    const [, name = "", file = PROGRAM_FILE, line = "0", column] =
      FRAME.exec(text.slice(0, MAX_LINE_CHARACTERS)) ?? [];
    const place = { file, line: Number(line), column: Number(column) };
    return place.line < 1 ? [] : [{ name: WRAPPER_NAMES.test(name) ? "" : name, ...place }];
  });
}

const isOfProgram = ({ file }: { file: string }): boolean => file === PROGRAM_FILE;

/** The first line of the program, as the user wrote it, in a stack. */
export function lineOf(stack: string): number | undefined {
  return framesOf(stack).find(isOfProgram)?.line;
}

/** Maps a guest's error to positions in the program as the user wrote it, and names the file of another one in the message. */
export function mapGuestError(raw: RawGuestError): GuestError {
  const frames = framesOf(raw.stack);
  const inMessage = PLACE_IN_MESSAGE.exec(raw.message);
  const [thrown] = frames;
  const place = thrown === undefined || isOfProgram(thrown) ? "" : `${thrown.file}, line ${thrown.line}: `;
  const message = place + raw.message.replace(PLACE_IN_MESSAGE, "").trim();
  const error: GuestError = { name: raw.name, message };
  const first =
    frames.find(isOfProgram) ??
    (inMessage === null ? undefined : { line: Number(inMessage[1]), column: Number(inMessage[2]) });
  if (first !== undefined && first.line >= 1) {
    error.line = first.line;
    error.column = first.column;
  }
  if (frames.length > 0) {
    error.stack = frames
      .map(({ name, file, line, column }) => {
        const at = `${file}:${line}:${column}`;
        return name === "" ? `at ${at}` : `at ${name} (${at})`;
      })
      .join("\n");
  }
  return error;
}
