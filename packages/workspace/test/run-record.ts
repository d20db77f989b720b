import type { RunRecord } from "@cem/core";

export function record(id: string, more: Partial<RunRecord> = {}): RunRecord {
  return {
    id,
    kind: "code",
    startedAt: new Date().toISOString(),
    ms: 1,
    status: "success",
    input: `return "${id}";`,
    inputIsWhole: true,
    code: `return "${id}";`,
    codeIsWhole: true,
    origin: "given",
    error: null,
    output: "",
    outputIsCut: false,
    calls: [],
    callsLeftOut: 0,
    isolation: null,
    timings: {},
    contextTokens: { direct: 0, used: 0, saved: 0 },
    notes: [],
    ...more,
  };
}
