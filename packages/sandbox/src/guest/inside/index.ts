import { createClient, type CallResult, type Client } from "./client.ts";
import { createConsole } from "./console.ts";
import { installFiles } from "./files.ts";
import { createHandles } from "./handles.ts";
import { installLightGlobals } from "./light-globals.ts";
import { createJsonEncoder } from "./json.ts";
import { createPending } from "./pending.ts";
import { createPrimordials } from "./primordials.ts";
import { createPrinter } from "./printed.ts";
import { createRaces } from "./races.ts";
import { hideRunnerFrames } from "./stack-frames.ts";
import { createThrownReader } from "./thrown.ts";
import { installTimers } from "./timers.ts";
import { createTracer } from "./tracer.ts";

export type Primitive = string | number | boolean | undefined;

/**
 * The one function by which a realm reaches the guest. It takes and gives primitives only, so that no object of the
 * guest's own realm is ever within a program's reach.
 */
export type HostFunction = (operation: string, ...values: Primitive[]) => Primitive;

/** Given to the program's own realm only: where a program runs among the runtime, there is nothing to keep from it. */
export interface RuntimeParts {
  inspect(value: unknown): string;
  /** The runtime's console, for what {@link createConsole} lacks. */
  console: Record<string, unknown>;
  /** Beginnings of the names of the runner's own files, where these are paths of the host. */
  runnerFolders: readonly string[];
}

/**
 * The part of the guest that lives in a realm with the program. Its methods take primitives, and objects of the realm
 * itself. None of them throws.
 */
export interface Inside {
  /** Starts a run with its limits. */
  begin(calls: number, callsInFlight: number, payloadBytes: number, firstCallId: number): void;
  /** Runs a compiled program. It ends by the operations `done` and `failed`. */
  run(main: unknown): void;
  /** Ends the run for what was thrown and not caught. */
  fail(thrown: unknown, kind: "syntax" | "exception"): void;
  /** Takes a call's result, as the host's message. */
  settle(message: string): void;
  fire(timer: number): void;
  /** Whether a run goes on after its program has returned. */
  isWaitedFor(hasValue: boolean): boolean;
  /** Lists work that the program has begun and that goes on, as the JSON of {@link Unawaited}. */
  listUnawaited(hasValue: boolean): string;
  /** The id of the next call to the host. */
  nextCallId(): number;
  /** Whether the host has calls to answer. */
  hasCalls(): boolean;
  /** Adds a module to those of an import that goes on. */
  addImported(id: number, namespace: unknown): void;
  imported(id: number): void;
  importFailed(id: number, thrown: unknown): void;
  /** Exports of the module `cem:client`. */
  clientExports(): Record<string, unknown>;
  hostTool(server: string, tool: string): unknown;
  /** Wraps a module's exports, so that calls of its functions are reported. */
  traced(server: string, namespace: Record<string, unknown>): Record<string, unknown>;
  newNamespace(): Record<string, unknown>;
  resolver(url: string): unknown;
  /** Parses JSON to values of the realm. */
  parse(text: string): unknown;
  /** Makes an error of the realm. */
  makeError(name: string, message: string): object;
  /** Notes the place in the program that an error stems from. */
  placeError(error: unknown, line: number, column: number): void;
  /** Notes an operation of the runtime that ends; gives a function that takes its end, and the error if it failed. */
  beginOperation(name: string): (error?: unknown) => void;
}

/** Work that was still pending when a program returned. */
export interface Unawaited {
  /** Work that the run waits for. */
  kept: UnawaitedWork[];
  /** Timers that are stopped. */
  stopped: UnawaitedWork[];
}

export interface UnawaitedWork {
  kind: "call" | "operation" | "timer";
  server: string;
  name: string;
  leftMs: number;
  /** Says where the work was begun. */
  stack: string;
}

interface Import {
  namespaces: Record<string, unknown>[];
  resolve(namespaces: Record<string, unknown>[]): void;
  reject(thrown: unknown): void;
}

type Parts = typeof PARTS;

