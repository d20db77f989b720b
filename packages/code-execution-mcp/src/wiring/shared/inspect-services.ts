import { existsSync } from "node:fs";
import type { Config } from "@cem/config";
import { toErrorInfo, type ErrorInfo, type Store } from "@cem/core";
import type { Project } from "../project.ts";
import { inspectVaults } from "../privacy/vaults.ts";
import { probeFiles } from "./files.ts";
import { openUnsealed, PROBED, probeStore, sealingKeysOf } from "./store.ts";

/** The state of a configured service. */
export interface ServiceReport {
  name: "records" | "store" | "files" | "queue" | "vault" | "audit log";
  /** The file or folder, or the URL without user and password. */
  location: string;
  /** Why it can't be used. */
  problem?: ErrorInfo | undefined;
  /** Settings that may lose data, and losses that were detected. */
  risks: string[];
}

/**
 * Tries the store, the storage of files and the queue of a configuration, and looks at its files: records of runs, personal data, the audit log.
 *
 * @param warnings - Warnings that were logged about the records.
 */
export async function inspectServices(
  project: Project,
  warnings: readonly string[],
): Promise<ServiceReport[]> {
  const { config } = project;
  const urls = (["store", "queue"] as const).flatMap((name) => {
    const { url } = config[name];
    return url === undefined ? [] : [{ name, url }];
  });
  const services = urls.map(async ({ name, url }): Promise<ServiceReport> => {
    const opened = await openUnsealed(config, url);
    const report = await reportOf(name, opened.location, async () => {
      await probeStore(opened);
      const older = name === "store" ? await olderKeysIn(opened, config) : [];
      return [...((await opened.risks?.()) ?? []), ...older];
    });
    await opened.close().catch(() => {});
    return report;
  });
  const { files } = config.store;
  if (files !== undefined)
    services.push(reportOf("files", files.replace(/\?.*/u, ""), () => probeFiles(project)));
  return [...(await inspectFiles(project, warnings)), ...(await Promise.all(services))];
}

async function reportOf(
  name: ServiceReport["name"],
  location: string,
  find: () => Promise<readonly string[]>,
): Promise<ServiceReport> {
  const found = await find().catch(toErrorInfo);
  const report = { name, location, risks: [] };
  return "code" in found ? { ...report, problem: found } : { ...report, risks: [...found] };
}

/** The older keys that are still in use. */
async function olderKeysIn(store: Store, config: Config): Promise<string[]> {
  const { countOlderKeys } = await import("@cem/store");
  return [...(await countOlderKeys(store, (await sealingKeysOf(config)) ?? [], PROBED))].map(
    ([id, count]) => `${count} values are sealed with the older key ${id}: keep it in store.keys`,
  );
}

/** Maximum number of reported problems of an audit log. */
const MAX_SHOWN = 3;

/** Inspects existing files and creates none. */
async function inspectFiles(project: Project, warnings: readonly string[]): Promise<ServiceReport[]> {
  const { config, records } = project;
  const { auditFile } = config.logging;
  const inspect = async (
    name: ServiceReport["name"],
    location: string,
    find: () => Promise<readonly string[]>,
  ): Promise<ServiceReport[]> => {
    return existsSync(location) ? [await reportOf(name, location, find)] : [];
  };
  const isLocal = config.store.url === undefined;
  const { vaultDir } = config.privacy;
  const vaults = existsSync(vaultDir) ? vaultDir : config.customers.dir;
  return [
    ...(records === undefined || !isLocal
      ? []
      : await inspect("records", config.runs.dir, async () => {
          await records.list({ limit: 1 });
          return warnings;
        })),
    ...(config.privacy.vault !== "disk" || !isLocal
      ? []
      : await inspect("vault", vaults, () => inspectVaults(config))),
    ...(auditFile === undefined
      ? []
      : await inspect("audit log", auditFile, async () => {
          const { verifyAuditLog } = await import("@cem/guardrails/audit");
          const { problems } = await verifyAuditLog(auditFile);
          const shown = problems
            .slice(0, MAX_SHOWN)
            .map(({ file, line, message }) => `${line === undefined ? file : `${file}:${line}`}  ${message}`);
          return problems.length > MAX_SHOWN ? [...shown, "cem audit verify shows all of it"] : shown;
        })),
  ];
}
