import { createClient, type CallLimits, type CallResult, type Client } from "./client.ts";
import { installGlobals, type GlobalsSettings } from "./globals.ts";
import { createHandles } from "./handles.ts";
import { listIntrinsics } from "./intrinsics.ts";
import { createJsonEncoder } from "./json.ts";
import { createMembrane, type Membrane, type OuterRealm } from "./membrane.ts";
import { createPrimordials } from "./primordials.ts";
import { createTracer } from "./tracer.ts";

/** What a realm is given by the guest, whose own realm holds the runtime. No program gets hold of it. */
export interface RealmHost extends GlobalsSettings {
  outer: OuterRealm;
  /** Whether the run has ended. */
  isOver(): boolean;
  send(json: string): void;
  /** In milliseconds. */
  now(): number;
  decode(bytes: Uint8Array): string;
  /** A function of the outer realm that reads a kept result; gives a promise of `{ bytes, size }`. */
  readKept: object;
  /** Loads modules; gives a promise of their namespaces. */
  importModules(requests: unknown): object;
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
   * @returns its value as JSON; `undefined` for none. Rejects with what the program threw, or why its value is not JSON.
   */
  run(main: (runtime: object) => Promise<unknown>): Promise<string | undefined>;
  /** Takes a call's result, as the host's message. */
  settle(message: string): void;
  /** The id of the next call to the host. */
  nextCallId(): number;
  /** What a program imports from `cem:client`. */
  clientExports(): Record<string, unknown>;
  hostTool(server: string, tool: string): object;
  /** Wraps a module's exports, so that calls of its functions are reported. */
  traced(server: string, namespace: Record<string, unknown>): Record<string, unknown>;
  /** A value of the outer realm as one of this realm. */
  inward(value: unknown): unknown;
  /** Makes an error of the realm. */
  makeError(name: "TypeError" | "SyntaxError" | "Error", message: string): Error;
  /** Whether an error says that a value was too large. */
  isTooLarge(error: unknown): error is Error;
}

type Parts = {
  createClient: typeof createClient;
  createHandles: typeof createHandles;
  createJsonEncoder: typeof createJsonEncoder;
  createMembrane: typeof createMembrane;
  createPrimordials: typeof createPrimordials;
  createTracer: typeof createTracer;
  installGlobals: typeof installGlobals;
  listIntrinsics: typeof listIntrinsics;
};

/** Puts the parts together in a new realm. */
function createInside(parts: Parts, host: RealmHost): Inside {
  const primordials = parts.createPrimordials();
  const { PromiseConstructor, promiseThen } = primordials;
  const errors = { Error, SyntaxError, TypeError };
  const meta = () => ({
    url: "file:///workspace/program.ts",
    filename: "/workspace/program.ts",
    dirname: "/workspace",
    main: true,
  });
  let made: Membrane | undefined;
  // Most programs need nothing of the outer realm.
  const membrane = () =>
    (made ??= parts.createMembrane(primordials, { outer: host.outer, intrinsics, isOver: host.isOver }));
  const intrinsics = parts.listIntrinsics();
  const json = parts.createJsonEncoder(primordials);
  const reviveHandles = parts.createHandles(primordials, {
    decode: host.decode,
    readKept: (path, offset, limit) =>
      membrane().call(host.readKept, undefined, [path, offset, limit]) as ReturnType<
        Parameters<typeof createHandles>[1]["readKept"]
      >,
  });
  parts.installGlobals(primordials, membrane, host);
  let client: Client;
  let trace: ReturnType<typeof createTracer>;
  let payloadLimit = 0;

  function importModules(requests: unknown): Promise<Record<string, unknown>[]> {
    return new PromiseConstructor((resolve, reject) => {
      void promiseThen(
        host.importModules(requests) as Promise<Record<string, unknown>[]>,
        // A list of this realm, whose items are namespaces: none of them is ever the value of a promise, so that an
        // export named `then` is not called.
        (namespaces) => resolve(copy(namespaces)),
        (reason) => reject(membrane().inward(reason)),
      );
    });
  }

  function copy(list: readonly Record<string, unknown>[]): Record<string, unknown>[] {
    const items: Record<string, unknown>[] = [];
    for (let index = 0; index < list.length; index += 1) {
      primordials.defineProperty(items, index, { value: list[index], enumerable: true });
    }
    return items;
  }

  return {
    begin(limits, firstId) {
      payloadLimit = limits.payloadBytes;
      client = parts.createClient(primordials, json, { send: host.send, limits, firstId, reviveHandles });
      trace = parts.createTracer(primordials, json, client, host);
    },
    parse: primordials.parseJson,
    async run(main) {
      const runtime = {
        import: importModules,
        load: async (specifier: unknown, options?: { with?: Record<string, string> }) => {
          const request = { specifier: `${specifier as string}`, attributes: options?.with ?? {}, names: [] };
          return (await importModules([request]))[0];
        },
        meta: meta(),
        default: undefined as unknown,
      };
      const returned = await main(runtime);
      let value = returned === undefined ? await runtime.default : returned;
      if (typeof value === "function" && returned === undefined) value = await (value as () => unknown)();
      return json.encode(value, "The program's value", payloadLimit);
    },
    settle: (message) => client.settle(primordials.parseJson(message) as CallResult),
    nextCallId: () => client.nextId(),
    clientExports: () => client.exports,
    hostTool: (server, tool) => client.hostTool(server, tool),
    traced: (server, namespace) => trace(server, namespace),
    inward: (value) => membrane().inward(value),
    makeError: (name, message) => new errors[name](message),
    isTooLarge: json.isTooLarge,
  };
}

/**
 * The text of a script that gives a function which makes the inside of the realm in which the script runs. It is made of
 * the functions of this folder, each of which stands for itself.
 */
export function insideSource(): string {
  const parts: Parts = {
    createClient,
    createHandles,
    createJsonEncoder,
    createMembrane,
    createPrimordials,
    createTracer,
    installGlobals,
    listIntrinsics,
  };
  const members = Object.entries(parts).map(([name, part]) => `${name}: ${part.toString()}`);
  return `"use strict"; (host) => (${createInside.toString()})({ ${members.join(",\n")} }, host)`;
}
