import { isAbsolute } from "node:path";
import { CemError, type NetworkPolicy } from "@cem/core";
import { parseHost } from "@cem/sandbox/provider-kit";
import type { NetworkPolicy as SdkPolicy, Rule, Sandbox } from "microsandbox";
import { findMachineProcess } from "./own-machines.ts";
import type { GuestRuntime } from "./guest-runtime.ts";
import { prepareImage, type PreparedImage } from "./image.ts";
import { loadSdk, type Microsandbox } from "./load-sdk.ts";
import type { Microvm, MicrovmSpec } from "./microvm-guest.ts";

/** The guest's user, which owns the files of its mounts. */
const GUEST_UID = 1_000;
const OPEN_FILES = 256;
/** Size of the machine's root disk in its own memory: nothing is formatted or left behind on the host. */
const ROOT_DISK_MB = 16;
const LIST_PAGE = 100;

/** Uses microsandbox's SDK, which runs each machine as a child process of this one. @throws CemError `SANDBOX_UNAVAILABLE`. */
export async function createEmbeddedDriver(home: string) {
  const sdk = await loadSdk(home);
  const { Sandbox } = sdk;
  return {
    /** Prepares an image; `undefined` for one of this host's own. */
    prepareImage: (image: string | undefined, runtime: GuestRuntime): Promise<PreparedImage> =>
      prepareImage(sdk, { home, image, runtime }),
    async create(spec: MicrovmSpec): Promise<Microvm> {
      sdk.setDefaultBackend("local");
      const builder = Sandbox.builder(spec.name)
        .image(spec.image)
        .pullPolicy("if-missing")
        .cpus(1)
        .memory(spec.memoryMb)
        .security("restricted")
        .user(`${GUEST_UID}:${GUEST_UID}`)
        .labels({ ...spec.labels })
        .maxDuration(spec.maxSeconds)
        .disableMetricsSample()
        .quietLogs();
      if (!isAbsolute(spec.image)) builder.rootDisk((disk) => disk.tmpfs().size(ROOT_DISK_MB));
      for (const { hostPath, guestPath, readOnly } of spec.mounts) {
        builder.volume(guestPath, (mount) => {
          mount.bind(hostPath).owner(GUEST_UID, GUEST_UID);
          return readOnly ? mount.readonly() : mount;
        });
      }
      if (spec.network === "none") builder.disableNetwork();
      else builder.network((network) => network.policy(toSdkPolicy(sdk, spec.network)));
      const sandbox = await builder.create();
      if (sandbox.backendKind !== "local") {
        await sandbox.destroy({ force: true });
        throw new CemError(
          "SANDBOX_UNAVAILABLE",
          "microsandbox created the machine in a cloud; it was removed.",
        );
      }
      return microvmOf(sandbox);
    },
    async list(label: string, value: string) {
      const found: { name: string; labels: Record<string, string> }[] = [];
      let cursor: string | undefined;
      do {
        const from = cursor;
        const page = await Sandbox.listWith((list) => {
          list.limit(LIST_PAGE).label(label, value);
          return from === undefined ? list : list.cursor(from);
        });
        for (const { name, configJson } of page.sandboxes) found.push({ name, labels: labelsOf(configJson) });
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return found;
    },
    async remove(name: string): Promise<void> {
      // A machine that hangs during its boot does not react to the SDK.
      const pid = findMachineProcess(name);
      if (pid !== undefined) process.kill(pid, "SIGKILL");
      const handle = await Sandbox.get(name);
      await handle.destroy({ force: true });
    },
  };
}

export type EmbeddedDriver = Awaited<ReturnType<typeof createEmbeddedDriver>>;

function labelsOf(configJson: string): Record<string, string> {
  const { labels } = JSON.parse(configJson) as { labels?: Record<string, string> | undefined };
  return labels ?? {};
}

function microvmOf(sandbox: Sandbox): Microvm {
  let killed: Promise<void> | undefined;
  return {
    name: sandbox.name,
    pid: findMachineProcess(sandbox.name),
    async exec({ file, args, cwd, env, fileBytes }) {
      const handle = await sandbox.execStreamWith(file, (options) =>
        options
          .args([...args])
          .cwd(cwd)
          .envs({ ...env })
          .user(`${GUEST_UID}:${GUEST_UID}`)
          .stdinPipe()
          .rlimit("core", 0)
          .rlimit("nofile", OPEN_FILES)
          .rlimit("fsize", fileBytes),
      );
      const input = await handle.takeStdin();
      if (input === null) throw new CemError("GUEST_START_FAILED", "The guest's stdin can't be opened.");
      return {
        async next() {
          for (;;) {
            const event = await handle.recv();
            if (event === null) return undefined;
            if (event.kind !== "started") return event;
          }
        },
        write: (bytes) => input.write(bytes),
      };
    },
    kill: () => (killed ??= sandbox.destroy({ force: true })),
  };
}

/** Translates a network policy to rules of the machine's network card. Deno's permissions enforce it inside as well. */
function toSdkPolicy(
  { Destination, PortRange, Rule: rules }: Microsandbox,
  policy: NetworkPolicy,
): SdkPolicy {
  const allowed: Rule[] = [];
  if (policy === "all") allowed.push(rules.allowEgress(Destination.group("public")));
  for (const { name, family, port } of typeof policy === "object" ? policy.hosts.map(parseHost) : []) {
    const destination =
      family === "name"
        ? Destination.domain(name)
        : Destination.cidr(`${name}/${family === "ipv4" ? 32 : 128}`);
    const ports = port === undefined ? [] : [PortRange.single(port)];
    allowed.push({ ...rules.allowEgress(destination), ports });
  }
  return { defaultEgress: "deny", defaultIngress: "deny", rules: [rules.allowDns(), ...allowed] };
}
