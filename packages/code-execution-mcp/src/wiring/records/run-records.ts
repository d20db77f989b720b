import { createHash } from "node:crypto";
import { copyBeginning, Lazy, toErrorInfo, tokenizeInTurns } from "@cem/core";
import type {
  EndedRun,
  JsonValue,
  RecordedCall,
  RecordedData,
  Redactor,
  RunRecord,
  RunRecords,
  Store,
  TaskResult,
} from "@cem/core";
import { hintFor } from "../../hints.ts";
import type { CallKeeper } from "../calls/call-recorder.ts";
import type { Log } from "../log.ts";
import { assertOutOfReach } from "../places.ts";
import type { LoadedFor } from "../project.ts";

const BYTES_PER_MB = 1024 * 1024;
const MS_PER_DAY = 86_400_000;
const MAX_CODE_CHARACTERS = 64 * 1024;
const MAX_INPUT_CHARACTERS = 8 * 1024;
const MAX_OUTPUT_CHARACTERS = 16 * 1024;
const MAX_VALUE_CHARACTERS = 16 * 1024;
const MAX_CALLS = 500;
const OWNER_DIGITS = 32;
const FOLDER = "runs";

/**
 * The records of the runs of a project or of a customer, as the configuration wants them: in the shared store where there is
 * one, else in a folder. Nothing is opened before the first use. `undefined` where none are kept.
 */
export function openConfiguredRecords(loaded: LoadedFor, log: Log): RunRecords | undefined {
  const { config, customer } = loaded;
  const { records, maxCount, maxMb, maxDays } = config.runs;
  if (!records) return undefined;
  let isReported = false;
  return lazyRecords(async () => {
    const { createRunRecords, followCustomer } = await import("@cem/workspace");
    let isThere: (() => Promise<boolean>) | undefined;
    return createRunRecords({
      open: () => openRecordStore(loaded),
      bounds: { count: maxCount, bytes: maxMb * BYTES_PER_MB, ageMs: maxDays * MS_PER_DAY },
      isThere:
        customer &&
        (async () => {
          isThere ??= followCustomer(customer.home, await loaded.store?.get());
          return isThere();
        }),
      onProblem(thrown) {
        if (isReported) return;
        isReported = true;
        const error = toErrorInfo(thrown);
        log("warning", ["Runs can't be recorded:", error.message, hintFor(error) ?? ""].join(" ").trim());
      },
    });
  });
}

/** What tells records of ended runs, with tokens in place of values. */
export function recordRunsIn(
  records: RunRecords,
  { calls, redactor, customer }: RecordParts,
): (run: EndedRun) => void {
  const hideSecrets = new Lazy(openSecretFilter);
  return (run) => {
    const taken = calls()?.take(run.id);
    records.add(async () => {
      const record = toRecord(run, taken?.() ?? [], customer);
      const redacted = withoutValues(record, run, await redactor());
      return (await hideSecrets.get())(await redacted);
    });
  };
}

/** The owner of a record, from which nobody learns who it is. */
export function ownerDigest(owner: string): string {
  return createHash("sha256").update(`owner ${owner}`).digest("hex").slice(0, OWNER_DIGITS);
}

/** A record without values of persons. */
async function withoutValues(
  record: RunRecord,
  run: EndedRun,
  { redactor, isOfRuns }: RecordRedactor,
): Promise<RunRecord> {
  const { input, code, error, value, output, calls, notes } = record;
  // What the runs' own redactor went through has its tokens already.
  const texts = isOfRuns ? { input, calls } : { input, code, error, value, output, calls, notes };
  const isCut = run.input.length > input.length || !record.codeIsWhole || record.outputIsCut;
  const scope = { session: run.session };
  await redactor.recognize?.(texts, scope);
  const shown = await tokenizeInTurns(redactor, texts, { ...scope, isCut });
  return { ...record, ...shown };
}

/** What hides the secrets of this process. They are read once. */
async function openSecretFilter(): Promise<(record: RunRecord) => RunRecord> {
  const { createSecretList, hideInside, withoutSecrets } = await import("@cem/bridge");
  const secrets = createSecretList(process.env);
  if (secrets.length === 0) return (record) => record;
  return (record) => hideInside(record, (text) => withoutSecrets(text, secrets));
}

