import { CemError, Lazy, toErrorInfo } from "@cem/core";
import type {
  CodeGenerator,
  ErrorInfo,
  GenerateRequest,
  GeneratedCode,
  GenerationRefused,
  GenerationUsage,
  ToolDefinition,
} from "@cem/core";
import { formOf, readAnswer, type Answer } from "./answer.ts";
import type { ReadCall } from "./call-lines.ts";
import { createCompletions, type Completion, type CompletionRequest } from "./completion.ts";
import { createPrompt, toldTools, toolLine } from "./prompt.ts";
import { createClient, endpointOf, type LlmSettings } from "./settings.ts";
import { affordableTokens, usageOf } from "./spending.ts";

const DEFAULT_MAX_TOKENS = 2_000;
const DEFAULT_TOOL_TOKENS = 6_000;
/** The fraction of a task's budget that the tools in one prompt may use. */
const TOOLS_SHARE = 0.25;

/**
 * Creates a generator that asks a language model. The client library `openai` is loaded with the first request.
 *
 * `generate` throws CemError `LLM_KEY_MISSING`, `LLM_ENDPOINT_MISSING`, `LLM_KEY_REFUSED`, `LLM_RATE_LIMITED`,
 * `LLM_REQUEST_REFUSED`, `LLM_FAILED`, `LLM_TIMED_OUT`, `LLM_UNREACHABLE`, `LLM_ANSWER_UNUSABLE`,
 * `LLM_BUDGET_EXCEEDED` or `LLM_PACKAGE_MISSING`. `details.usage` of `LLM_ANSWER_UNUSABLE` contains the tokens of a
 * complete but unusable answer. No message, detail or cause contains the API key.
 */
export function createLlmGenerator(settings: LlmSettings): CodeGenerator {
  const { acceptsArguments, budget, maxTokens = DEFAULT_MAX_TOKENS, model, prices } = settings;
  const affordableForTools = Math.floor((budget?.tokens ?? Infinity) * TOOLS_SHARE);
  /** Retried at the next request, since a missing package or key may be available then. */
  const lazyComplete = new Lazy(async () => {
    const { maxRetries = 2, temperature = 0.3, timeoutMs = 60_000 } = settings;
    const endpoint = endpointOf(settings);
    const client = await createClient(endpoint, timeoutMs);
    return createCompletions(client, { model, apiKey: endpoint.apiKey, temperature, timeoutMs, maxRetries });
  });

  /** Whether an answer consists only of calls whose arguments satisfy their tools' schemas. */
  const areAccepted = async (calls: readonly ReadCall[] | undefined): Promise<boolean> => {
    if (calls === undefined || acceptsArguments === undefined) return false;
    const answers = await Promise.all(calls.map(({ tool, args }) => acceptsArguments(tool, args)));
    return !answers.includes(false);
  };

  return {
    specificationVersion: "v1",
    toolBudget: {
      tokens: Math.min(settings.toolTokens ?? DEFAULT_TOOL_TOKENS, affordableForTools),
      describe: toolLine,
    },
    async generate(request) {
      const { onProgress, signal, spent, task } = request;
      const tools = toldTools(request);
      signal?.throwIfAborted();
      const messages = createPrompt(request);
      const affordable =
        budget === undefined
          ? maxTokens
          : await affordableTokens(messages, spent, { budget, maxTokens, model, prices });
      const complete = await lazyComplete.get();
      const asked: CompletionRequest = { messages, maxTokens: affordable, signal };
      if (onProgress !== undefined) {
        let form: ReturnType<typeof formOf>;
        asked.onProgress = (text) => {
          form ??= formOf(text);
          if (form !== undefined) onProgress({ model, characters: text.length, form });
        };
      }
      const completion = await complete(asked);
      const usage = await usageOf(completion, messages, settings);
      if (completion.refusal !== "" && completion.text === "") {
        const hint = `${model} declined: ${completion.refusal}`;
        return { ...refusal(task, hint), usage };
      }
      const answer = readWithUsage(completion, affordable, tools, usage);
      if ("missing" in answer) return { ...refusal(task, missingHint(answer.missing)), usage };
      const { calls, code } = answer;
      return {
        status: "generated",
        code,
        origin: "llm",
        isChecked: await areAccepted(calls),
        uses: tools.filter(
          ({ module, name }) => code.includes(module.replace(/^\.\//u, "")) && code.includes(name),
        ),
        usage,
      };
    },
  };
}

/** Reads an answer. An error has the usage in its details, since even an unusable answer costs tokens. */
function readWithUsage(
  completion: Completion,
  maxTokens: number,
  tools: readonly ToolDefinition[],
  usage: GenerationUsage,
): Answer {
  const { model } = usage;
  const { finish, text } = completion;
  try {
    if (finish !== "length" && finish !== "content_filter") return readAnswer(text, tools, model);
    const isLong = finish === "length";
    const why = isLong
      ? `did not fit into ${maxTokens.toLocaleString("en")} tokens`
      : "was stopped by the provider's content filter";
    const details = isLong ? { model, maxTokens } : { model };
    throw new CemError("LLM_ANSWER_UNUSABLE", `The answer of ${model} ${why}.`, { details });
  } catch (error) {
    if (!CemError.isInstance(error)) throw error;
    throw new CemError(error.code, error.message, { details: { ...error.details, usage } });
  }
}

function missingHint(missing: string): string {
  if (missing === "") return "The tools can't do this task.";
  return `Missing for this task: ${missing.replace(/[.]?$/u, "")}.`;
}

function refusal(task: string, hint: string): GenerationRefused {
  return { status: "refused", origin: "llm", steps: [{ step: task, reason: "no-tool", hint }] };
}

/**
 * Creates a generator that asks `first`, and falls back to `second` if `first` throws, which is mentioned in the result's `notes`.
 *
 * A request with feedback on a run is never passed to `second`, which does not know which calls have already been made and
 * would repeat them. The error of `first` is thrown instead.
 *
 * @param first - The generator to ask first, such as that of `createLlmGenerator`.
 * @param second - The generator to fall back to, such as that of `createRulesGenerator`.
 * @param onFailure - Receives the error of `first` and the answer of `second`.
 */
export function createFallbackGenerator(
  first: CodeGenerator,
  second: CodeGenerator,
  onFailure?: (
    error: ErrorInfo,
    instead: GeneratedCode | GenerationRefused,
    request: GenerateRequest,
  ) => void,
): CodeGenerator {
  return {
    specificationVersion: "v1",
    toolBudget: first.toolBudget,
    async generate(request) {
      try {
        return await first.generate(request);
      } catch (error) {
        request.signal?.throwIfAborted();
        const isRepair = request.feedback?.some(
          ({ error: failed, returnedNothing }) => failed !== undefined || returnedNothing === true,
        );
        if (isRepair === true) throw error;
        const failure = toErrorInfo(error);
        const { message, details } = failure;
        const generated = await second.generate(request);
        onFailure?.(failure, generated, request);
        const usage = details["usage"] as GenerationUsage | undefined;
        const notes = [`${message} The code was written by rules instead.`];
        return { ...generated, usage: usage ?? generated.usage, notes };
      }
    },
  };
}
