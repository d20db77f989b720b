import type { OpenAI } from "openai";

type StreamingRequest = OpenAI.Chat.ChatCompletionCreateParamsStreaming;

/** Which of the parameters that not every model takes this one does. */
export interface Dialect {
  tokenLimit: "max_tokens" | "max_completion_tokens";
  temperature: boolean;
  /** Whether the API tells the tokens of a streamed answer. */
  usage: boolean;
}

/** Models that reason: they count their thoughts as tokens of the answer, and set their temperature themselves. */
const REASONING_MODEL = /^(?:openai\/)?(?:o\d|gpt-5|gpt-6)/iu;

/** What a model of this name is likely to take. */
export function guessDialect(model: string): Dialect {
  const reasons = REASONING_MODEL.test(model);
  return {
    tokenLimit: reasons ? "max_completion_tokens" : "max_tokens",
    temperature: !reasons,
    usage: true,
  };
}

/** The parts of a refusal that name a parameter. */
export interface Refusal {
  status: number | undefined;
  code: string | undefined;
  parameter: string | undefined;
  message: string;
}

/**
 * What to send instead, after the API refused a parameter; `undefined` where the refusal is of something else, or of
 * what was already changed.
 */
export function learn(dialect: Dialect, { status, code, parameter, message }: Refusal): Dialect | undefined {
  if (status !== 400 && status !== 422) return undefined;
  const names = (name: string): boolean =>
    parameter === name || (parameter === undefined && new RegExp(`\\b${name}\\b`, "u").test(message));
  const unsupported =
    /^unsupported_(?:parameter|value)$/u.test(code ?? "") ||
    /unsupported|not supported|deprecated|unrecognized|unknown|not permitted|extra inputs/iu.test(message);
  if (!unsupported) return undefined;
  if (names("stream_options") && dialect.usage) return { ...dialect, usage: false };
  if (names("temperature") && dialect.temperature) return { ...dialect, temperature: false };
  if (names(dialect.tokenLimit)) {
    const tokenLimit = dialect.tokenLimit === "max_tokens" ? "max_completion_tokens" : "max_tokens";
    return { ...dialect, tokenLimit };
  }
  return undefined;
}

/** The request in a model's dialect. */
export function inDialect(
  { tokenLimit, temperature, usage }: Dialect,
  request: { model: string; messages: StreamingRequest["messages"]; maxTokens: number; temperature: number },
): StreamingRequest {
  return {
    model: request.model,
    messages: request.messages,
    stream: true,
    [tokenLimit]: request.maxTokens,
    ...(temperature && { temperature: request.temperature }),
    ...(usage && { stream_options: { include_usage: true } }),
  };
}
