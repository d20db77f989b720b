import { stat } from "node:fs/promises";
import path from "node:path";
import type { CallRecorder } from "@cem/bridge";
import type { Config } from "@cem/config";
import { BYTES_PER_MB, Lazy, toErrorInfo } from "@cem/core";
import type { Redactor, RecordRun, RunRecord, RunRecords, Store } from "@cem/core";
import { hintFor } from "@cem/core/errors";
import type { McpTools } from "@cem/mcp-client/tools";
import type { Log, LogLevel } from "../log.ts";
import { assertOutOfReach, vaultIn, type Project } from "../project.ts";

const MS_PER_DAY = 86_400_000;
const FOLDER = "runs";
/** Maximum number of recorded runs. The oldest are removed first, a hundred at a time. */
const MAX_RECORDS = 1_000;

/** Returns the log for failures to record runs. */
export type RecordsLog = (config: Config) => Log | Promise<Log>;

type Recorded = Pick<Project, "config" | "owner" | "store">;

/** The number of records that are kept, and for how long. */
export function keptRunsOf({ runs }: Config): { count: number; ageMs: number } {
  return { count: MAX_RECORDS, ageMs: runs.maxDays * MS_PER_DAY };
}

/** Removes old records and personal values from the folders of inactive customers. Those in a store expire by themselves. */
export async function tidyRecords(config: Config): Promise<void> {
  const { removeOldVaults } = await import("@cem/pii/vaults");
  const { createCustomerFolders, pruneRunRecords } = await import("@cem/workspace");
  const { createFolderStore } = await import("@cem/store");
  const bounds = { ...keptRunsOf(config), bytes: Infinity };
  for (const id of await createCustomerFolders(config.customers.dir).list()) {
    removeOldVaults(vaultIn(path.join(config.customers.dir, id)));
    const folder = path.join(config.customers.dir, id, FOLDER);
    const file = await stat(path.join(folder, "store.db")).catch(() => undefined);
    if (file === undefined || file.mtimeMs > Date.now() - bounds.ageMs) continue;
    const store = createFolderStore({ folder });
    await pruneRunRecords(store, bounds).catch(() => {});
    await store.close();
  }
}

/**
 * The records of the runs of a project or of its owner, as configured: in the shared store if there is one, else in a
 * folder. Opened on first use. `undefined` if none are kept.
 */
export function openConfiguredRecords(recorded: Recorded, logOf: RecordsLog): RunRecords | undefined {
  const { config, owner, store } = recorded;
  if (!config.runs.records) return undefined;
  const warn = (message: string, level: LogLevel = "critical"): void =>
    void Promise.resolve(logOf(config)).then((log) => log(level, message));
  return lazyRecords(async () => {
    const { createRunRecords, followCustomer } = await import("@cem/workspace");
    let isThere: (() => Promise<boolean>) | undefined;
    return createRunRecords({
      open: () => openRecordStore(recorded, warn),
      bounds: { ...keptRunsOf(config), bytes: config.runs.maxMb * BYTES_PER_MB },
      isThere:
        owner &&
        (async () => {
          isThere ??= followCustomer(owner.home, await store?.get());
          return isThere();
        }),
      onProblem(thrown, hasWritten) {
        const error = toErrorInfo(thrown);
        // Advice on a set-up that has worked would mislead.
        if (hasWritten) return warn(`Runs can't be recorded now: ${error.message}`, "error");
        warn(["Runs can't be recorded:", error.message, hintFor(error) ?? ""].join(" ").trim());
      },
    });
  });
}

interface RecorderParts {
  /** The recorder of calls, once there is a host. */
  calls: () => CallRecorder | undefined;
  nameInCode: McpTools["findNameInCode"];
  /** The redactor of the runs. `undefined` if personal data is not redacted. */
  redactor: () => Promise<Redactor | undefined>;
  /** A redactor for records if runs have none. */
  recordRedactor: Lazy<Redactor>;
  owner: string | undefined;
}

/** Records runs that have ended, in the background. */
export function recordRunsIn(records: RunRecords, parts: RecorderParts): RecordRun {
  const secretFilter = new Lazy(openSecretFilter);
  const workspace = new Lazy(() => import("@cem/workspace"));
  return (run) => {
    const taken = parts.calls()?.take(run.id);
    records.add(async () => {
      const { createRunRecord } = await workspace.get();
      const ofRuns = await parts.redactor();
      return createRunRecord(run, {
        calls: taken?.() ?? [],
        nameInCode: parts.nameInCode,
        redactor: { redactor: ofRuns ?? (await parts.recordRedactor.get()), isOfRuns: ofRuns !== undefined },
        hideSecrets: await secretFilter.get(),
        owner: parts.owner,
      });
    });
  };
}

/** Creates a filter that hides the secrets of this process, which are read once. */
async function openSecretFilter(): Promise<(record: RunRecord) => RunRecord> {
  const { createSecretList, hideInside, withoutSecrets } = await import("@cem/bridge");
  const secrets = createSecretList(process.env);
  if (secrets.length === 0) return (record) => record;
  return (record) => hideInside(record, (text) => withoutSecrets(text, secrets));
}

async function openRecordStore(
  { config, owner, store: shared }: Recorded,
  warn: (message: string) => void,
): Promise<Store> {
  const { createFolderStore, scopeStore } = await import("@cem/store");
  const onDamaged = (movedTo: string): void =>
    warn(
      `The records of runs were damaged. What could not be read was moved to ${movedTo}, and new ones are kept.`,
    );
  if (shared !== undefined) {
    const { customerKey } = await import("@cem/workspace");
    const [first = FOLDER, ...rest] = owner === undefined ? [FOLDER] : customerKey(owner.id, FOLDER);
    return scopeStore(await shared.get(), first, ...rest);
  }
  if (owner !== undefined)
    return createFolderStore({ folder: path.join(owner.home, FOLDER), durability: "process", onDamaged });
  const folder = config.runs.dir;
  await assertOutOfReach(config, { folder, what: "Records of runs", setting: "runs.dir" });
  return createFolderStore({ folder, durability: "process", onDamaged });
}

/** Records that are opened on first use, so that a process that runs nothing loads nothing. */
function lazyRecords(make: () => Promise<RunRecords>): RunRecords {
  const made = new Lazy(make);
  return {
    specificationVersion: "v1",
    add: (record) => void made.get().then((records) => records.add(record)),
    list: async (filter) => (await made.get()).list(filter),
    read: async (id, owner) => (await made.get()).read(id, owner),
    flush: async () => (await made.settled())?.flush(),
    close: async () => (await made.settled())?.close(),
  };
}
