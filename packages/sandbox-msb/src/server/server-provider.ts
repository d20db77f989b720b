import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { CemError, GUEST_WORKSPACE, type Isolation, type SandboxSpec } from "@cem/core";
import { resolveLimits } from "@cem/sandbox";
import type { Guest, GuestProviderSettings, GuestSandboxProvider } from "@cem/sandbox";
import {
  createGuestProvider,
  GUEST_RUNNER,
  guestBootFile,
  guestInit,
  guestMounts,
  machineCommand,
  probeHost,
} from "@cem/sandbox/provider-kit";
import { runnerFiles } from "../guest-runtime.ts";
import { MACHINE_OVERHEAD_MB, startMicrovmGuest } from "../microvm-guest.ts";
import { startServerMachine, sweepServer, type ServerMachine } from "./server-machine.ts";
import { createServerRpc, type ServerAddress } from "./server-rpc.ts";

/** Settings of {@link createMicrosandboxServerProvider}. Only the URL is required. `maxConcurrentRuns`: 4 by default. */
export interface MicrosandboxServerSettings extends ServerAddress, GuestProviderSettings {
  /**
   * OCI reference of an image with Deno 2.9 and a shell.
   *
   * @defaultValue `denoland/deno:2.9.5`
   */
  image?: string | undefined;
  /**
   * Timeout for a machine's start, including the pull of its image, in milliseconds.
   *
   * @defaultValue 200,000
   */
  bootTimeoutMs?: number | undefined;
}

const DEFAULT_IMAGE = "denoland/deno:2.9.5";
const DEFAULT_BOOT_TIMEOUT_MS = 200_000;
const DEFAULT_CONCURRENT_RUNS = 4;
const SETUP_TIMEOUT_MS = 60_000;
const HEALTH_TIMEOUT_MS = 10_000;
const MARK_BYTES = 8;
const NEEDED_DENO = "2.9.";
const ISOLATION: Isolation = {
  level: "microvm",
  sandbox: "microsandbox",
  mechanisms: ["microVM of an older server", "deno permissions", "realm"],
};
const NOTES = [
  "An older server can't cut a machine's network or mount a folder read-only: Deno's permissions in the machine hold both.",
  "Whether the image has what a guest needs shows when the first machine starts.",
];

/**
 * Creates a sandbox provider that runs code on a server of microsandbox 0.2 or older (`msb server start`).
 *
 * @throws CemError `SANDBOX_UNAVAILABLE` when `url` is not an HTTP URL.
 */
export function createMicrosandboxServerProvider(settings: MicrosandboxServerSettings): GuestSandboxProvider {
  const { image = DEFAULT_IMAGE, bootTimeoutMs: timeoutMs = DEFAULT_BOOT_TIMEOUT_MS } = settings;
  const rpc = createServerRpc(settings);
  const { origin } = rpc;
  let swept: Promise<void> | undefined;

  async function startGuest(known: { spec: SandboxSpec; checked: boolean }): Promise<Guest> {
    const { spec } = known;
    const { memoryMb } = resolveLimits(spec.limits);
    const config = {
      image,
      memory: Math.ceil(memoryMb) + MACHINE_OVERHEAD_MB,
      cpus: 1,
      volumes: guestMounts(spec).map(({ hostPath, guestPath }) => `${hostPath}:${guestPath}`),
    };
    const machine = await startServerMachine(rpc, config, timeoutMs);
    try {
      const files = runnerFiles(dirname(guestBootFile));
      const uploaded = files.map(({ name, data }) => ({ name: `guest/${name}`, data }));
      await machine.upload(GUEST_RUNNER, uploaded, timeoutMs);
      if (!known.checked) await check(machine, spec);
      known.checked = true;
    } catch (error) {
      await machine.kill();
      throw error;
    }
    // Only Deno's permissions enforce read-only mounts: the server mounts everything writable.
    const command = machineCommand(spec, "deno", `${GUEST_RUNNER}/guest/${basename(guestBootFile)}`);
    return startMicrovmGuest(machine, guestInit(spec, settings), command);
  }

  /** Checks that the machine sees this host's workspace and has the right version of Deno. */
  async function check(machine: ServerMachine, { workspaceDir }: SandboxSpec): Promise<void> {
    const name = `.cem-${randomBytes(MARK_BYTES).toString("hex")}`;
    const file = join(workspaceDir, name);
    writeFileSync(file, "");
    try {
      const { sees, deno } = await machine.inspect(`${GUEST_WORKSPACE}/${name}`, SETUP_TIMEOUT_MS);
      if (!sees)
        throw new CemError(
          "SANDBOX_UNAVAILABLE",
          `The microsandbox server at ${origin} does not see the workspace ${workspaceDir}. It has to run on this host, or share that path with it.`,
          { details: { origin, workspaceDir } },
        );
      if (!deno.startsWith(NEEDED_DENO))
        throw new CemError(
          "SANDBOX_IMAGE_UNUSABLE",
          `The image ${image} has Deno ${deno === "" ? "of an unknown version" : deno}; the guest runner needs 2.9.`,
          { details: { image, found: deno, needed: "2.9" } },
        );
    } finally {
      rmSync(file, { force: true });
    }
  }

  return createGuestProvider(settings, {
    name: "microsandbox",
    concurrentRuns: DEFAULT_CONCURRENT_RUNS,
    machine: {
      where: "in a microVM",
      startTimeoutMs: SETUP_TIMEOUT_MS,
      healthTimeoutMs: HEALTH_TIMEOUT_MS,
    },
    probe: (signal) =>
      probeHost(async () => {
        await rpc.check(signal);
        const version = `an older server, ${origin}`;
        return { available: true, isolation: ISOLATION, version, notes: NOTES };
      }),
    async prepare(spec, signal) {
      refuseColons(spec);
      await rpc.check(signal);
      await (swept ??= sweepServer(rpc));
      // The first machine checks that the image and the server's folders are right.
      const known = { spec, checked: false };
      return { isolation: ISOLATION, startGuest: () => startGuest(known) };
    },
  });
}

/** The server splits `host:guest` at colons. */
function refuseColons(spec: SandboxSpec): void {
  const wrong = guestMounts(spec).find(({ hostPath, guestPath }) => `${hostPath}${guestPath}`.includes(":"));
  if (wrong === undefined) return;
  throw new CemError(
    "SANDBOX_SPEC_INVALID",
    `${wrong.hostPath} can't be mounted by an older microsandbox server: its path has a colon.`,
    { details: { hostPath: wrong.hostPath } },
  );
}
