import { abandonOnAbort, type JsonObject, type JsonValue } from "@cem/core";
import { specTypeSchemas, type StandardSchemaV1 } from "@modelcontextprotocol/server";
import type { UpstreamContents, UpstreamItem, UpstreamKind, UpstreamOptions } from "./upstream-contents.ts";

/** How long a list waits for a server, in milliseconds: clients give up after about a minute. */
export const MAX_WAIT_MS = 5_000;
/** How long an answer that came later is used, so that a server that is always slow is not asked over and over. */
const LATE_ANSWER_MS = 60_000;
const MAX_NAMED = 5;

const KINDS = {
  resources: { schema: specTypeSchemas.Resource, id: "uri" },
  resourceTemplates: { schema: specTypeSchemas.ResourceTemplate, id: "uriTemplate" },
  prompts: { schema: specTypeSchemas.Prompt, id: "name" },
} as const;

/** Called for servers whose items are missing from a list. */
export interface ItemEvents {
  onMissing: (server: string, error: unknown) => void;
  /** Called when a server that a list did not wait for has answered. */
  onLate: (kind: UpstreamKind) => void;
}

/** A request to a server: its answer, and the answer if it comes within the time that a list waits. */
type Asked = Record<"answer" | "inTime", Promise<readonly JsonObject[]>>;

/** Lists the items of all servers. A server that can't be reached, or not in time, is left out. */
export function createServerItems(upstream: UpstreamContents, { onMissing, onLate }: ItemEvents) {
  const pending = new Map<string, Asked>();
  const late = new Map<string, Asked>();

  /** Asks a server, or waits for its answer to an earlier request of the session. */
  const ask = (server: string, kind: UpstreamKind, session: string | undefined): Asked => {
    const key = JSON.stringify([server, kind, session]);
    const earlier = late.get(key) ?? pending.get(key);
    if (earlier !== undefined) return earlier;
    const deadline = new AbortController();
    const reason = new Error(`It has not answered within ${MAX_WAIT_MS} ms.`);
    const timer = setTimeout(() => deadline.abort(reason), MAX_WAIT_MS).unref();
    const answer = upstream.list(server, kind, { session, signal: new AbortController().signal });
    const asked = { answer, inTime: abandonOnAbort(answer, deadline.signal) };
    asked.inTime.catch(() => {});
    pending.set(key, asked);
    const settle = (): void => {
      clearTimeout(timer);
      pending.delete(key);
    };
    const keep = (): void => {
      settle();
      if (!deadline.signal.aborted) return;
      late.set(key, { answer, inTime: answer });
      setTimeout(() => late.delete(key), LATE_ANSWER_MS).unref();
      onLate(kind);
    };
    answer.then(keep, settle);
    return asked;
  };

  const list = async (
    kind: UpstreamKind,
    { session, signal }: UpstreamOptions,
    waitsForAll = false,
  ): Promise<UpstreamItem[]> => {
    const lists = upstream.servers.map(async (server) => {
      try {
        const { answer, inTime } = ask(server, kind, session);
        const items = await abandonOnAbort(waitsForAll ? answer : inTime, signal);
        const { fitting, leftOut } = sortOut(kind, items);
        if (leftOut.length > 0) onMissing(server, new Error(leftOutOf(kind, leftOut)));
        return fitting.map((item) => ({ server, item }));
      } catch (error) {
        signal.throwIfAborted();
        onMissing(server, error);
        return [];
      }
    });
    return (await Promise.all(lists)).flat();
  };
  /** Finds among the items in time, and only if there is nothing, among those of servers that take longer. */
  const find = async <Found>(
    kinds: readonly UpstreamKind[],
    options: UpstreamOptions,
    pick: (...lists: UpstreamItem[][]) => Found[],
  ): Promise<Found[]> => {
    const pickFrom = async (waitsForAll: boolean): Promise<Found[]> =>
      pick(...(await Promise.all(kinds.map((kind) => list(kind, options, waitsForAll)))));
    const found = await pickFrom(false);
    return found.length > 0 || pending.size === 0 ? found : pickFrom(true);
  };
  return {
    /** The items of the servers that answer in time. */
    all: (kind: UpstreamKind, options: UpstreamOptions) => list(kind, options),
    find,
    /** Asks all servers again, since their items changed. */
    refresh: () => late.clear(),
  };
}

/** Separates the items that fit the protocol, each once, from others, for which strict clients refuse the whole list. */
function sortOut(kind: UpstreamKind, items: readonly JsonObject[]) {
  const { schema, id } = KINDS[kind];
  const fitting = new Map<JsonValue, JsonObject>();
  const leftOut: JsonObject[] = [];
  const misfits = (item: JsonObject) => oddMembers(schema["~standard"].validate(item));
  for (const given of items) {
    let item = given;
    if (misfits(item).size > 0) item = { name: given[id] ?? null, ...withoutNulls(given) };
    // An odd member is mostly of no importance, such as an annotation or a size.
    const odd = misfits(item);
    if (odd.size > 0) item = Object.fromEntries(Object.entries(item).filter(([member]) => !odd.has(member)));
    const key = item[id] ?? "";
    if (key !== "" && !fitting.has(key) && misfits(item).size === 0) fitting.set(key, item);
    else leftOut.push(given);
  }
  return { fitting: [...fitting.values()], leftOut };
}

function oddMembers({ issues = [] }: StandardSchemaV1.Result<unknown>): ReadonlySet<unknown> {
  return new Set(issues.map(({ path: [first] = [] }) => (typeof first === "object" ? first.key : first)));
}

function leftOutOf(kind: UpstreamKind, items: readonly JsonObject[]): string {
  const names = items.map((item) => JSON.stringify(item[KINDS[kind].id] ?? null));
  const more = names.length > MAX_NAMED ? ", …" : "";
  return `${names.length} of its ${kind} do not fit the protocol or are there twice (${names.slice(0, MAX_NAMED).join(", ")}${more}).`;
}

/** Some servers send `null` for an absent member. */
export function withoutNulls<Value extends JsonValue>(value: Value): Value {
  if (Array.isArray(value)) return value.map((item: JsonValue) => withoutNulls(item)) as unknown as Value;
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(
    members.map(([name, member]) => [name, name === "_meta" ? member : withoutNulls(member)]),
  ) as Value;
}
