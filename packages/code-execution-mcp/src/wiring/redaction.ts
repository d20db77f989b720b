import { AsyncLocalStorage } from "node:async_hooks";
import type { Middleware, ToolSource } from "@cem/bridge";
import type { Recording } from "@cem/bridge/recording";
import { Lazy } from "@cem/core";
import type { CodeGenerator, Elicit, JsonValue, Redactor, ResultStore } from "@cem/core";
import type { LoadedFor } from "./customer.ts";
import { scopeToCustomer } from "./customer-redactor.ts";
import { configuredVaults } from "./vaults.ts";
import type { Log } from "./log.ts";

/** What is recorded belongs to no one session: its tokens are its own. */
const RECORDING = "recording";
/** The session of the call that is carried out. */
const sessionOfCall = new AsyncLocalStorage<string | undefined>();

/** The redactor that the configuration asks for, or that an option brings. `undefined` where values are passed on. */
export function redactorOf(
  loaded: LoadedFor,
  options: { redactor?: Redactor | undefined },
): Lazy<Redactor> | undefined {
  const { customer } = loaded;
  const everybodys = everybodysRedactor(loaded, options);
  if (customer === undefined) return everybodys;
  return everybodys && new Lazy(async () => scopeToCustomer(await everybodys.get(), customer.id));
}

function everybodysRedactor(
  loaded: LoadedFor,
  { redactor }: { redactor?: Redactor | undefined },
): Lazy<Redactor> | undefined {
  if (redactor !== undefined) return new Lazy(async () => redactor);
  const { privacyProtection, piiDetection, tokenization } = loaded.config.guardrails;
  return privacyProtection && piiDetection && tokenization
    ? new Lazy(async () => createConfiguredRedactor(loaded))
    : undefined;
}

async function createConfiguredRedactor(loaded: LoadedFor): Promise<Redactor> {
  const { createRedactor } = await import("@cem/pii");
  const { guest, rules, types, regions, custom, namesModel } = loaded.config.privacy;
  const detectors = (await loaded.pluginSet?.get())?.detectors ?? [];
  return createRedactor({
    guest,
    rules,
    types,
    regions,
    custom: [
      ...custom.map(({ type, pattern, values = [] }) =>
        pattern === undefined ? { type, values } : { type, pattern: new RegExp(pattern, "gu") },
      ),
      ...detectors,
    ],
    recognizer:
      namesModel === undefined
        ? undefined
        : (await import("@cem/pii/names")).createNameRecognizer({ modelDir: namesModel }),
    ...(await configuredVaults(loaded)),
  });
}

/** The middleware of the bridge that puts values in the place of tokens and, where code sees tokens only, back. */
export async function redactCallsOf(
  redactor: Redactor,
  source: Pick<ToolSource, "find">,
): Promise<Middleware> {
  const { redactCalls } = await import("@cem/pii");
  const redact = redactCalls(redactor, {
    outputSchemaOf: async (call, signal) => (await source.find(call, signal))?.outputSchema,
  });
  return (next) => {
    const invoker = redact(next);
    return {
      specificationVersion: "v1",
      invoke: (call, context) => sessionOfCall.run(context.session, () => invoker.invoke(call, context)),
    };
  };
}

/** Has a generator that asks a model see tokens only. */
export function redactGenerator(redactor: Redactor | undefined): (generator: CodeGenerator) => CodeGenerator {
  if (redactor === undefined) return (generator) => generator;
  return (generator) => ({
    ...generator,
    async generate({ task, context, facts, feedback, ...request }) {
      const { session } = request;
      const words = { task, context, facts, feedback };
      await redactor.recognize?.(words, { session });
      // What earlier attempts sent, got and printed is cut to what a prompt can hold.
      return generator.generate({ ...request, ...redactor.tokenize(words, { session, isCut: true }) });
    },
  });
}

export function redactLog(log: Log, redactor: Redactor | undefined): Log {
  if (redactor === undefined) return log;
  return (level, message) => log(level, redactor.tokenize(message, { session: sessionOfCall.getStore() }));
}

export async function redactElicit(
  elicit: Elicit | undefined,
  redactor: Redactor | undefined,
): Promise<Elicit | undefined> {
  if (redactor === undefined || elicit === undefined) return elicit;
  const { redactQuestions } = await import("@cem/pii");
  return (request) => redactQuestions(elicit, redactor, sessionOfCall.getStore())(request);
}

/** Where code sees tokens only, what it can read of large results has tokens too. */
export function redactStore(store: ResultStore, redactor: Redactor | undefined): ResultStore {
  if (redactor?.guest !== "tokens") return store;
  return {
    specificationVersion: "v1",
    async write(bytes, mimeType, suggestedName) {
      const session = sessionOfCall.getStore();
      return store.write(redactBytes(bytes, mimeType, redactor, session), mimeType, suggestedName);
    },
    read: (path, range) => store.read(path, range),
  };
}

/** A recording with tokens in place of values, also in the files that belong to it. */
export function redactRecording(recording: Recording, redactor: Redactor | undefined): Recording {
  if (redactor === undefined) return recording;
  redactor.observe(recording as unknown as JsonValue, { session: RECORDING });
  const calls = recording.calls.map(({ files, ...call }) => ({
    ...redactor.tokenize(call, { session: RECORDING }),
    files: files.map((file) => {
      const bytes = Buffer.from(file.data, "base64");
      const shown = redactBytes(bytes, file.mimeType, redactor, RECORDING);
      return { ...file, data: Buffer.from(shown).toString("base64") };
    }),
  }));
  return { ...recording, calls };
}

/** Text and JSON with tokens in place of values. Other bytes stay as they are. */
function redactBytes(
  bytes: Uint8Array,
  mimeType: string,
  redactor: Redactor,
  session: string | undefined,
): Uint8Array {
  if (!/^text\/|[/+](?:json|xml|yaml|javascript|csv)(?:;|$)/.test(mimeType)) return bytes;
  const text = new TextDecoder().decode(bytes);
  const shown = redactText(text, redactor, session);
  return shown === text ? bytes : new TextEncoder().encode(shown);
}

function redactText(text: string, redactor: Redactor, session: string | undefined): string {
  let data: JsonValue;
  try {
    data = JSON.parse(text) as JsonValue;
  } catch {
    return redactor.tokenize(text, { session });
  }
  const shown = redactor.tokenize(data, { session });
  return shown === data ? text : JSON.stringify(shown);
}