/** Puts tokens in place of values in records. */
export interface RecordRedactor {
  redactor: Redactor;
  /** Whether results of runs went through it before. */
  isOfRuns: boolean;
}

interface RecordParts {
  /** What keeps the calls on the host, once there is a host. */
  calls: () => CallKeeper | undefined;
  redactor: () => Promise<RecordRedactor>;
  customer: string | undefined;
}

async function openRecordStore({ config, customer, store: shared }: LoadedFor): Promise<Store> {
  const { createFolderStore, scopeStore } = await import("@cem/store");
  if (shared !== undefined) {
    const { keyOfCustomer } = await import("@cem/workspace");
    const [first = FOLDER, ...rest] = customer === undefined ? [FOLDER] : keyOfCustomer(customer.id, FOLDER);
    return scopeStore(await shared.get(), first, ...rest);
  }
  if (customer !== undefined)
    return createFolderStore({ folder: `${customer.home}/${FOLDER}`, durability: "process" });
  const folder = config.runs.dir;
  await assertOutOfReach(config, { folder, what: "Records of runs", setting: "runs.dir" });
  return createFolderStore({ folder, durability: "process" });
}

function toRecord(run: EndedRun, onHost: RecordedCall[], customer: string | undefined): RunRecord {
  const { id, kind, input, startedAt, ms, owner, result, error } = run;
  const calls = callsOf(result, onHost);
  const failure = result === undefined ? (error ?? null) : result.error;
  const code = result?.code ?? "";
  const output = result?.output ?? "";
  return {
    id,
    kind,
    startedAt: startedAt.toISOString(),
    ms,
    status: result?.status ?? "failed",
    ...(customer !== undefined && { customer }),
    ...(owner !== undefined && { owner: ownerDigest(owner) }),
    input: copyBeginning(input, MAX_INPUT_CHARACTERS),
    code: copyBeginning(code, MAX_CODE_CHARACTERS),
    codeIsWhole: code.length <= MAX_CODE_CHARACTERS,
    origin: result?.origin ?? "given",
    error: failure && { code: failure.code, message: failure.message },
    ...(result !== undefined && { value: valueOf(result.value) }),
    output: copyBeginning(output, MAX_OUTPUT_CHARACTERS),
    outputIsCut: output.length > MAX_OUTPUT_CHARACTERS || (result?.outputDroppedBytes ?? 0) > 0,
    calls: calls.slice(0, MAX_CALLS),
    callsLeftOut: Math.max(0, calls.length - MAX_CALLS),
    isolation: result?.isolation ?? null,
    timings: result?.timings ?? {},
    contextTokens: result?.contextTokens ?? { direct: 0, used: 0, saved: 0 },
    notes: [...(result?.notes ?? []), ...(result?.warnings ?? [])],
  };
}

/** The calls of a result, with what the host saw of them. */
function callsOf(result: TaskResult | undefined, onHost: RecordedCall[]): RecordedCall[] {
  const waiting = Map.groupBy(onHost, nameOf);
  const told = (result?.toolCalls ?? []).map(({ server, tool, ms, ok }): RecordedCall => {
    const call = { server, tool, ms, ok };
    return waiting.get(nameOf(call))?.shift() ?? call;
  });
  return [...told, ...[...waiting.values()].flat()];
}

function nameOf({ server, tool }: { server: string; tool: string }): string {
  return JSON.stringify([server, tool]);
}

function valueOf(value: JsonValue): RecordedData {
  const text = JSON.stringify(value);
  return text.length <= MAX_VALUE_CHARACTERS ? { value } : { bytes: Buffer.byteLength(text), digest: "" };
}

/** Records that are made with their first use: a process that runs nothing loads nothing. */
function lazyRecords(make: () => Promise<RunRecords>): RunRecords {
  let made: Promise<RunRecords> | undefined;
  const get = (): Promise<RunRecords> => (made ??= make());
  return {
    specificationVersion: "v1",
    add: (record) => void get().then((records) => records.add(record)),
    list: async (filter) => (await get()).list(filter),
    read: async (id, owner) => (await get()).read(id, owner),
    flush: async () => (await made)?.flush(),
    close: async () => (await made)?.close(),
  };
}
