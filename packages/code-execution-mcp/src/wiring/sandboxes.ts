import { existsSync } from "node:fs";
import type { Config } from "@cem/config";
import type { GuestFacts } from "@cem/mcp-server";
import { CemError } from "@cem/core";
import type { Mount, NetworkPolicy, RunLimits, Sandbox, SandboxProvider, SandboxSpec } from "@cem/core";
import type { PluginSet } from "@cem/plugins";
import { chooseProvider } from "./choose-sandbox.ts";
import { followFolders } from "./follow-folders.ts";
import { makeFolder } from "./make-folder.ts";

const BYTES_PER_KB = 1024;
const BYTES_PER_MB = 1024 * 1024;
const MS_PER_SECOND = 1000;
/** The session of an agent's runs that name none. */
const AGENT_SESSION = "agent";

/** What a sandbox needs beyond the configuration. */
export interface SandboxOptions extends Pick<
  SandboxSpec,
  "hidden" | "hostTools" | "mounts" | "owner" | "meter"
> {
  /** Creates the sandbox. Default: the provider that the configuration asks for. */
  sandboxProvider?: SandboxProvider | undefined;
  /**
   * Whether there is only one run, so that no guest is kept ready for a next one.
   *
   * @defaultValue false
   */
  oneRun?: boolean | undefined;
  /** Sandboxes that the configuration can name, beside those that there are anyway. */
  plugins?: Pick<PluginSet, "sandboxes" | "problems"> | undefined;
  /** What set `execution.sandbox_type`: `config.yaml:9`. It is named where the sandbox can't start. */
  chosenBy?: string | undefined;
}

/**
 * Creates the sandbox that the configuration asks for.
 *
 * @throws CemError `SANDBOX_UNAVAILABLE`, `ISOLATION_TOO_WEAK` or `WORKSPACE_UNUSABLE`.
 */
export async function createSandbox(config: Config, options: SandboxOptions = {}): Promise<Sandbox> {
  const { hidden = [], hostTools = {}, mounts = [], owner, meter, oneRun = false, plugins } = options;
  const sandboxProvider = options.sandboxProvider ?? (await chooseProvider(config, oneRun, plugins));
  const { workspaceDir, serversDir, skillsDir } = config.execution;
  await makeWorkspace(workspaceDir);
  const create = async (): Promise<Sandbox> => {
    const spec = sandboxSpec(config);
    const all = [...(spec.mounts ?? []), ...mounts];
    try {
      return await sandboxProvider.create({
        ...spec,
        mounts: all,
        hidden,
        hostTools,
        owner,
        meter,
        defaultSession: AGENT_SESSION,
      });
    } catch (error) {
      throw withChoice(error, config, options.chosenBy);
    }
  };
  return followFolders(create, [serversDir, skillsDir]);
}

/** An error of a sandbox that was asked for by name, with who asked. */
function withChoice(error: unknown, { execution }: Config, chosenBy: string | undefined): unknown {
  const isAsked = execution.sandboxType !== "auto" && chosenBy !== undefined;
  if (!isAsked || !CemError.isInstance(error) || error.code !== "SANDBOX_UNAVAILABLE") return error;
  const details = { ...error.details, sandbox: execution.sandboxType, chosenBy };
  return new CemError("SANDBOX_UNAVAILABLE", error.message, { details, cause: error });
}

/** Maps the configuration to the specification of a sandbox. */
export function sandboxSpec({ execution, guardrails }: Config): SandboxSpec {
  return {
    workspaceDir: execution.workspaceDir,
    mounts: [
      ...[
        { hostPath: execution.serversDir, guestPath: "/workspace/servers", readOnly: true },
        { hostPath: execution.skillsDir, guestPath: "/workspace/skills", readOnly: true },
      ].filter(({ hostPath }) => existsSync(hostPath)),
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

/** What code can reach in the sandbox that the configuration asks for. */
export function guestFactsOf(config: Config): GuestFacts {
  const { execution, guardrails, mcpServers } = config;
  return {
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
    callsInFlight: limits.maxConcurrentCalls,
    payloadBytes: Math.ceil(limits.maxPayloadMb * BYTES_PER_MB),
    writeMb: limits.maxWriteMb,
  };
}

async function makeWorkspace(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
  } catch (error) {
    throw new CemError(
      "WORKSPACE_UNUSABLE",
      `The workspace ${folder} can't be made: ${error instanceof Error ? error.message : String(error)}.`,
      { details: { folder }, cause: error },
    );
  }
}
