import { createClient, type CallResult } from "./client.ts";
import { createConsole } from "./console.ts";
import { createErrorReader } from "./error-members.ts";
import { installFiles } from "./files.ts";
import { createExportReader, type Ran } from "./exported.ts";
import { createHandles } from "./handles.ts";
import { installLightGlobals } from "./light-globals.ts";
import { createJsonEncoder } from "./json.ts";
import { createPending } from "./pending.ts";
import { createPrimordials, type HostFunction, type Primitive } from "./primordials.ts";
import { createPrinter } from "./printed.ts";
import { hideRunnerFrames } from "./stack-frames.ts";
import { createThrownReader } from "./thrown.ts";
import { installTimers } from "./timers.ts";
import { createTracer } from "./tracer.ts";

/** Used only when the program runs in the guest's own realm, where nothing of the runtime has to be kept from it. */
export interface RuntimeParts {
  inspect(value: unknown): string;
  /** The runtime's console, for what {@link createConsole} lacks. */
  console: Record<string, unknown>;
  /** Whether a name belongs to the language itself. */
  isLanguage(name: string): boolean;
  /** Prefixes of the names of files whose frames are hidden: those of the runtime, and of the runner. */
  runnerFolders: readonly string[];
}

/** Namespaces by index. In an object, since a namespace with an export named `then` must never be the value of a promise. */
type Namespaces = Record<number, unknown>;

interface Import {
  resolve(namespaces: Namespaces): void;
  reject(thrown: unknown): void;
}

/**
 * Creates the part of the guest that lives in a realm with the program. Its methods take primitives and objects of the
 * realm itself. None of them throws.
 */
