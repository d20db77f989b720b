import { createHash, randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { CemError } from "@cem/core";
import { scriptArguments, type MachineCommand } from "@cem/sandbox/provider-kit";
import type { runnerFiles } from "../guest-runtime.ts";
import { followProcess, type RunScript, type ServerProcess } from "./server-process.ts";
import type { CommandOutcome, ServerRpc, StartConfig } from "./server-rpc.ts";
import { INSPECT, MISSING, START, UPLOAD_FILES } from "./server-scripts.ts";
import { processIdentity } from "../own-machines.ts";

/** Files by their names, relative to the folder they are uploaded to. */
type RunnerFiles = ReturnType<typeof runnerFiles>;

const NAME_BYTES = 8;
/** Linux accepts an argument of up to 128 KiB, and up to 2 MiB for all arguments. */
const PIECE_BYTES = 64 * 1024;
const COMMAND_BYTES = 512 * 1024;
/** Longer than any run: a command ends with its machine. */
const COMMAND_TIMEOUT_MS = 24 * 60 * 60 * 1_000;

export type ServerMachine = Awaited<ReturnType<typeof startServerMachine>>;

/** @throws CemError `SANDBOX_SERVER_FAILED`, `SANDBOX_SERVER_REFUSED` or `SANDBOX_SERVER_UNREACHABLE`. */
export async function startServerMachine(rpc: ServerRpc, config: StartConfig, timeoutMs: number) {
  const name = newMachineName();
  const end = new AbortController();
  let killed: Promise<void> | undefined;
  let running: ServerProcess | undefined;

  async function stop(): Promise<void> {
    end.abort(new Error("The machine was ended."));
    // A server that is gone has no machines.
    await rpc.stop(name).catch(() => {});
  }

  const run: RunScript = async (script, args, commandTimeoutMs = COMMAND_TIMEOUT_MS) => {
    const { signal } = end;
    signal.throwIfAborted();
    try {
      return await rpc.run(name, "sh", ["-c", script, "cem", ...args], {
        timeoutMs: commandTimeoutMs,
        signal,
      });
    } catch (error) {
      if (CemError.isInstance(error) && /failed to spawn command/i.test(error.message)) throw lacks("sh");
      throw error;
    }
  };

  const lacks = (what: string): CemError => unusable(`it has no ${what}.`);

  const unusable = (why: string): CemError =>
    new CemError(
      "SANDBOX_IMAGE_UNUSABLE",
      `The image ${config.image} can't be used on the microsandbox server at ${rpc.origin}: ${why} A guest needs Deno 2.9 on the PATH, a shell, and small tools such as base64, mkfifo and tail.`,
      { details: { image: config.image, origin: rpc.origin } },
    );

  const machine = {
    name,
    pid: undefined,
    get writtenBytes() {
      return running?.writtenBytes ?? 0;
    },
    /** @throws CemError `SANDBOX_IMAGE_UNUSABLE` when the image lacks what a guest needs. */
    async upload(folder: string, files: RunnerFiles, uploadTimeoutMs: number) {
      for (const args of commandsFor(files)) {
        const outcome = await run(UPLOAD_FILES, [folder, ...args], uploadTimeoutMs);
        if (outcome.exitCode === MISSING) throw lacks(outcome.stdout[0] ?? "something");
        if (outcome.exitCode !== 0)
          throw unusable(`the guest runner can't be uploaded (${describeFailure(outcome)}).`);
      }
    },
    async inspect(path: string, inspectTimeoutMs: number) {
      const { exitCode, stdout } = await run(INSPECT, [path], inspectTimeoutMs);
      return { sees: exitCode === 0, deno: /^deno (\S+)/.exec(stdout[0] ?? "")?.[1] ?? "" };
    },
    async exec(command: MachineCommand) {
      const folder = `/var/tmp/cem-${randomBytes(NAME_BYTES).toString("hex")}`;
      const outcome = await run(START, [folder, ...scriptArguments(command)], undefined);
      if (outcome.exitCode !== 0) throw unusable(`the guest can't be started (${describeFailure(outcome)}).`);
      running = followProcess(run, folder);
      return running;
    },
    kill: () => (killed ??= stop()),
  };
  try {
    await rpc.start(name, config, { timeoutMs });
    return machine;
  } catch (error) {
    // It may have started anyway.
    await machine.kill();
    throw error;
  }
}

function describeFailure({ exitCode, stderr, stdout }: CommandOutcome): string {
  const said = [...stderr, ...stdout].join(" ").trim();
  return said === "" ? `exit code ${exitCode}` : said.slice(0, 300);
}

/** Splits files among as few commands as possible, within the limits of a command line. */
function commandsFor(files: RunnerFiles): string[][] {
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

const HOST_CHARACTERS = 8;
const OWN_NAME = /^cem-([0-9a-f]+)-(\d+(?:-\d+)?)-[0-9a-f]+$/;

function hostMark(): string {
  return createHash("sha256").update(hostname()).digest("hex").slice(0, HOST_CHARACTERS);
}

/** Creates a machine name that contains its owner, since the server has no labels. */
function newMachineName(): string {
  const owner = processIdentity(process.pid) ?? String(process.pid);
  return `cem-${hostMark()}-${owner}-${randomBytes(NAME_BYTES).toString("hex")}`;
}

/** Stops the machines of processes on this host that no longer run, and no others. */
export async function sweepServer(rpc: ServerRpc): Promise<void> {
  // The server answers with an error until the namespace has its first machine.
  for (const name of await rpc.running().catch(() => [])) {
    const [, host, owner = ""] = OWN_NAME.exec(name) ?? [];
    if (host !== hostMark() || processIdentity(Number.parseInt(owner, 10)) === owner) continue;
    // Another process may stop it too.
    await rpc.stop(name).catch(() => {});
  }
}
