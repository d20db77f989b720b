import { CemError, exampleArguments, matchTools, type JsonSchema, type JsonValue } from "@cem/core";
import { annotationsOf, checkingGuard, type CallGuard, type GuardedCall } from "./guarded-call.ts";

/** A call that would change something. */
export interface PlannedWrite {
  server: string;
  tool: string;
  args: JsonValue;
}

/**
 * Executes reads, and reports writes instead of executing them. A read is a call of a tool annotated as read-only; without
 * annotations it counts as a write. A write returns an example of its result if its schema is known, else `null`.
 *
 * @param reads - Patterns of further tools that only read, whatever their annotations.
 */
export function planWrites(onWrite: (write: PlannedWrite) => void, reads: readonly string[] = []): CallGuard {
  const isRead = matchReads(reads);
  return (next) => ({
    specificationVersion: "v1",
    async invoke(call: GuardedCall, context) {
      const { server, tool, args } = call;
      if (isRead(call)) return next.invoke(call, context);
      onWrite({ server, tool, args: structuredClone(args) });
      return { ok: true, value: exampleResult(call) };
    },
  });
}

/** Allows reads, and the writes of an approved plan, each once and with the same arguments. It throws `NOT_APPROVED`. */
export function followPlan(plan: readonly PlannedWrite[], reads: readonly string[] = []): CallGuard {
  const isRead = matchReads(reads);
  const left = new Map<string, number>();
  for (const write of plan) left.set(keyOf(write), (left.get(keyOf(write)) ?? 0) + 1);
  return checkingGuard((call) => {
    if (isRead(call)) return;
    const { server, tool } = call;
    const key = keyOf(call);
    const count = left.get(key) ?? 0;
    if (count === 0) {
      throw new CemError(
        "NOT_APPROVED",
        `${server}.${tool} was not called: the approved plan has no such call with these arguments, or it was made already.`,
        { details: { server, tool, answer: "not-planned" } },
      );
    }
    left.set(key, count - 1);
  });
}

function matchReads(reads: readonly string[]): (call: GuardedCall) => boolean {
  const isNamed = matchTools(reads);
  return (call) => annotationsOf(call).readOnlyHint === true || isNamed(call);
}

function exampleResult({ found }: GuardedCall): JsonValue {
  const schema = found?.outputSchema as JsonSchema | undefined;
  return schema?.["type"] === "object" ? exampleArguments({ inputSchema: schema }) : null;
}

/** A key of a call, independent of the order of object keys. */
function keyOf({ server, tool, args }: PlannedWrite): string {
  return JSON.stringify([server, tool, args], (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