function createInside(parts: typeof PARTS, hostFunction: HostFunction, runtime: RuntimeParts | undefined) {
  const primordials = parts.createPrimordials();
  const { PromiseConstructor, attempt, create, constructors, defineValue, promiseThen, quote } = primordials;
  const run = {
    __proto__: null as never,
    callsInFlight: 1,
    payloadBytes: 0,
    nextId: 1,
    /** When the program last printed or called something; 0 if it has not. */
    actedAt: 0,
    /** Called when the program has nothing left to do, if it is not over then. */
    onRest: undefined as (() => void) | undefined,
  };
  if (runtime !== undefined) parts.hideRunnerFrames(primordials, runtime.runnerFolders);

  const isPrimitive = (value: unknown): boolean =>
    value === null || (typeof value !== "object" && typeof value !== "function");

  /** When the guest's function throws, as on a stack overflow, the error belongs to the guest's own realm. */
  function host(operation: string, a?: Primitive, b?: Primitive, c?: Primitive, d?: Primitive): Primitive {
    // The guest would call methods of an object passed in place of a primitive.
    if (!isPrimitive(a) || !isPrimitive(b) || !isPrimitive(c) || !isPrimitive(d))
      throw new constructors.TypeError("An object can't be given here.");
    try {
      return hostFunction(operation, a, b, c, d);
    } catch {
      throw new constructors.RangeError("Maximum call stack size exceeded");
    }
  }

  /** Asks the guest: returns a text, or throws an error. */
  function ask(operation: string, a?: Primitive, b?: Primitive, c?: Primitive, d?: Primitive): string {
    const answer = host(operation, a, b, c, d) as string;
    const text = primordials.sliceText(answer, 1);
    if (primordials.startsWith(answer, "+")) return text;
    const { name, message, code } = primordials.parseJson(text) as Record<string, string>;
    const error = makeError(name ?? "Error", message ?? "");
    if (code !== undefined) defineValue(error, "code", code, true);
    throw error;
  }

  function makeError(name: string, message: string): object {
    const type = (constructors as Record<string, ErrorConstructor>)[name];
    if (type !== undefined) return new type(message);
    const error = new constructors.Error(message);
    defineValue(error, "name", name, false);
    return error;
  }

  const act = (operation: "send" | "print", a: Primitive, b?: Primitive): void => {
    run.actedAt = host("now") as number;
    host(operation, a, b);
  };
  const send = (text: string): void => act("send", text);
  const tell = (text: string): void => send(`{"type":"stderr","text":${quote(text)}}`);
  const hasActed = (): boolean => run.actedAt !== 0;
  const { isCallable, isEmpty, settled, whyLeft } = parts.createExportReader(primordials, hasActed);
  const errors = parts.createErrorReader(primordials);
  const pending = parts.createPending(primordials, host);
  const handles = parts.createHandles(primordials, host, ask);
  const json = parts.createJsonEncoder(primordials, errors, handles.standIn);
  const print = parts.createPrinter(primordials, json, errors, runtime?.inspect);
  const readThrown = parts.createThrownReader(primordials, errors, print);
  const timers = parts.installTimers(
    primordials,
    host,
    pending,
    () => run.actedAt,
    (thrown) => fail(thrown),
  );
  const console = parts.createConsole(
    primordials,
    print,
    (isError, text) => act("print", isError, text),
    runtime?.console,
  );
  defineValue(globalThis, "console", console, false);
  if (runtime === undefined) {
    parts.installLightGlobals(primordials, host);
    parts.installFiles(primordials, ask);
  }
  const reviveHandles = handles.revive;
  const client = parts.createClient(primordials, json, { send, state: run, pending, reviveHandles });
  defineValue(globalThis, "ToolError", client.exports["ToolError"], false);
  const traced = parts.createTracer(primordials, json, client, pending, host);
  const imports = create(null) as Record<number, Import>;
  let nextImport = 1;

  function importModules(requests: unknown): Promise<Namespaces> {
    const text = primordials.stringify(requests);
    return new PromiseConstructor((resolve, reject) => {
      const id = nextImport;
      nextImport += 1;
      imports[id] = { __proto__: null, resolve, reject } as never;
      host("import", id, text);
    });
  }

  async function load(specifier: unknown, options?: { with?: Record<string, string> }): Promise<unknown> {
    const request = { specifier: primordials.toText(specifier), attributes: options?.with ?? {}, names: [] };
    const work = pending.begin("operation", "import");
    try {
      return (await importModules([request]))[0];
    } catch (error) {
      work.place(error);
      throw error;
    } finally {
      work.end();
    }
  }

  function fail(thrown: unknown, kind: "syntax" | "exception" = "exception"): void {
    if (json.isTooLarge(thrown)) return void client.endByLimit("value");
    host("failed", `{"kind":"${kind}",${readThrown(thrown)}}`);
  }

  /** Encodes the value of a last expression, which the program did not return explicitly: anything but data is ignored. */
  async function encodedLast(value: unknown): Promise<string | undefined> {
    if (isOfRuntime(value)) return undefined;
    const whole = await settled(value);
    try {
      return encodedValue(whole, false);
    } catch (error) {
      if (json.isTooLarge(error)) throw error;
      const why = attempt(() => primordials.toText((error as Error).message), "");
      if (primordials.includesText(why, " is a promise")) tell(`Note: ${why}\n`);
      return undefined;
    }
  }

  /** Whether an object is an instance of a runtime class, such as a URL. */
  function isOfRuntime(value: unknown): boolean {
    if (typeof value !== "object" || value === null) return false;
    if (timers.isTimer(value)) return true;
    const { constructor } = value as { constructor?: { name?: unknown } };
    const name = typeof constructor === "function" ? constructor.name : undefined;
    if (runtime === undefined || typeof name !== "string" || runtime.isLanguage(name)) return false;
    return (globalThis as unknown as Record<string, unknown>)[name] === constructor;
  }

  function encodedValue(value: unknown, leavesFunctions = true): string | undefined {
    const { text, notes } = json.encodeResult(
      value,
      "The program's value",
      run.payloadBytes,
      leavesFunctions,
    );
    if (notes !== "") tell(notes);
    return text;
  }

  async function encoded(main: (runtime: object) => Promise<unknown>): Promise<string | undefined> {
    const own = {
      import: importModules,
      // A program with dynamic imports has the runtime.
      load: runtime === undefined ? undefined : load,
      meta: {
        url: "file:///workspace/program.ts",
        filename: "/workspace/program.ts",
        dirname: "/workspace",
        main: true,
      },
      default: undefined as unknown,
      module: undefined as { exports: unknown } | undefined,
      last: undefined as unknown,
      named: undefined as object | undefined,
      isMentioned: false,
      ran: undefined as Ran,
    };
    const exported = (): unknown => own.default ?? own.module?.exports;
    const returned = await main(own);
    if (returned !== undefined) return encodedValue(returned);
    let value = await exported();
    // Work that the program has begun may still run or fill it.
    if (isCallable(value) ? own.isMentioned && own.ran === undefined : !own.default && isEmpty(value)) {
      await rest();
      value = await exported();
    }
    const left = whyLeft(value, own.ran);
    if (left === undefined && isCallable(value)) return encodedValue(await value());
    if (left !== undefined && left !== "")
      tell(
        `Note: the exported function was not called, since ${left}. If it has not run but should, end the program with a call, such as return await main(), and repeat nothing that is done.\n`,
      );
    const isLast = left !== undefined || (value === undefined && !own.isMentioned);
    if (isLast) return encodedLast((await own.last) ?? own.named);
    return encodedValue(value);
  }

  /** Waits until nothing that the program has begun is left to do. */
  function rest(): Promise<void> {
    const rested = new PromiseConstructor<void>((resolve) => (run.onRest = resolve));
    // Else the program's own changes to promises could end the wait.
    defineValue(rested, "constructor", PromiseConstructor, false);
    host("done");
    return rested;
  }

  /** Runs what may run code of the program later, with nothing of the guest on the stack, and nowhere to throw to. */
  const later = (action: () => void): void => void promiseThen(primordials.resolved, action);

  return {
    begin(callsInFlight: number, payloadBytes: number, nextId: number): void {
      run.callsInFlight = callsInFlight;
      run.payloadBytes = payloadBytes;
      run.nextId = nextId;
      run.actedAt = 0;
    },
    /** Runs a compiled program. Ends with the operation `done` or `failed`. */
    run(main: unknown): void {
      later(() => {
        const ended = encoded(main as (runtime: object) => Promise<unknown>);
        // The program's own changes to promises don't matter to this one.
        void defineValue(ended, "constructor", undefined, false);
        void promiseThen(ended, (text) => void host("done", text), fail);
      });
    },
    /** Ends the run with an uncaught error. */
    fail: (thrown: unknown, kind: "syntax" | "exception"): void => later(() => fail(thrown, kind)),
    /** Whether the program waits for its other work to end. */
    isResting: (): boolean => run.onRest !== undefined,
    resume(): void {
      const { onRest } = run;
      run.onRest = undefined;
      pending.goOn();
      onRest?.();
    },
    /** Receives a call's result, as the host's message. */
    settle: (message: string): void => client.settle(primordials.parseJson(message) as CallResult),
    fire: timers.fire,
    isWaitedFor: pending.isWaitedFor,
    listUnawaited: pending.list,
    nextCallId: (): number => run.nextId,
    /** Whether calls to the host are unanswered. */
    hasCalls: client.hasCalls,
    imported: (id: number, namespaces: Namespaces): void => imports[id]?.resolve(namespaces),
    importFailed: (id: number, thrown: unknown): void => imports[id]?.reject(thrown),
    clientExports: () => client.exports,
    hostTool: client.hostTool,
    /** Wraps a module's exports, so that calls of its functions are reported. */
    traced,
    newNamespace: () => create(null) as Record<string, unknown>,
    resolver:
      (url: string) =>
      (specifier: unknown): string =>
        ask("resolve", primordials.toText(specifier), url),
    /** Parses JSON into values of the realm. */
    parse: primordials.parseJson,
    makeError,
    /** Adds the position in the program that caused an error to its stack. */
    addPlace: (error: unknown, begun: string): void => later(() => pending.addPlace(error, begun)),
  };
}

export type Inside = ReturnType<typeof createInside>;

const PARTS = {
  createClient,
  createConsole,
  createErrorReader,
  createExportReader,
  createHandles,
  createJsonEncoder,
  createPending,
  createPrimordials,
  createPrinter,
  createThrownReader,
  createTracer,
  hideRunnerFrames,
  installFiles,
  installLightGlobals,
  installTimers,
};

/**
 * The source of a script that evaluates to a function, which creates the inside of the script's realm. It consists of
 * the functions of this folder, each of which is self-contained.
 */
export function insideSource(): string {
  const members = Object.entries(PARTS).map(([name, part]) => `${name}: ${part.toString()}`);
  return `"use strict"; (host, runtime) => (${createInside.toString()})({ ${members.join(",\n")} }, host, runtime)`;
}
