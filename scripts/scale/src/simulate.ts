import TinyQueue from "tinyqueue";
import { FairTurns } from "./fair-turns.ts";
import { classOf, createLoad, FLOODING } from "./load.ts";
import { Recorder } from "./recorder.ts";
import type { Outcome } from "./recorder.ts";
import { Scaler } from "./scaler.ts";
import { ASSUMED } from "./scenario.ts";
import type { Scenario } from "./scenario.ts";
import { FreeSlots, SimulatedWorker } from "./workers.ts";

const MS_PER_SECOND = 1_000;
const MS_PER_HOUR = 3_600_000;
/** Put in, where it is given to a worker that has a slot, and ended, where that worker gets the next: each half of what a run costs Redis. */
const VISITS = 2;
/** Lost workers are looked for so often while one counts as lost. */
const SIGNS_PER_LOSS = 5;
const BACKGROUND_MS = 100;

interface Event {
  at: number;
  act: () => void;
}

interface Run {
  customer: number;
  session: number;
  left: number;
  /** The time that it waits for tools; drawn where not given. */
  toolMs: number;
  turn: number;
  order: number;
  arrivedAt: number;
}

/** Arrivals that were recorded, in place of random ones. */
export type Trace = readonly { atMs: number; holdMs: number; session: number }[];

/** Lets a scenario happen. The same scenario always comes to the same outcome. */
export function simulate(scenario: Scenario, trace?: Trace): Outcome {
  return new Simulation(scenario).play(trace);
}

