import { existsSync } from "node:fs";
import type { Config } from "@cem/config";
import { CemError } from "@cem/core";
import type { Mount, NetworkPolicy, RunLimits, Sandbox, SandboxProvider, SandboxSpec } from "@cem/core";
import { createDenoSandboxProvider } from "@cem/sandbox-deno";
import { makeFolder } from "./make-folder.ts";

const BYTES_PER_KB = 1024;
const BYTES_PER_MB = 1024 * 1024;
const MS_PER_SECOND = 1000;

/** The sandboxes the configuration allows, strongest first. */
export function sandboxProviders(config: Config): SandboxProvider[] {
  if (config.execution.sandboxType === "microsandbox") {
    throw new CemError(
      "SANDBOX_UNAVAILABLE",
      "execution.sandbox_type is microsandbox, which this version can't drive yet. Set it to auto or deno.",
    );
  }
  return [createDenoSandboxProvider({ standby: standbyGuests(config) })];
}

function standbyGuests({ optimizations }: Config): number {
  return optimizations.enabled && optimizations.sandboxPooling ? optimizations.sandboxPoolSize : 0;
}

/** Makes the strongest sandbox that starts here, as the configuration wants it. */
export async function createSandbox(config: Config, own?: SandboxProvider): Promise<Sandbox> {
  const spec = sandboxSpec(config);
  await makeWorkspace(spec.workspaceDir);
  const providers = own === undefined ? sandboxProviders(config) : [own];
  const failures: unknown[] = [];
  for (const provider of providers) {
    try {
      return await provider.create(spec);
    } catch (error) {
      failures.push(error);
    }
  }
  throw failures.length === 1 ? failures[0] : new AggregateError(failures, "No sandbox can start here.");
}

/** The configuration in a sandbox's terms. */
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
    minIsolation: execution.minIsolation,
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
      `The workspace ${folder} can't be made: ${error instanceof Error ? error.message : String(error)}. Set execution.workspace_dir to a folder that can be written.`,
      { details: { folder }, cause: error },
    );
  }
}
