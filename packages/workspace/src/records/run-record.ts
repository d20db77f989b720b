import { hash } from "node:crypto";
import { copyBeginning, statusOfRun, tokenizeInTurns } from "@cem/core";
import type {
  EndedRun,
  FailedTool,
  JsonValue,
  RecordedCall,
  RecordedData,
  Redactor,
  RunRecord,
  TaskResult,
} from "@cem/core";

const MAX_CODE_CHARACTERS = 64 * 1024;
export const MAX_INPUT_CHARACTERS = 8 * 1024;
const MAX_OUTPUT_CHARACTERS = 16 * 1024;
const MAX_VALUE_CHARACTERS = 16 * 1024;
const MAX_CALLS = 500;
const OWNER_DIGITS = 32;

/** Replaces personal data by tokens in records. */
export interface RecordRedactor {
  redactor: Redactor;
  /** Whether results of runs were already redacted by it. */
  isOfRuns: boolean;
}

/** Input of {@link createRunRecord} besides the run. */
export interface RunRecordParts {
  /** The calls on the host, in order. */
  calls: RecordedCall[];
  /**
   * Finds the names in code of a host tool, which results use for its calls.
   *
   * @defaultValue the names in the call
   */
  nameInCode?: ((call: FailedTool) => Promise<FailedTool | undefined>) | undefined;
  redactor: RecordRedactor;
  /** Hides the secrets of this process. */
  hideSecrets: (record: RunRecord) => RunRecord;
  /** The owner of the run. */
  owner?: string | undefined;
}

/** Creates the record of an ended run, with tokens in place of personal data and without secrets. */
export async function createRunRecord(run: EndedRun, parts: RunRecordParts): Promise<RunRecord> {
  const { redactor, isOfRuns } = parts.redactor;
  const record = toRecord(run, await byNameInCode(parts), parts.owner);
  const { input, code, error, value, output, calls, notes } = record;
  // Texts processed by the runs' own redactor already contain tokens.
  const texts = isOfRuns ? { input, calls } : { input, code, error, value, output, calls, notes };
  const isCut = !record.inputIsWhole || !record.codeIsWhole || record.outputIsCut;
  const shown = await tokenizeInTurns(redactor, texts, { session: run.session, isLate: isOfRuns, isCut });
  return parts.hideSecrets({ ...record, ...shown });
}

/** A digest of the owner of a record, which does not identify it. */
export function ownerDigest(owner: string): string {
  return hash("sha256", `owner ${owner}`).slice(0, OWNER_DIGITS);
}

/** Calls on the host by their tools' names in code. */
type CallsByName = Map<string, RecordedCall[]>;

async function byNameInCode({ calls, nameInCode }: RunRecordParts): Promise<CallsByName> {
  const named: CallsByName = new Map();
  for (const [name, same] of Map.groupBy(calls, nameOf)) {
    // A lock file may have been damaged meanwhile.
    const inCode = same[0] && (await nameInCode?.(same[0]).catch(() => undefined));
    named.set(inCode ? nameOf(inCode) : name, same);
  }
  return named;
}

function toRecord(run: EndedRun, onHost: CallsByName, workspaceOwner: string | undefined): RunRecord {
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
    status: statusOfRun(result, error),
    ...(workspaceOwner !== undefined && { workspaceOwner }),
    ...(owner !== undefined && { owner: ownerDigest(owner) }),
    input: copyBeginning(input, MAX_INPUT_CHARACTERS),
    inputIsWhole: input.length <= MAX_INPUT_CHARACTERS,
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

/** The calls of a result, with the data that the host recorded. */
function callsOf(result: TaskResult | undefined, waiting: CallsByName): RecordedCall[] {
  const listed = (result?.toolCalls ?? []).map((call): RecordedCall => {
    const { server, tool, startMs, ms, ok, isCancelled, place } = call;
    const onItsHost = place === "guest" ? undefined : waiting.get(nameOf(call))?.shift();
    return {
      ...(onItsHost ?? { server, tool, ms, ok }),
      ...(startMs !== undefined && { startMs }),
      ...(isCancelled === true && { isCancelled }),
    };
  });
  return [...listed, ...[...waiting.values()].flat()];
}

function nameOf({ server, tool }: FailedTool): string {
  return JSON.stringify([server, tool]);
}

function valueOf(value: JsonValue): RecordedData {
  const text = JSON.stringify(value);
  return text.length <= MAX_VALUE_CHARACTERS ? { value } : { bytes: Buffer.byteLength(text), digest: "" };
}
