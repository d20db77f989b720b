import type { Primordials } from "./primordials.ts";

type Callable = (...args: unknown[]) => unknown;
type Namespace = Record<string, Callable>;

/** Settings of {@link confineLateCallbacks}, provided by the realm. */
export interface LateCallbackSettings {
  isOver(): boolean;
  reportUncaught(thrown: unknown): void;
}

/**
 * Confines the parts of the language that call a program back without the runtime, and so after its run as well:
 * finalizers, and promises that wait for other threads.
 *
 * @returns whether such a promise is pending.
 */
export function confineLateCallbacks(
  primordials: Primordials,
  { isOver, reportUncaught }: LateCallbackSettings,
): () => boolean {
  const { ProxyConstructor, apply, construct, constructors, defineValue, isInstance } = primordials;
  const { PromiseConstructor, promiseThen } = primordials;
  const realm = globalThis as unknown as Record<"Atomics" | "WebAssembly", Namespace> & {
    Response: new () => { arrayBuffer(): Promise<ArrayBuffer> };
  };
  let pending = 0;

  /** A finalizer of an ended run is not called, and what one throws is the failure of its own run. */
  function guarded(callback: Callable): Callable {
    return (held) => {
      if (isOver()) return;
      try {
        callback(held);
      } catch (error) {
        reportUncaught(error);
      }
    };
  }

  function confineFinalizers(): void {
    const original = FinalizationRegistry;
    const confined = new ProxyConstructor(original, {
      __proto__: null,
      construct(type: never, [callback]: [unknown], newTarget: never): object {
        const given = typeof callback === "function" ? guarded(callback as Callable) : callback;
        return construct(type, [given], newTarget);
      },
    } as never);
    defineValue(original.prototype, "constructor", confined, false);
    defineValue(globalThis, "FinalizationRegistry", confined, false);
  }

  function track(value: unknown): unknown {
    if (!isInstance(PromiseConstructor, value)) return value;
    const settle = () => {
      pending -= 1;
    };
    pending += 1;
    void promiseThen(value as Promise<unknown>, settle, settle);
    return value;
  }

  /** Replaces a method of a namespace by one of the same name. */
  function replace(
    namespace: Namespace,
    name: string,
    call: (args: unknown[], original: Callable) => unknown,
  ): void {
    const original = namespace[name];
    if (original === undefined) return;
    const made = {
      [name](...args: unknown[]) {
        return call(args, original);
      },
    };
    defineValue(namespace, name, made[name], true);
  }

  const { Atomics: atomics, WebAssembly: wasm } = realm;
  const { compile, instantiate } = wasm as { compile: Callable; instantiate: Callable };

  // V8 passes a response on to the runtime, which knows only its own.
  async function bytesOf(source: unknown): Promise<ArrayBuffer> {
    const response = await source;
    if (isInstance(realm.Response, response)) return (response as Response).arrayBuffer();
    throw new constructors.TypeError("WebAssembly code is streamed from a Response.");
  }

  confineFinalizers();
  for (const name of ["compile", "instantiate"]) {
    replace(wasm, name, (args, original) => track(apply(original, wasm, args)));
  }
  replace(wasm, "compileStreaming", async ([source]) => track(compile(await bytesOf(source))));
  replace(wasm, "instantiateStreaming", async ([source, imports]) =>
    track(instantiate(await bytesOf(source), imports)),
  );
  replace(atomics, "waitAsync", (args, original) => {
    const waiting = apply(original, atomics, args) as { value: unknown };
    track(waiting.value);
    return waiting;
  });
  return () => pending > 0;
}
