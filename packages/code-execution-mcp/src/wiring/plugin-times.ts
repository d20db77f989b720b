import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Config } from "@cem/config";
import { makeFolder, replaceFile } from "@cem/core/files";
import type { PluginReport } from "../plugins/open-plugins.ts";

const FILE = "plugins.json";
const MAX_PROBLEMS = 5;
const MAX_FILE_CHARACTERS = 1_000_000;

/** What was noted of a plugin when it was used last. */
interface NotedTimes {
  uses: number;
  useMs: number;
  failures: number;
  problems: string[];
}

/** What earlier processes noted of the plugins' use, by plugin. What can't be read counts as nothing. */
export async function readPluginTimes(config: Config): Promise<Record<string, NotedTimes>> {
  try {
    const text = await readFile(fileOf(config), "utf8");
    if (text.length > MAX_FILE_CHARACTERS) return {};
    const noted: unknown = JSON.parse(text);
    if (typeof noted !== "object" || noted === null) return {};
    return Object.fromEntries(Object.entries(noted).map(([name, times]) => [name, toTimes(times)]));
  } catch {
    return {};
  }
}

/** Adds the use of plugins to what is noted, for `cem plugins list`. Where that can't be written, it is let be. */
export async function savePluginTimes(config: Config, reports: readonly PluginReport[]): Promise<void> {
  const { enabled, toolCache } = config.optimizations;
  const used = reports.filter(({ times }) => times.uses > 0);
  if (!enabled || !toolCache || used.length === 0) return;
  try {
    const noted = await readPluginTimes(config);
    for (const { name, times, problems } of used) {
      const before = noted[name] ?? toTimes(undefined);
      noted[name] = {
        uses: before.uses + times.uses,
        useMs: before.useMs + times.useMs,
        failures: before.failures + times.failures,
        // Those of the last use: what was mended is told no more.
        problems: problems.slice(0, MAX_PROBLEMS),
      };
    }
    const file = fileOf(config);
    await makeFolder(path.dirname(file));
    await replaceFile(file, `${JSON.stringify(noted)}\n`);
  } catch {
    // A cache.
  }
}

function fileOf({ optimizations }: Config): string {
  return path.join(optimizations.searchCacheDir, FILE);
}

function toTimes(given: unknown): NotedTimes {
  const { uses, useMs, failures, problems } = (given ?? {}) as Record<string, unknown>;
  const number = (value: unknown): number => (Number.isFinite(value) ? Math.max(0, Number(value)) : 0);
  return {
    uses: number(uses),
    useMs: number(useMs),
    failures: number(failures),
    problems: Array.isArray(problems) ? problems.filter((one) => typeof one === "string") : [],
  };
}
