import type { MicrovmEvent } from "../microvm-guest.ts";
import type { CommandOutcome } from "./server-rpc.ts";
import { READ, WRITE } from "./server-scripts.ts";

const READ_BYTES = 4 * 1024 * 1024;
/** How long one read waits for output, in seconds, and the timeout of its command, in milliseconds. */
const WAIT_SECONDS = 2;
const READ_TIMEOUT_MS = 30_000;
/** Polling intervals: the longer a program is silent, the less often it is polled. */
const PAUSES = [
  { quietMs: 1_000, seconds: 0.01 },
  { quietMs: 5_000, seconds: 0.03 },
  { quietMs: Infinity, seconds: 0.1 },
] as const;
/** The server may lose the last lines of a command that ends right after them, so commands end this much later. */
const LINGER_SECONDS = 0.05;
const MAX_LOST_IN_A_ROW = 20;

export type RunScript = (
  script: string,
  args: readonly string[],
  timeoutMs: number | undefined,
) => Promise<CommandOutcome>;

export type ServerProcess = ReturnType<typeof followProcess>;

/**
 * Follows a long-running program in a machine, driven by short commands: each reads its output since the last one, or
 * writes a piece of input.
 */
export function followProcess(run: RunScript, folder: string) {
  const events: MicrovmEvent[] = [];
  let outOffset = 0;
  let errOffset = 0;
  let activeAt = performance.now();
  let linger = 0;
  let isOver = false;
  let writtenBytes = 0;

  async function read(): Promise<void> {
    for (let lost = 0; lost < MAX_LOST_IN_A_ROW; lost += 1) {
      const reading = await tryRead();
      if (reading !== undefined) return take(reading);
      linger = LINGER_SECONDS;
    }
    throw new Error(`The server lost the output of ${MAX_LOST_IN_A_ROW} commands in a row.`);
  }

  async function tryRead(): Promise<ReturnType<typeof parseReading>> {
    const quietMs = performance.now() - activeAt;
    const pause = PAUSES.find((one) => quietMs < one.quietMs)?.seconds ?? PAUSES[0].seconds;
    const turns = Math.ceil(WAIT_SECONDS / pause);
    const args = [folder, outOffset, errOffset, turns, pause, READ_BYTES, linger];
    const { exitCode, stdout } = await run(READ, args.map(String), READ_TIMEOUT_MS);
    if (exitCode !== 0) throw new Error(`The guest's output can't be read (exit code ${exitCode}).`);
    return parseReading(stdout);
  }

  function take({ out, err, written, ended }: NonNullable<ReturnType<typeof parseReading>>): void {
    writtenBytes = Math.max(writtenBytes, written);
    if (err.length > 0) events.push({ kind: "stderr", data: err });
    if (out.length > 0) events.push({ kind: "stdout", data: out });
    outOffset += out.length;
    errOffset += err.length;
    if (out.length + err.length > 0) activeAt = performance.now();
    // The last output may take more than one read.
    else if (ended !== undefined) {
      events.push({ kind: "exited", code: ended });
      isOver = true;
    }
  }

  return {
    /** Bytes written by the program to files and output, as of the last read. */
    get writtenBytes() {
      return writtenBytes;
    },
    async next(): Promise<MicrovmEvent | undefined> {
      while (events.length === 0) {
        if (isOver) return undefined;
        await read();
      }
      return events.shift();
    },
    async write(bytes: Uint8Array): Promise<void> {
      activeAt = performance.now();
      const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
      // No timeout: a guest that doesn't read is ended by its run's timeout.
      const { exitCode } = await run(WRITE, [folder, base64], undefined);
      if (exitCode !== 0) throw new Error("The guest no longer accepts input.");
    },
  };
}

/** Parses the output since the last read; `undefined` when a part is missing. */
function parseReading(lines: readonly string[]) {
  const [outText, errText, last = ""] = lines;
  const end = /^end (\d+) (\d+) (\d+) (\d*)$/.exec(last);
  if (end === null || outText === undefined || errText === undefined) return undefined;
  const out = Buffer.from(outText, "base64");
  const err = Buffer.from(errText, "base64");
  if (out.length !== Number(end[1]) || err.length !== Number(end[2])) return undefined;
  // The exit code, once the program has ended.
  const ended = end[4] === "" ? undefined : Number(end[4]);
  return { out, err, written: Number(end[3]), ended };
}
