import { createHash, randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { CemError, MS_PER_SECOND, toErrorInfo } from "@cem/core";
import type { Agent, ExecuteOptions, TaskResult } from "@cem/core";
import { traceCarrier, traced } from "@cem/core/telemetry";
import { shownLocation, storeUnavailable } from "@cem/store";
import { awaitRun, type Opened } from "./awaited-run.ts";
import { DEFAULT_PREFIX, QUEUE, messaging, namesOf, requireKept, requireSameKeys } from "./connection.ts";
import type { MessageCodec } from "./connection.ts";
import { HANDLERS, type QueuedRun, type RunMessage, type RunReply } from "./protocol.ts";
import { placeOfReason } from "./run-queue.ts";
import type { AskedRun, QueuedOwner, RunQueue, RunQueueSettings } from "./run-queue.ts";
import { CALLERS_ID, createSharedRuns, type SharedRuns } from "./shared-runs.ts";
import { connect } from "./streams.ts";

const DEFAULT_MAX_WAITING = 10_000;
const MAX_LISTED = 1_000;
const HOST_BYTES = 6;
/** How long runs of a deleted owner may take to end. Longer ones are removed by the worker that ends them. */
const REMOVAL_MS = 10_000;
const LOOK_AGAIN_MS = 100;

/** Does not reveal the owner. */
const GONE = new CemError(
  "OWNER_GONE",
  "The owner was deleted while the run waited for a worker. Nothing was run.",
);

const DISPOSED = new CemError("AGENT_DISPOSED", "The agent was disposed and can't run anything more.");

/** Opens the queue for a host. Connects on the first run. */
export function createRunQueue(settings: RunQueueSettings): RunQueue {
  const { url, prefix = DEFAULT_PREFIX, maxWaiting = DEFAULT_MAX_WAITING } = settings;
  let opened: Opened | undefined;
  /** Resolves once the server is known to keep runs and this host receives notices of them. */
  let ready: Promise<void> | undefined;
  /** The last reason for a lost connection. */
  let problem: Error | undefined;

  const open = (): Opened => {
    const connection = connect(settings);
    connection.client.on("error", (lost: Error) => (problem = lost));
    const host = `${prefix}:host:${randomBytes(HOST_BYTES).toString("hex")}`;
    const runs = createSharedRuns(connection.client, prefix);
    connection.client.on("ready", () => {
      runs.dropEnded((message) => process.emitWarning(message, "CemWarning")).catch(() => {});
    });
    return { ...connection, runs, host, closing: new AbortController() };
  };

  const prepare = async ({ client, codec, streams, host }: Opened): Promise<void> => {
    try {
      await Promise.all([
        requireKept(client, url),
        requireSameKeys(client, prefix, codec),
        streams.subscribe(host),
      ]);
    } catch (error) {
      ready = undefined;
      throw error;
    }
  };

  const ask = async <Answer>(question: (opened: Opened) => Promise<Answer>): Promise<Answer> => {
    try {
      opened ??= open();
      const asked = opened;
      await (ready ??= prepare(asked));
      return await question(asked);
    } catch (error) {
      if (CemError.isInstance(error)) throw error;
      throw storeUnavailable(shownLocation(url), error, problem);
    }
  };

  /** @returns whether it is new */
  const put = async ({ runs, codec, host }: Opened, id: string, run: QueuedRun): Promise<boolean> => {
    const answer = await runs.put(id, run, codec.encode(`job:${id}`, run), host, maxWaiting);
    if (answer.waiting !== undefined) throw await fullError(runs, maxWaiting, answer);
    // The payload of an expired run is empty.
    if (answer.known !== undefined && answer.known !== "")
      requireSame(codec.decode(`job:${id}`, answer.known) as QueuedRun, run);
    return answer.known === undefined;
  };

  const execute = (
    { kind, input, owner, incarnation }: AskedRun,
    options: ExecuteOptions,
  ): Promise<TaskResult> => {
    const { limits, typeCheck, mode, context, allowedTools, session, singleUse, runId, record } = options;
    const runOptions = { limits, typeCheck, mode, context, allowedTools, session, singleUse, runId, record };
    const asked = Object.keys(HANDLERS) as QueuedRun["asked"];
    const run: QueuedRun = {
      kind,
      input,
      owner,
      incarnation,
      options: { ...runOptions, owner: options.owner },
      asked: asked.filter((one) => options[HANDLERS[one]] !== undefined),
      // A run with its own key may be joined by another host that listens.
      isUnheard: [options.onEvent, options.rejoin, runId].every((one) => one === undefined) || undefined,
      trace: traceCarrier(),
    };
    const id = idOf(owner, options);
    return ask((asked) =>
      awaitRun(asked, { id, names: namesOf(prefix, id), run, options }, () => put(asked, id, run)),
    );
  };

  const queue: RunQueue = {
    agent: (local, owner) => queuedAgent(queue, local, owner),
    execute: (run, options = {}) =>
      traced(`send ${QUEUE}`, { kind: "producer", attributes: messaging("send") }, () =>
        execute(run, options),
      ),
    async rejoin(key, owner, options = {}) {
      const id = idOf(owner, { rejoin: { key } });
      return ask(async (asked) => {
        const { codec, streams, runs, host } = asked;
        const payload = await runs.join(id, host);
        if (payload === undefined || payload === "") return undefined;
        const run = codec.decode(`job:${id}`, payload) as QueuedRun;
        const names = namesOf(prefix, id);
        const replies = (await streams.read(names.replies)) as RunReply[];
        const answered = replies.flatMap((reply) => (reply.type === "cancel" ? [] : [reply.number]));
        const { leave, ...others } = options;
        const own = { ...others, rejoin: { key, leave } };
        return awaitRun(asked, { id, names, run, options: own, answered }, async () => false);
      });
    },
    counts: () => ask(({ runs }) => runs.counts()),
    probe: () => ask(({ runs }) => runs.counts(true)),
    load: () => ask(async ({ runs }) => ({ ...(await runs.counts()), ...(await runs.load()) })),
    dead: () =>
      ask(async ({ runs, codec }) => {
        const found = await runs.dead(MAX_LISTED);
        return found.map((run) => ({ ...run, reason: reasonOf(codec, run.id, run.reason) }));
      }),
    retry: (id) => ask(({ runs }) => runs.retry(id)),
    removeOwner: (owner) =>
      ask(async ({ runs, streams }) => {
        const until = performance.now() + REMOVAL_MS;
        const content: RunMessage = { type: "failed", error: toErrorInfo(GONE) };
        const cancel: RunReply = { type: "cancel", isGone: true };
        const cancelled = new Set<string>();
        for (let isLeft = true; isLeft && performance.now() < until;) {
          isLeft = false;
          for await (const id of runs.ofOwner(owner)) {
            const { messages, replies } = namesOf(prefix, id);
            if (await runs.remove(id, streams.entryOf(messages, [content]))) continue;
            isLeft = true;
            if (!cancelled.has(id)) await runs.reply(id, streams.entryOf(replies, [cancel]));
            cancelled.add(id);
          }
          if (isLeft) await sleep(LOOK_AGAIN_MS);
        }
        await runs.forget(owner);
      }),
    async close() {
      opened?.closing.abort();
      opened?.disconnect();
    },
  };
  return queue;
}

async function fullError(
  runs: SharedRuns,
  most: number,
  { waiting, own }: { waiting: number; own: number },
): Promise<CemError> {
  const isShare = waiting < most;
  const [those, limit] = isShare ? [own, most - waiting] : [waiting, most];
  const retryAfterMs = await runs.waitFor(those - limit + 1);
  const what = isShare
    ? `${those} of your runs wait for a worker, which is as many as there is room left for others.`
    : `${those} runs wait for a worker, and ${limit} may.`;
  const details = { waiting: those, limit, retryAfterMs };
  return new CemError("QUEUE_FULL", `${what} Try again in ${Math.ceil(retryAfterMs / MS_PER_SECOND)} s.`, {
    details,
  });
}

function reasonOf(codec: MessageCodec, id: string, reason: string | undefined): string {
  if (reason === undefined) return "Each of its workers was lost.";
  try {
    return String(codec.decode(placeOfReason(id), reason));
  } catch {
    return "It is sealed with a key that is not among `store.keys`.";
  }
}

function idOf(
  owner: string | undefined,
  { rejoin, runId }: Pick<ExecuteOptions, "rejoin" | "runId">,
): string {
  const key = rejoin?.key ?? runId;
  if (key === undefined) return `run-${randomUUID()}`;
  const digest = createHash("sha256").update(JSON.stringify([owner ?? null, key]));
  return `${rejoin?.key === undefined ? CALLERS_ID : "rejoin-"}${digest.digest("hex")}`;
}

function requireSame(known: QueuedRun, run: QueuedRun): void {
  const contentOf = ({ kind, input, options }: QueuedRun): string => JSON.stringify([kind, input, options]);
  if (contentOf(known) === contentOf(run)) return;
  throw new CemError("QUEUE_KEY_REUSED", "The runId was used for another run. Give each run its own.");
}

/** Creates an agent that queues its runs and delegates everything else to a local agent. */
function queuedAgent(queue: RunQueue, local: Agent, whose: QueuedOwner | undefined): Agent {
  const { id: owner, incarnation } = whose ?? {};
  const disposal = new AbortController();
  const requests = new Set<Promise<unknown>>();
  /** Executes a run that is cancelled when the agent is disposed. */
  const cancelling = async <Answer>(
    signal: AbortSignal | undefined,
    request: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> => {
    disposal.signal.throwIfAborted();
    const answer = request(AbortSignal.any([disposal.signal, ...(signal === undefined ? [] : [signal])]));
    requests.add(answer);
    return answer.finally(() => requests.delete(answer));
  };
  const execute = (run: Pick<AskedRun, "kind" | "input">, options?: ExecuteOptions): Promise<TaskResult> =>
    cancelling(options?.signal, (signal) =>
      queue.execute({ ...run, owner, incarnation }, { ...options, signal }),
    );
  return {
    specificationVersion: "v1",
    executeTask: (input, options) => execute({ kind: "task", input }, options),
    executeCode: (input, options) => execute({ kind: "code", input }, options),
    rejoinRun: (key, options) =>
      cancelling(options?.signal, (signal) => queue.rejoin(key, owner, { ...options, signal })),
    discoverTools: (options) => local.discoverTools(options),
    searchTools: (query, options) => local.searchTools(query, options),
    saveSkill: (draft, options) => local.saveSkill(draft, options),
    checkpoint: (options) => local.checkpoint(options),
    // This agent starts no guests; it only needs the catalog.
    warm: async (options) => void (await local.discoverTools(options)),
    openResults: async () => local.openResults?.(),
    sandboxStats: () => local.sandboxStats?.(),
    async dispose() {
      disposal.abort(DISPOSED);
      await Promise.allSettled(requests);
      await local.dispose();
    },
  };
}
