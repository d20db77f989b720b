import { AsyncLocalStorage } from "node:async_hooks";
import type { Middleware } from "@cem/bridge";
import { Lazy, tokenizeInTurns } from "@cem/core";
import type {
  Approve,
  CodeGenerator,
  Elicit,
  RedactionScope,
  Redactor,
  ResultStore,
  ToolDefinition,
} from "@cem/core";
import type { Log } from "../log.ts";
import type { Project } from "../project.ts";
import { scopeOfSession, scopeRedactor } from "./scoped-redactor.ts";
import { configuredVaults } from "./vaults.ts";

/** Session and tool of the call being executed. */
const scopeOfCall = new AsyncLocalStorage<RedactionScope>();
/** Sessions that made the latest calls. Output of a server process belongs to no particular call, but may contain their values. */
const latestSessions = new WeakMap<Redactor, Set<string | undefined>>();
const MAX_LATEST_SESSIONS = 8;

/** The configured redactor, or the one given in the options. `undefined` if values are not redacted. */
export function redactorOf(
  loaded: Project,
  { redactor }: { redactor?: Redactor | undefined },
): Lazy<Redactor> | undefined {
  const { owner, config } = loaded;
  const { privacyProtection, piiDetection, tokenization } = config.guardrails;
  if (redactor === undefined && !(privacyProtection && piiDetection && tokenization)) return undefined;
  return new Lazy(async () => {
    const everybodys = redactor ?? (await createConfiguredRedactor(loaded));
    return owner === undefined ? everybodys : scopeRedactor(everybodys, owner.id);
  });
}

/** A redactor for data stored on disk if runs have none: stored data always has tokens. */
export async function createRecordRedactor(loaded: Project): Promise<Redactor> {
  const privacy = { ...loaded.config.privacy, vault: "memory" as const, namesModel: undefined };
  return createConfiguredRedactor({ ...loaded, store: undefined, config: { ...loaded.config, privacy } });
}

async function createConfiguredRedactor(loaded: Project): Promise<Redactor> {
  const { createRedactor, PII_TYPES } = await import("@cem/pii");
  const { execution, mcpServers } = loaded.config;
  const { guest, rules, types, regions, namesModel, ...privacy } = loaded.config.privacy;
  const custom = [
    ...privacy.custom.map(({ type, pattern, values = [] }) =>
      pattern === undefined ? { type, values } : { type, pattern: new RegExp(pattern, "gu") },
    ),
    ...((await loaded.pluginSet?.get())?.detectors ?? []),
  ];
  const known = new Set<string>([...PII_TYPES, ...custom.map(({ type }) => type)]);
  return createRedactor({
    guest,
    rules,
    findNameInCode:
      rules.length === 0
        ? undefined
        : (await import("@cem/mcp-client/tools")).namesInCode(mcpServers, execution.serversDir),
    workspaceOf: (session) => scopeOfSession(session) ?? "",
    // A type may belong to a plugin that is held back or could not be loaded.
    types: types?.filter((type) => known.has(type)),
    regions,
    custom,
    recognizer:
      namesModel === undefined
        ? undefined
        : (await import("@cem/pii/names")).createNameRecognizer({ modelDir: namesModel }),
    ...(await configuredVaults(loaded)),
  });
}

/** The middleware of the bridge that replaces tokens by values and, if code sees tokens only, values by tokens on the way back. */
export async function redactCallsOf(
  redactor: Redactor,
  asking: { elicit?: Elicit | undefined; approve?: Approve | undefined },
): Promise<Middleware> {
  const { redactCalls } = await import("@cem/pii");
  const latest = new Set<string | undefined>();
  latestSessions.set(redactor, latest);
  const redact = redactCalls(redactor, asking);
  return (next) => {
    const invoker = redact(next);
    return {
      specificationVersion: "v1",
      invoke: (call, context) => {
        const { server, tool } = call;
        const scope = { session: context.session, server, tool };
        latest.delete(context.session);
        latest.add(context.session);
        if (latest.size > MAX_LATEST_SESSIONS) latest.delete([...latest][0]);
        return scopeOfCall.run(scope, () => invoker.invoke(call, context));
      },
    };
  };
}

/** Wraps a generator that asks a model, so that it sees tokens only. */
export function redactGenerator(redactor: Redactor | undefined): (generator: CodeGenerator) => CodeGenerator {
  if (redactor === undefined) return (generator) => generator;
  return (generator) => ({
    ...generator,
    async generate({ task, context, facts, feedback, ...request }) {
      const { session, tools, otherTools } = request;
      const describe = (tool: ToolDefinition): ToolDefinition => redactTool(tool, redactor, session);
      return generator.generate({
        ...request,
        ...(await tokenizeInTurns(redactor, { task, context }, { session, isWritten: true })),
        // Calls and output of earlier attempts are cut to the size of a prompt.
        ...(await tokenizeInTurns(redactor, { facts, feedback }, { session, isCut: true })),
        tools: tools.map(describe),
        otherTools: otherTools?.map(describe),
      });
    },
  });
}

/** A tool with personal data in its definition replaced by tokens, for a model. */
function redactTool(tool: ToolDefinition, redactor: Redactor, session: string | undefined): ToolDefinition {
  const { description, inputSchema, outputSchema, signature } = tool;
  return {
    ...tool,
    ...redactor.tokenize({ description, inputSchema, outputSchema, signature }, { session }),
  };
}

/** Replaces values of the current call by tokens in our own log lines. */
export function redactLog(log: Log, redactor: Redactor | undefined): Log {
  if (redactor === undefined) return log;
  return (level, message) =>
    log(level, redactor.tokenize(message, { session: scopeOfCall.getStore()?.session, isLate: true }));
}

/** The same for output of servers, which belongs to no call and may contain values of the latest ones. */
export function redactServerLog(log: Log, redactor: Redactor | undefined): Log {
  if (redactor === undefined) return log;
  return (level, message) => {
    const sessions = new Set([scopeOfCall.getStore()?.session, ...(latestSessions.get(redactor) ?? [])]);
    let shown = message;
    for (const session of sessions) shown = redactor.tokenize(shown, { session, isLate: true });
    log(level, shown);
  };
}

export async function redactElicit(
  elicit: Elicit | undefined,
  redactor: Redactor | undefined,
): Promise<Elicit | undefined> {
  if (redactor === undefined || elicit === undefined) return elicit;
  const { redactQuestions } = await import("@cem/pii");
  return (request) => redactQuestions(elicit, redactor, scopeOfCall.getStore() ?? {})(request);
}

/** Redacts what is stored for code in the same way as what is returned to it, for the tool that it came from. */
export function redactStore(store: ResultStore, redactor: Redactor | undefined): ResultStore {
  if (redactor === undefined) return store;
  return {
    specificationVersion: "v1",
    async write(bytes, mimeType, suggestedName) {
      const { redactKept } = await import("@cem/pii");
      const kept = await redactKept(bytes, redactor, scopeOfCall.getStore() ?? {});
      return store.write(kept, mimeType, suggestedName);
    },
    read: (path, range) => store.read(path, range),
  };
}
