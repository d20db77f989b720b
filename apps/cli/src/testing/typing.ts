import { PassThrough, Writable } from "node:stream";
import type { Asking } from "../ask/prompt.ts";
import { createTerminal, type CommandIo, type OutputStream } from "../io/terminal.ts";

/** A terminal, and a person at it. */
export interface Typing {
  asking: Asking & Required<Pick<Asking, "live">>;
  /** Everything on the screen so far, in the order of its writing. */
  shown: () => string;
  /** The text typed, with its Enter. */
  type: (line: string) => void;
}

/** Types a line for each prompt that ends the screen's text; `undefined` ends the input. */
export function typing(prompt: RegExp, typed: readonly (string | undefined)[] = []): Typing {
  const stdin = new PassThrough();
  const left = [...typed];
  let shown = "";
  const type = (line: string): void => void stdin.write(`${line}\n`);
  const answer = (): void => {
    const line = left.shift();
    if (line === undefined) stdin.end();
    else type(line);
  };
  const screen = (onWrite: () => void): OutputStream => {
    const write: Writable["_write"] = (text: Buffer, _encoding, done) => {
      shown += text.toString();
      onWrite();
      done();
    };
    return Object.assign(new Writable({ write }), { isTTY: true, columns: 80 });
  };
  const io: CommandIo = {
    stdin,
    stdout: screen(() => {}),
    stderr: screen(() => {
      if (typed.length > 0 && prompt.test(shown)) setImmediate(answer);
    }),
    on: () => {},
    off: () => {},
  };
  const live = createTerminal(io, false).out;
  return { asking: { io, interrupt: () => {}, live }, shown: () => shown, type };
}
