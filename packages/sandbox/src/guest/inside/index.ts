import { createClient, type CallLimits, type CallResult, type Client } from "./client.ts";
import { installGlobals, type GlobalsSettings } from "./globals.ts";
import { confineLateCallbacks } from "./late-callbacks.ts";
import { createConsoleArguments } from "./console-arguments.ts";
import { createErrors } from "./errors.ts";
import { createHandles } from "./handles.ts";
import { listIntrinsics } from "./intrinsics.ts";
import { createInward } from "./inward.ts";
import { createJsonEncoder } from "./json.ts";
import { createLinks } from "./links.ts";
import { createMembrane } from "./membrane.ts";
import type { Membrane, OuterRealm } from "./membrane-types.ts";
import { createOutward } from "./outward.ts";
import { createPending, type Work } from "./pending.ts";
import { createPrimordials } from "./primordials.ts";
import { createPrinter } from "./printed.ts";
import { createRaces } from "./races.ts";
import { createStandIns } from "./stand-ins.ts";
import { createThrownReader, type ThrownText } from "./thrown.ts";
import { hideRunnerFrames } from "./stack-frames.ts";
import { createTracer } from "./tracer.ts";
import { createViews } from "./views.ts";

/** Functions and data that the guest's own realm, which holds the runtime, passes to a realm. Hidden from programs. */
export interface RealmHost extends GlobalsSettings {
  outer: OuterRealm;
  /** Whether the run has ended. */
  isOver(): boolean;
  send(json: string): void;
  /** In milliseconds. */
  now(): number;
  decode(bytes: Uint8Array): string;
  /** Beginnings of the names of the runner's own files, where these are paths of the host. */
  runnerFolders: readonly string[];
  /** A function of the outer realm that reads a kept result; gives a promise of `{ bytes, size }`. */
  readKept: object;
  /** Loads modules, given as JSON; gives a promise of their namespaces. */
  importModules(requests: string): object;
  /** Notes that work of the program has ended. */
  noteProgress(): void;
}

/** The part of the guest that lives in a realm with the program. */
export interface Inside {
  /** Starts a run with its limits. */
  begin(limits: CallLimits, firstCallId: number): void;
  /** Parses JSON to values of the realm. */
  parse(text: string): unknown;
  /**
   * Runs a compiled program.
   *
   * @param done - Takes its value as JSON; `undefined` for none.
   * @param failed - Takes what the program threw, or why its value is not JSON.
   */
  run(
    main: (runtime: object) => Promise<unknown>,
    done: (json: string | undefined) => void,
    failed: (thrown: unknown) => void,
  ): void;
  /** Takes a call's result, as the host's message. */
  settle(message: string): void;
  isWorkPending(): boolean;
  /** Lists work that the program has begun and that goes on: calls, and operations of the runtime that end. */
  pendingWork(limit: number): Work[];
  /** The id of the next call to the host. */
  nextCallId(): number;
  /** Exports of the module `cem:client`. */
  clientExports(): Record<string, unknown>;
  hostTool(server: string, tool: string): object;
  /** Wraps a module's exports, so that calls of its functions are reported. */
  traced(server: string, namespace: Record<string, unknown>): Record<string, unknown>;
  /** Exports of a module of the runtime, as those of this realm. */
  runtimeExports(exports: object): Record<string, unknown>;
  /** A value of the outer realm as one of this realm. */
  inward(value: unknown): unknown;
  /** Makes an error of the realm. */
  makeError(name: "TypeError" | "SyntaxError" | "Error", message: string): Error;
  /** Whether an error says that a value was too large. */
  isTooLarge(error: unknown): error is Error;
  readThrown(thrown: unknown): ThrownText;
  /** Whether the language may still call the program back. */
  isWaiting(): boolean;
  /** Whether an object was made in this realm or by the runtime, not by the program of another run. */
  isKnown(value: object): boolean;
}

