import { existsSync, mkdirSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Config } from "@cem/config";
import { BYTES_PER_MB, CemError, DEFAULT_RUN_LIMITS, MS_PER_SECOND } from "@cem/core";
import { createProcessFolder } from "@cem/core/files";
import type { Mount, NetworkPolicy, RunLimits, Sandbox, SandboxProvider, SandboxSpec } from "@cem/core";
import type { SandboxVariant } from "@cem/mcp-client/tools";
import type { GuestFacts } from "@cem/mcp-server";
import type { PluginSet } from "../../plugins/open-plugins.ts";
import { assertOutOfReach } from "../project.ts";
import { makeWorkspace } from "../records/workspace.ts";
import { chooseProvider } from "./choose-sandbox.ts";

const BYTES_PER_KB = 1024;
/** The session of an agent's runs that don't name one. */
const AGENT_SESSION = "agent";

/** Options of a sandbox, besides the configuration. */
export interface SandboxOptions
  extends SandboxVariant, Pick<SandboxSpec, "hidden" | "hostTools" | "mounts" | "owner" | "meter"> {
  /** Creates the sandbox. Default: the configured provider. */
  sandboxProvider?: SandboxProvider | undefined;
  /**
   * Whether there is only one run, so that no guest is kept ready for another.
   *
   * @defaultValue false
   */
  oneRun?: boolean | undefined;
  /** Sandboxes that the configuration can name in addition to the built-in ones. */
  plugins?: Pick<PluginSet, "sandboxes" | "problems"> | undefined;
  /** Origin of the setting `execution.sandbox_type`, named where the sandbox can't start: `config.yaml:9`. */
  chosenBy?: string | undefined;
}

/**
 * Creates the configured sandbox.
 *
 * @throws CemError `SANDBOX_UNAVAILABLE`, `ISOLATION_TOO_WEAK` or `WORKSPACE_UNUSABLE`; `CONFIG_INVALID` if it could reach
 * files that it must not.
 */
export async function createSandbox(config: Config, options: SandboxOptions = {}): Promise<Sandbox> {
  const { hidden = [], hostTools = {}, mounts = [], owner, meter, servers, nested } = options;
  const sandboxProvider =
    options.sandboxProvider ?? (await chooseProvider(config, options.oneRun, options.plugins));
  const { workspaceDir, serversDir } = config.execution;
  makeWorkspace(workspaceDir);
  await assertNoToolFilesWithin(config);
  for (const entry of options.hosted ?? []) {
    await assertOutOfReach(config, {
      folder: path.join(serversDir, entry),
      what: "Tools that guards concern",
      setting: "execution.servers_dir",
      besides: serversDir,
    });
  }
  const spec = sandboxSpec(config, servers);
  try {
    return await sandboxProvider.create({
      ...spec,
      mounts: [
        ...(spec.mounts ?? []),
        ...(sandboxProvider.name === "deno" ? missingMounts(config, servers) : []),
        ...mounts,
      ],
      hidden,
      hostTools,
      owner,
      // A nested run's time is already part of the outer run's.
      meter: nested === true ? undefined : meter,
      nested,
      defaultSession: AGENT_SESSION,
    });
  } catch (error) {
    throw withChoice(error, config, options.chosenBy);
  }
}

/**
 * Refuses tool files that code could change through the workspace or a writable mount. A workspace folder with the name of
 * a mount is allowed, since the mount covers it.
 */
async function assertNoToolFilesWithin({ execution }: Config): Promise<void> {
  const { isWithin, realPath } = await import("@cem/config");
  const { workspaceDir, mountDirectories, serversDir: servers, skillsDir: skills } = execution;
  const written = mountDirectories.filter(({ mode }) => mode === "rw").map(({ host }) => host);
  for (const [name, folder] of Object.entries({ servers, skills })) {
    const real = realPath(folder);
    const covered = path.join(realPath(workspaceDir), name);
    const reached = [...(real === covered ? [] : [workspaceDir]), ...written].find(
      (one) => isWithin(realPath(one), real) || (one !== workspaceDir && isWithin(real, realPath(one))),
    );
    if (reached === undefined) continue;
    const setting = `execution.${name}_dir`;
    const message = `Code in the sandbox could change the ${name} in ${folder}, since it writes in ${reached}. Set ${setting} to a folder outside of it${reached === workspaceDir ? `, or to ${covered}` : ""}.`;
    throw new CemError("CONFIG_INVALID", message, { details: { setting, folder, reached } });
  }
}

