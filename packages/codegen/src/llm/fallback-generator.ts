import { toErrorInfo } from "@cem/core";
import type {
  CodeGenerator,
  GeneratedCode,
  GenerateFeedback,
  GenerateRequest,
  GenerationRefused,
  GenerationUsage,
} from "@cem/core";

/**
 * Creates a generator that asks `first`, and `second` when `first` throws; the result's `notes` then say so.
 *
 * A request with the feedback of a run is never passed to `second`: it does not know which calls have already happened
 * and would repeat them. The error of `first` is thrown instead.
 *
 * @param first - The generator to ask first, such as that of `createLlmGenerator`.
 * @param second - The generator to fall back to, such as that of `createRulesGenerator`.
 */
export function createFallbackGenerator(first: CodeGenerator, second: CodeGenerator): CodeGenerator {
  return {
    specificationVersion: "v1",
    toolBudget: first.toolBudget,
    async generate(request: GenerateRequest): Promise<GeneratedCode | GenerationRefused> {
      try {
        return await first.generate(request);
      } catch (error) {
        request.signal?.throwIfAborted();
        if (request.feedback?.some(hasRun) ?? false) throw error;
        const { message, details } = toErrorInfo(error);
        const generated = await second.generate(request);
        const usage = details["usage"] as GenerationUsage | undefined;
        const notes = [`${message} The code was written by rules instead.`];
        return { ...generated, usage: usage ?? generated.usage, notes };
      }
    },
  };
}

function hasRun({ error, returnedNothing }: GenerateFeedback): boolean {
  return error !== undefined || returnedNothing === true;
}