class Simulation {
  readonly #scenario: Scenario;
  readonly #load: ReturnType<typeof createLoad>;
  readonly #events = new TinyQueue<Event>([], (one, other) => one.at - other.at);
  readonly #waiting = new TinyQueue<Run>(
    [],
    (one, other) => one.turn - other.turn || one.order - other.order,
  );
  readonly #turns = new FairTurns();
  readonly #workers: SimulatedWorker[] = [];
  readonly #slots = new FreeSlots();
  readonly #homes = new Map<number, SimulatedWorker>();
  readonly #recorder: Recorder;
  #now = 0;
  #redisUntil = 0;
  #sessions = 0;
  #order = 0;
  #running = 0;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#load = createLoad(scenario);
    this.#recorder = new Recorder(scenario);
    for (let index = 0; index < scenario.workers; index += 1) this.#addWorker();
  }

  play(trace?: Trace): Outcome {
    const { seconds, flood, autoscaling } = this.#scenario;
    if (trace === undefined) this.#startBursts();
    for (const { atMs, holdMs, session } of trace ?? []) {
      this.#at(atMs, () => this.#arrive(session, session, 1, holdMs));
    }
    if (flood !== undefined) this.#at(flood.fromSecond * MS_PER_SECOND, () => this.#flood(0));
    if (autoscaling !== undefined) this.#scale(new Scaler(autoscaling));
    this.#background();
    const end = seconds * MS_PER_SECOND;
    for (let event = this.#events.pop(); event !== undefined; event = this.#events.pop()) {
      // A trace is followed to its last run.
      if (event.at > end && (trace === undefined || this.#recorder.ended === trace.length)) break;
      this.#now = event.at;
      event.act();
    }
    return this.#recorder.outcome();
  }

  #at(at: number, act: () => void): void {
    this.#events.push({ at, act });
  }

  #startBursts(): void {
    const { surge } = this.#scenario;
    const second = this.#now / MS_PER_SECOND;
    const isSurge = surge !== undefined && second >= surge.fromSecond && second < surge.toSecond;
    this.#at(this.#now + this.#load.burstGap() / (isSurge ? surge.times : 1), () => {
      const customer = this.#load.customer();
      for (let left = this.#load.burstSize(); left > 0; left -= 1) {
        this.#arrive(customer, (this.#sessions += 1), this.#load.sessionRuns());
      }
      this.#startBursts();
    });
  }

  #flood(count: number): void {
    const { flood } = this.#scenario;
    if (flood === undefined || this.#now >= flood.toSecond * MS_PER_SECOND) return;
    this.#arrive(FLOODING, -1 - (count % ASSUMED.floodSessions), 1);
    this.#at(this.#now + MS_PER_SECOND / flood.runsPerSecond, () => this.#flood(count + 1));
  }

  /** A visit to Redis, which serves one after another. */
  #redis(milliseconds: number): number {
    this.#redisUntil = Math.max(this.#now, this.#redisUntil) + milliseconds;
    this.#recorder.redisBusy(this.#now, milliseconds);
    return this.#redisUntil;
  }

  /** The cost of workers for Redis, beside the runs. */
  #background(): void {
    const workers = this.#workers.filter(({ isUp }) => isUp).length;
    this.#redis((workers * this.#scenario.idleRedisCpuMsPerSecond * BACKGROUND_MS) / MS_PER_SECOND);
    this.#recorder.look(this.#now, workers, this.#waiting.length, this.#running);
    this.#at(this.#now + BACKGROUND_MS, () => this.#background());
  }

  #arrive(customer: number, session: number, left: number, toolMs = this.#load.toolMs()): void {
    const { maxWaiting, isFair, warm } = this.#scenario;
    const kind = classOf(customer, this.#scenario.customers);
    const waiting = this.#waiting.length;
    const own = isFair ? Math.min(waiting, this.#turns.waitingOf(customer)) : 0;
    if (waiting >= maxWaiting || (own > 0 && own >= maxWaiting - waiting)) {
      this.#recorder.refused(this.#now, kind);
      return;
    }
    const arrivedAt = this.#now;
    this.#at(this.#redis(warm.redisCpuMs / VISITS), () => {
      const order = (this.#order += 1);
      const turn = isFair ? this.#turns.take(customer) : 0;
      this.#enqueue({ customer, session, left, toolMs, turn, order, arrivedAt });
    });
  }

  #enqueue(run: Run): void {
    const home = this.#scenario.isRouted ? this.#homes.get(run.session) : undefined;
    if (home !== undefined && home.isUp && !home.isDraining && home.free > 0 && this.#waiting.length === 0) {
      home.stale += 1;
      this.#begin(run, home);
      return;
    }
    this.#waiting.push(run);
    this.#dispatch();
  }

  #dispatch(): void {
    while (this.#waiting.length > 0) {
      const worker = this.#slots.take();
      if (worker === undefined) return;
      this.#begin(this.#waiting.pop() as Run, worker);
    }
  }

  #begin(run: Run, worker: SimulatedWorker): void {
    const { warm, cold } = this.#scenario;
    const { life } = worker;
    worker.free -= 1;
    this.#running += 1;
    this.#turns.serve(run.turn);
    this.#recorder.startTurn(run.turn);
    const isWarm = worker.use(run.session, this.#now);
    this.#homes.set(run.session, worker);
    const kind = classOf(run.customer, this.#scenario.customers);
    this.#recorder.started(this.#now, kind, run.arrivedAt, isWarm);
    const computed = worker.compute(this.#now, (isWarm ? warm : cold).workerCpuMs);
    this.#at(computed + run.toolMs, () => {
      if (worker.life !== life) return this.#lose(run);
      this.#at(this.#redis(warm.redisCpuMs / VISITS), () => this.#end(run, worker, life));
    });
  }

  #end(run: Run, worker: SimulatedWorker, life: number): void {
    if (worker.life !== life) return this.#lose(run);
    this.#running -= 1;
    worker.free += 1;
    if (!worker.isDraining) this.#slots.add(worker);
    this.#recorder.finished(this.#now, this.#now - run.arrivedAt - run.toolMs);
    this.#next(run);
    this.#dispatch();
  }

  #next({ customer, session, left }: Run): void {
    if (left > 1) this.#at(this.#now + this.#load.thinkMs(), () => this.#arrive(customer, session, left - 1));
    else this.#homes.delete(session);
  }

  /** Its worker died: another finds out later. */
  #lose(run: Run): void {
    this.#running -= 1;
    const isInterrupted = this.#load.failure() < ASSUMED.unrepeatable;
    this.#recorder.lost(isInterrupted);
    const found = this.#now + ASSUMED.lostAfterMs * (1 + this.#load.failure() / SIGNS_PER_LOSS);
    this.#at(found, () => {
      if (isInterrupted) this.#next(run);
      else this.#enqueue(run);
    });
  }

  #addWorker(): void {
    const { slots, deathsPerWorkerHour = 0 } = this.#scenario;
    const worker = new SimulatedWorker(this.#scenario);
    this.#workers.push(worker);
    for (let slot = 0; slot < slots; slot += 1) this.#slots.add(worker);
    if (deathsPerWorkerHour > 0) this.#plan(worker, deathsPerWorkerHour);
    this.#dispatch();
  }

  #plan(worker: SimulatedWorker, deathsPerHour: number): void {
    const gap = (-Math.log(1 - this.#load.failure()) * MS_PER_HOUR) / deathsPerHour;
    this.#at(this.#now + gap, () => {
      worker.die();
      this.#at(this.#now + ASSUMED.startMs, () => {
        worker.revive(this.#now);
        for (let slot = 0; slot < worker.free; slot += 1) this.#slots.add(worker);
        this.#dispatch();
        this.#plan(worker, deathsPerHour);
      });
    });
  }

  #scale(scaler: Scaler): void {
    const up = this.#workers.filter(({ isDraining }) => !isDraining);
    const wanted = scaler.wanted(this.#now, this.#waiting.length, this.#running, up.length);
    for (let missing = wanted - up.length; missing > 0; missing -= 1) {
      this.#at(this.#now + ASSUMED.startMs, () => this.#addWorker());
    }
    for (const worker of up.slice(Math.max(wanted, 1))) {
      worker.isDraining = true;
      worker.isUp = false;
    }
    this.#at(this.#now + ASSUMED.scaleEveryMs, () => this.#scale(scaler));
  }
}
