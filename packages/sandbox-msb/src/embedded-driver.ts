import { isAbsolute } from "node:path";
import { CemError } from "@cem/core";
import type { NetworkPolicy } from "@cem/core";
import { parseHost } from "@cem/sandbox/provider-kit";
import type { MachineCommand } from "@cem/sandbox/provider-kit";
import type { ExecHandle, ExecSink, NetworkPolicy as SdkPolicy, Rule, Sandbox } from "microsandbox";
import { findMachineProcess } from "./own-machines.ts";
import type { GuestRuntime } from "./guest-runtime.ts";
import { prepareImage } from "./image.ts";
import type { PreparedImage } from "./image.ts";
import { loadSdk } from "./load-sdk.ts";
import type { Microsandbox } from "./load-sdk.ts";
import type { KnownMicrovm, Microvm, MicrovmEvent, MicrovmProcess, MicrovmSpec } from "./microvm-guest.ts";

/** The guest's user, which owns the files of its mounts. */
const GUEST_UID = 1_000;
const OPEN_FILES = 256;
/** Size of the machine's root disk in its own memory: nothing is formatted or left on the host. */
const ROOT_DISK_MB = 16;
const LIST_PAGE = 100;

/**
 * Creates a driver on microsandbox's SDK, which runs each machine as a child process of this one.
 *
 * @param home - Folder for machines, images and logs.
 * @throws CemError `SANDBOX_UNAVAILABLE`.
 */
export async function createEmbeddedDriver(home: string): Promise<EmbeddedDriver> {
  return new EmbeddedDriver(await loadSdk(home), home);
}

export class EmbeddedDriver {
  readonly #sdk: Microsandbox;
  readonly #home: string;

  constructor(sdk: Microsandbox, home: string) {
    this.#sdk = sdk;
    this.#home = home;
  }

  /** Prepares an image; `undefined` for one of this host's own. */
  prepareImage(image: string | undefined, runtime: GuestRuntime): Promise<PreparedImage> {
    return prepareImage(this.#sdk, { home: this.#home, image, runtime });
  }

  /** Creates and boots a machine. */
  async create(spec: MicrovmSpec): Promise<Microvm> {
    const { Sandbox, setDefaultBackend } = this.#sdk;
    setDefaultBackend("local");
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
    else builder.network((network) => network.policy(toSdkPolicy(this.#sdk, spec.network)));
    const sandbox = await builder.create();
    if (sandbox.backendKind !== "local") {
      await sandbox.destroy({ force: true });
      throw new CemError(
        "SANDBOX_UNAVAILABLE",
        "microsandbox created the machine in a cloud; it was removed.",
      );
    }
    return new EmbeddedMicrovm(sandbox);
  }

  /** Lists machines with a label of this value. */
  async list(label: string, value: string): Promise<KnownMicrovm[]> {
    const found: KnownMicrovm[] = [];
    let cursor: string | undefined;
    do {
      const from = cursor;
      const page = await this.#sdk.Sandbox.listWith((list) => {
        list.limit(LIST_PAGE).label(label, value);
        return from === undefined ? list : list.cursor(from);
      });
      for (const { name, configJson } of page.sandboxes) found.push({ name, labels: labelsOf(configJson) });
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return found;
  }

  /** Kills and removes a machine. */
  async remove(name: string): Promise<void> {
    // A machine that hangs during its boot does not react to the SDK.
    const pid = findMachineProcess(name);
    if (pid !== undefined) process.kill(pid, "SIGKILL");
    const handle = await this.#sdk.Sandbox.get(name);
    await handle.destroy({ force: true });
  }
}

function labelsOf(configJson: string): Record<string, string> {
  const { labels } = JSON.parse(configJson) as { labels?: Record<string, string> | undefined };
  return labels ?? {};
}

class EmbeddedMicrovm implements Microvm {
  readonly pid: number | undefined;
  readonly #sandbox: Sandbox;
  #killed: Promise<void> | undefined;

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
    this.pid = findMachineProcess(sandbox.name);
  }

  get name(): string {
    return this.#sandbox.name;
  }

  async exec({ file, args, cwd, env, fileBytes }: MachineCommand): Promise<MicrovmProcess> {
    const handle = await this.#sandbox.execStreamWith(file, (options) =>
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
    return new EmbeddedProcess(handle, input);
  }

  kill(): Promise<void> {
    this.#killed ??= this.#sandbox.destroy({ force: true });
    return this.#killed;
  }
}

class EmbeddedProcess implements MicrovmProcess {
  readonly #handle: ExecHandle;
  readonly #input: ExecSink;

  constructor(handle: ExecHandle, input: ExecSink) {
    this.#handle = handle;
    this.#input = input;
  }

  async next(): Promise<MicrovmEvent | undefined> {
    for (;;) {
      const event = await this.#handle.recv();
      if (event === null) return undefined;
      if (event.kind !== "started") return event;
    }
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#input.write(bytes);
  }
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
