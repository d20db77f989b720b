import { existsSync } from "node:fs";
import { toErrorInfo, type ErrorInfo } from "@cem/core";
import type { Project } from "../project.ts";
import { openUnsealed, probeStore } from "./store.ts";

/** State of a service that the configuration names. */
export interface ServiceReport {
  name: "records" | "store" | "queue";
  /** The folder, or the URL without user and password. */
  location: string;
  /** Why it can't be used. */
  problem?: ErrorInfo | undefined;
  /** Its settings that may lose data, and losses that were noticed. */
  risks: string[];
}

/**
 * Looks at the store and the queue of a configuration, and at the records of its runs.
 *
 * @param warnings - What was logged about the records.
 */
export async function inspectServices(
  { config, records }: Project,
  warnings: readonly string[],
): Promise<ServiceReport[]> {
  const { store, queue, runs } = config;
  const urls = (["store", "queue"] as const).flatMap((name) => {
    const { url } = { store, queue }[name];
    return url === undefined ? [] : [{ name, url }];
  });
  const services = urls.map(async ({ name, url }): Promise<ServiceReport> => {
    const opened = await openUnsealed(config, url);
    const { location } = opened;
    try {
      await probeStore(opened);
      return { name, location, risks: (await opened.risks?.()) ?? [] };
    } catch (error) {
      return { name, location, problem: toErrorInfo(error), risks: [] };
    } finally {
      await opened.close().catch(() => {});
    }
  });
  // To look is not to make any.
  if (records !== undefined && store.url === undefined && existsSync(runs.dir)) {
    const problem = await records.list({ limit: 1 }).then(() => undefined, toErrorInfo);
    return [
      { name: "records", location: runs.dir, problem, risks: [...warnings] },
      ...(await Promise.all(services)),
    ];
  }
  return Promise.all(services);
}
