import type { HostFunction, Primordials } from "./primordials.ts";
import type { JsonEncoder } from "./json.ts";
import type { Client } from "./client.ts";
import type { Pending } from "./pending.ts";

/** Creates the function that wraps a module's exports, so that calls of its functions are reported. */
export function createTracer(
  primordials: Primordials,
  json: JsonEncoder,
  client: Client,
  pending: Pending,
  host: HostFunction,
) {
  const { PromiseConstructor, ProxyConstructor, apply, attempt, create, defineValue, freeze } = primordials;
  const { isInstance, ownKeys, promiseThen, quote, sliceText } = primordials;
  /** Characters of a result that are sent, for counting its tokens. */
  const SAMPLE_CHARACTERS = 64 * 1024;
  /** Characters of the arguments that are sent. */
  const ARGUMENT_CHARACTERS = 2 * 1024;
  /** Longest result that is measured, in characters. */
  const MEASURED_CHARACTERS = 64 * 1024 * 1024;

  interface Trace {
    server: string;
    /** The name by which the server's modules call it, which is not always valid as a folder name. */
    ownName: string;
    /** Whether the call went to the host, which records it itself. */
    hosted: boolean;
    /** Whether the arguments of such a call were refused, so that no call was made if it fails. */
    refused: boolean;
    /** The beginning of the arguments, as JSON. */
    args: string;
  }

  let current: Trace | undefined;

  client.onHostCall = (server, isSent) => {
    if (current?.server === server || current?.ownName === server)
      current[isSent ? "hosted" : "refused"] = true;
  };

  function report(trace: Trace, tool: string, started: number, ok: boolean, result: unknown): void {
    if (trace.hosted) return;
    // A result that is not JSON counts as empty.
    const text = ok ? textOf(result) : "";
    const ms = (host("now") as number) - started;
    const sample = quote(sliceText(text, 0, SAMPLE_CHARACTERS));
    host(
      "send",
      `{"type":"trace","server":${quote(trace.server)},"tool":${quote(tool)},"args":${quote(trace.args)},"ms":${ms},"ok":${ok},"characters":${text.length},"sample":${sample}}`,
    );
  }

  const textOf = (value: unknown): string =>
    attempt(() => json.encodeResult(value, "value", MEASURED_CHARACTERS).text ?? "", "");

  function traced(server: string, ownName: string, tool: string, implementation: object): object {
    return new ProxyConstructor(implementation, {
      __proto__: null,
      apply(target, self, args) {
        const trace: Trace = {
          server,
          ownName,
          hosted: false,
          refused: false,
          args: sliceText(textOf(args.length === 1 ? args[0] : args), 0, ARGUMENT_CHARACTERS),
        };
        const outer = current;
        const started = host("now") as number;
        const completed = (value: unknown): unknown => {
          report(trace, tool, started, true, value);
          return value;
        };
        const failed = (error: unknown): never => {
          if (!trace.refused) report(trace, tool, started, false, undefined);
          throw client.toolError(error, server, tool);
        };
        current = trace;
        let result: unknown;
        try {
          result = apply(target, self, args);
        } catch (error) {
          return failed(error);
        } finally {
          current = outer;
        }
        if (!isInstance(PromiseConstructor, result)) return completed(result);
        // The client tracks its own calls.
        const work = trace.hosted ? undefined : pending.begin("call", tool, server);
        return promiseThen(
          result as Promise<unknown>,
          (value) => {
            work?.end();
            return completed(value);
          },
          (error) => {
            work?.end();
            work?.place(error);
            return failed(error);
          },
        );
      },
    } as ProxyHandler<object>);
  }

  return (server: string, namespace: Record<string, unknown>, ownName = server): Record<string, unknown> => {
    const wrapped = create(null) as Record<string, unknown>;
    const names = ownKeys(namespace);
    for (let index = 0; index < names.length; index += 1) {
      const name = names[index];
      if (typeof name !== "string") continue;
      const value = namespace[name];
      const seen = typeof value === "function" ? traced(server, ownName, name, value) : value;
      defineValue(wrapped, name, seen, true);
    }
    return freeze(wrapped);
  };
}