type Parts = {
  confineLateCallbacks: typeof confineLateCallbacks;
  createClient: typeof createClient;
  createConsoleArguments: typeof createConsoleArguments;
  createErrors: typeof createErrors;
  createHandles: typeof createHandles;
  createInward: typeof createInward;
  createJsonEncoder: typeof createJsonEncoder;
  createLinks: typeof createLinks;
  createMembrane: typeof createMembrane;
  createOutward: typeof createOutward;
  createPending: typeof createPending;
  createPrimordials: typeof createPrimordials;
  createPrinter: typeof createPrinter;
  createRaces: typeof createRaces;
  createStandIns: typeof createStandIns;
  createThrownReader: typeof createThrownReader;
  createTracer: typeof createTracer;
  createViews: typeof createViews;
  hideRunnerFrames: typeof hideRunnerFrames;
  installGlobals: typeof installGlobals;
  listIntrinsics: typeof listIntrinsics;
};

/** Puts the parts together in a new realm. */
function createInside(parts: Parts, given: RealmHost): Inside {
  const primordials = parts.createPrimordials();
  const { PromiseConstructor, apply, create, constructors, getPrototypeOf, promiseThen } = primordials;
  const IN_ONE_LINE = { __proto__: null, compact: true, breakLength: Infinity, depth: 3 };
  const errors = { __proto__: null as never, Error, SyntaxError, TypeError };
  const intrinsics = parts.listIntrinsics();
  const meta = () => ({
    url: "file:///workspace/program.ts",
    filename: "/workspace/program.ts",
    dirname: "/workspace",
    main: true,
  });
  if (given.runnerFolders.length > 0) parts.hideRunnerFrames(primordials, given.runnerFolders);
  let made: Membrane | undefined;
  // Most programs need nothing of the outer realm.
  const membrane = () => (made ??= createOwnMembrane());
  const host = shield(given);
  const pending = parts.createPending(primordials, () => host.noteProgress());
  const json = parts.createJsonEncoder(primordials);
  const reviveHandles = parts.createHandles(primordials, {
    decode: host.decode,
    readKept: (path, offset, limit) =>
      membrane().call(given.readKept, undefined, [path, offset, limit]) as ReturnType<
        Parameters<typeof createHandles>[1]["readKept"]
      >,
  });
  const print = parts.createPrinter(primordials, {
    is: given.outer.is,
    inspect: (value) => membrane().call(given.inspect, undefined, [value, IN_ONE_LINE]) as string,
  });
  const consoleArguments = parts.createConsoleArguments(primordials, print);
  const noteTimer = parts.createRaces(primordials);
  const globals = parts.installGlobals(primordials, membrane, host, { consoleArguments, noteTimer });
  const isWaiting = parts.confineLateCallbacks(primordials, host);
  const readThrown = parts.createThrownReader(primordials, given.outer.is.nativeError);
  let client: Client;
  let trace: ReturnType<typeof createTracer>;
  let payloadLimit = 0;

  function createOwnMembrane(): Membrane {
    const { outer, isOver, spend } = given;
    const { replacement } = globals;
    const trackDelay = (ms: number): (() => void) => {
      const timer = { __proto__: null, isRepeated: false, place: new constructors.Error(), race: undefined };
      noteTimer(timer);
      return host.trackDelay(ms, timer);
    };
    const settings = { outer, intrinsics, isOver, spend, replacement, pending, trackDelay };
    const own = parts.createMembrane(primordials, parts, settings);
    globals.link(own);
    return own;
  }

  /** Wraps the guest's functions so that their errors, stack overflows included, become errors of this realm. */
  function shield(functions: RealmHost): RealmHost {
    const own = create(null) as Record<string, unknown>;
    for (const [name, member] of Object.entries(functions)) {
      if (typeof member !== "function" || name === "readKept" || name === "inspect") own[name] = member;
      else {
        own[name] = (...args: unknown[]) => {
          try {
            return apply(member, undefined, args);
          } catch (error) {
            throw ownError(error);
          }
        };
      }
    }
    return own as unknown as RealmHost;
  }

  function ownError(error: unknown): unknown {
    try {
      return membrane().inward(error);
    } catch {
      return new constructors.RangeError("Maximum call stack size exceeded");
    }
  }

  function importModules(requests: unknown): Promise<Record<string, unknown>[]> {
    const text = primordials.stringify(requests);
    return new PromiseConstructor((resolve, reject) => {
      void promiseThen(
        host.importModules(text) as Promise<Record<string, unknown>[]>,
        // A list of this realm, whose items are namespaces: none of them is ever the value of a promise, so that an
        // export named `then` is not called.
        (namespaces) => given.isOver() || resolve(copy(namespaces)),
        (reason) => given.isOver() || reject(ownError(reason)),
      );
    });
  }

  function copy(list: readonly Record<string, unknown>[]): Record<string, unknown>[] {
    const items: Record<string, unknown>[] = [];
    for (let index = 0; index < list.length; index += 1) {
      primordials.defineValue(items, `${index}`, list[index], true);
    }
    return items;
  }

  /** The value of a last expression, which the program did not say is its result: what is no data is none. */
  function encodedLast(value: unknown): string | undefined {
    if (made !== undefined && made.unwrap(value) !== value) return undefined;
    try {
      return encodedValue(value);
    } catch (error) {
      if (json.isTooLarge(error)) throw error;
      return undefined;
    }
  }

  function encodedValue(value: unknown): string | undefined {
    const { text, notes } = json.encodeResult(value, "The program's value", payloadLimit);
    if (notes !== "") host.send(`{"type":"stderr","text":${primordials.quote(notes)}}`);
    return text;
  }

  async function encoded(main: (runtime: object) => Promise<unknown>): Promise<string | undefined> {
    const runtime = {
      import: importModules,
      load: async (specifier: unknown, options?: { with?: Record<string, string> }) => {
        const request = {
          specifier: primordials.toText(specifier),
          attributes: options?.with ?? {},
          names: [],
        };
        const { end } = pending.begin("operation", "import");
        try {
          return (await importModules([request]))[0];
        } finally {
          end();
        }
      },
      meta: meta(),
      default: undefined as unknown,
      last: undefined as unknown,
    };
    const returned = await main(runtime);
    let value = returned === undefined ? await runtime.default : returned;
    if (typeof value === "function" && returned === undefined) value = await (value as () => unknown)();
    return value === undefined ? encodedLast(await runtime.last) : encodedValue(value);
  }

  return {
    begin(limits, firstId) {
      payloadLimit = limits.payloadBytes;
      client = parts.createClient(primordials, json, {
        send: host.send,
        limits,
        firstId,
        pending,
        reviveHandles,
      });
      trace = parts.createTracer(primordials, json, { client, pending }, host);
    },
    parse: primordials.parseJson,
    run(main, done, failed) {
      const ended = encoded(main);
      // The program's own changes to promises don't matter to this one.
      void primordials.defineProperty(ended, "constructor", { __proto__: null, value: undefined } as never);
      void promiseThen(ended, done, failed);
    },
    settle: (message) => client.settle(primordials.parseJson(message) as CallResult),
    isWorkPending: pending.isLeft,
    pendingWork: pending.list,
    nextCallId: () => client.nextId(),
    clientExports: () => client.exports,
    hostTool: (server, tool) => client.hostTool(server, tool),
    traced: (server, namespace) => trace(server, namespace),
    runtimeExports(exports) {
      const own = membrane().inward(exports, "runtime") as Record<string, unknown>;
      primordials.defineValue(own, primordials.symbols.toStringTag, "Module", false);
      return own;
    },
    inward: (value) => membrane().inward(value),
    makeError: (name, message) => new errors[name](message),
    isTooLarge: json.isTooLarge,
    isWaiting,
    readThrown: (thrown) => readThrown(made === undefined ? thrown : made.ownOf(thrown)),
    isKnown(value) {
      let root = value;
      for (let next = getPrototypeOf(value); next !== null; next = getPrototypeOf(next)) root = next;
      return root === intrinsics[0] || root === given.outer.intrinsics[0];
    },
  };
}

/**
 * The text of a script that gives a function which makes the inside of the realm in which the script runs. It is made of
 * the functions of this folder, each of which stands for itself.
 */
export function insideSource(): string {
  const parts: Parts = {
    confineLateCallbacks,
    createClient,
    createConsoleArguments,
    createErrors,
    createHandles,
    createInward,
    createJsonEncoder,
    createLinks,
    createMembrane,
    createOutward,
    createPending,
    createPrimordials,
    createPrinter,
    createRaces,
    createStandIns,
    createThrownReader,
    createTracer,
    createViews,
    hideRunnerFrames,
    installGlobals,
    listIntrinsics,
  };
  const members = Object.entries(parts).map(([name, part]) => `${name}: ${part.toString()}`);
  return `"use strict"; (host) => (${createInside.toString()})({ ${members.join(",\n")} }, host)`;
}
