import type { CodeGenerator, GeneratedCode, GenerateRequest, GenerationRefused } from "@cem/core";
import { toErrorInfo, toolId } from "@cem/core";
import type { PluginUse } from "./plugin-use.ts";

/** A model may be asked. */
const GENERATE_TIMEOUT_MS = 300_000;

/** A generator of a plugin. */
export interface OwnedGenerator {
  generator: CodeGenerator;
  use: PluginUse;
}

/** Asks generators of plugins in their order, and the last one where none of them writes code. */
export function askGenerators(own: readonly OwnedGenerator[], last: CodeGenerator): CodeGenerator {
  if (own.length === 0) return last;
  return {
    ...last,
    async generate(request) {
      const notes: string[] = [];
      for (const one of own) {
        const answer = await ask(one, request).catch((error: unknown) => {
          request.signal?.throwIfAborted();
          notes.push(toErrorInfo(error).message);
          return undefined;
        });
        if (answer === undefined) continue;
        return {
          ...answer,
          notes: [...notes, ...(answer.notes ?? []), `written by the plugin ${one.use.name}`],
        };
      }
      const answer = await last.generate(request);
      return notes.length === 0 ? answer : { ...answer, notes: [...notes, ...(answer.notes ?? [])] };
    },
  };
}

/** @returns `undefined` where the generator passes the task on. */
async function ask(
  { generator, use }: OwnedGenerator,
  request: GenerateRequest,
): Promise<GeneratedCode | undefined> {
  const limits = { timeoutMs: GENERATE_TIMEOUT_MS, signal: request.signal };
  const answer: unknown = await use.call("generator", limits, (signal) =>
    generator.generate({ ...request, signal }),
  );
  const { status, code, origin, uses, usage, notes } = (answer ?? {}) as Partial<
    Record<keyof GeneratedCode | keyof GenerationRefused, unknown>
  >;
  if (status === "refused") return undefined;
  if (status !== "generated" || typeof code !== "string" || code.trim() === "" || !Array.isArray(uses)) {
    throw use.unusable(
      "generator",
      'it has to return { status: "generated", code, origin, uses } or a refusal',
    );
  }
  const known = new Map(
    [...request.tools, ...(request.otherTools ?? [])].map((tool) => [toolId(tool), tool]),
  );
  return {
    status,
    code,
    origin: origin === "rules" ? "rules" : "llm",
    // No plugin says of its own code that it needs no check.
    isChecked: false,
    uses: uses.flatMap((tool) => known.get(idOf(tool)) ?? []),
    usage: isUsage(usage) ? usage : undefined,
    notes: Array.isArray(notes) ? notes.filter((note) => typeof note === "string") : undefined,
  };
}

/** The name of what should be a tool. Catalogs hold the definitions; a plugin only says which. */
export function idOf(tool: unknown): string {
  const { server, name } = (tool ?? {}) as { server?: unknown; name?: unknown };
  return toolId({ server: String(server), name: String(name) });
}

function isUsage(value: unknown): value is GeneratedCode["usage"] {
  const { model, requests, inputTokens, outputTokens } = (value ?? {}) as Record<string, unknown>;
  return typeof model === "string" && [requests, inputTokens, outputTokens].every(Number.isFinite);
}
