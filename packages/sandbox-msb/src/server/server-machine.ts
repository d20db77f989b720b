import { createHash, randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { CemError } from "@cem/core";
import type { MachineCommand } from "@cem/sandbox/provider-kit";
import type { Microvm, MicrovmProcess } from "../microvm-guest.ts";
import { ServerProcess } from "./server-process.ts";
import type { RunScript } from "./server-process.ts";
import type { CommandOutcome, SandboxName, ServerRpc, StartConfig } from "./server-rpc.ts";
import { INSPECT, MISSING, START, UPLOAD_FILES } from "./server-scripts.ts";
import { processIdentity } from "../own-machines.ts";

const NAME_BYTES = 8;
/** Linux takes an argument of up to 128 KiB, and all of them together up to 2 MiB. */
const PIECE_BYTES = 64 * 1024;
const COMMAND_BYTES = 512 * 1024;
const BLOCK_BYTES = 512;
/** Longer than any run: a command ends with its machine. */
const COMMAND_TIMEOUT_MS = 24 * 60 * 60 * 1_000;

/** A file to upload to a machine. */
export interface UploadedFile {
  /** Relative to the upload's folder. */
  name: string;
  data: Buffer;
}

/** A machine on an older server. */
export class ServerMachine implements Microvm {
  readonly name: string;
  readonly pid = undefined;
  readonly #rpc: ServerRpc;
  readonly #sandbox: SandboxName;
  readonly #image: string;
  readonly #end = new AbortController();
  #killed: Promise<void> | undefined;
  #process: ServerProcess | undefined;

  private constructor(rpc: ServerRpc, sandbox: SandboxName, image: string) {
    this.#rpc = rpc;
    this.#sandbox = sandbox;
    this.#image = image;
    this.name = sandbox.sandbox;
  }

  /**
   * Starts a machine.
   *
   * @throws CemError `SANDBOX_SERVER_FAILED`, `SANDBOX_SERVER_REFUSED` or `SANDBOX_SERVER_UNREACHABLE`.
   */
  static async start(
    rpc: ServerRpc,
    sandbox: SandboxName,
    config: StartConfig,
    timeoutMs: number,
  ): Promise<ServerMachine> {
    const machine = new ServerMachine(rpc, sandbox, config.image);
    try {
      await rpc.start(sandbox, config, { timeoutMs });
      return machine;
    } catch (error) {
      // It may have been started all the same.
      await machine.kill();
      throw error;
    }
  }

  get writtenBytes(): number {
    return this.#process?.writtenBytes ?? 0;
  }

  /**
   * Uploads files to a folder of the machine.
   *
   * @throws CemError `SANDBOX_IMAGE_UNUSABLE` when the image lacks what a guest needs.
   */
  async upload(folder: string, files: readonly UploadedFile[], timeoutMs: number): Promise<void> {
    for (const args of commandsFor(files)) {
      const outcome = await this.#script(UPLOAD_FILES, [folder, ...args], timeoutMs);
      if (outcome.exitCode === MISSING) throw this.#lacks(outcome.stdout[0] ?? "something");
      if (outcome.exitCode !== 0)
        throw this.#unusable(`the guest runner can't be uploaded (${describeFailure(outcome)}).`);
    }
  }

  /** Checks whether the machine sees a file, and which version of Deno it has. */
  async inspect(path: string, timeoutMs: number): Promise<{ sees: boolean; deno: string }> {
    const { exitCode, stdout } = await this.#script(INSPECT, [path], timeoutMs);
    return { sees: exitCode === 0, deno: /^deno (\S+)/.exec(stdout[0] ?? "")?.[1] ?? "" };
  }

  async exec({ file, args, cwd, env, fileBytes }: MachineCommand): Promise<MicrovmProcess> {
    const folder = `/var/tmp/cem-${randomBytes(NAME_BYTES).toString("hex")}`;
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const blocks = String(Math.ceil(fileBytes / BLOCK_BYTES));
    const outcome = await this.#script(START, [folder, cwd, blocks, ...variables, file, ...args], undefined);
    if (outcome.exitCode !== 0)
      throw this.#unusable(`the guest can't be started (${describeFailure(outcome)}).`);
    this.#process = new ServerProcess(this.#script, folder);
    return this.#process;
  }

  kill(): Promise<void> {
    this.#killed ??= this.#stop();
    return this.#killed;
  }

  async #stop(): Promise<void> {
    this.#end.abort(new Error("The machine was ended."));
    // A server that is gone has no machines.
    await this.#rpc.stop(this.#sandbox).catch(() => {});
  }

  readonly #script: RunScript = async (script, args, timeoutMs = COMMAND_TIMEOUT_MS) => {
    const { signal } = this.#end;
    signal.throwIfAborted();
    try {
      return await this.#rpc.run(this.#sandbox, "sh", ["-c", script, "cem", ...args], { timeoutMs, signal });
    } catch (error) {
      if (CemError.isInstance(error) && /failed to spawn command/i.test(error.message))
        throw this.#lacks("sh");
      throw error;
    }
  };

  #lacks(what: string): CemError {
    return this.#unusable(`it has no ${what}.`);
  }

  #unusable(why: string): CemError {
    return new CemError(
      "SANDBOX_IMAGE_UNUSABLE",
      `The image ${this.#image} can't be used on the microsandbox server at ${this.#rpc.origin}: ${why} A guest needs Deno 2.9 on the PATH, a shell, and small tools such as base64, mkfifo and tail.`,
      { details: { image: this.#image, origin: this.#rpc.origin } },
    );
  }
}

