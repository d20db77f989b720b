import { copyBeginning } from "@cem/core";
import type { RunRecord, RunRecordFilter, RunRecordSummary } from "@cem/core";

const MAX_TITLE_CHARACTERS = 200;
/** Of a record's text, which is kept in memory to be searched. */
const MAX_SEARCHED_CHARACTERS = 2_000;

/** What of a record says whether it is looked for. */
export interface Matchable {
  summary: RunRecordSummary;
  /** In lower case. */
  text: string;
}

const UNREADABLE: Matchable = {
  text: "",
  summary: {
    id: "",
    kind: "code",
    title: "",
    status: "failed",
    startedAt: "",
    ms: 0,
    calls: 0,
    tokensSaved: 0,
  },
};

/** What is kept in memory of a record that was read. */
export function matchable(record: RunRecord | undefined): Matchable {
  if (record === undefined) return UNREADABLE;
  const { id, kind, input, status, startedAt, ms, customer, owner, calls, callsLeftOut, error } = record;
  const tools = new Set(calls.map(({ server, tool }) => `${server}.${tool}`));
  const texts = [input, error?.code ?? "", error?.message ?? "", ...tools, record.code];
  return {
    text: copyBeginning(texts.join("\n"), MAX_SEARCHED_CHARACTERS).toLowerCase(),
    summary: {
      id,
      kind,
      title: copyBeginning(input.trim().replaceAll(/\s+/gu, " "), MAX_TITLE_CHARACTERS),
      status,
      startedAt,
      ms,
      ...(customer !== undefined && { customer }),
      ...(owner !== undefined && { owner }),
      calls: calls.length + callsLeftOut,
      tokensSaved: record.contextTokens.saved,
      ...(record.isolation !== null && { isolation: record.isolation.level }),
    },
  };
}

export function isMatch({ summary, text }: Matchable, filter: RunRecordFilter): boolean {
  const { status, since, owner } = filter;
  if (summary.id === "") return false;
  if (status !== undefined && summary.status !== status) return false;
  if (since !== undefined && new Date(summary.startedAt) < since) return false;
  if (owner !== undefined && summary.owner !== owner) return false;
  return filter.text === undefined || text.includes(filter.text.toLowerCase());
}
