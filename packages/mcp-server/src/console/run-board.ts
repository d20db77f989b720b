import { CemError } from "@cem/core";
import type { Run, RunWatcher } from "../runs/run.ts";
import { Activity } from "./activity.ts";
import { recordRun, type RecordedRun } from "./recorded-run.ts";

/** Maximum number of runs kept for the console, of all clients. The oldest ended runs are forgotten first. */
const MAX_KEPT_RUNS = 500;
/** Limit per owner, so that one can't evict the runs of others. */
const MAX_KEPT_RUNS_PER_AUDIENCE = 100;
/** Maximum number of open event streams of one owner. */
const MAX_STREAMS_PER_AUDIENCE = 50;
/** Interval between two events of one run. */
const EVENT_INTERVAL_MS = 100;
/** Maximum number of owners whose activity is counted. The least recently active one is forgotten first. */
const MAX_COUNTED_AUDIENCES = 500;
/** Keeps proxies from closing an idle stream. */
const HEARTBEAT_MS = 15_000;
/** Maximum number of events queued for a reader. One that is slower gets no more until it reloads the list. */
const MAX_WAITING_EVENTS = 256;

type Listener = (run: RecordedRun) => void;

/** The runs of a server that its console shows: running ones, and the latest that ended. */
export class RunBoard {
  readonly #runs = new Map<string, RecordedRun>();
  readonly #listeners = new Set<{ audience: string; listener: Listener }>();
  /** Runs whose listeners will be called. */
  readonly #changed = new Set<RecordedRun>();
  /** By audience, most recently active last. */
  readonly #activity = new Map<string, Activity>();
  readonly since = new Date();

  /** Starts to follow a run. */
  readonly watcherOf = (run: Run): RunWatcher | undefined => {
    if (run.facts === undefined) return undefined;
    const recorded = recordRun(run, run.facts, this.#onChange, this.#onEnded);
    this.#runs.set(run.id, recorded);
    this.#makeRoom(recorded.audience);
    return recorded;
  };

  /** The runs that an audience may see, latest first. */
  list(audience: string): RecordedRun[] {
    return this.#of(audience).toReversed();
  }

  find(id: string, audience: string): RecordedRun | undefined {
    const run = this.#runs.get(id);
    return run?.audience === audience ? run : undefined;
  }

  /** @throws CemError `RUN_NOT_FOUND`, also for a run of another audience. */
  get(id: string, audience: string): RecordedRun {
    const run = this.find(id, audience);
    if (run !== undefined) return run;
    const message = "No run of this id is kept here. The console keeps the latest ones.";
    throw new CemError("RUN_NOT_FOUND", message, { details: { run: id } });
  }

  /** Figures of an audience's runs in the last hour. */
  activityOf(audience: string): Activity {
    return this.#activity.get(audience) ?? new Activity();
  }

  forget(audience: string): void {
    this.#activity.delete(audience);
    for (const { id } of this.#of(audience)) this.#runs.delete(id);
  }

  listening(audience: string): number {
    return [...this.#listeners].filter((one) => one.audience === audience).length;
  }

  /** @returns a function that unsubscribes. */
  subscribe(audience: string, listener: Listener): () => void {
    const listening = { audience, listener };
    this.#listeners.add(listening);
    return () => void this.#listeners.delete(listening);
  }

  readonly #onChange = (run: RecordedRun): void => {
    if (this.listening(run.audience) === 0) return;
    this.#changed.add(run);
    if (this.#changed.size === 1) setTimeout(() => this.#tell(), EVENT_INTERVAL_MS).unref();
  };

  readonly #onEnded = ({ audience, summary }: RecordedRun): void => {
    const activity = this.activityOf(audience);
    this.#activity.delete(audience);
    this.#activity.set(audience, activity);
    const { ms = 0, status, tokensSaved = 0 } = summary;
    activity.count({ ms, hasFailed: status !== "success", tokensSaved });
    const [quietest] = this.#activity.keys();
    if (this.#activity.size > MAX_COUNTED_AUDIENCES && quietest !== undefined)
      this.#activity.delete(quietest);
  };

  #tell(): void {
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const { audience, listener } of this.#listeners)
      for (const run of changed) if (run.audience === audience) listener(run);
  }

  #of(audience: string): RecordedRun[] {
    return [...this.#runs.values()].filter((run) => run.audience === audience);
  }

  /** Forgets ended runs, oldest first, if there are too many. */
  #makeRoom(audience: string): void {
    if (this.#runs.size <= MAX_KEPT_RUNS_PER_AUDIENCE) return;
    const own = this.#of(audience);
    const tooMany = own.length - MAX_KEPT_RUNS_PER_AUDIENCE;
    for (const run of own.filter(({ hasEnded }) => hasEnded).slice(0, Math.max(0, tooMany)))
      this.#runs.delete(run.id);
    if (this.#runs.size <= MAX_KEPT_RUNS) return;
    const oldest = [...this.#runs.values()].find(({ hasEnded }) => hasEnded);
    if (oldest !== undefined) this.#runs.delete(oldest.id);
  }
}

/**
 * Streams the runs of an audience as server-sent events until the reader disconnects.
 *
 * @throws CemError `RATE_LIMITED` if the audience has too many streams.
 */
export function streamRuns(board: RunBoard, audience: string, signal: AbortSignal): Response {
  const open = board.listening(audience);
  if (open >= MAX_STREAMS_PER_AUDIENCE) {
    const details = { streams: open, maxStreams: MAX_STREAMS_PER_AUDIENCE };
    const message = `${open} event streams are open, which is the maximum. Close one.`;
    throw new CemError("RATE_LIMITED", message, { details });
  }
  const leaving = new AbortController();
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const encoder = new TextEncoder();
        const send = (text: string): void => {
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(text));
        };
        const unsubscribe = board.subscribe(audience, ({ summary }) =>
          send(`event: run\ndata: ${JSON.stringify(summary)}\n\n`),
        );
        const heartbeat = setInterval(() => send(": still here\n\n"), HEARTBEAT_MS).unref();
        const stop = (): void => {
          clearInterval(heartbeat);
          unsubscribe();
          // A cancelled stream can't be closed.
          if (!leaving.signal.aborted) controller.close();
        };
        const ending = AbortSignal.any([signal, leaving.signal]);
        ending.addEventListener("abort", stop, { once: true });
        send(": open\n\n");
        if (ending.aborted) stop();
      },
      cancel: () => leaving.abort(),
    },
    { highWaterMark: MAX_WAITING_EVENTS },
  );
  return new Response(body, {
    headers: { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
  });
}