/** Puts the parts together in a new realm. */
function createInside(parts: Parts, hostFunction: HostFunction, runtime: RuntimeParts | undefined): Inside {
  const primordials = parts.createPrimordials();
  const { PromiseConstructor, ByteArray, SafeWeakMap, create, constructors, defineValue, promiseThen } =
    primordials;
  const errorTypes = {
    __proto__: null,
    Error,
    RangeError,
    ReferenceError,
    SyntaxError,
    TypeError,
  } as never as Record<string, ErrorConstructor>;
  const settled = promiseThen(new PromiseConstructor<void>((resolve) => resolve()), () => {});
  const fromCode = String.fromCharCode;
  /** The place in the program that an error stems from. */
  const places = new SafeWeakMap<{ line: number; column: number }>();
  if (runtime !== undefined && runtime.runnerFolders.length > 0)
    parts.hideRunnerFrames(primordials, runtime.runnerFolders);

  /** Where the guest's function throws, as it does at the end of the stack, the error is one of its own realm. */
  function host(operation: string, a?: Primitive, b?: Primitive, c?: Primitive, d?: Primitive): Primitive {
    try {
      return hostFunction(operation, a, b, c, d);
    } catch {
      throw new constructors.RangeError("Maximum call stack size exceeded");
    }
  }

  function makeError(name: string, message: string): object {
    const type = errorTypes[name];
    if (type !== undefined) return new type(message);
    const error = new constructors.Error(message);
    defineValue(error, "name", name, false);
    return error;
  }

  const send = (text: string): void => void host("send", text);
  const now = (): number => host("now") as number;
  const pending = parts.createPending(primordials, () => void host("progress"));
  const json = parts.createJsonEncoder(primordials, (value) => handles.standIn(value));
  const readThrown = parts.createThrownReader(primordials);
  const noteTimer = parts.createRaces(primordials);
  const timers = parts.installTimers(primordials, { host, now, noteTimer, fail: (thrown) => fail(thrown) });
  const print = parts.createPrinter(primordials, json, runtime?.inspect);
  const console = parts.createConsole(
    primordials,
    print,
    (isError, text) => void host("print", isError, text),
    runtime?.console,
  );
  defineValue(globalThis, "console", console, false);
  const bytes = {
    /** Bytes out of a text with one character for each. */
    fromText(text: string): Uint8Array {
      const list = new ByteArray(text.length);
      for (let index = 0; index < text.length; index += 1) list[index] = primordials.codeAt(text, index);
      return list;
    },
    toText(list: Uint8Array, start: number, end: number): string {
      let text = "";
      for (let index = start; index < end; index += 1) text += fromCode(list[index] as number);
      return text;
    },
  };
  const decode = (text: string): string => host("decode", text) as string;
  if (runtime === undefined) {
    parts.installLightGlobals(primordials, { host, bytes });
    const file = (method: string, path: string, other: string, options: string) =>
      host("file", method, path, other, options) as string;
    parts.installFiles(primordials, { file, makeError });
  }
  /** Imports that go on. */
  const imports = create(null) as Record<number, Import>;
  let nextImport = 1;

  /** The result of an operation that gives `+` and a text, or `!` and why it failed. */
  function answered(answer: Primitive): string {
    const text = primordials.sliceText(answer as string, 1);
    if ((answer as string)[0] === "+") return text;
    throw new constructors.Error(text);
  }

  const handles = parts.createHandles(primordials, {
    decode: (list, end) => decode(bytes.toText(list, 0, end)),
    readText: (path) => answered(host("readText", path)),
    readKept(path, offset, limit) {
      const answer = answered(host("readKept", path, offset, limit));
      const comma = primordials.indexOfText(answer, ",", 0);
      return {
        bytes: bytes.fromText(primordials.sliceText(answer, comma + 1)),
        size: primordials.toNumber(primordials.sliceText(answer, 0, comma)),
      };
    },
  });

  let client: Client;
  let trace: ReturnType<typeof createTracer>;
  let payloadLimit = 0;

  /** @param isLater - Whether code of the program has run before. */
  function importModules(requests: unknown, isLater: boolean): Promise<Record<string, unknown>[]> {
    const text = primordials.stringify(requests);
    return new PromiseConstructor((resolve, reject) => {
      const id = nextImport;
      nextImport += 1;
      // A list, since a namespace with an export named `then` must never be the value of a promise.
      imports[id] = { __proto__: null, namespaces: [], resolve, reject } as never;
      host("import", id, text, isLater);
    });
  }

  function fail(thrown: unknown, kind: "syntax" | "exception" = "exception"): void {
    if (json.isTooLarge(thrown)) {
      send(`{"type":"limit","limit":"payload","message":${primordials.quote(thrown.message)}}`);
      return;
    }
    const { name, message, stack } = readThrown(thrown);
    const isObject = typeof thrown === "object" && thrown !== null;
    const place = isObject ? places.get(thrown) : undefined;
    const where = place === undefined ? "" : `,"line":${place.line},"column":${place.column}`;
    const { quote } = primordials;
    host(
      "failed",
      `{"kind":"${kind}","name":${quote(name)},"message":${quote(message)},"stack":${quote(stack)}${where}}`,
    );
  }

  /** The value of a last expression, which the program did not say is its result: what is no data is none. */
  function encodedLast(value: unknown): string | undefined {
    if (isOfRuntime(value)) return undefined;
    try {
      return encodedValue(value);
    } catch (error) {
      if (json.isTooLarge(error)) throw error;
      return undefined;
    }
  }

  /** Whether an object is made by a class of the runtime, such as a URL. */
  function isOfRuntime(value: unknown): boolean {
    if (typeof value !== "object" || value === null) return false;
    if (timers.isTimer(value)) return true;
    const { constructor } = value as { constructor?: { name?: unknown } };
    const name = typeof constructor === "function" ? constructor.name : undefined;
    if (typeof name !== "string" || primordials.languageNames[name] === true) return false;
    return (globalThis as unknown as Record<string, unknown>)[name] === constructor;
  }

  function encodedValue(value: unknown): string | undefined {
    const { text, notes } = json.encodeResult(value, "The program's value", payloadLimit);
    if (notes !== "") send(`{"type":"stderr","text":${primordials.quote(notes)}}`);
    return text;
  }

  async function encoded(main: (runtime: object) => Promise<unknown>): Promise<string | undefined> {
    const own = {
      import: (requests: unknown) => importModules(requests, false),
      load: async (specifier: unknown, options?: { with?: Record<string, string> }) => {
        const request = {
          specifier: primordials.toText(specifier),
          attributes: options?.with ?? {},
          names: [],
        };
        const { end } = pending.begin("operation", "import");
        try {
          return (await importModules([request], true))[0];
        } finally {
          end();
        }
      },
      meta: {
        url: "file:///workspace/program.ts",
        filename: "/workspace/program.ts",
        dirname: "/workspace",
        main: true,
      },
      default: undefined as unknown,
      last: undefined as unknown,
    };
    const returned = await main(own);
    let value = returned === undefined ? await own.default : returned;
    if (typeof value === "function" && returned === undefined) value = await (value as () => unknown)();
    return value === undefined ? encodedLast(await own.last) : encodedValue(value);
  }

  const inside: Inside = {
    begin(calls, callsInFlight, payloadBytes, firstId) {
      payloadLimit = payloadBytes;
      const limits = { calls, callsInFlight, payloadBytes };
      client = parts.createClient(primordials, json, {
        send,
        limits,
        firstId,
        pending,
        reviveHandles: handles.revive,
      });
      trace = parts.createTracer(primordials, json, { client, pending }, { send, now });
    },
    run(main) {
      // On a stack without frames of the guest.
      void promiseThen(settled, () => {
        const ended = encoded(main as (runtime: object) => Promise<unknown>);
        // The program's own changes to promises don't matter to this one.
        void defineValue(ended, "constructor", undefined, false);
        void promiseThen(ended, (text) => void host("done", text), fail);
      });
    },
    fail,
    settle: (message) => client.settle(primordials.parseJson(message) as CallResult),
    fire: timers.fire,
    isWaitedFor: (hasValue) => pending.isLeft() || timers.areWaitedFor(hasValue),
    listUnawaited(hasValue) {
      const works = pending.list();
      const { kept, stopped } = timers.list(hasValue);
      const comma = works !== "" && kept !== "" ? "," : "";
      return `{"kept":[${works}${comma}${kept}],"stopped":[${stopped}]}`;
    },
    nextCallId: () => client.nextId(),
    hasCalls: () => client.hasCalls(),
    addImported(id, namespace) {
      const list = imports[id]?.namespaces;
      if (list !== undefined) defineValue(list, `${list.length}`, namespace, true);
    },
    imported(id) {
      imports[id]?.resolve(imports[id].namespaces);
      delete imports[id];
    },
    importFailed(id, thrown) {
      imports[id]?.reject(thrown);
      delete imports[id];
    },
    clientExports: () => client.exports,
    hostTool: (server, tool) => client.hostTool(server, tool),
    traced: (server, namespace) => trace(server, namespace),
    newNamespace: () => create(null) as Record<string, unknown>,
    resolver: (url) => (specifier: unknown) => {
      const found = host("resolve", primordials.toText(specifier), url) as string;
      if (primordials.startsWith(found, "!"))
        throw new constructors.TypeError(primordials.sliceText(found, 1));
      return found;
    },
    parse: primordials.parseJson,
    makeError,
    placeError(error, line, column) {
      if (typeof error === "object" && error !== null)
        places.set(error, { line: primordials.toNumber(line), column: primordials.toNumber(column) });
    },
    beginOperation(name) {
      const work = pending.begin("operation", name);
      return (error) => {
        work.end();
        work.place(error);
      };
    },
  };
  return inside;
}

const PARTS = {
  createClient,
  createConsole,
  createHandles,
  createJsonEncoder,
  createPending,
  createPrimordials,
  createPrinter,
  createRaces,
  createThrownReader,
  createTracer,
  hideRunnerFrames,
  installFiles,
  installLightGlobals,
  installTimers,
};

/**
 * The text of a script that gives a function which makes the inside of the realm in which the script runs. It is made of
 * the functions of this folder, each of which stands for itself.
 */
export function insideSource(): string {
  const members = Object.entries(PARTS).map(([name, part]) => `${name}: ${part.toString()}`);
  return `"use strict"; (host, runtime) => (${createInside.toString()})({ ${members.join(",\n")} }, host, runtime)`;
}