/** The folder for temporary folders that sandboxes mount. Pods can only mount folders on their volume. */
export function viewsDirOf({ execution: { sandboxType, kubernetes } }: Config): string {
  return sandboxType === "kubernetes" ? path.resolve(kubernetes.volumeRoot) : os.tmpdir();
}

/** Adds to the error of an explicitly configured sandbox where it was configured. */
function withChoice(error: unknown, { execution }: Config, chosenBy: string | undefined): unknown {
  const isAsked = execution.sandboxType !== "auto" && chosenBy !== undefined;
  if (!isAsked || !CemError.isInstance(error) || error.code !== "SANDBOX_UNAVAILABLE") return error;
  const details = { ...error.details, sandbox: execution.sandboxType, chosenBy };
  return new CemError("SANDBOX_UNAVAILABLE", error.message, { details, cause: error });
}

/** The mounts of tool files, whether or not the files exist. */
function toolMounts({ execution }: Config, servers?: readonly Mount[]): Mount[] {
  const asTheyAre = [{ hostPath: execution.serversDir, guestPath: "/workspace/servers", readOnly: true }];
  return [
    ...(servers ?? asTheyAre),
    { hostPath: execution.skillsDir, guestPath: "/workspace/skills", readOnly: true },
  ];
}

let emptyFolder: string | undefined;

/**
 * Mounts of an empty folder in place of missing tool folders: files that a program wrote there would pass for tools in
 * other sessions. microVMs go without, since they would create the mount points in the host's workspace.
 */
function missingMounts(config: Config, servers?: readonly Mount[]): Mount[] {
  const missing = toolMounts(config, servers).filter(({ hostPath }) => !existsSync(hostPath));
  return missing.map((mount) => {
    if (emptyFolder === undefined || !existsSync(emptyFolder))
      emptyFolder = createProcessFolder(os.tmpdir(), "cem-empty");
    // One for each, since errors identify a folder by its guest path.
    const hostPath = path.join(emptyFolder, path.basename(mount.guestPath));
    mkdirSync(hostPath, { recursive: true });
    return { ...mount, hostPath };
  });
}

/** Maps the configuration to a sandbox spec. */
export function sandboxSpec(config: Config, servers?: readonly Mount[]): SandboxSpec {
  const { execution, guardrails } = config;
  return {
    workspaceDir: execution.workspaceDir,
    mounts: [
      ...toolMounts(config, servers).filter(({ hostPath }) => existsSync(hostPath)),
      ...execution.mountDirectories.map(({ host, guest, mode }): Mount => ({
        hostPath: host,
        guestPath: guest,
        readOnly: mode === "ro",
      })),
    ],
    network: networkPolicy(execution.allowNetworkAccess, guardrails.allowedNetworks),
    limits: runLimits(execution.limits, guardrails),
    quota: {
      workspaceMb: execution.limits.maxWorkspaceMb,
      workspaceEntries: execution.limits.maxWorkspaceEntries,
    },
    minIsolation: execution.minIsolation,
  };
}

/** Network, time limit and mounts of code in the configured sandbox. */
export function guestFactsOf(config: Config): GuestFacts {
  const { execution, guardrails, llm, mcpServers } = config;
  return {
    hasModel: llm.enabled,
    hasMcpServers: mcpServers.some(({ enabled }) => enabled),
    network: networkPolicy(execution.allowNetworkAccess, guardrails.allowedNetworks),
    timeoutMs: runLimits(execution.limits, guardrails).timeoutMs,
    mounts: execution.mountDirectories.map(({ guest, mode }) => ({
      guestPath: guest,
      readOnly: mode === "ro",
    })),
  };
}

function networkPolicy(allowed: boolean, hosts: readonly string[]): NetworkPolicy {
  if (!allowed) return "none";
  return hosts.length === 0 ? "all" : { hosts };
}

function runLimits(limits: Config["execution"]["limits"], guardrails: Config["guardrails"]): RunLimits {
  return {
    timeoutMs: Math.ceil(guardrails.maxExecutionTime * MS_PER_SECOND),
    memoryMb: guardrails.maxMemoryMb,
    outputBytes: limits.maxOutputKb * BYTES_PER_KB,
    calls: limits.maxToolCalls,
    callsInFlight: DEFAULT_RUN_LIMITS.callsInFlight,
    payloadBytes: Math.ceil(limits.maxPayloadMb * BYTES_PER_MB),
    writeMb: limits.maxWriteMb,
  };
}
