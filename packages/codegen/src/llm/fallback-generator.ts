import { toErrorInfo } from "@cem/core";
import type {
  CodeGenerator,
  GeneratedCode,
  GenerateRequest,
  GenerationRefused,
  GenerationUsage,
} from "@cem/core";

/**
 * A generator that asks the first, and the second when the first fails; the code's notes say so. After a try that ran,
 * the second is not asked: it knows nothing of what has already happened, and would do it again.
 */
export function createFallbackGenerator(first: CodeGenerator, second: CodeGenerator): CodeGenerator {
  return {
    specificationVersion: "v1",
    async generate(request: GenerateRequest): Promise<GeneratedCode | GenerationRefused> {
      try {
        return await first.generate(request);
      } catch (error) {
        request.signal?.throwIfAborted();
        if (request.feedback?.some((earlier) => earlier.error !== undefined) ?? false) throw error;
        const { message, details } = toErrorInfo(error);
        const generated = await second.generate(request);
        const usage = details["usage"] as GenerationUsage | undefined;
        const notes = [`${message} The code was written by rules instead.`];
        return { ...generated, ...(usage !== undefined && { usage }), notes };
      }
    },
  };
}