function describeFailure({ exitCode, stderr, stdout }: CommandOutcome): string {
  const said = [...stderr, ...stdout].join(" ").trim();
  return said === "" ? `exit code ${exitCode}` : said.slice(0, 300);
}

/** Splits files over as few commands as possible, within the limits of a command line. */
function commandsFor(files: readonly UploadedFile[]): string[][] {
  const commands: string[][] = [[]];
  let bytes = 0;
  for (const { name, data } of files) {
    for (let offset = 0; offset === 0 || offset < data.length; offset += PIECE_BYTES) {
      const piece = data.subarray(offset, offset + PIECE_BYTES);
      if (bytes + piece.length > COMMAND_BYTES) {
        commands.push([]);
        bytes = 0;
      }
      bytes += piece.length;
      commands.at(-1)?.push(name, piece.toString("base64"));
    }
  }
  return commands;
}

/** The namespace of this package's machines on a server. */
const NAMESPACE = "cem";
const HOST_CHARACTERS = 8;
const OWN_NAME = /^cem-([0-9a-f]+)-(\d+(?:-\d+)?)-[0-9a-f]+$/;

/** Identifies this host among those that share a server. */
function hostMark(): string {
  return createHash("sha256").update(hostname()).digest("hex").slice(0, HOST_CHARACTERS);
}

/** A new machine name, which contains its owner, since the server keeps no labels. */
export function newServerSandbox(): SandboxName {
  const owner = processIdentity(process.pid) ?? String(process.pid);
  const unique = randomBytes(NAME_BYTES).toString("hex");
  return { namespace: NAMESPACE, sandbox: `cem-${hostMark()}-${owner}-${unique}` };
}

/** Stops the machines of processes on this host that no longer run, and no others. Resolves with their number. */
export async function sweepServer(rpc: ServerRpc): Promise<number> {
  // The server answers with an error until the namespace has its first machine.
  const names = await rpc.running(NAMESPACE).catch(() => []);
  let stopped = 0;
  for (const sandbox of names) {
    const [, host, owner = ""] = OWN_NAME.exec(sandbox) ?? [];
    if (host !== hostMark() || processIdentity(Number.parseInt(owner, 10)) === owner) continue;
    await rpc.stop({ namespace: NAMESPACE, sandbox }).then(
      () => (stopped += 1),
      // Another process stops it too.
      () => {},
    );
  }
  return stopped;
}

/**
 * Checks that the server answers and accepts the key, without changing anything.
 *
 * @throws CemError `SANDBOX_SERVER_UNREACHABLE` or `SANDBOX_SERVER_REFUSED`.
 */
export async function checkServer(rpc: ServerRpc, signal?: AbortSignal): Promise<void> {
  await rpc.health(signal);
  await rpc.checkKey(NAMESPACE);
}
