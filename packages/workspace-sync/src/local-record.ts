import { lstat, readFile, rm } from "node:fs/promises";
import { replaceFile } from "@cem/core/files";
import { thisMachine } from "@cem/workspace";
import type { CommonState } from "./common-state.ts";
import type { LocalFile } from "./file-content.ts";

const FORMAT = 1;

interface Written extends Omit<CommonState, "files"> {
  format: number;
  boot: string;
  files: [path: string, size: number, pieces: readonly string[], signature: string | null][];
}

/**
 * The file that notes what this machine and the shared copy had in common, where code in the sandbox can't reach it. Without
 * it, or after a restart of the machine, which may have lost what was written last, files that differ are kept twice.
 */
export class LocalRecord {
  readonly #file: string;
  #known: { states: CommonState[]; identity: string } | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /** The last states, newest first: of a process that was killed it is not known whether the newest was reached. */
  async read(): Promise<readonly CommonState[]> {
    const identity = await this.#identity();
    if (this.#known?.identity === identity) return this.#known.states;
    const states = parse(await readFile(this.#file, "utf8").catch(() => ""));
    this.#known = { states, identity };
    return states;
  }

  async write(states: CommonState[]): Promise<void> {
    const boot = thisMachine.machine;
    const written = states.map(({ files, ...rest }): Written => ({
      ...rest,
      format: FORMAT,
      boot,
      files: [...files].map(([path, { size, pieces, signature }]) => [path, size, pieces, signature ?? null]),
    }));
    await replaceFile(this.#file, JSON.stringify(written));
    this.#known = { states, identity: await this.#identity() };
  }

  async remove(): Promise<void> {
    this.#known = undefined;
    await rm(this.#file, { force: true });
  }

  async #identity(): Promise<string> {
    const found = await lstat(this.#file, { bigint: true }).catch(() => undefined);
    return found === undefined ? "" : `${found.ino}.${found.size}.${found.ctimeNs}`;
  }
}

function parse(text: string): CommonState[] {
  try {
    const written = JSON.parse(text) as Written[];
    return written
      .filter(({ boot, format }) => format === FORMAT && boot === thisMachine.machine)
      .map(({ files, head, version, roots }) => ({
        head,
        version,
        roots,
        files: new Map(
          files.map(([path, size, pieces, signature]): [string, LocalFile] => [
            path,
            { size, pieces, signature: signature ?? undefined },
          ]),
        ),
      }));
  } catch {
    return [];
  }
}
