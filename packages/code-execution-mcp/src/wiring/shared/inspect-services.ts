import { existsSync } from "node:fs";
import type { Config } from "@cem/config";
import { CemError, toErrorInfo } from "@cem/core";
import type { ErrorInfo, Store } from "@cem/core";
import type { Project } from "../project.ts";
import { configuredVaults } from "../privacy/vaults.ts";
import { probeFiles } from "./files.ts";
import { openUnsealed, PROBED, probeStore, sealingKeysOf } from "./store.ts";

/** State of a service that the configuration names. */
export interface ServiceReport {
  name: "records" | "store" | "files" | "queue" | "vault" | "audit log";
  /** The file or folder, or the URL without user and password. */
  location: string;
  /** Why it can't be used. */
  problem?: ErrorInfo | undefined;
  /** Its settings that may lose data, and losses that were noticed. */
  risks: string[];
}

/**
 * Tries the store, the storage of files and the queue of a configuration, and looks at its files: records of runs, personal data, the audit log.
 *
 * @param warnings - What was logged about the records.
 */
export async function inspectServices(
  project: Project,
  warnings: readonly string[],
): Promise<ServiceReport[]> {
  const { config } = project;
  const { store, queue } = config;
  const urls = (["store", "queue"] as const).flatMap((name) => {
    const { url } = { store, queue }[name];
    return url === undefined ? [] : [{ name, url }];
  });
  const services = urls.map(async ({ name, url }): Promise<ServiceReport> => {
    const opened = await openUnsealed(config, url);
    const { location } = opened;
    try {
      await probeStore(opened);
      const older = name === "store" ? await olderKeysIn(opened, config) : [];
      return { name, location, risks: [...((await opened.risks?.()) ?? []), ...older] };
    } catch (error) {
      return { name, location, problem: toErrorInfo(error), risks: [] };
    } finally {
      await opened.close().catch(() => {});
    }
  });
  const all = await Promise.all([...services, ...(store.files === undefined ? [] : [tryFiles(project)])]);
  return [...(await inspectFiles(project, warnings)), ...all];
}

async function tryFiles(project: Project): Promise<ServiceReport> {
  const { files = "" } = project.config.store;
  const report = { name: "files" as const, location: files.replace(/\?.*/u, ""), risks: [] };
  return probeFiles(project).then(
    () => report,
    (error: unknown) => ({ ...report, problem: toErrorInfo(error) }),
  );
}

/**
 * Tells which of the older keys may not be left out yet.
 *
 * @throws CemError `STORE_SEALED` where the keys don't open what is there.
 */
async function olderKeysIn(store: Store, config: Config): Promise<string[]> {
  const keys = (await sealingKeysOf(config)) ?? [];
  const { trySealingKeys } = await import("@cem/store");
  const { older, unopened, reason } = await trySealingKeys(store, keys, PROBED);
  if (reason !== undefined) {
    const message = `The keys don't open ${unopened} values of the store. The first: ${reason.message}`;
    throw new CemError("STORE_SEALED", message, { details: reason.details });
  }
  return [...older].map(
    ([id, count]) => `${count} values are sealed with the older key ${id}: keep it in store.keys`,
  );
}

/** The most problems of an audit log that are reported. */
const MAX_SHOWN = 3;

/** Looks at files that are there: to look is not to make any. */
async function inspectFiles(project: Project, warnings: readonly string[]): Promise<ServiceReport[]> {
  const { config, records } = project;
  const { auditFile } = config.logging;
  const inspect = async (
    name: ServiceReport["name"],
    location: string,
    find: () => Promise<readonly string[]>,
  ): Promise<ServiceReport[]> => {
    if (!existsSync(location)) return [];
    const found = await find().catch(toErrorInfo);
    const isProblem = "code" in found;
    return [{ name, location, problem: isProblem ? found : undefined, risks: isProblem ? [] : [...found] }];
  };
  const isLocal = config.store.url === undefined;
  return [
    ...(records === undefined || !isLocal
      ? []
      : await inspect("records", config.runs.dir, async () => {
          await records.list({ limit: 1 });
          return warnings;
        })),
    ...(config.privacy.vault !== "disk" || !isLocal
      ? []
      : await inspect("vault", config.privacy.vaultDir, async () => {
          const { store: files } = await configuredVaults(project);
          files?.load("");
          return [];
        })),
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
